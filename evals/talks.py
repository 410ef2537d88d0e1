"""Labelled conversations through the production path: are memories made where a person would make them?

    python -m evals talks --authors w4,w5            # reader as installed, and switched off, in one run
    python -m evals talks --authors w4 --show        # every memory with its message

A talk of `training/data/talks` is added two messages at a time. A memory counts as right if the message that it rests
on bears a memory that the author wrote down; recall is the share of such messages from which one was made. Whether the
words of a memory are right is judged by reading (`python -m evals life`).
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from ebbing.memory import AsyncMemory
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings
from training.parse import DATA, Talk, read_talks

START: Final = datetime(2026, 3, 2, 18, 0, tzinfo=UTC)
PAUSE: Final = timedelta(minutes=1)
TURNS: Final = 2
_PAGE: Final = 1_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m evals talks`."""
    parser.add_argument("--authors", default="w4,w5", help="names of files, with commas between")
    parser.add_argument("--readers", default="off,auto", help="settings of EBBING_READER to compare")
    parser.add_argument("--show", action="store_true", help="print each memory")


def run(options: argparse.Namespace) -> None:
    """Print figures for each author and setting."""
    for author in options.authors.split(","):
        talks = read_talks(DATA / "talks" / f"{author}.txt")
        for reader in options.readers.split(","):
            counts = asyncio.run(_judged(talks, reader, show=options.show))
            print(f"{author} reader {reader}: {_figures(counts)}", flush=True)


async def _judged(talks: Sequence[Talk], reader: str, *, show: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    clock = ManualClock(START)
    settings = load_settings({"store": "ephemeral", "reader": reader})
    async with AsyncMemory(components=build(settings, clock=clock)) as memory:
        for talk in talks:
            await _add(memory, talk, clock)
            counts.update(await _compared(memory, talk, show=show))
    return counts


async def _add(memory: AsyncMemory, talk: Talk, clock: ManualClock) -> None:
    messages = []
    for place, turn in enumerate(talk.turns):
        clock.set(clock.now() + PAUSE)
        is_assistant = turn.speaker == "assistant"
        message = {"role": "assistant" if is_assistant else "user", "content": turn.text, "id": f"{talk.id}:{place}"}
        if turn.speaker not in {"assistant", "user"}:
            message["name"] = turn.speaker
        messages.append(message)
    for begin in range(0, len(messages), TURNS):
        await memory.add(messages[begin : begin + TURNS], user_id=talk.id)


async def _compared(memory: AsyncMemory, talk: Talk, *, show: bool) -> Counter[str]:
    bearing = {place for good in talk.good.values() for place in good.turns}
    said_last = {good.turns[-1] for good in talk.good.values()}
    items = (await memory.get_all(user_id=talk.id, limit=_PAGE))["results"]
    made = set()
    counts: Counter[str] = Counter(memories=len(items), wanted=len(said_last), talks=1)
    for item in items:
        places = {int(source.rpartition(":")[2]) for source in item["source_ids"]}
        made |= places
        is_right = bool(places & bearing)
        counts["right"] += is_right
        if show:
            said = " / ".join(talk.turns[place].text for place in sorted(places))
            print(f"{'+' if is_right else '-'} [{item['type']}] {item['memory']}   ← {said}")
    counts["made"] += len(said_last & made)
    return counts


def _figures(counts: Counter[str]) -> str:
    precision = counts["right"] / max(1, counts["memories"])
    recall = counts["made"] / max(1, counts["wanted"])
    return f"{counts['memories']} memories, precision {precision:.3f}, recall {recall:.3f} of {counts['wanted']}"
