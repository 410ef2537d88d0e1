"""Everyday conversations: what is kept of them, what is closed, and whether a question's answer reaches the prompt.

    python -m evals life                       # counts for each log, and how many questions are answered
    python -m evals life --show                # every memory with its verdict and evidence, every closing, each context
    python -m evals life --logs DIR            # other logs: `NAME.jsonl` and `*_questions.jsonl`

A log is added session by session (an hour without a message ends one) through `AsyncMemory.add`, with names, ids and
times, under a clock that shows the time of the session. Each question then goes to `get_context` with its defaults, as
of an hour after the last message. The memory is that of the `owner` whom the first message names, else of the log's
name. *Answered*: a message of the question's evidence stands behind a memory of the block.
*First*: behind its best relevant memory. *Whole*: all messages of its evidence stand there. Whether a memory is good,
junk, harmful, or stale (over by a later message) is judged by reading; verdicts stand in `verdicts.jsonl` beside the
logs, and memories without one are counted as `unjudged`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from ebbing.language.text.quotation import undated
from ebbing.memory import AsyncMemory
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings

LOGS: Final = Path(__file__).parent / "data" / "life"
QUESTIONS: Final = "_questions"
VERDICTS: Final = "verdicts.jsonl"
SESSION_GAP: Final = timedelta(hours=1)
_PAGE: Final = 1_000

Item = dict[str, Any]


@dataclass
class LogReport:
    """What one log left behind."""

    name: str
    messages: int = 0
    memories: list[Item] = field(default_factory=list)
    """`memory`, `type`, `evidence` and `verdict` of each memory, closed ones too (`closed_by`)."""
    questions: list[Item] = field(default_factory=list)
    """`question`, `answer`, `answered`, `first`, `whole`, `tokens` and `context` of each question."""

    def counts(self) -> Item:
        """Return the figures of the log."""
        current = [memory for memory in self.memories if not memory["closed_by"]]
        told = [memory for memory in current if not memory["doubted"]]
        verdicts = Counter(memory["verdict"] for memory in self.memories if not memory["doubted"])
        return {
            "messages": self.messages,
            "memories": len(told),
            "doubted": len(current) - len(told),
            "closed": len(self.memories) - len(current),
            **{verdict: verdicts[verdict] for verdict in ("good", "junk", "harmful", "stale", "unjudged")},
            "questions": len(self.questions),
            "answered": sum(question["answered"] for question in self.questions),
            "first": sum(question["first"] for question in self.questions),
            "whole": sum(question["whole"] for question in self.questions),
        }


async def replay(
    path: Path, questions: list[Item], *, embedder: str, verdicts: dict[tuple[str, str], str]
) -> LogReport:
    """Add one log, read what is kept of it, and ask its questions."""
    report = LogReport(path.stem)
    messages = _lines(path)
    owner = messages[0].get("owner", path.stem)
    clock = ManualClock(_time(messages[0]))
    settings = load_settings({"store": "ephemeral", "embedder": embedder})
    async with AsyncMemory(components=build(settings, clock=clock)) as memory:
        for session in sessions(messages):
            clock.set(max(_time(session[-1]), clock.now()))
            await memory.add(session, user_id=owner)
        report.messages = len(messages)
        report.memories = await _memories(memory, owner, log=path.stem, verdicts=verdicts)
        clock.set(clock.now() + SESSION_GAP)
        for question in questions:
            report.questions.append(await _asked(memory, owner, question=question))
    return report


def sessions(messages: list[Item]) -> Iterator[list[Item]]:
    """Split a log where nothing is said for an hour."""
    session: list[Item] = []
    for message in messages:
        if session and _time(message) - _time(session[-1]) > SESSION_GAP:
            yield session
            session = []
        session.append(message)
    if session:
        yield session


async def _memories(memory: AsyncMemory, user: str, *, log: str, verdicts: dict[tuple[str, str], str]) -> list[Item]:
    items = (await memory.get_all(user_id=user, limit=_PAGE))["results"]
    texts = {item["id"]: item["memory"] for item in items}
    memories: list[Item] = []
    for item in reversed(items):
        provenance = (await memory.explain(item["id"]))["provenance"]
        superseded_by = item.get("superseded_by")
        memories.append(
            {
                "memory": item["memory"],
                "type": item["type"],
                "evidence": provenance["source_text"],
                "sources": list(item["source_ids"]),
                "closed_by": texts.get(superseded_by, superseded_by or "its time is over")
                if "valid_to" in item
                else "",
                "doubted": "doubted" in item["tags"],
                "verdict": verdicts.get((log, undated(item["memory"])), "unjudged"),
            }
        )
    return memories


async def _asked(memory: AsyncMemory, user: str, *, question: Item) -> Item:
    answer = await memory.get_context(question["question"], user_id=user)
    evidence = set(question["evidence"])
    relevant = [item for item in answer["memories"] if item["group"] == "relevant"]
    best = max(relevant, key=lambda item: float(item["score"]), default=None)
    return {
        "question": question["question"],
        "answer": question["answer"],
        "answered": any(evidence & set(item["source_ids"]) for item in answer["memories"]),
        "first": best is not None and bool(evidence & set(best["source_ids"])),
        "whole": bool(evidence) and evidence <= {name for item in answer["memories"] for name in item["source_ids"]},
        "tokens": answer["tokens"],
        "context": answer["context"],
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m evals life`."""
    parser.add_argument("--logs", type=Path, default=LOGS, help="folder of the logs (default: evals/data/life)")
    parser.add_argument("--only", default="", metavar="NAME", help="this log alone")
    parser.add_argument("--embedder", default="auto", help="`auto` (default), `e5`, `sentence-encoder` or `none`")
    parser.add_argument("--show", action="store_true", help="print every memory, closing and context for reading")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")


def run(options: argparse.Namespace) -> None:
    """Print the figures of each log, and of all together."""
    questions = [line for path in sorted(options.logs.glob(f"*{QUESTIONS}.jsonl")) for line in _lines(path)]
    verdicts = _verdicts(options.logs / VERDICTS)
    reports = [
        asyncio.run(
            replay(
                path,
                [question for question in questions if question["log"] == path.stem],
                embedder=options.embedder,
                verdicts=verdicts,
            )
        )
        for path in sorted(options.logs.glob("*.jsonl"))
        if path.name != VERDICTS and not path.stem.endswith(QUESTIONS) and options.only in {"", path.stem}
    ]
    if options.json:
        print(json.dumps({report.name: {**report.counts(), **vars(report)} for report in reports}, ensure_ascii=False))
        return
    for report in reports:
        if options.show:
            _show(report)
        print(f"{report.name}: " + ", ".join(f"{label} {value}" for label, value in report.counts().items()))
    totals = Counter[str]()
    for report in reports:
        totals.update(report.counts())
    print("all: " + ", ".join(f"{label} {value}" for label, value in totals.items()))


def _show(report: LogReport) -> None:
    print(f"\n── {report.name} " + "─" * 60)
    for memory in report.memories:
        closed = f"   CLOSED BY {memory['closed_by']!r}" if memory["closed_by"] else ""
        mark = "   IN DOUBT" if memory["doubted"] else closed
        print(f"{memory['verdict']:<9}[{memory['type']}] {memory['memory']}    ← {memory['evidence']}{mark}")
    for question in report.questions:
        mark = "first" if question["first"] else "found" if question["answered"] else "MISSED"
        print(f"\n{mark}: {question['question']} → {question['answer']} ({question['tokens']} tokens)")
        print(question["context"])


def _lines(path: Path) -> list[Item]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _time(message: Item) -> datetime:
    return datetime.fromisoformat(message["timestamp"]).astimezone(UTC)


def _verdicts(path: Path) -> dict[tuple[str, str], str]:
    if not path.exists():
        return {}
    return {(line["log"], line["memory"]): line["verdict"] for line in _lines(path)}
