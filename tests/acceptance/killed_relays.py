"""A process that writes and has a vector index follow until it is killed, and the one that looks at what is left."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from anyio import CapacityLimiter, create_task_group, fail_after, sleep, to_thread

from ebbing import AsyncMemory
from ebbing.domain.errors import VectorIndexError
from ebbing.index.shard import Shard
from ebbing.ports.indexes.vector_index import VectorRoom, follower_name
from ebbing.ports.stores.memory_store import Insert
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings
from tests.large_owner import ADA, records

Place = dict[str, Any]
"""The settings of a store and of an index; for Qdrant a directory stands for the address."""

MODEL = FakeEmbedder(64)
MIN_ROWS = 200
FIRST_ROWS = 300
AT_ONCE = 16
"""Searches that wait for a server together: Milvus answers each once it is sure to have seen every write."""
WRITTEN = 20
"""Memories of one write."""
LONGEST_SECONDS = 0.15
"""After so long at most a process is killed that began to bring the index up to date."""
_STARTER = multiprocessing.get_context("forkserver")
_ADAPTERS = ("sql", "vectors.usearch", "vectors.pgvector", "vectors.milvus", "vectors.qdrant")
_STARTER.set_forkserver_preload([__name__, *(f"ebbing.adapters.{name}" for name in _ADAPTERS)])


@asynccontextmanager
async def opened(place: Place) -> AsyncIterator[AsyncMemory]:
    """A service in which an owner of few rows counts as large, and nobody has the right to change the index."""
    settings = load_settings({**place, "embedder": "none"})
    with as_tested(place["vector_index"]):
        async with AsyncMemory(components=build(settings, embedder=MODEL)) as memory:
            components = memory.components
            assert components.vectors is not None
            components.vectors.follower._min_rows = components.vectors.candidates.min_rows = MIN_ROWS
            components.store.use_model(MODEL)
            for job in await components.store.jobs.list(kind="vector_index"):
                await components.store.jobs.release(job)  # who had it was killed: nobody waits five minutes here
            yield memory


@contextmanager
def as_tested(index: str) -> Iterator[None]:
    """Change how an index works for the time of a test, and for no test after it in the same process."""
    with pytest.MonkeyPatch.context() as patch:
        if index == "qdrant":
            use_local_qdrant(patch)
        elif index == "usearch":
            use_small_tails(patch)
        yield


def use_local_qdrant(patch: pytest.MonkeyPatch) -> None:
    """Let the client keep its points in a directory: no server of Qdrant can be had for the tests."""
    from qdrant_client.qdrant_client import QdrantClient

    def connect(directory: str, **_: Any) -> QdrantClient:
        return QdrantClient(path=directory)

    patch.setattr("qdrant_client.QdrantClient", connect)


def use_small_tails(patch: pytest.MonkeyPatch) -> None:
    """Let graphs of few rows have a tail, and take it in at every third write."""
    patch.setattr("ebbing.adapters.vectors.usearch.TAIL_FROM", 100)
    patch.setattr("ebbing.adapters.vectors.usearch.TAIL_ROWS", 50)


async def write(memory: AsyncMemory, first: int, *, count: int = WRITTEN) -> None:
    """Write memories of which the first has this number."""
    texts = [f"note {number} about the {number % 17}th bridge" for number in range(first, first + count)]
    await memory.components.store.write(ADA, [Insert(*pair) for pair in records(ADA, texts, MODEL, first=first)])


async def write_and_follow(place: Place, first: int, acks: Connection) -> None:
    """Write until somebody kills this process, and say of each write that it is done; the index follows in between."""
    async with opened(place) as memory:
        assert memory.components.vectors is not None
        while True:
            await write(memory, first)
            first += WRITTEN
            acks.send(first)
            with suppress(VectorIndexError):  # a server that is too busy: the next time
                await memory.components.vectors.follower.build(ADA.owner)


def run(place: Place, first: int, acks: Connection) -> None:
    """The process that is killed."""
    asyncio.run(write_and_follow(place, first, acks))


@dataclass
class Rounds:
    """Rounds of one store and one index, and what came of them."""

    place: Place
    drawn: np.random.Generator
    acknowledged: list[int] = field(default_factory=list)
    """Numbers of the memories that have to be there."""
    next_number: int = FIRST_ROWS
    counts: Counter[str] = field(default_factory=Counter)
    start_again_if_ended: Callable[[], bool] = lambda: False
    """Starts the index's server where that crashed by itself, and says whether it did; what it had is on its disk."""

    async def begin(self) -> None:
        async with opened(self.place) as memory:
            await write(memory, 0, count=FIRST_ROWS)
        self.acknowledged.extend(range(FIRST_ROWS))

    def kill(self) -> None:
        """Have a process write and follow, and kill it while the index follows one of its writes."""
        ours, theirs = _STARTER.Pipe(duplex=False)
        child = _STARTER.Process(target=run, args=(self.place, self.next_number, theirs))
        child.start()
        theirs.close()
        try:
            for _ in range(int(self.drawn.integers(1, 4))):
                assert ours.poll(180), "the process wrote nothing"
                self.acknowledge(ours.recv())
            child.join(float(self.drawn.uniform(0, LONGEST_SECONDS)))
        finally:
            child.kill()
            child.join()
        for last in received(ours):
            self.acknowledge(last)
        self.next_number += WRITTEN  # a write that was not acknowledged may be there or not
        self.counts["kills"] += 1

    def acknowledge(self, last: int) -> None:
        self.acknowledged.extend(range(last - WRITTEN, last))
        self.next_number = last

    async def look(self, *, at_all: bool) -> None:
        """Check that nothing is lost, and that the index catches up and finds the memories."""
        await self.revive()
        async with opened(self.place) as memory:
            store, parts = memory.components.store, memory.components.vectors
            assert parts is not None
            assert store.outbox is not None
            shard = await store.shard(ADA)
            assert {f"ada-{number}" for number in self.acknowledged} <= set(shard.ids)
            name = follower_name(parts.candidates.index, MODEL.model_id, dim=MODEL.dim)
            before = await store.outbox.standing(name, ADA.owner, limit=10_000)
            self.counts["with an index behind"] += before is None or before.behind != ()
            await self.caught_up(memory)
            after = await store.outbox.standing(name, ADA.owner, limit=1)
            assert after is not None
            assert after.behind == ()
            room = VectorRoom("default", after.partition, MODEL.model_id, MODEL.dim)
            newest = range(0 if at_all else shard.size - 3 * WRITTEN, shard.size)
            rows = [*newest, *([] if at_all else self.drawn.integers(0, shard.size, 30).tolist())]
            try:
                await self.find(memory, shard, room=room, rows=rows)
            except* VectorIndexError:
                if not await self.revive():
                    raise
                await self.caught_up(memory)
                await self.find(memory, shard, room=room, rows=rows)
            assert await store.verify() == []
            self.counts["memories"] = shard.size

    async def caught_up(self, memory: AsyncMemory) -> None:
        """Have the index follow, and try again where its server is too busy, or crashed."""
        assert memory.components.vectors is not None
        with fail_after(180):
            while True:
                with suppress(VectorIndexError):
                    assert await memory.components.vectors.follower.build(ADA.owner)
                    return
                await self.revive()
                await sleep(1)

    async def revive(self) -> bool:
        """Start a server again that crashed by itself, as somebody would who runs it; whether there was a need."""
        is_revived = await to_thread.run_sync(self.start_again_if_ended)
        self.counts["crashes of the server"] += is_revived
        return is_revived

    async def find(self, memory: AsyncMemory, shard: Shard, *, room: VectorRoom, rows: Sequence[int]) -> None:
        """Find memories by their vectors in the index, and some of them by a question."""
        assert memory.components.vectors is not None
        index, at_once = memory.components.vectors.candidates.index, CapacityLimiter(AT_ONCE)
        assert await index.count(room) == int(shard.embedded.sum())

        async def search(row: int) -> None:
            async with at_once:
                nearest = await index.search(room, shard.vectors[row], limit=10)
            assert shard.seq[row] in nearest, f"row {row} is not found"

        async with create_task_group() as searches:
            for row in rows:
                searches.start_soon(search, row)
        for row in (*rows[:2], *rows[-2:]):
            [record] = await memory.components.store.get(ADA, [shard.ids[row]])
            results = (await memory.search(record.content, user_id="ada", top_k=10))["results"]
            assert record.content in [item["memory"] for item in results]


def received(acks: Connection) -> Iterator[int]:
    """What was sent before the other end was killed."""
    try:
        while acks.poll():
            yield acks.recv()
    except EOFError:
        return


def local_place(folder: Path, index: str, *, address: str = "") -> Place:
    """The settings of an index, and of an embedded store beside it."""
    url = {"vector_index_url": address or str(folder / "qdrant")} if index != "usearch" else {}
    return {"path": folder, "vector_index": index, "vector_index_path": folder / "vectors", **url}


def doctor(place: Mapping[str, Any]) -> int:
    """The exit status of `ebbing doctor --verify`."""
    settings = {"EBBING_PATH": str(place["path"]), "EBBING_STORE": place.get("store", "sqlite")}
    command = [sys.executable, "-m", "ebbing", "doctor", "--verify"]
    environment = {**os.environ, **settings, "EBBING_EMBEDDER": "none"}
    return subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False).returncode
