"""One very large owner: how near the index of vectors comes to comparing every row, and how long a search takes.

    python scripts/measure_vector_index.py --rows 1000000 --index usearch --path /var/tmp/million

Vectors and texts are made up: clustered unit vectors of 384 numbers, and words of which few are frequent.
So the figures say how the index finds, not how well an embedding model understands. The embedder costs nothing here:
it has every vector of a question ready. The rows are written 5,000 at a time, as by whoever brings many. With `--path`
a second run measures what the first one filled and built.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import tempfile
import time
import zlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ebbing import AsyncMemory
from ebbing.domain.filters.query import Query
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import entry_for
from ebbing.index.near_rows import along
from ebbing.language.text.analyzer import analyse
from ebbing.ports.indexes.vector_index import VectorRoom, follower_name
from ebbing.ports.models.embedder import Calibration
from ebbing.ports.stores.memory_store import Insert
from ebbing.recall.candidates import NEAREST_ROWS
from ebbing.recall.question import parse_query
from ebbing.wiring.build import build, load_settings

DIM = 384
SPREAD = 0.8
"""Length of what sets a row apart from the centre of its cluster, which has length 1."""
WRITES = 100
ROUNDS = 10
QUESTION_WORDS = 5
SIZES = (
    "SELECT pg_table_size(oid), pg_indexes_size(oid) FROM pg_class"
    " WHERE relkind = 'r' AND relname LIKE %s AND relnamespace = current_schema()::regnamespace"
)
ADA = Scope(user_id="ada")
BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
Vectors = NDArray[np.float32]


class DrawnEmbedder:
    """Vectors like those of a model, in topics and clusters of very different size.

    A cluster has a centre, and a row lies about as far from it as the centre from nothing, in few strong directions
    and many weak ones (their spread falls with the root of their rank). A question lies as far from some row.
    """

    calibration = Calibration(unrelated=0.15, related=0.4, paraphrase=0.75, same=0.98)
    model_id, dim = "drawn", DIM

    def __init__(self, clusters: int) -> None:
        draw = np.random.default_rng(7)
        topics = unit(draw.standard_normal((max(clusters // 50, 2), DIM)).astype(np.float32))
        own = unit(draw.standard_normal((clusters, DIM)).astype(np.float32))
        self.centres = unit(topics[draw.integers(0, len(topics), clusters)] + own)
        shares = np.cumsum(np.arange(1, clusters + 1) ** -0.7)
        self.shares = shares / shares[-1]
        spread = unit(np.arange(1, DIM + 1)[None, :].astype(np.float32) ** -0.5)
        rotation, _ = np.linalg.qr(draw.standard_normal((DIM, DIM)))
        self.noise = (SPREAD * spread.T * rotation).astype(np.float32)
        self.ready: dict[str, Vectors] = {}

    def rows(self, first: int, count: int) -> Vectors:
        """Return the vectors of some rows."""
        draw = np.random.default_rng(first)
        near = self.centres[np.searchsorted(self.shares, draw.random(count))]
        return unit(near + draw.standard_normal((count, DIM)).astype(np.float32) @ self.noise)

    def prepare(self, text: str, *, near: Vectors) -> None:
        """Draw the vector of a text: as far from another one as a row is from the centre of its cluster."""
        draw = np.random.default_rng(zlib.crc32(text.encode()))
        self.ready[text] = unit((near + draw.standard_normal(DIM).astype(np.float32) @ self.noise)[None, :])

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return np.concatenate([self.ready[text] for text in texts])

    embed_passages = embed_queries

    async def aclose(self) -> None:
        """Nothing to close."""


def unit(vectors: Vectors) -> Vectors:
    """The same directions with length 1."""
    scaled: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return scaled


def texts_of(draw: np.random.Generator, count: int) -> list[str]:
    """Sentences of twelve words, of which few are frequent."""
    words = np.minimum(draw.zipf(1.25, (count, 12)), 60_000)
    return [" ".join(f"word{number}" for number in row) for row in words.tolist()]


async def fill(memory: AsyncMemory, embedder: DrawnEmbedder, *, rows: int) -> None:
    """Store the rows of one owner."""
    store, draw = memory.components.store, np.random.default_rng(3)
    store.use_model(embedder)
    for first in range(0, rows, 5_000):
        count, changes = min(5_000, rows - first), []
        texts, vectors = texts_of(draw, count), embedder.rows(first, count)
        for number, (text, vector) in enumerate(zip(texts, vectors, strict=True), start=first):
            at = BEGIN + timedelta(seconds=60 * number)
            record = MemoryRecord(id=f"r{number}", belongs_to=ADA, content=text, created_at=at, recorded_at=at)
            entry = entry_for(analyse(text), vector=vector, model_id=embedder.model_id)
            changes.append(Insert(record, entry))
        await store.write(ADA, changes)


class Taken(NamedTuple):
    """Milliseconds of some calls."""

    wall: NDArray[np.float64]
    processor: NDArray[np.float64]
    """Of the thread that searches; a server's are not among them."""

    def __str__(self) -> str:
        p50, p95 = np.percentile(self.wall, (50, 95))
        return f"p50 {p50:.2f} ms, p95 {p95:.2f} ms (processor: p50 {np.median(self.processor):.2f} ms)"


async def timed(calls: Sequence[Callable[[], Awaitable[object]]]) -> Taken:
    """Return how long each call takes, one after the other."""
    wall, processor = [], []
    for call in calls:
        begin, began = time.perf_counter(), time.thread_time()
        await call()
        wall.append(1000 * (time.perf_counter() - begin))
        processor.append(1000 * (time.thread_time() - began))
    return Taken(np.array(wall), np.array(processor))


async def fastest(memory: AsyncMemory, calls: Sequence[Callable[[], Awaitable[object]]]) -> Taken:
    """Return what each call takes where nobody else wants the processor; no round finds the records of another."""
    rounds = []
    for _ in range(ROUNDS):
        taken = []
        for call in calls:
            (await memory.components.store.shard(ADA)).records.clear()
            taken += [await timed([call])]
        rounds.append(np.concatenate([np.array(each) for each in taken], axis=1))
    return Taken(*np.min(rounds, axis=0))


async def questions_about(memory: AsyncMemory, embedder: DrawnEmbedder, *, count: int) -> list[str]:
    """Return questions that are no rows: some words of a row, and a vector near its vector."""
    store, draw = memory.components.store, np.random.default_rng(5)
    shard, asked = await store.shard(ADA), []
    for row in draw.integers(0, shard.size, count).tolist():
        [record] = await store.get(ADA, [shard.id_of(row)])
        text = " ".join(draw.permutation(record.content.split())[:QUESTION_WORDS].tolist())
        embedder.prepare(text, near=shard.vectors[row])
        asked.append(text)
    return asked


async def recall(memory: AsyncMemory, embedder: DrawnEmbedder, *, asked: Sequence[str]) -> float:
    """Return the share of the ten nearest rows that are among the rows which the index chooses."""
    parts = memory.components.vectors
    assert parts is not None
    shard, shares = await memory.components.store.shard(ADA), []
    for text in asked:
        [vector] = await embedder.embed_queries([text])
        exact = np.argsort(-along(shard.vectors, vector), kind="stable")[:10]
        question = parse_query(Query(text, top_k=10, now=datetime.now(UTC)), shard)
        chosen = await parts.candidates.choose(
            shard, ADA, question=question, vectors=[vector], top_k=10, settings=memory.components.recall_settings
        )
        assert chosen.places is not None, "the index was not used"
        best = np.argsort(-(chosen.vectors @ vector), kind="stable")[:10]
        shares.append(len(set(chosen.places[best].tolist()) & set(exact.tolist())) / 10)
    return float(np.mean(shares))


async def measure(memory: AsyncMemory, embedder: DrawnEmbedder, *, questions: int) -> None:
    """Print the figures."""
    parts = memory.components.vectors
    assert parts is not None
    asked = await questions_about(memory, embedder, count=questions)
    print(f"on disk: {await on_disk(memory)}", flush=True)
    calls = [lambda text=text: memory.search(text, user_id="ada") for text in asked]
    print(f"the first search: {(await timed(calls[:1])).wall[0]:.0f} ms", flush=True)
    await timed(calls[:20])
    taken = await timed(calls)
    print(f"search: {taken}, load {os.getloadavg()[0]:.1f}", flush=True)
    alone = await timed([partial(nearest, memory, embedder.ready[text][0]) for text in asked])
    print(f"of that, the index: {alone}", flush=True)
    print(f"the fastest of {ROUNDS} searches for each question: {await fastest(memory, calls)}", flush=True)
    near = [await answers(memory, text) for text in asked[:20]]
    parts.candidates.min_rows, usual = 10**9, parts.candidates.min_rows
    exact = [await answers(memory, text) for text in asked[:20]]
    print(f"search that compares every row: {await timed(calls[:20])}", flush=True)
    parts.candidates.min_rows = usual
    shared = [len(set(first) & set(second)) / 10 for first, second in zip(near, exact, strict=True)]
    print(f"answers shared with it: {np.mean(shared):.3f} of ten, the first one in {same_first(near, exact)} of 20")
    print(
        f"recall@10 of the rows: {await recall(memory, embedder, asked=asked):.4f} ({questions} questions)", flush=True
    )
    await write_and_search(memory, embedder, rounds=WRITES)


async def nearest(memory: AsyncMemory, vector: Vectors) -> None:
    """Ask the index for as many rows as a search does."""
    parts, shard = memory.components.vectors, await memory.components.store.shard(ADA)
    assert parts is not None
    assert parts.candidates.outbox is not None
    index = parts.candidates.index
    name = follower_name(index, shard.model_id or "", dim=shard.dim)
    standing = await parts.candidates.outbox.standing(name, ADA.owner, limit=1)
    assert standing is not None
    await index.search(
        VectorRoom(ADA.tenant, standing.partition, DrawnEmbedder.model_id, DIM), vector, limit=NEAREST_ROWS
    )


async def on_disk(memory: AsyncMemory) -> str:
    """Return how much the index takes on the disk."""
    settings = memory.components.settings
    if settings.vector_index == "pgvector":
        import psycopg

        async with await psycopg.AsyncConnection.connect(settings.vector_index_url or "") as server:
            rows = await (await server.execute(SIZES, (f"{settings.vector_index_collection}_%",))).fetchall()
            buffers = await (await server.execute("SHOW shared_buffers")).fetchone()
        sizes = [f"table {table / 1e6:.0f} MB, indexes {indexes / 1e6:.0f} MB" for table, indexes in rows]
        return f"{'; '.join(sizes)} (shared_buffers {buffers[0] if buffers else ''})"
    directory = settings.vector_index_path or settings.path / "vectors"
    return f"{sum(file.stat().st_size for file in directory.rglob('*.usearch')) / 1e6:.0f} MB"


async def write_and_search(memory: AsyncMemory, embedder: DrawnEmbedder, *, rounds: int) -> None:
    """Print how often a new memory is the first answer of the very next search, and how long that takes."""
    first, searches, writes = 0, [], []
    texts = [f"quite new {time.time_ns() % 10**9 + number}" for number in range(rounds)]
    for text, near in zip(texts, embedder.rows(10**9, rounds), strict=True):
        embedder.prepare(text, near=near)
    for text in texts:
        writes += [await timed([partial(memory.add, text, user_id="ada", infer=False)])]
        searches += [await timed([partial(memory.search, text, user_id="ada")])]
        first += (await answers(memory, text))[0] == text
    print(f"a write is the first answer of the very next search: {first} of {rounds}")
    print(f"that search: {Taken(*map(np.concatenate, zip(*searches, strict=True)))}")
    print(f"the write: {Taken(*map(np.concatenate, zip(*writes, strict=True)))}", flush=True)


def same_first(near: list[list[str]], exact: list[list[str]]) -> int:
    """How often both begin with the same answer."""
    return sum(first[0] == second[0] for first, second in zip(near, exact, strict=True))


async def answers(memory: AsyncMemory, text: str) -> list[str]:
    """The texts of an answer of ten."""
    return [item["memory"] for item in (await memory.search(text, user_id="ada", top_k=10))["results"]]


def peak_gib() -> float:
    """The most RAM that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


async def main() -> None:
    """Fill a store, build the index, measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--index", default="usearch")
    parser.add_argument("--url", help="address of the index, where it is a server")
    parser.add_argument("--path", type=Path, help="a store to fill, or one that an earlier run filled")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.path or Path(folder)
        embedder = DrawnEmbedder(max(options.rows // 100, 10))
        values = {"path": path, "vector_index": options.index, "vector_index_from": 1_000, "reader": "off"}
        values |= {"vector_index_url": options.url, "shard_cache_mib": 8_192}
        async with AsyncMemory(components=build(load_settings(values), embedder=embedder)) as memory:
            parts, begin = memory.components.vectors, time.perf_counter()
            assert parts is not None
            memory.components.store.use_model(embedder)
            if not await memory.components.store.owners("default"):
                await fill(memory, embedder, rows=options.rows)
                seconds = time.perf_counter() - begin
                print(f"filled in {seconds:.0f} s, {options.rows / seconds:,.0f} rows a second", flush=True)
            begin = time.perf_counter()
            shard = await memory.components.store.shard(ADA)
            print(f"loaded {shard.size} rows in {time.perf_counter() - begin:.0f} s: {shard.nbytes / 2**20:.0f} MiB,")
            print(f"at most {peak_gib():.1f} GiB meanwhile", flush=True)
            begin, began = time.perf_counter(), time.process_time()
            await parts.follower.build(ADA.owner)
            took = f"{time.perf_counter() - begin:.0f} s, {time.process_time() - began:.0f} of this process's processor"
            print(f"built, or found to be built, in {took}", flush=True)
            await measure(memory, embedder, questions=options.questions)


if __name__ == "__main__":
    asyncio.run(main())
