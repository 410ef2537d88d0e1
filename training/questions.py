"""Labelled texts as examples of the reader: a question, and memories or messages of which some answer it.

A message is shown as recall shows it: with its speaker, short ones with the end of what was said before
(`ebbing.recall.model_scores.in_talk`). Half of those that are worth remembering are shown as the quotation that is kept
of them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from ebbing.language.text.detect_language import detect
from ebbing.language.text.quotation import quotation
from ebbing.recall.model_scores import in_talk
from training.messages import spoken
from training.parse import DATA, HARMFUL, LabelledTalk, Talk, Turn, read_messages, read_people, read_talks

JUDGED_WRONG = (8, 2)
"""Texts that do not answer, beside the right ones of a question: the nearest, and some by chance …"""
LEARNED_WRONG = (12, 4)
"""… and so many to learn from."""
QUOTED = 0.5
"""Share of the messages worth remembering that are shown as their quotation."""
NAMED_ASSISTANT = 0.3
"""Share of the assistant's messages that are shown with a speaker."""

LONGEST_NAME = 20
"""Characters before a colon that are a speaker's name."""
CHANCE_ASKED = 2
"""Texts of other questions by chance, beside the near ones that were written for a question of `data/asked`."""
_FORMATS = {".txt", ".jsonl"}

Name = TypeVar("Name", bound=Hashable)
Similarity = Callable[[Sequence[str], Sequence[str]], np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question with texts, and which of them answer it."""

    before: str = ""
    """What was said before the question; may be empty."""
    question: str
    texts: tuple[str, ...]
    labels: tuple[int, ...]
    """1 for each text that answers, else 0."""
    language: str
    author: str

    @property
    def is_answered(self) -> bool:
        """Whether one of the texts answers."""
        return any(self.labels)


def authors(folders: Sequence[str] = ("talks", "people", "messages", "asked")) -> list[str]:
    """Return the names of all authors of questions."""
    return sorted({path.stem for folder in folders for path in (DATA / folder).iterdir() if path.suffix in _FORMATS})


def examples_of(
    names: Iterable[str],
    *,
    similarity: Similarity,
    wrong: tuple[int, int] = JUDGED_WRONG,
    seed: int = 0,
    has_plain: bool = True,
) -> list[Asked]:
    """Return every question of some authors, in a fixed order.

    Args:
        wrong: how many texts that do not answer, the nearest and some by chance.
        has_plain: whether questions of `data/asked` come with the answer in their own words, too.
    """
    builder = ExampleBuilder(similarity, wrong=wrong, seed=seed, has_plain=has_plain)
    return [asked for name in sorted(names) for asked in builder.of_author(name)]


class ExampleBuilder:
    """Makes examples of the files of an author; what is chosen by chance depends on the seed alone."""

    def __init__(self, similarity: Similarity, *, wrong: tuple[int, int], seed: int, has_plain: bool = True) -> None:
        self._similarity, self._wrong, self._has_plain = similarity, wrong, has_plain
        self._chance = random.Random(seed)

    def of_author(self, name: str) -> Iterator[Asked]:
        """Yield the questions of one author's files."""
        readers = {"talks": self._talks, "people": self._people, "messages": self._labelled_talks}
        for folder, read in readers.items():
            path = DATA / folder / f"{name}.txt"
            if path.exists():
                yield from read(path)
        path = DATA / "asked" / f"{name}.jsonl"
        if path.exists():
            yield from self._asked(path)

    def _talks(self, path: Path) -> Iterator[Asked]:
        for talk in read_talks(path):
            texts = {letter: memory.text for letter, memory in talk.good.items()}
            texts |= {f"#{place}": self._shown(talk.turns, place) for place in range(len(talk.turns))}
            for letters, question in talk.questions:
                turns, beside = _turns_behind(talk, letters)
                asked = Asked(question=question, texts=(), labels=(), language=talk.language, author=path.stem)
                yield self._with_texts(asked, texts, right={*letters, *turns}, beside=beside)

    def _people(self, path: Path) -> Iterator[Asked]:
        for person in read_people(path):
            for letters, before, question in person.questions:
                asked = Asked(
                    before=before, question=question, texts=(), labels=(), language=person.language, author=path.stem
                )
                yield self._with_texts(asked, person.memories, right=set(letters), beside=set())

    def _labelled_talks(self, path: Path) -> Iterator[Asked]:
        for talk in read_messages(path):
            texts = {place: self._kept(talk, place) for place in range(len(talk.turns))}
            for places, question in talk.questions:
                right = set(places)
                beside = {place + step for place in right for step in (-1, 1)} - right
                asked = Asked(question=question, texts=(), labels=(), language=talk.language, author=path.stem)
                yield self._with_texts(asked, texts, right=right, beside=beside)

    def _asked(self, path: Path) -> Iterator[Asked]:
        """Yield each question with its texts and some of others; in both languages, unless it leans on a turn."""
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            others = [text for other in lines if other is not line for text in other["near"]]
            wrong = [*line["near"], *self._chance.sample(others, CHANCE_ASKED)]
            right = [*line["answers"], *([line["plain"]] if self._has_plain else [])]
            texts = [self._as_kept(text, line["lang"]) for text in [*right, *wrong]]
            labels = (*(1 for _ in right), *(0 for _ in wrong))
            for question in [line["question"]] if line["before"] else [line["question"], line["other"]]:
                yield Asked(
                    before=line["before"],
                    question=question,
                    texts=tuple(texts),
                    labels=labels,
                    language=line["lang"],
                    author=path.stem,
                )

    def _as_kept(self, text: str, language: str) -> str:
        """Return a text, or the quotation that is kept of it where it names its speaker."""
        speaker, colon, words = text.partition(": ")
        if not colon or len(speaker) > LONGEST_NAME or self._chance.random() >= QUOTED:
            return text
        return quotation(words, speaker, language=language)

    def _kept(self, talk: LabelledTalk, place: int) -> str:
        """Return a message, or the quotation that is kept of it."""
        if talk.labels[place] not in {"", HARMFUL} and self._chance.random() < QUOTED:
            turn = talk.turns[place]
            return quotation(turn.text, turn.speaker, language="zh" if detect(turn.text) == "zh" else "en")
        return self._shown(talk.turns, place)

    def _shown(self, turns: Sequence[Turn], place: int) -> str:
        """Return a message as recall shows it."""
        turn = turns[place]
        if turn.speaker == "assistant":
            return spoken(turn) if self._chance.random() < NAMED_ASSISTANT else turn.text
        return in_talk(spoken(turn), turns[place - 1].text if place else "")

    def _with_texts(self, asked: Asked, texts: Mapping[Name, str], *, right: set[Name], beside: set[Name]) -> Asked:
        """Return the question with its right texts, and of the others the nearest and some by chance.

        Args:
            beside: texts that may be half right, and are not shown.
        """
        names = [name for name in texts if name not in beside]
        nearness = self._similarity([asked.question], [texts[name] for name in names])[0]
        wrong = [names[place] for place in np.argsort(-nearness) if names[place] not in right]
        near_count, far_count = self._wrong
        far = wrong[near_count:]
        chosen = [*(name for name in names if name in right), *wrong[:near_count]]
        chosen += self._chance.sample(far, min(far_count, len(far)))
        labels = tuple(int(name in right) for name in chosen)
        return Asked(**{**vars(asked), "texts": tuple(texts[name] for name in chosen), "labels": labels})


def _turns_behind(talk: Talk, letters: Iterable[str]) -> tuple[set[str], set[str]]:
    """Return the messages that say some memories, and those that only help to."""
    memories = [talk.good[letter] for letter in letters]
    saying = {f"#{memory.turns[-1]}" for memory in memories}
    return saying, {f"#{place}" for memory in memories for place in memory.turns} - saying
