"""How many memories a second `ebbing move` takes from one place to the next, and how long comparing both ends takes.

    python scripts/measure_move.py --memories 20000 postgresql://host/empty mysql://host/empty

The memories are made up, with vectors of 384 numbers; they go from a directory around the ring into another one. The
databases have to be empty, and hold the memories in the end.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np

import ebbing
from ebbing import AsyncMemory
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import entry_for
from ebbing.language.text.analyzer import analyse
from ebbing.ports.stores.memory_store import Insert

OF_A_PERSON = 200
"""Memories of each person."""
WORDS = "tea rain train garden bridge plums Harbin Leeds walked bought planted met told cooked Monday summer".split()
BEGIN = datetime(2024, 1, 1, tzinfo=UTC)


async def fill(place: Path, count: int) -> None:
    """A store with so many memories."""
    draw = np.random.default_rng(1)
    async with AsyncMemory(place, embedder="none") as memory:
        for person in range(count // OF_A_PERSON):
            scope, changes = Scope(user_id=f"person {person}"), []
            for number in range(OF_A_PERSON):
                at, text = BEGIN + timedelta(minutes=number), " ".join(draw.choice(WORDS, 18))
                record = MemoryRecord(f"{person}-{number}", scope, text, at, at)
                vector = draw.standard_normal(384).astype(np.float32)
                entry = entry_for(analyse(text, said_at=at), vector=vector, model_id="drawn")
                changes.append(Insert(record, entry))
            await memory.components.store.write(scope, changes)


def measure(source: str, target: str, *, memories: int) -> None:
    """Move from one place to the next, and say how long it took."""
    begun = time.perf_counter()
    compared = 0.0

    def look(step: str, *, done: int, total: int) -> None:
        nonlocal compared
        if step == "compare" and not compared:
            compared = time.perf_counter()
        assert done <= total

    result = ebbing.move(source, target, on_progress=look)
    ended = time.perf_counter()
    assert result.is_equal
    print(
        f"{kind_of(source)} to {kind_of(target)}: {memories / (ended - begun):,.0f} memories a second"
        f" ({result.moved_rows:,} rows: {compared - begun:.1f} s moved, {ended - compared:.1f} s compared)",
        flush=True,
    )


def kind_of(place: str) -> str:
    """The kind of a place, for people."""
    return place.partition(":")[0] if "://" in place else "embedded"


def main() -> None:
    """Measure the whole way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("databases", nargs="*", help="addresses of empty databases")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder, "first")
        asyncio.run(fill(first, options.memories))
        for source, target in pairwise([str(first), *options.databases, str(Path(folder, "last"))]):
            measure(source, target, memories=options.memories)


if __name__ == "__main__":
    main()
