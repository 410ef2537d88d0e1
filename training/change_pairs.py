"""Pairs of messages that the change model learns from: an earlier one that is worth remembering, and a later one."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ebbing.adapters.readers.change_model import pair_features
from evals.extraction import LANGUAGES, SHOWN, items
from training.embed import passages
from training.messages import spoken
from training.parse import DATA, KINDS, Change, LabelledTalk, read_changes, read_messages, read_statements, read_talks

NEAREST = 8
"""Memories nearest to a message that count as pairs, beside those that are labelled."""
STRANGERS = 3
"""Statements of others that a later message is put beside …"""
NEAR = (0.2, 0.6)
"""… with a cosine between these …"""
LEAST_LIKE = -2.2
"""… and log-odds of the regression below this."""
ENDS = {"ends": 1.0, "part": 0.5, "stands": 0.0}
"""How much of the earlier message is over."""


class Prior(Protocol):
    """The regression on the vectors of pairs."""

    def decision_function(self, features: np.ndarray) -> np.ndarray:
        """Return the log-odds, shape (pairs,), of features, shape (pairs, features)."""
        ...


@dataclass(frozen=True)
class Pair:
    """An earlier message that is worth remembering, and a later one."""

    author: str
    language: str
    earlier: str
    later: str
    before: str
    """What was said before the later one."""
    kind: str
    """Of the earlier one."""
    change: Change | None
    """None where nobody labelled the two."""
    features: np.ndarray
    """Of the regression, shape (2, features): with the names of the speakers, and without."""
    nearness: float

    @property
    def ends(self) -> bool:
        """Whether the later one ends the earlier one, at least in part."""
        return self.change is not None and self.change.how is not None

    @property
    def is_open(self) -> bool:
        """Whether nobody can tell from the two alone."""
        return self.ends and self.change is not None and not self.change.is_clear


def pairs_of_talks(authors: Collection[str] = ()) -> list[Pair]:
    """Return the labelled pairs, and the nearest memories of each message of a person, in a fixed order.

    Args:
        authors: of whom; all where there is none.
    """
    pairs: list[Pair] = []
    for path in sorted((DATA / "changes").glob("*.txt")):
        if authors and path.stem not in authors:
            continue
        own = DATA / "changes/talks" / path.name
        talks = {talk.id: talk for talk in read_messages(own if own.exists() else DATA / "messages" / path.name)}
        changes = read_changes(path, talks)
        for talk in talks.values():
            pairs += _of_talk(talk, changes.get(talk.id, {}), author=path.stem)
    return pairs


def _of_talk(talk: LabelledTalk, changes: dict[tuple[int, int], Change], *, author: str) -> Iterator[Pair]:
    texts = [turn.text if turn.speaker == "assistant" else spoken(turn) for turn in talk.turns]
    vectors = passages(texts)
    nameless = passages([turn.text for turn in talk.turns])
    for later, turn in enumerate(talk.turns):
        earlier = [place for place in range(later) if talk.labels[place] in KINDS]
        if turn.speaker == "assistant" or not earlier:
            continue
        nearness = vectors[earlier] @ vectors[later]
        nearest = {earlier[row] for row in np.argsort(-nearness)[:NEAREST]}
        for row, place in enumerate(earlier):
            change = changes.get((place, later))
            if change is not None or place in nearest:
                features = [pair_features(each[place], each[later]) for each in (vectors, nameless)]
                before = texts[later - 1] if later else ""
                yield Pair(
                    author,
                    talk.language,
                    texts[place],
                    texts[later],
                    before,
                    talk.labels[place],
                    change,
                    np.stack(features),
                    float(nearness[row]),
                )


def statements() -> list[tuple[str, str, bool]]:
    """Return a memory, a later message, and whether it ends the memory, of what was written as such pairs."""
    known_and_later: list[tuple[str, str, bool]] = []
    for path in sorted((DATA / "statements").glob("*.txt")):
        for statement in read_statements(path):
            known_and_later += [(known, statement.text, relation == "replaces") for relation, known in statement.known]
    for path in sorted((DATA / "talks").glob("*.txt")):
        for talk in read_talks(path):
            for old, new, relation in talk.pairs:
                later = talk.turns[talk.good[new].turns[-1]].text
                known_and_later.append((talk.good[old].text, later, relation == "replaces"))
    return known_and_later


@dataclass(frozen=True)
class Later:
    """What somebody told, and a message that came later, with nothing else around them."""

    earlier: str
    later: str
    before: str
    """What was said before the later one; may be empty."""
    over: float
    """One of `ENDS`: how much of the earlier one no longer holds."""
    language: str
    is_written: bool = True
    """Part of `data/later`, where each statement is about a matter of its own."""

    @property
    def mark(self) -> str:
        """The speaker with a colon, where both have it before them."""
        speaker, colon, _ = self.earlier.partition(": ")
        return speaker + colon if colon and self.later.startswith(speaker + colon) else ""

    @property
    def words(self) -> str:
        """The earlier one without its speaker."""
        return self.earlier.removeprefix(self.mark)


def written(authors: Iterable[str]) -> list[Later]:
    """Return the pairs that some authors of `data/later` wrote."""
    pairs: list[Later] = []
    for author in authors:
        for line in (DATA / "later" / f"{author}.jsonl").read_text("utf-8").splitlines():
            group = json.loads(line)
            mark = f"{group['speaker']}: " if "speaker" in group else ""
            for label, over in ENDS.items():
                for text in group[label]:
                    before, later = text if isinstance(text, list) else ("", text)
                    pairs.append(Later(mark + group["known"], mark + later, before, over, group["lang"]))
    return pairs


def strangers(pairs: Sequence[Later], prior: Prior, *, chance: random.Random) -> list[Later]:
    """Return each later message beside something else that was told, near it and not ended by it.

    What the regression thinks likely to be ended is left out: some of it is.
    """
    found: list[Later] = []
    for language in LANGUAGES:
        told = sorted({pair.words for pair in pairs if pair.language == language and pair.is_written})
        vectors = passages(told)
        for pair in pairs:
            if pair.language != language:
                continue
            later = passages([pair.later])[0]
            nearness = vectors @ later
            near = np.flatnonzero((nearness > NEAR[0]) & (nearness < NEAR[1]))
            places = chance.sample(near.tolist(), min(STRANGERS, len(near)))
            places = [place for place in places if told[place] != pair.words]
            if places:
                features = np.stack([pair_features(vectors[place], later) for place in places])
                odds = prior.decision_function(features)
                apart = [place for place, each in zip(places, odds, strict=True) if each < LEAST_LIKE]
                found += [replace(pair, earlier=pair.mark + told[place], over=0.0) for place in apart]
    return found


def conflicts(parts: Iterable[str] = SHOWN) -> list[Later]:
    """Return the pairs of some parts of `evals conflicts`."""
    return [
        Later(item["before"], item["after"], "", float(item["kind"] == "update"), language, is_written=False)
        for language in LANGUAGES
        for part, item in items("conflicts", language)
        if part in parts
    ]
