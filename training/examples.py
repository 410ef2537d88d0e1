"""Labelled texts as examples of the reader's three tasks. One example is a pair of texts with a label.

`claim`: first the turn before and the message, second a memory that somebody would make of it; label: 1 if it is worth
keeping. `change`: first the new statement, second a known memory; label: a relation. `answer`: first a question with
the turn before it, second a memory or a message; label: 1 if it answers.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.claim_excerpt import claim_excerpt
from training.parse import (
    DATA,
    FAULTS,
    KINDS,
    OWNERS,
    RELATIONS,
    Talk,
    Turn,
    read_people,
    read_statements,
    read_talks,
    read_verdicts,
)

TASKS = ("claim", "change", "answer")
KEEPS_BEFORE = 0.8
"""Share of claims that are shown with the turn before: in use it is not always at hand."""
IDLE_MESSAGES = 8
"""Messages of a talk without a memory that are shown as what must not be kept."""
ELSEWHERE = 3
"""Good memories of a talk that are shown beside a message that does not say them."""
NEAR_WRONG = 4
FAR_WRONG = 2
"""Memories that do not answer, beside the right ones of a question: the nearest, and some by chance."""
_APART = RELATIONS.index("apart")
_INVENTED = FAULTS.index("invented")
Similarity = Callable[[Sequence[str], Sequence[str]], np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Example:
    """Two texts, a task, and what is right."""

    task: str
    before: str = ""
    """What was said before the first text; may be empty."""
    first: str
    second: str
    label: int
    fault: int = -1
    """Place in FAULTS, or -1."""
    kind: int = -1
    """Place in KINDS, or -1."""
    owner: int = -1
    """Place in OWNERS, or -1."""
    language: str
    group: str
    """What belongs together in a judgement: a talk, a statement, a question."""


def authors() -> list[str]:
    """Return the names of all authors."""
    return sorted({path.stem for path in DATA.glob("*/*.txt")})


def examples_of(names: Iterable[str], *, similarity: Similarity, seed: int = 0) -> list[Example]:
    """Return every example of some authors, in a fixed order."""
    builder = ExampleBuilder(similarity, seed)
    return [example for name in sorted(names) for example in builder.of_author(name)]


class ExampleBuilder:
    """Makes examples of the files of an author; what is chosen by chance depends on the seed alone."""

    def __init__(self, similarity: Similarity, seed: int) -> None:
        self._similarity = similarity
        self._chance = random.Random(seed)

    def of_author(self, name: str, *, judged: bool = True) -> list[Example]:
        """Return the examples of one author's files; `judged`: with the judged memories of the rules."""
        found: list[Example] = []
        for folder, read in (("talks", self._talks), ("statements", self._statements), ("people", self._people)):
            path = DATA / folder / f"{name}.txt"
            if path.exists():
                found += read(path)
        return found + self.judged(name) if judged else found

    def judged(self, name: str) -> list[Example]:
        """Return the judged memories of one author's talks."""
        verdicts = read_verdicts(DATA / "verdicts" / f"{name}.txt")
        talks = read_talks(DATA / "talks" / f"{name}.txt") if verdicts else []
        return [
            self._claim(talk, verdict.turn, verdict.text, **verdict.labels())
            for talk in talks
            for verdict in verdicts.get(talk.id, ())
        ]

    def _talks(self, path: Path) -> list[Example]:
        found: list[Example] = []
        for talk in read_talks(path):
            if talk.good:  # of talks without labels the rules' memories were judged instead
                found += self._claims(talk) + _changes(talk) + self._questions(talk)
        return found

    def _claims(self, talk: Talk) -> list[Example]:
        user = next(turn.speaker for turn in talk.turns if turn.speaker != "assistant")

        def told(text: str) -> str:
            return named(text, user) if self._chance.random() < 0.5 else text

        found = []
        for memory in talk.good.values():
            labels = {"label": 1, "kind": KINDS.index(memory.type), "owner": OWNERS.index(memory.owner)}
            found.append(self._claim(talk, memory.turns[-1], told(memory.text), **labels))
        for wrong in talk.wrong:
            fault = FAULTS.index(wrong.fault)
            found.append(self._claim(talk, wrong.turns[-1], told(wrong.text), label=0, fault=fault))
        rested = {place for memory in talk.good.values() for place in memory.turns}
        idle = [place for place in range(len(talk.turns)) if place not in rested]
        shown = self._some(idle, IDLE_MESSAGES)
        found += [self._claim(talk, place, talk.turns[place].text, label=0) for place in shown]
        for memory in self._some(list(talk.good.values()), ELSEWHERE):
            place = self._chance.choice(idle)
            found.append(self._claim(talk, place, told(memory.text), label=0, fault=_INVENTED))
        return found

    def _claim(self, talk: Talk, place: int, text: str, **labels: int) -> Example:
        has_before = place > 0 and self._chance.random() < KEEPS_BEFORE
        return Example(
            task="claim",
            before=spoken(talk.turns[place - 1]) if has_before else "",
            first=f"{talk.turns[place].speaker}: {claim_excerpt(talk.turns[place].text, text)}",
            second=text,
            language=talk.language,
            group=talk.id,
            **labels,
        )

    def _questions(self, talk: Talk) -> list[Example]:
        texts = {letter: memory.text for letter, memory in talk.good.items()}
        texts |= {f"#{place}": spoken(turn) for place, turn in enumerate(talk.turns)}
        found: list[Example] = []
        for letters, question in talk.questions:
            turns = {f"#{talk.good[letter].turns[-1]}" for letter in letters}
            half_right = {f"#{place}" for letter in letters for place in talk.good[letter].turns} - turns
            shown = {name: text for name, text in texts.items() if name not in half_right}
            asked = Example(
                task="answer", first=question, second="", label=0, language=talk.language, group=f"{talk.id}?{question}"
            )
            found += self._answers(asked, shown, {*letters, *turns})
        return found

    def _people(self, path: Path) -> list[Example]:
        found: list[Example] = []
        for person in read_people(path):
            for letters, before, question in person.questions:
                group = f"{person.id}?{question}"
                asked = Example(
                    task="answer",
                    before=before,
                    first=question,
                    second="",
                    label=0,
                    language=person.language,
                    group=group,
                )
                found += self._answers(asked, person.memories, set(letters))
        return found

    def _answers(self, asked: Example, texts: dict[str, str], right: set[str]) -> list[Example]:
        """The right memories, and of the others the nearest and some by chance."""
        names = list(texts)
        near = self._similarity([asked.first], [texts[name] for name in names])[0]
        order = [names[place] for place in np.argsort(-near) if names[place] not in right]
        chosen = order[:NEAR_WRONG] + self._some(order[NEAR_WRONG:], FAR_WRONG)
        return [
            Example(**{**vars(asked), "second": texts[name], "label": int(name in right)})
            for name in [*sorted(right), *chosen]
        ]

    def _statements(self, path: Path) -> list[Example]:
        statements = read_statements(path)
        is_chinese = re.search(r"[\u4e00-\u9fff]", "".join(statement.text for statement in statements[:3]))
        language = "zh" if is_chinese else "en"
        found = []
        for statement in statements:
            other = self._chance.choice(statements)
            strange = [] if other is statement else [("apart", self._chance.choice(other.known)[1])]
            for relation, known in [*statement.known, *strange]:
                label = RELATIONS.index(relation)
                found.append(_change(statement.text, known, label, language=language, group=statement.id))
        return found

    def _some(self, items: list, count: int) -> list:
        return self._chance.sample(items, min(count, len(items)))


def _changes(talk: Talk) -> list[Example]:
    found = []
    for old, new, relation in talk.pairs:
        heard, known = talk.turns[talk.good[new].turns[-1]].text, talk.good[old].text
        for first in (heard, talk.good[new].text):
            label = RELATIONS.index(relation)
            found.append(_change(first, known, label, language=talk.language, group=f"{talk.id}{new}"))
    return found


def _change(new: str, known: str, label: int, *, language: str, group: str) -> Example:
    return Example(task="change", first=new, second=known, label=label, language=language, group=group)


def spoken(turn: Turn) -> str:
    """Return a turn as the reader sees it."""
    return f"{turn.speaker}: {turn.text}"


def named(text: str, speaker: str) -> str:
    """Return a memory about "User" as one about the speaker by name."""
    if speaker.casefold() in {"user", "assistant"}:
        return text
    return re.sub(r"\b[Uu]ser\b|用户", lambda _: speaker, text)
