"""Counts what searches return, off their way: in RAM first, handed to the store in batches."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

from ebbing.domain.errors import StoreError
from ebbing.domain.scope import Owner, Scope
from ebbing.ports.usage_log import Returned, UsageLog

MAX_HELD: Final = 100_000
"""Counts that wait, at most, while the store fails; what comes on top of them is not counted."""

_log: Final = logging.getLogger("ebbing.usage")


class UsageBuffer:
    """Returned memories that are not counted in the store yet.

    They are handed over when `most` wait, `seconds` after the first of them, and at `flush`, which closing a memory
    calls. A process that is killed loses what waits: fewer than `most` counts and those of a batch under way, never
    older than `seconds` while its event loop runs. No memory and no feedback waits here.

    Args:
        log: where the counts go.
        most: returned memories in a batch; 0 counts nothing.
        seconds: how long the first of them waits.
    """

    def __init__(self, log: UsageLog, *, most: int = 512, seconds: float = 5.0) -> None:
        self._log, self._most, self._seconds = log, most, seconds
        self._waiting: dict[Owner, dict[str, tuple[int, datetime]]] = {}
        """Owner to memory id to how often, and when last."""
        self._size = 0
        self._since = 0.0
        self._lock = threading.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._home: asyncio.AbstractEventLoop | None = None

    def live_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """Names the loop on which batches are handed over that are counted where no loop runs."""
        self._home = loop

    def returned(self, scope: Scope, memory_ids: Iterable[str], *, at: datetime) -> None:
        """Counts memories that an answer held. Takes microseconds and never fails.

        Call it from an event loop, or from any thread once `live_on` has named one.
        """
        if not self._most:
            return
        loop, owner = self._home or asyncio.get_running_loop(), scope.owner
        with self._lock:
            first = not self._size
            if first:
                self._since = loop.time()
            self._add(owner, ((memory_id, 1, at) for memory_id in memory_ids))
            # Whoever armed the timer may have been another loop, and may be gone.
            due = self._size >= self._most or loop.time() - self._since >= self._seconds
        if due:
            loop.call_soon_threadsafe(self._start, loop)
        elif first:
            loop.call_soon_threadsafe(loop.call_later, self._seconds, self._start, loop)

    def forget(self, is_meant: Callable[[Owner], bool]) -> None:
        """Lets go of the counts of these owners that wait, uncounted."""
        with self._lock:
            for owner in list(filter(is_meant, self._waiting)):
                self._size -= sum(times for times, _ in self._waiting.pop(owner).values())
            self._size = max(self._size, 0)

    async def flush(self) -> None:
        """Hands over what waits, and returns when that is done; what the store refuses waits for the next time."""
        await self._hand_over(self._take())
        loop = asyncio.get_running_loop()
        under_way = [task for task in self._tasks if task.get_loop() is loop]
        if under_way:
            await asyncio.wait(under_way)

    def _add(self, owner: Owner, counts: Iterable[tuple[str, int, datetime]]) -> None:
        waiting = self._waiting.setdefault(owner, {})
        for memory_id, times, last_at in counts:
            if self._size >= MAX_HELD:
                return
            before = waiting.get(memory_id)
            if before is not None:
                times, last_at = times + before[0], max(last_at, before[1])  # noqa: PLW2901
            waiting[memory_id] = (times, last_at)
            self._size += 1

    def _take(self) -> list[Returned]:
        with self._lock:
            taken, self._waiting, self._size = self._waiting, {}, 0
        return [
            Returned(owner, memory_id, times, last_at)
            for owner, counts in taken.items()
            for memory_id, (times, last_at) in counts.items()
        ]

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        batch = self._take()
        if batch:
            task = loop.create_task(self._hand_over(batch))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _hand_over(self, batch: list[Returned]) -> None:
        if not batch:
            return
        try:
            await self._log.returned(batch)
        except StoreError as error:
            _log.warning("recalled memories could not be counted (%s): they wait for the next time", error.code)
            with self._lock:
                self._since = asyncio.get_running_loop().time()
                for one in batch:
                    self._add(one.owner, [(one.memory_id, one.times, one.last_at)])
