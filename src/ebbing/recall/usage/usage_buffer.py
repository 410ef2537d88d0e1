"""Counts what searches return, off their way: in RAM first, handed to the store in batches."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from datetime import datetime
from itertools import islice
from operator import itemgetter
from typing import Final

from ebbing.domain.errors import StoreError
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.ports.usage_log import Returned, UsageLog

MAX_HELD: Final = 100_000
"""Counts that wait, at most, while the store fails; what comes on top of them is not counted."""

_ADDED: Final = 256
"""Answers that are added up at one go: whoever searches meanwhile waits for no more than this …"""
_HANDED: Final = 1_024
"""… and counts that are handed over at one go."""
_AGAIN_SECONDS: Final = 0.1
"""After which a loop is told again that has not done what it was told."""

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

    def __init__(self, log: UsageLog, *, most: int = 8_192, seconds: float = 5.0) -> None:
        self._log, self._most, self._seconds = log, most, seconds
        self._heard: list[tuple[Scope, list[str], datetime]] = []
        """Answers, as they came: whoever hands them over adds them up, and no search does."""
        self._refused: dict[Owner, dict[str, tuple[int, datetime]]] = {}
        """What the store would not take: owner to memory id to how often, and when last."""
        self._size = 0
        self._since = 0.0
        self._woken = -_AGAIN_SECONDS
        """When a loop was last told to hand over what waits."""
        self._lock = threading.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._home: asyncio.AbstractEventLoop | None = None
        self._watching: asyncio.AbstractEventLoop | None = None
        """The loop with a timer that looks whether something waits too long."""

    def live_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """Names the loop on which batches are handed over that are counted where no loop runs."""
        self._home = loop

    def returned(self, scope: Scope, memory_ids: Iterable[str], *, at: datetime) -> None:
        """Counts memories that an answer held. Takes microseconds and never fails.

        Call it from an event loop, or from any thread once `live_on` has named one.
        """
        if not self._most:
            return
        loop, ids = self._home or asyncio.get_running_loop(), list(memory_ids)
        with self._lock:
            if self._size + len(ids) > MAX_HELD:
                del ids[MAX_HELD - self._size :]
            if not ids:
                return
            first, now = not self._size, loop.time()
            if first:
                self._since = now
            self._heard.append((scope, ids, at))
            self._size += len(ids)
            due = self._size >= self._most or now - self._since >= self._seconds
            # To wake a loop takes longer than all of this, and one that is busy need not be told again so soon. Not
            # never: who was told may have been another loop, and may be gone, as whoever armed the timer.
            if due and now - self._woken < _AGAIN_SECONDS:
                due = False
            elif due:
                self._woken = now
            unwatched = first and not due and self._watching is not loop
            if unwatched:
                self._watching = loop
        if due:
            loop.call_soon_threadsafe(self._start, loop)
        elif unwatched:
            loop.call_soon_threadsafe(loop.call_later, self._seconds, self._look, loop)

    def forget(self, is_meant: Callable[[Owner], bool]) -> None:
        """Lets go of the counts of these owners that wait, uncounted."""
        with self._lock:
            self._heard = [one for one in self._heard if not is_meant(one[0].owner)]
            self._refused = {owner: counts for owner, counts in self._refused.items() if not is_meant(owner)}
            self._size = sum(len(ids) for _, ids, _ in self._heard) + sum(map(len, self._refused.values()))

    async def flush(self) -> None:
        """Hands over what waits, and returns when that is done; what the store refuses waits for the next time."""
        await self._pass_on()
        loop = asyncio.get_running_loop()
        under_way = [task for task in self._tasks if task.get_loop() is loop]
        if under_way:
            await asyncio.wait(under_way)

    async def _pass_on(self) -> None:
        """Hands over what waits, in batches that a store may write as one."""
        handed = []
        async for batch in self._batches():
            handed.append(asyncio.create_task(self._hand_over(batch)))
            await asyncio.sleep(0)
        await asyncio.gather(*handed)

    async def _batches(self) -> AsyncIterator[list[Returned]]:
        with self._lock:
            refused, self._refused, heard, self._heard, self._size = self._refused, {}, self._heard, [], 0
        heard.sort(key=itemgetter(2))
        told: dict[Owner, tuple[Counter[str], dict[str, datetime]]] = {}
        for first in range(0, len(heard), _ADDED):
            for scope, ids, at in heard[first : first + _ADDED]:
                times, last_at = told.get(owner := scope.owner) or told.setdefault(owner, (Counter(), {}))
                times.update(ids)
                last_at.update(dict.fromkeys(ids, at))
            await asyncio.sleep(0)
        for owner, counts in refused.items():
            times, last_at = told.setdefault(owner, (Counter(), {}))
            for memory_id, (more, at) in counts.items():
                times[memory_id] += more
                last_at[memory_id] = max(last_at.get(memory_id, at), at)
        counted = (
            Returned(owner, memory_id, many, last_at[memory_id])
            for owner, (times, last_at) in told.items()
            for memory_id, many in times.items()
        )
        while batch := [*islice(counted, _HANDED)]:
            yield batch

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._woken = -_AGAIN_SECONDS
        if self._size:
            task = loop.create_task(self._pass_on())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hands over what has waited for long, and looks again when the oldest of the rest has."""
        with self._lock:
            left = self._since + self._seconds - loop.time()
            if not self._size or left <= 0:
                self._watching = None
        if self._watching is loop:
            loop.call_later(left, self._look, loop)
        else:
            self._start(loop)

    async def _hand_over(self, batch: list[Returned]) -> None:
        try:
            await self._log.returned(batch)
        except StoreError as error:
            _log.warning("recalled memories could not be counted (%s): they wait for the next time", error.code)
            with self._lock:
                self._since = asyncio.get_running_loop().time()
                for one in batch[: MAX_HELD - self._size]:
                    counts = self._refused.setdefault(one.owner, {})
                    times, last_at = counts.get(one.memory_id, (0, one.last_at))
                    counts[one.memory_id] = (times + one.times, max(last_at, one.last_at))
                    self._size += 1
