"""The measurements: every product call stands between two calls of its floor, so that both see the same machine."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ebbing import AsyncMemory, Memory
from evals.metrics import percentile
from evals.speed.floors import TOP, CommitFloor, MatrixFloor, timed
from evals.speed.population import BIG, MIDDLE, TYPICAL, ConstantEmbedder, User, questions

USERS = 100
"""At most so many users of a kind are asked."""
QUERIES = 1_000
"""Searches of a kind."""
ADDS = 400
BATCH = 1_000
"""Messages in one call of the bulk load."""

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Pair:
    """Milliseconds of the product and of its floor, call by call."""

    product: list[float]
    floor: list[float]

    def figures(self) -> Figures:
        """Medians, 99th percentiles and the ratio of the medians."""
        return {
            "p50_ms": percentile(self.product, 0.5),
            "p99_ms": percentile(self.product, 0.99),
            "floor_p50_ms": percentile(self.floor, 0.5),
            "floor_p99_ms": percentile(self.floor, 0.99),
            "ratio": percentile(self.product, 0.5) / percentile(self.floor, 0.5),
            "n": len(self.product),
        }


def load(folder: Path, users: Sequence[User], *, embedder: ConstantEmbedder) -> Figures:
    """The whole population through `Memory.add`, many messages a call; memories a second."""
    stored, told = 0, time.perf_counter()
    with Memory(path=folder, embedder=embedder) as memory:
        began = time.perf_counter()
        for user in users:
            for at in range(0, len(user.texts), BATCH):
                batch = list(user.texts[at : at + BATCH])
                memory.add(batch, user_id=user.name, infer=False)
                stored += len(batch)
                if time.perf_counter() - told > 10:
                    told = time.perf_counter()
                    print(f"stored {stored:,} memories, {told - began:.0f} s", file=sys.stderr)
        seconds = time.perf_counter() - began
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return {"memories": stored, "seconds": seconds, "per_second": stored / seconds, "bytes_each": size / stored}


def search(folder: Path, users: Sequence[User], *, embedder: ConstantEmbedder) -> dict[str, Figures]:
    """Cold (first search of a user after opening) and hot searches, by size of the user, and the time to open."""
    found: dict[str, Figures] = {}
    opened = []
    for name, chosen in kinds(users).items():
        began = time.perf_counter()
        memory = Memory(path=folder, embedder=embedder)
        with memory:
            opened.append(1000 * (time.perf_counter() - began))
            # What the process does once (threads, loop, connection) is not the user's: a stranger's search first.
            memory.search("warm up", user_id="nobody", top_k=TOP)
            cold, hot = _searches(memory, chosen, embedder=embedder)
        found[f"{name}, cold"] = cold.figures()
        found[f"{name}, hot"] = hot.figures()
    found["open"] = {"p50_ms": percentile(opened, 0.5), "n": len(opened)}
    return found


def search_async(folder: Path, users: Sequence[User], *, embedder: ConstantEmbedder) -> Figures:
    """Hot searches of typical users on `AsyncMemory`, without the hop between threads that `Memory` makes."""
    chosen = kinds(users)["typical"]

    async def run() -> Pair:
        pair = Pair([], [])
        async with AsyncMemory(path=folder, embedder=embedder) as memory:
            for user in chosen:
                await memory.search("warm up", user_id=user.name, top_k=TOP)
            for user, question, floor in _schedule(chosen, embedder=embedder):
                vector = embedder.embed([question])[0]
                pair.floor.append(timed(partial(floor.search, vector)))
                began = time.perf_counter_ns()
                await memory.search(question, user_id=user.name, top_k=TOP)
                pair.product.append((time.perf_counter_ns() - began) / 1e6)
        return pair

    with _no_collector():
        return asyncio.run(run()).figures()


def add(folder: Path, users: Sequence[User], *, embedder: ConstantEmbedder) -> Figures:
    """Single durable adds to typical users, each beside a bare commit of the same text and vector."""
    chosen = kinds(users)["typical"]
    pair = Pair([], [])
    floor = CommitFloor(folder)
    with Memory(path=folder, embedder=embedder) as memory, _no_collector():
        memory.add("warm up", user_id=chosen[0].name, infer=False)
        for number in range(ADDS):
            user = chosen[number % len(chosen)]
            text = f"{user.texts[number % len(user.texts)]} {number}"
            vector = embedder.embed([text])[0]
            # Turn about: on some disks the second of two commits waits for the first.
            for first in (number % 2 == 0, number % 2 == 1):
                if first:
                    pair.floor.append(timed(partial(floor.add, text, vector)))
                else:
                    pair.product.append(timed(partial(memory.add, text, user_id=user.name, infer=False)))
    floor.close()
    return pair.figures()


def kinds(users: Sequence[User]) -> dict[str, list[User]]:
    """Users to ask, by size."""
    low, high = TYPICAL
    found = {
        "typical": [user for user in users if low <= len(user.texts) <= high][:USERS],
        "1,000 memories": [user for user in users if len(user.texts) == MIDDLE][:1],
        "10,000 memories": [user for user in users if len(user.texts) == BIG],
    }
    return {name: chosen for name, chosen in found.items() if chosen}


def _searches(memory: Any, users: Sequence[User], *, embedder: ConstantEmbedder) -> tuple[Pair, Pair]:
    cold, hot, seen = Pair([], []), Pair([], []), set()
    with _no_collector():
        for user, question, floor in _schedule(users, embedder=embedder):
            pair = hot if user.name in seen else cold
            seen.add(user.name)
            vector = embedder.embed([question])[0]
            pair.floor.append(timed(partial(floor.search, vector)))
            pair.product.append(timed(partial(memory.search, question, user_id=user.name, top_k=TOP)))
    return cold, hot


def _schedule(users: Sequence[User], *, embedder: ConstantEmbedder) -> Iterator[tuple[User, str, MatrixFloor]]:
    """Users in turns, each with its next question and its own floor."""
    rounds = max(2, QUERIES // len(users))
    asked = {user.name: questions(user, rounds) for user in users}
    floors = {user.name: MatrixFloor(embedder.embed(user.texts)) for user in users}
    for turn in range(rounds):
        for user in users:
            yield user, asked[user.name][turn], floors[user.name]


@contextmanager
def _no_collector() -> Iterator[None]:
    """Without the collector's pauses, which the size of this program's own lists would decide."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
