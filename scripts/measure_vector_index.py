"""One very large owner: how near the index of vectors comes to comparing every row, and how long a search takes.

    python scripts/measure_vector_index.py --rows 1000000 --index usearch

Vectors and texts are made up: clustered unit vectors of 384 numbers, and words of which few are frequent.
So the figures say how the index finds, not how well an embedding model understands. The embedder costs nothing here.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ebbing import AsyncMemory
from ebbing.domain.filters.query import Query
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import entry_for
from ebbing.language.text.analyzer import analyse
from ebbing.ports.embedder import Calibration
from ebbing.ports.memory_store import Insert
from ebbing.wiring.build import build, load_settings

DIM = 384
ADA = Scope(user_id="ada")
BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
Vectors = NDArray[np.float32]


class DrawnEmbedder:
    """The vector of a text that ends in a number: drawn by that number, near a row of the same number."""

    calibration = Calibration(unrelated=0.15, related=0.4, paraphrase=0.75, same=0.98)
    model_id, dim = "drawn", DIM

    def __init__(self, clusters: int) -> None:
        drawn = np.random.default_rng(7).standard_normal((clusters, DIM)).astype(np.float32)
        self.centres = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)

    def rows(self, first: int, count: int) -> Vectors:
        """The vectors of some rows."""
        draw = np.random.default_rng(first)
        near = self.centres[draw.integers(0, len(self.centres), count)]
        return unit(near + draw.standard_normal((count, DIM)).astype(np.float32) * 0.04)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        draws = [np.random.default_rng(10**9 + int(text.rsplit(" ", 1)[1])) for text in texts]
        near = np.stack([self.centres[draw.integers(0, len(self.centres))] for draw in draws])
        return unit(near + np.stack([draw.standard_normal(DIM) for draw in draws]).astype(np.float32) * 0.04)

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
    texts = texts_of(draw, min(rows, 50_000))
    analyses = [analyse(text) for text in texts]
    for first in range(0, rows, 5_000):
        vectors, changes = embedder.rows(first, min(5_000, rows - first)), []
        for number, vector in enumerate(vectors, start=first):
            at, which = BEGIN + timedelta(seconds=60 * number), number % len(texts)
            record = MemoryRecord(id=f"r{number}", whose=ADA, content=texts[which], created_at=at, recorded_at=at)
            entry = entry_for(analyses[which], vector=vector, model_id=embedder.model_id)
            changes.append(Insert(record, entry))
        await store.write(ADA, changes)


async def timed(calls: Sequence[Callable[[], Awaitable[object]]]) -> NDArray[np.float64]:
    """Milliseconds of each call."""
    taken = []
    for call in calls:
        begin = time.perf_counter()
        await call()
        taken.append(1000 * (time.perf_counter() - begin))
    return np.array(taken)


async def recall(memory: AsyncMemory, embedder: DrawnEmbedder, *, questions: int) -> float:
    """Share of the ten nearest rows that are among the rows which the index chooses."""
    parts, store = memory.components.vectors, memory.components.store
    assert parts is not None
    shard, shares = await store.shard(ADA), []
    for number in range(questions):
        text = f"question {number}"
        [vector] = await embedder.embed_queries([text])
        exact = np.argsort(-(shard.vectors @ vector), kind="stable")[:10]
        query = Query(text, top_k=10, now=datetime.now(UTC))
        chosen = await parts.candidates.choose(
            shard, ADA, query=query, vectors=[vector], settings=memory.components.recall_settings
        )
        assert chosen is not shard, "the index was not used"
        best = np.argsort(-(chosen.vectors @ vector), kind="stable")[:10]
        shares.append(len({chosen.ids[row] for row in best} & {shard.ids[row] for row in exact}) / 10)
    return float(np.mean(shares))


async def measure(memory: AsyncMemory, embedder: DrawnEmbedder, *, questions: int) -> None:
    """Print the figures."""
    parts = memory.components.vectors
    assert parts is not None
    words = texts_of(np.random.default_rng(5), questions)
    asked = [f"{' '.join(text.split()[:4])} {number}" for number, text in enumerate(words)]
    calls = [lambda text=text: memory.search(text, user_id="ada") for text in asked]
    await timed(calls[:20])
    taken = await timed(calls)
    print(f"recall@10 of the rows: {await recall(memory, embedder, questions=questions):.4f}", flush=True)
    print(f"search: p50 {np.percentile(taken, 50):.2f} ms, p95 {np.percentile(taken, 95):.2f} ms", flush=True)
    near = [await answers(memory, text) for text in asked[:20]]
    parts.candidates.min_rows, usual = 10**9, parts.candidates.min_rows
    exact = [await answers(memory, text) for text in asked[:20]]
    all_rows = await timed(calls[:10])
    parts.candidates.min_rows = usual
    shared = [len(set(first) & set(second)) / 10 for first, second in zip(near, exact, strict=True)]
    print(f"search that compares every row: p50 {np.percentile(all_rows, 50):.0f} ms")
    print(f"answers shared with it: {np.mean(shared):.3f} of ten, the first one in {same_first(near, exact)} of 20")
    fresh = 0
    for number in range(20):
        text = f"quite new 9{number}"
        await memory.add(text, user_id="ada", infer=False)
        fresh += (await answers(memory, text))[0] == text
    print(f"a write is the first answer of the very next search: {fresh} of 20", flush=True)


def same_first(near: list[list[str]], exact: list[list[str]]) -> int:
    """How often both begin with the same answer."""
    return sum(first[0] == second[0] for first, second in zip(near, exact, strict=True))


async def answers(memory: AsyncMemory, text: str) -> list[str]:
    """The texts of an answer of ten."""
    return [item["memory"] for item in (await memory.search(text, user_id="ada", top_k=10))["results"]]


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
        values["vector_index_url"] = options.url
        async with AsyncMemory(components=build(load_settings(values), embedder=embedder)) as memory:
            parts, begin = memory.components.vectors, time.perf_counter()
            assert parts is not None
            memory.components.store.use_model(embedder)
            if not await memory.components.store.owners("default"):
                await fill(memory, embedder, rows=options.rows)
                print(f"filled in {time.perf_counter() - begin:.0f} s", flush=True)
            begin = time.perf_counter()
            shard = await memory.components.store.shard(ADA)
            print(f"loaded {shard.size} rows in {time.perf_counter() - begin:.0f} s: {shard.nbytes / 2**20:.0f} MiB")
            begin = time.perf_counter()
            await parts.follower.build(ADA.owner)
            print(f"built in {time.perf_counter() - begin:.0f} s", flush=True)
            await measure(memory, embedder, questions=options.questions)


if __name__ == "__main__":
    asyncio.run(main())
