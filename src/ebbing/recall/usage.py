"""Counts what searches return, off their way: in RAM first, handed to the store in batches."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterable
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
        self._waiting: dict[tuple[Owner, str], Returned] = {}
        self._size = 0
        self._since = 0.0
        self._lock = threading.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    def returned(self, scope: Scope, memory_ids: Iterable[str], *, at: datetime) -> None:
        """Counts memories that an answer held; call it from the event loop. Takes microseconds and never fails."""
        if not self._most:
            return
        loop = asyncio.get_running_loop()
        owner = scope.owner
        with self._lock:
            if not self._size:
                self._since = loop.time()
                loop.call_later(self._seconds, self._start, loop)
            for memory_id in memory_ids:
                self._add(Returned(owner, memory_id, 1, at))
            # Whoever armed the timer may have been another loop, and may be gone.
            due = self._size >= self._most or loop.time() - self._since >= self._seconds
        if due:
            self._start(loop)

    async def flush(self) -> None:
        """Hands over what waits, and returns when that is done; what the store refuses waits for the next time."""
        await self._hand_over(self._take())
        loop = asyncio.get_running_loop()
        under_way = [task for task in self._tasks if task.get_loop() is loop]
        if under_way:
            await asyncio.wait(under_way)

    def _add(self, one: Returned) -> None:
        if self._size >= MAX_HELD:
            return
        key = (one.owner, one.memory_id)
        before = self._waiting.get(key)
        if before is not None:
            last = max(before.last_at, one.last_at)
            one = Returned(one.owner, one.memory_id, before.times + one.times, last)
        self._waiting[key] = one
        self._size += 1

    def _take(self) -> list[Returned]:
        with self._lock:
            batch, self._waiting, self._size = list(self._waiting.values()), {}, 0
        return batch

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
                    self._add(one)
