"""Does what is said later close what is no longer true, and nothing else?

    python -m evals conflicts                # every part of both languages; errors of the tuning half and fresh part
    python -m evals conflicts --errors all   # the other errors too: read them only after the last tuning
    python -m evals conflicts --crowd        # each pair that may be read is told to somebody who is known well

The sets are `evals/data/conflicts_{en,zh}.jsonl`: pairs of messages. In an *update*, the second says that the first is
no longer so; in a *compatible* pair it says the same again, more of it, or another matter. Each pair is told to a
memory of its own without models, and then searched for by the words of the first message. *Superseded*: of the updates,
those after which no current memory of the first message holds what is `gone`, neither in a listing nor in a search.
*Wrongly superseded*: of the compatible pairs, those after which a memory of the first message is closed. *Doubted*: the
updates after which what stays is in doubt, and the compatible pairs after which a memory is. A pair belongs
to the test half by a hash of its id. The fresh part, `conflicts_fresh_{en,zh}.jsonl`, was written in rounds without a
look at the rules; each round was counted once before it was used for tuning; half of the last six is `held`, counted
and never used. With `--crowd` the pairs of the tuning half and the fresh part are told once more, after the messages of
`evals/data/crowd_{en,zh}.txt`, of which none has to do with any pair; *lost*: the pairs after which one of those
memories is closed, whatever else happened. Phone numbers and mail addresses are allowed here: masked, they could not be
compared.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ebbing.memory import AsyncMemory
from ebbing.wiring.build import Components, build, load_settings
from evals.extraction import DATA, LANGUAGES, PARTS, SHOWN, add_errors_option, chosen, items

REDACTION: Final = {"phone": "allow", "email": "allow"}
"""Masked, they could not be compared."""
CROWD: Final = "crowd"


@dataclass
class Score:
    """Counts over a set of pairs, and what went wrong."""

    updates: int = 0
    superseded: int = 0
    compatible: int = 0
    wrongly: int = 0
    silent: int = 0
    """Compatible pairs of which a message gave no memory at all: they prove nothing."""
    doubted: int = 0
    """Updates after which what stays is in doubt."""
    wrongly_doubted: int = 0
    """Compatible pairs after which a memory of the first message is in doubt."""
    lost: int = 0
    """Pairs after which something else that was known before them is closed."""
    errors: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        return self.superseded / self.updates if self.updates else 1.0

    @property
    def wrong_share(self) -> float:
        return self.wrongly / self.compatible if self.compatible else 0.0

    def as_dict(self) -> dict[str, float]:
        return {
            "updates": self.updates,
            "superseded": round(self.recall, 4),
            "compatible": self.compatible,
            "wrongly_superseded": round(self.wrong_share, 4),
            "silent": self.silent,
            "doubted": self.doubted,
            "wrongly_doubted": self.wrongly_doubted,
            "lost": self.lost,
        }


async def measure(embedder: str, *, crowd: bool = False) -> dict[tuple[str, str], Score]:
    """The score of each language and part, and with `crowd` those in a full memory; `embedder` as in the settings."""
    scores = {(language, part): Score() for language in LANGUAGES for part in PARTS}
    async with opened(embedder) as memory:
        for language in LANGUAGES:
            for part, pair in items("conflicts", language):
                await _tell(memory, pair, score=scores[language, part])
    if crowd:
        scores |= {(language, CROWD): Score() for language in LANGUAGES}
        async with opened(embedder) as memory:
            for language in LANGUAGES:
                others = (DATA / f"{CROWD}_{language}.txt").read_text("utf-8").splitlines()
                for part, pair in items("conflicts", language):
                    if part in SHOWN:
                        await _tell(memory, pair, score=scores[language, CROWD], crowd=others)
    return scores


async def measure_part(language: str, part: str, *, components: Components) -> Score:
    """The score of one part of one language; the components are closed."""
    score = Score()
    async with AsyncMemory(components=components) as memory:
        for its_part, pair in items("conflicts", language):
            if its_part == part:
                await _tell(memory, pair, score=score)
    return score


def opened(embedder: str) -> AsyncMemory:
    """A memory that keeps phone numbers and mail addresses."""
    settings = load_settings({"store": "ephemeral", "embedder": embedder, "redaction": REDACTION})
    return AsyncMemory(components=build(settings))


async def _tell(memory: AsyncMemory, pair: Mapping[str, Any], *, score: Score, crowd: Sequence[str] = ()) -> None:
    user, gone = pair["id"], pair.get("gone", "")
    if crowd:
        await memory.add([{"role": "user", "content": text} for text in crowd], user_id=user)
    known = {item["id"] for item in await _all_of(memory, user)}
    first = (await memory.add(pair["before"], user_id=user))["results"]
    second = (await memory.add(pair["after"], user_id=user))["results"]
    old = {item["id"]: item["memory"] for item in first if item["id"] is not None}
    said = {identity: text for identity, text in old.items() if gone.lower() in text.lower()} or old
    found = (await memory.search(pair["before"], user_id=user, top_k=50, include="memories"))["results"]
    listed = await _all_of(memory, user)
    current = {item["id"]: item["memory"] for item in (*found, *listed) if "valid_to" not in item}
    doubted = {item["id"] for item in listed if "doubted" in item["tags"]}
    stale = {identity: text for identity, text in said.items() if current.get(identity) == text}
    closed = [item for one in second for item in one.get("superseded", ())]
    lost = known - {item["id"] for item in listed}
    told = f"{pair['id']}  {pair['before']!r} … {pair['after']!r}\n        -> {_shown(first)} … {_shown(second)}"
    score.lost += bool(lost)
    if lost:
        score.errors.append(f"lost       {told}")
    if pair["kind"] == "update":
        score.updates += 1
        score.superseded += bool(said) and not stale
        score.doubted += bool(stale) and stale.keys() <= doubted
        if stale or not said:
            score.errors.append(f"stays      {told}")
        return
    score.compatible += 1
    score.silent += not first or not second
    score.wrongly += bool(closed)
    score.wrongly_doubted += not doubted.isdisjoint(old)
    if closed:
        score.errors.append(f"wrongly    {told}")


async def _all_of(memory: AsyncMemory, user: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await memory.get_all(user_id=user, limit=1000))["results"]
    return items


def _shown(results: list[dict[str, Any]]) -> str:
    return "; ".join(f"{one['event']} {one['memory']!r} ({one['reason']})" for one in results) or "nothing"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m evals conflicts`."""
    add_errors_option(parser)
    parser.add_argument(
        "--embedder", default="none", help="`none` (default), `e5` or `sentence-encoder`: vectors beside the words"
    )
    parser.add_argument("--crowd", action="store_true", help="tell the pairs that may be read to a full memory as well")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")


def run(options: argparse.Namespace) -> None:
    """Prints what share of the updates is superseded, and of the compatible pairs wrongly; the errors asked for."""
    scores = asyncio.run(measure(options.embedder, crowd=options.crowd))
    if options.json:
        print(json.dumps({f"{language}/{part}": item.as_dict() for (language, part), item in scores.items()}))
        return
    for (language, part), score in scores.items():
        if part in chosen(options.errors) or (part == CROWD and options.errors != ["none"]):
            print(f"\n{language} {part}: {len(score.errors)} errors")
            print("\n".join(score.errors))
    print(
        f"\n{'set':<12}{'updates':>9}{'superseded':>12}{'compatible':>12}{'wrongly':>9}{'silent':>8}{'lost':>6}{'doubted':>9}{'wrongly':>9}"
    )
    for (language, part), score in scores.items():
        shares = f"{score.updates:>9}{score.recall:>12.1%}{score.compatible:>12}{score.wrong_share:>9.1%}"
        doubts = f"{score.doubted:>9}{score.wrongly_doubted:>9}"
        print(f"{language + ' ' + part:<12}{shares}{score.silent:>8}{score.lost:>6}{doubts}")
