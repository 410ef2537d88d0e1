"""How right the rules' memories are: the talks through `Memory.add`, and each memory beside a reader's verdict.

    python -m training.precision                     # totals of both halves, then tables of the development half
    python -m training.precision --tables none       # totals alone
    python -m training.precision --show wrong_person # development memories with this verdict, each with its message
    python -m training.precision --lost              # good development memories that are made no longer

A memory takes the verdict that was given at the same message to the same words, or to nearly the same words if that was
`good`. All others are `unjudged`: read them, and add lines to `data/verdicts`. Choose by the development half alone. Of
the other half look at the totals, and at no sentence.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import SequenceMatcher
from typing import Final

from ebbing.language.text.quotation import undated
from ebbing.memory import AsyncMemory
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings
from training.parse import DATA, JudgedMemory, Talk, read_talks, read_verdicts

DEVELOPMENT: Final = ("w1", "w2", "w3", "w6", "w7", "w8", "w9", "w10", "w11", "w12")
CONFIRMING: Final = ("w13", "w14", "w15", "w16")
HARMFUL: Final = frozenset({"wrong_person", "opposite", "invented"})
UNJUDGED: Final = "unjudged"
START: Final = datetime(2026, 3, 2, 18, 0, tzinfo=UTC)
PAUSE: Final = timedelta(minutes=1)
TURNS: Final = 2
"""Messages that are added by one call."""
NEAR: Final = 0.8
"""Likeness from which other words are taken for the same memory."""
_PAGE: Final = 1_000
_DATE: Final = re.compile(r"\s?[(（]\d{4}[^)）]*[)）]|\s?[(（][A-Z][a-z]+ \d{4}[)）]")
_PRONOUN: Final = re.compile(r"(?i)\b(?:he|she|him|her|his|they|them|it)\b|[他她它]")
_SHORT: Final = 14


@dataclass(frozen=True)
class Made:
    """A memory that was made, with its verdict."""

    talk: Talk
    turn: int
    text: str
    rule: str
    label: str

    @property
    def said(self) -> str:
        """The message."""
        return self.talk.turns[self.turn].text

    @property
    def outcome(self) -> str:
        """`good`, `junk`, `harmful` or `unjudged`."""
        if self.label == UNJUDGED or self.label.startswith("good"):
            return self.label.partition(":")[0]
        return "harmful" if self.label in HARMFUL else "junk"


async def memories_of(talks: Sequence[Talk]) -> list[tuple[Talk, int, str, str]]:
    """Add the talks; return each memory with its talk, its last message, its text and its rule."""
    clock = ManualClock(START)
    settings = load_settings({"store": "ephemeral", "reader": "off", "embedder": "none"})
    made: list[tuple[Talk, int, str, str]] = []
    async with AsyncMemory(components=build(settings, clock=clock)) as memory:
        for talk in talks:
            await _add(memory, talk, clock)
            for item in (await memory.get_all(user_id=talk.id, limit=_PAGE))["results"]:
                provenance = (await memory.explain(item["id"]))["provenance"]
                place = max(int(source.rpartition(":")[2]) for source in item["source_ids"])
                made.append((talk, place, undated(item["memory"]), provenance.get("rule") or "none"))
    return made


async def _add(memory: AsyncMemory, talk: Talk, clock: ManualClock) -> None:
    messages = []
    for place, turn in enumerate(talk.turns):
        clock.set(clock.now() + PAUSE)
        role = "assistant" if turn.speaker == "assistant" else "user"
        message = {"role": role, "content": turn.text, "id": f"{talk.id}:{place}"}
        if turn.speaker not in {"assistant", "user"}:
            message["name"] = turn.speaker
        messages.append(message)
    for begin in range(0, len(messages), TURNS):
        await memory.add(messages[begin : begin + TURNS], user_id=talk.id)


def verdict_of(text: str, judged: Sequence[JudgedMemory]) -> JudgedMemory | None:
    """Return the verdict on the memory, of those that were given at the same message."""
    same = [verdict for verdict in judged if verdict.text == text]
    if same:
        return same[0]
    near = [verdict for verdict in judged if verdict.label.startswith("good") and likeness(text, verdict.text) >= NEAR]
    return max(near, key=lambda verdict: likeness(text, verdict.text), default=None)


def likeness(text: str, other: str) -> float:
    """Return how alike two memories are, whatever dates were put into them."""
    return SequenceMatcher(None, _DATE.sub("", text), _DATE.sub("", other), autojunk=False).ratio()


def judged_memories(authors: Sequence[str]) -> tuple[list[Made], list[tuple[Talk, JudgedMemory]]]:
    """Return the memories that are made of the authors' talks, and the good ones that are made no longer."""
    made: list[Made] = []
    lost: list[tuple[Talk, JudgedMemory]] = []
    for author in authors:
        talks = read_talks(DATA / "talks" / f"{author}.txt")
        verdicts = read_verdicts(DATA / "verdicts" / f"{author}.txt")
        matched: set[tuple[str, int, str]] = set()
        for talk, turn, text, rule in asyncio.run(memories_of(talks)):
            judged = [verdict for verdict in verdicts.get(talk.id, ()) if verdict.turn == turn]
            verdict = verdict_of(text, judged)
            made.append(Made(talk, turn, text, rule, verdict.label if verdict else UNJUDGED))
            matched |= {(talk.id, turn, verdict.text)} if verdict else set()
        for talk in talks:
            good = [verdict for verdict in verdicts.get(talk.id, ()) if verdict.label.startswith("good")]
            lost += [(talk, verdict) for verdict in good if (talk.id, verdict.turn, verdict.text) not in matched]
    return made, lost


def totals(made: Sequence[Made], lost: Sequence[tuple[Talk, JudgedMemory]]) -> str:
    """Return one line: what was made, how much of it is good, and what is made no longer."""
    counts = Counter(memory.outcome for memory in made)
    judged = max(1, len(made) - counts[UNJUDGED])
    health = sum(memory.label.startswith("good:health") for memory in made)
    health_lost = sum(verdict.label.startswith("good:health") for _, verdict in lost)
    return (
        f"{len(made)} memories: good {counts['good']} ({counts['good'] / judged:.1%}), junk {counts['junk']} "
        f"({counts['junk'] / judged:.1%}), harmful {counts['harmful']} ({counts['harmful'] / judged:.1%}), "
        f"unjudged {counts[UNJUDGED]}; good that are made no longer {len(lost)}; of health {health} good, "
        f"{health_lost} made no longer"
    )


def form_of(memory: Made) -> str:
    """Return what is striking about the message."""
    if re.search(r"[?？]", memory.said):
        return "question"
    if len(memory.said.split() if memory.talk.language == "en" else memory.said) <= _SHORT:
        return "short"
    return "pronoun" if _PRONOUN.search(memory.said) else "plain"


def subject_of(memory: Made) -> str:
    """Return whom the words of the memory begin with."""
    name = memory.talk.turns[memory.turn].speaker
    head = "User" if memory.talk.language == "en" else "用户"
    for own in (name, head):
        if memory.text.startswith((f"{own}'s rule", f"{own}要求")):
            return "rule"
        if memory.text.startswith((f"{own}'s", f"{own}的")):
            return "relation"
        if memory.text.startswith(own):
            return "speaker"
    return "other"


TABLES: Final[dict[str, Callable[[Made], str]]] = {
    "fault": lambda memory: memory.label.partition(":")[0],
    "language": lambda memory: memory.talk.language,
    "chat": lambda memory: "assistant" if any(turn.speaker == "assistant" for turn in memory.talk.turns) else "people",
    "subject": subject_of,
    "form": form_of,
    "rule": lambda memory: memory.rule,
}


def table(made: Sequence[Made], name: str) -> str:
    """Return good, junk, harmful and unjudged memories by a trait."""
    rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for memory in made:
        rows[TABLES[name](memory)][memory.outcome] += 1
    lines = [f"{name:28} good junk harm  new share"]
    for row, counts in sorted(rows.items(), key=lambda each: -sum(each[1].values())):
        judged = max(1, sum(counts.values()) - counts[UNJUDGED])
        figures = " ".join(f"{counts[outcome]:4}" for outcome in ("good", "junk", "harmful", UNJUDGED))
        lines.append(f"{row:28} {figures} {counts['good'] / judged:5.2f}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=",".join(TABLES), help="`none`, or some of: " + ", ".join(TABLES))
    parser.add_argument("--show", default="", help="a verdict, an outcome or a rule")
    parser.add_argument("--lost", action="store_true", help="print the good memories that are made no longer")
    given = parser.parse_args()
    made, lost = judged_memories(DEVELOPMENT)
    print(f"development: {totals(made, lost)}")
    print(f"confirming:  {totals(*judged_memories(CONFIRMING))}", flush=True)
    for name in given.tables.split(",") if given.tables != "none" else ():
        print(f"\n{table(made, name)}")
    for memory in made if given.show else ():
        if given.show in {memory.outcome, memory.label, memory.rule}:
            said = memory.said[:300]
            print(f"{memory.talk.id}|{memory.turn + 1}|{memory.label}|{memory.text}   [{memory.rule}] ← {said}")
    for talk, verdict in lost if given.lost else ():
        said = talk.turns[verdict.turn].text[:200]
        print(f"lost {talk.id}|{verdict.turn + 1}|{verdict.label}|{verdict.text}   ← {said}")


if __name__ == "__main__":
    main()
