"""What is kept of real conversations: MemoryBank replayed end to end, without models.

    python -m evals memorybank --data ../shared/eval-data                # both languages: counts and a sample
    python -m evals memorybank --data ../shared/eval-data --sample 0     # the counts alone

Every round of a user and the assistant is added as it was said, on its day. *Kept*: memories (not episodes) for 100
user messages. *Duplicates*: of the memories that hold at the end, those whose content words, numbers and yes-or-no
another one of the same user has too. The sample is what comes first by a hash of the memories, so that most of it stays
when a rule changes; whether a memory is junk is judged by reading. `data/memorybank_junk.jsonl` holds the verdicts on
such a sample; memories of the sample that were judged are shown with their verdict, and the share of junk among them is
printed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from ebbing.language.claims.claims import StatementHints, claim_of
from ebbing.language.text.quotation import undated
from ebbing.memory import AsyncMemory
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings

VERDICTS: Final = Path(__file__).parent / "data" / "memorybank_junk.jsonl"
LANGUAGES: Final = {"en": "en", "zh": "cn"}
_PAGE: Final = 1_000


@dataclass
class Kept:
    """What one language's users left behind."""

    users: int = 0
    user_messages: int = 0
    memories: list[str] = field(default_factory=list)
    """Texts of the memories that hold at the end."""
    sources: list[str | None] = field(default_factory=list)
    """The sentence behind each of them."""
    duplicates: list[str] = field(default_factory=list)
    closed: int = 0
    types: Counter[str] = field(default_factory=Counter)

    def as_dict(self) -> dict[str, float]:
        return {
            "users": self.users,
            "user_messages": self.user_messages,
            "memories": len(self.memories),
            "per_100_user_messages": round(100 * len(self.memories) / max(self.user_messages, 1), 1),
            "closed": self.closed,
            "duplicate_rate": round(len(self.duplicates) / max(len(self.memories), 1), 4),
        }


async def replay(data: Path, language: str, *, embedder: str) -> Kept:
    """Adds every round of every user; what is kept at the end."""
    name = LANGUAGES[language]
    people = json.loads((data / "memorybank" / "eval_data" / name / f"memory_bank_{name}.json").read_text("utf-8"))
    kept = Kept()
    clock = ManualClock(datetime(2023, 5, 1, tzinfo=UTC))
    async with AsyncMemory(
        components=build(load_settings({"store": "ephemeral", "embedder": embedder}), clock=clock)
    ) as memory:
        for user, person in people.items():
            kept.users += 1
            for said_at, messages in _rounds(person["history"]):
                clock.set(max(said_at, clock.now()))
                kept.user_messages += 1
                await memory.add(messages, user_id=user)
            await _count(memory, user, kept=kept)
    return kept


def _rounds(history: dict[str, list[dict[str, str]]]) -> Iterator[tuple[datetime, list[dict[str, Any]]]]:
    for day in sorted(history):
        said_at = datetime.fromisoformat(day.replace("/", "-")).replace(hour=9, tzinfo=UTC)
        for item in history[day]:
            if not item.get("query", "").strip():
                continue
            yield (
                said_at,
                [
                    {"role": "user", "content": item["query"], "timestamp": said_at},
                    {"role": "assistant", "content": item.get("response") or "…", "timestamp": said_at},
                ],
            )


async def _count(memory: AsyncMemory, user: str, *, kept: Kept) -> None:
    seen: dict[object, str] = {}
    items = (await memory.get_all(user_id=user, limit=_PAGE))["results"]
    for item in items:
        if "valid_to" in item:
            kept.closed += 1
            continue
        text = undated(item["memory"])
        claim = claim_of(text, StatementHints())
        key = (claim.words, claim.numbers, claim.negated, item["type"] == "episodic" and item["created_at"])
        if key in seen:
            kept.duplicates.append(f"{text!r} beside {seen[key]!r}")
        seen.setdefault(key, text)
        kept.types[item["type"]] += 1
        kept.memories.append(text)
        kept.sources.append((await memory.explain(item["id"]))["provenance"]["source_text"])


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m evals memorybank`."""
    parser.add_argument("--data", type=Path, required=True, help="folder that holds memorybank/")
    parser.add_argument("--sample", type=int, default=50, metavar="N", help="memories to show for each language")
    parser.add_argument("--embedder", default="none", help="`none` (default), `e5` or `sentence-encoder`")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")


def run(options: argparse.Namespace) -> None:
    """Prints the counts of each language, a sample of what was kept, and the share of junk among what was judged."""
    found = {name: asyncio.run(replay(options.data, name, embedder=options.embedder)) for name in LANGUAGES}
    verdicts = _verdicts()
    if options.json:
        print(json.dumps({name: kept.as_dict() for name, kept in found.items()}))
        return
    for name, kept in found.items():
        print(f"\n{name}: " + ", ".join(f"{label} {value}" for label, value in kept.as_dict().items()))
        print(f"types: {dict(kept.types.most_common())}")
        print("".join(f"duplicate: {one}\n" for one in kept.duplicates), end="")
        _show_sample(name, kept, verdicts=verdicts, size=options.sample)


def _show_sample(language: str, kept: Kept, *, verdicts: dict[tuple[str, str], bool], size: int) -> None:
    order = sorted(range(len(kept.memories)), key=lambda at: sha256(kept.memories[at].encode()).digest())[:size]
    judged = [verdicts[language, kept.memories[at]] for at in order if (language, kept.memories[at]) in verdicts]
    for at in order:
        verdict = verdicts.get((language, kept.memories[at]))
        mark = "?" if verdict is None else "junk" if verdict else "good"
        print(f"  {mark:<5}{kept.memories[at]}    ← {kept.sources[at]}")
    if judged:
        print(
            f"junk: {sum(judged)} of {len(judged)} judged ({sum(judged) / len(judged):.0%}), {len(order)} in the sample"
        )


def _verdicts() -> dict[tuple[str, str], bool]:
    if not VERDICTS.exists():
        return {}
    lines = map(json.loads, VERDICTS.read_text("utf-8").splitlines())
    return {(line["language"], line["memory"]): line["junk"] for line in lines}
