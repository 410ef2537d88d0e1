"""An owner of some thousand memories, and a process that writes more of them while the vector index is built."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ebbing import AsyncMemory
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import IndexEntry, entry_for
from ebbing.language.text.analyzer import analyse
from ebbing.ports.stores.memory_store import Insert, MemoryStore
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings

ADA = Scope(user_id="ada")
_FORMS = (
    "the night train to Harbin left on day {}",
    "the gardener planted roses beside wall {}",
    "第 {} 天有人买了茶叶",
    "a recipe with plums, number {}",
    "meeting {} was about the bridge",
)
TEXTS = [_FORMS[number % 5].format(number) for number in range(1_500)]
_BEGIN = datetime(2024, 1, 1, tzinfo=UTC)


def records(
    scope: Scope, texts: Sequence[str], embedder: FakeEmbedder, *, first: int = 0
) -> list[tuple[MemoryRecord, IndexEntry]]:
    """Records of these texts with their index entries."""
    made = []
    for number, text in enumerate(texts, start=first):
        at = _BEGIN + timedelta(minutes=number)
        record = MemoryRecord(
            id=f"{scope.user_id}-{number}", belongs_to=scope, content=text, created_at=at, recorded_at=at
        )
        entry = entry_for(analyse(text, said_at=at), vector=embedder.embed([text])[0], model_id=embedder.model_id)
        made.append((record, entry))
    return made


async def fill(store: MemoryStore, scope: Scope = ADA, *, embedder: FakeEmbedder | None = None) -> None:
    """Store all texts for an owner."""
    embedder = embedder or FakeEmbedder(64)
    store.use_model(embedder)
    await store.write(scope, [Insert(*pair) for pair in records(scope, TEXTS, embedder)])


async def write_and_follow(folder: Path) -> None:
    """Write until somebody kills this process, while the index is built and follows."""
    embedder = FakeEmbedder(64)
    settings = load_settings({"path": folder, "vector_index": "usearch", "vector_index_from": 1_000})
    async with AsyncMemory(components=build(settings, embedder=embedder)) as memory:
        store, parts = memory.components.store, memory.components.vectors
        assert parts is not None
        store.use_model(embedder)
        for job in await store.jobs.list(kind="vector_index"):
            await store.jobs.release(job)
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        first = (await store.shard(ADA)).last_seq
        while True:
            texts = [f"note {first} says {number}" for number in range(20)]
            await store.write(ADA, [Insert(*pair) for pair in records(ADA, texts, embedder, first=10_000 + first)])
            first += len(texts)
            await parts.follower.build(ADA.owner)


if __name__ == "__main__":
    asyncio.run(write_and_follow(Path(sys.argv[1])))
