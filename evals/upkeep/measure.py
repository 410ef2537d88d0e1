"""A round of the upkeep for everybody, and searches that come at a steady pace before it and while it runs."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ebbing import AsyncMemory, Memory
from evals.metrics import percentile
from evals.speed.measure import kinds
from evals.speed.population import ConstantEmbedder, User, questions

YEAR = timedelta(days=400)
"""The memories are spread evenly over so long before now."""
BATCH = 1_000
GIVE_UP_SECONDS = 600

Figures = dict[str, float]


def filled(folder: Path, users: Sequence[User]) -> None:
    """Every user's texts, through `Memory.add`, said at even distances over a year and a month."""
    now = datetime.now(UTC)
    with Memory(folder, embedder=ConstantEmbedder()) as memory:
        for user in users:
            apart = YEAR / len(user.texts)
            messages = [
                {"role": "user", "content": text, "timestamp": (now - YEAR + apart * number).isoformat()}
                for number, text in enumerate(user.texts)
            ]
            for at in range(0, len(messages), BATCH):
                memory.add(messages[at : at + BATCH], user_id=user.name, infer=False)


def decay(folder: Path) -> dict[str, Any]:
    """`Memory.decay` for everybody with nobody searching, on memories that were never looked after before."""
    worked = _child(folder, "--decay")
    told = ("seconds", "cpu_seconds", "processed", "decayed", "forgotten", "saved_bytes")
    return {"decay": {name: worked[name] for name in told}}


def alone(folder: Path) -> dict[str, Any]:
    """`ebbing maintain` with nobody searching: what each step did and how long it took."""
    worked = _child(folder, "--upkeep")
    return {
        "round": {name: worked[name] for name in ("seconds", "cpu_seconds", "owners")},
        **{name: {"seconds": seconds, **worked["steps"].get(name, {})} for name, seconds in worked["took"].items()},
    }


def apart(folder: Path, users: Sequence[User], *, rate: float, idle_seconds: float) -> dict[str, Any]:
    """The worker in a process of its own, as that of `ebbing serve` is and as `ebbing worker` is."""
    command = [sys.executable, "-m", "evals.upkeep.child", str(folder)]

    async def run() -> dict[str, Any]:
        async with AsyncMemory(folder, embedder=ConstantEmbedder()) as memory:
            asked = await _warm(memory, users)
            idle = await _search(memory, asked, rate=rate, seconds=idle_seconds)
            child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220 - it only starts it
            assert child.stdout is not None
            await asyncio.to_thread(child.stdout.readline)
            busy = await _search(memory, asked, rate=rate, until=lambda: child.poll() is not None)
            worked = json.loads(child.stdout.read())
            return _told(idle, busy, worked) | {"after": await memory.maintenance.stats()}

    return asyncio.run(run())


def together(folder: Path, users: Sequence[User], *, rate: float, idle_seconds: float) -> dict[str, Any]:
    """The worker in the process that searches, as `EBBING_WORKER_PROCESS=false` has it."""

    async def run() -> dict[str, Any]:
        async with AsyncMemory(folder, embedder=ConstantEmbedder()) as memory:
            asked = await _warm(memory, users)
            idle = await _search(memory, asked, rate=rate, seconds=idle_seconds)
            began, cpu = time.perf_counter(), time.process_time()
            working = asyncio.create_task(memory.jobs.run_worker(until_idle=True))
            ended: list[float] = []
            working.add_done_callback(lambda _: ended.append(time.perf_counter()))
            busy = await _search(memory, asked, rate=rate, until=working.done)
            worked = {"seconds": (await working) and ended[0] - began, "cpu_seconds": time.process_time() - cpu}
            return _told(idle, busy, worked | await working)

    return asyncio.run(run())


def _child(folder: Path, how: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "evals.upkeep.child", str(folder), how]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    found: dict[str, Any] = json.loads(out.removeprefix("begun\n"))
    return found


def copied(folder: Path, number: int) -> Path:
    """The same store once more, to measure on the same state again."""
    return Path(shutil.copytree(folder, folder.with_name(f"{folder.name}-{number}")))


async def _warm(memory: AsyncMemory, users: Sequence[User]) -> Iterator[tuple[User, str]]:
    """Questions of typical users in turns, each user searched once before."""
    chosen = kinds(users)["typical"]
    for user in chosen:
        await memory.search("warm up", user_id=user.name)
    asked = {user.name: questions(user, 50) for user in chosen}
    gc.collect()
    gc.freeze()  # the lists of this program are not what the collector would look through in a service
    return ((user, asked[user.name][turn % 50]) for turn in itertools.count() for user in chosen)


async def _search(
    memory: AsyncMemory,
    asked: Iterator[tuple[User, str]],
    *,
    rate: float,
    seconds: float = GIVE_UP_SECONDS,
    until: Callable[[], bool] | None = None,
) -> list[float]:
    """Milliseconds of each search from the moment at which it was due: who has to wait for the loop waits too."""
    took: list[float] = []
    began = time.perf_counter()
    for number in itertools.count():
        due = began + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        if due - began >= seconds or (until is not None and until()):
            return took
        user, question = next(asked)
        await memory.search(question, user_id=user.name)
        took.append(1000 * (time.perf_counter() - due))
    return took


def _told(idle: list[float], busy: list[float], worked: dict[str, Any]) -> dict[str, Any]:
    p99, p99_idle = percentile(busy, 0.99), percentile(idle, 0.99)
    return {
        "worker": worked,
        "idle": {"p50_ms": percentile(idle, 0.5), "p99_ms": p99_idle, "n": len(idle)},
        "meanwhile": {"p50_ms": percentile(busy, 0.5), "p99_ms": p99, "n": len(busy)},
        "ratio": {"p99 meanwhile / idle": p99 / p99_idle},
    }
