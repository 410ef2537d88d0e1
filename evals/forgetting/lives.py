"""One user's talk on a time line, with the exams: from a data set of conversations, or from the synthetic year."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evals.baselines import terms
from evals.datasets import LOADERS, Dataset, Item, Question, read_rows
from evals.metrics import score_ranking
from evals.replay import hits, message
from evals.year.people import Fact, person
from evals.year.talk import MONTH_ENDS, START, Need, questions, rounds
from evals.year.words import holds

TOP = 10
"""Hits of a search that count."""
FIRST = 3
"""Those of them that somebody reads."""
Found = Mapping[str, Any]
"""What `search` returns."""
Marks = Mapping[str, float]
"""What one question scored."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Some messages that are added at once."""

    at: datetime
    messages: tuple[dict[str, Any], ...]
    session: str | None = None
    infer: bool = True
    need: Need | None = None
    """With it the assistant's reply is still open: it depends on what the memory brings back."""


@dataclass(frozen=True, slots=True)
class Exam:
    """One question, and what an answer to it scores."""

    id: str
    text: str
    group: str
    marks: Callable[[Found], Marks]
    sources: frozenset[str]
    """Ids of the messages that hold the answer."""
    when: datetime | None = None
    """What "now" means in the question, where the set says so."""


@dataclass(frozen=True, slots=True)
class Sitting:
    """The questions put at one moment."""

    at: datetime
    exams: tuple[Exam, ...]


@dataclass(frozen=True, slots=True)
class Life:
    """Everything that one user says and is asked."""

    set: str
    user: str
    turns: tuple[Turn, ...]
    sittings: tuple[Sitting, ...]
    lasting: tuple[Fact, ...] = ()
    """Facts that must still be stored at the end."""

    @property
    def texts(self) -> list[str]:
        """What is certainly embedded as a passage: with a speaker's name before it, where it has one."""
        found = [f"{one['name']}: {one['content']}" if one.get("name") else one["content"] for one in self._messages()]
        return [text.strip() for text in found]

    @property
    def questions(self) -> list[str]:
        """Every question, of the exams and inside the talk."""
        asked = [exam.text for sitting in self.sittings for exam in sitting.exams]
        return asked + [turn.messages[0]["content"] for turn in self.turns if turn.need]

    def _messages(self) -> Iterator[dict[str, Any]]:
        for turn in self.turns:
            yield from turn.messages


# ── data sets ────────────────────────────────────────────────────────────────────────────────────────────────────────


def set_lives(name: str, data: Path, *, numbers: Sequence[int]) -> list[Life]:
    """Some users of a data set: every session is added as it was said, all questions are put a day after the last."""
    dataset = LOADERS[name](data)
    answers = {row["id"]: row.get("answer", "") for row in read_rows(data / name / "queries.jsonl.gz")}
    return lives_of(dataset, [dataset.users[number] for number in numbers], answers=answers)


def lives_of(dataset: Dataset, users: Sequence[str], *, answers: Mapping[str, str]) -> list[Life]:
    """These users of a set; `answers` by question, where the set has them."""
    return [_set_life(dataset, user, answers=answers) for user in users]


def _set_life(dataset: Dataset, user: str, *, answers: Mapping[str, str]) -> Life:
    items, asked = dataset.of(user)
    turns = tuple(_turns(items))
    said = {item.id: item.text for item in items}
    exams = [_exam(one, said=said, answer=answers[one.id]) for one in asked if one.category not in dataset.apart]
    end = max(turn.at for turn in turns) + timedelta(days=1)
    return Life(dataset.name, user, turns, (Sitting(end, tuple(exams)),))


def _turns(items: Sequence[Item]) -> Iterator[Turn]:
    """One session at a time, on its day; a session that spans midnight is split there. Time never runs backwards."""
    latest = datetime.min.replace(tzinfo=UTC)
    held: list[Item] = []
    for item in [*items, None]:
        if held and (item is None or _is_apart(held[-1], item)):
            latest = max(latest, held[-1].at or latest)
            yield Turn(latest, tuple(map(message, held)), held[0].session, infer=False)
            held = []
        if item is not None:
            held.append(item)


def _is_apart(one: Item, other: Item) -> bool:
    days = [item.at.date() if item.at else None for item in (one, other)]
    return one.session != other.session or days[0] != days[1]


def _exam(question: Question, *, said: Mapping[str, str], answer: str) -> Exam:
    evidence = frozenset().union(*question.groups)
    there: set[str] = set().union(*(terms(said[name]) for name in evidence))
    expected = frozenset(terms(str(answer))) & there
    return Exam(
        question.id,
        question.text,
        question.category,
        lambda found: _set_marks(found, question.groups, wanted=expected),
        evidence,
        question.asked_at,
    )


def _set_marks(found: Found, groups: Sequence[Collection[str]], *, wanted: frozenset[str]) -> Marks:
    """R@10, and of the answer's words that the evidence holds those still there in the evidence that came back."""
    marks = {"found": score_ranking(hits(found), groups)["R@10"]}
    if wanted:
        evidence = set().union(*groups)
        texts = [hit["memory"] for hit in found["results"][:TOP] if not evidence.isdisjoint(hit["source_ids"])]
        held: set[str] = set().union(*map(terms, texts))
        marks["strict"] = len(wanted & held) / len(wanted)
    return marks


# ── the year ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def year_lives(numbers: Sequence[int], *, days: int = 365, seed: int = 1) -> list[Life]:
    """Some people of the synthetic year: each round is added as it is said, each month ends with questions."""
    lives = []
    for one in (person(number, seed=seed, days=days) for number in numbers):
        turns, told = [], dict[str, set[str]]()
        for number, said in enumerate(rounds(one)):
            name = f"{one.user}-{number}"
            messages = [{"role": "user", "content": said.said, "id": f"{name}u", "timestamp": said.at}]
            if said.need is None:
                messages.append({"role": "assistant", "content": said.reply, "id": f"{name}a", "timestamp": said.at})
            if said.about is not None:
                told.setdefault(said.about.id, set()).add(f"{name}u")
            turns.append(Turn(said.at, tuple(messages), need=said.need))
        sittings = [
            Sitting(START + timedelta(days=end), tuple(_year_exams(questions(one, end), told)))
            for end in MONTH_ENDS
            if end <= days
        ]
        lasting = tuple(fact for fact in one.facts if fact.is_lasting)
        lives.append(Life("year", one.user, tuple(turns), tuple(sittings), lasting))
    return lives


def _year_exams(asked: Sequence[Any], told: Mapping[str, set[str]]) -> Iterator[Exam]:
    for one in asked:
        fact: Fact = one.fact

        def marks(found: Found, value: str = fact.value) -> Marks:
            right = [holds(hit["memory"], value) for hit in found["results"][:TOP]]
            return {"found": float(any(right)), "first": float(any(right[:FIRST]))}

        sources = frozenset(told.get(fact.id, ()))
        yield Exam(f"{fact.id}?{one.language}", one.text, fact.group, marks, sources)
