"""The profile as one call may see it, and brought up to date soon after a write."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from datetime import datetime
from functools import partial
from typing import Final

from ebbing.api.calls.call_context import CallContext
from ebbing.domain.errors import EbbingError
from ebbing.domain.filters.query import Query
from ebbing.domain.filters.tree import EVERYTHING, Filter
from ebbing.domain.memory.profile import Portrait
from ebbing.domain.memory.scope import Scope
from ebbing.people.profiles import Profiles
from ebbing.ports.clock import Clock
from ebbing.ports.event_bus import EventBus, MemoryEvent, Topic
from ebbing.recall.context.query_fallback import FallbackOptions
from ebbing.recall.context.usage_policy import is_usable
from ebbing.recall.rows import apply_filter, current_rows

# Profiles that somebody asks for are brought up to date soon after something was written, off everybody's way.

QUIET_SECONDS: Final = 1.0
"""So long nothing is written before the profiles of those who were written about are looked after."""
MAX_WAITING: Final = 10_000
"""People whose profiles wait; those of more are made when they are asked for."""
_WRITES: Final = (Topic.MEMORY_ADDED, Topic.MEMORY_UPDATED, Topic.MEMORY_DELETED)

_log: Final = logging.getLogger("ebbing.profiles")


class ProfileRefresher:
    """Listens to what is written, and keeps the profiles that were kept before.

    A profile is right without it, since reading one looks whether it is up to date; this spares the next reader the
    work. It does nothing for people whose profile nobody ever asked for, and loses nothing when it is stopped.
    """

    def __init__(self, profiles: Profiles, *, events: EventBus, clock: Clock) -> None:
        self._profiles, self._clock = profiles, clock
        self._waiting: dict[Scope, bool] = {}
        """Whose profiles wait, and whether to keep them even if none was kept before."""
        self._written_at = 0.0
        self._lock = threading.Lock()
        self._task: asyncio.Task[None] | None = None
        """It looks after those who wait; ends when there are none."""
        self._closed = False
        for topic in _WRITES:
            events.subscribe(topic, self._hear)

    def note_request(self, scope: Scope) -> None:
        """Note that a profile had to be made for an answer: it is kept for the next one. Call it on an event loop."""
        self._wait(scope, is_asked=True)
        self._look_after()

    async def settle(self) -> None:
        """Bring what waits up to date, and return when that is done."""
        while waiting := list(self._waiting):
            await self._refresh(waiting[0])

    async def aclose(self) -> None:
        """Stop; what waits is made when somebody asks for it."""
        self._closed = True
        self._waiting.clear()
        if self._task is not None and self._task.get_loop() is asyncio.get_running_loop():
            self._task.cancel()
            await asyncio.wait([self._task])

    def _hear(self, event: MemoryEvent) -> None:
        if not event.is_bulk:
            self._wait(event.scope, is_asked=False)
            self._look_after()

    def _wait(self, scope: Scope, *, is_asked: bool) -> None:
        whole = scope.whole
        with self._lock:
            if self._closed or len(self._waiting) >= MAX_WAITING:
                return
            self._waiting.setdefault(whole, False)
            if is_asked:
                self._waiting[whole] = True
            self._written_at = time.monotonic()

    @property
    def _is_looked_after(self) -> bool:
        task = self._task
        return self._closed or (task is not None and not task.done() and task.get_loop().is_running())

    def _look_after(self) -> None:
        with self._lock:
            if not self._is_looked_after:
                self._task = asyncio.get_running_loop().create_task(self._run(), name="ebbing-profiles")

    async def _run(self) -> None:
        while True:
            with self._lock:
                scope = next(iter(self._waiting), None)
                if scope is None:
                    self._task = None
                    return
            rest = self._written_at + QUIET_SECONDS - time.monotonic()
            if rest > 0:
                await asyncio.sleep(rest)
            else:
                await self._refresh(scope)

    async def _refresh(self, scope: Scope) -> None:
        is_asked = self._waiting.pop(scope, False)
        try:
            if is_asked or await self._profiles.is_kept(scope):
                await self._profiles.refreshed(scope, now=self._clock.now())
        except EbbingError as error:
            _log.warning("a profile could not be kept (%s): it is made when it is asked for", error.code)


# The profile as one call may see it.


class Portraits:
    """Reads profiles: of a whole owner, or of what a scope, filters and a session allow."""

    def __init__(self, context: CallContext, *, refresher: ProfileRefresher) -> None:
        self._context, self._refresher = context, refresher

    async def get(
        self, scope: Scope, slots: Filter, *, now: datetime, fallback: FallbackOptions, is_private: bool = False
    ) -> Portrait:
        """Return the profile as a call may see it.

        With `is_private` one that had to be worked out is not kept for the next time.
        """
        profiles, store = self._context.profiles, self._context.store
        if slots == EVERYTHING and scope == Scope.of(scope.owner) and not (fallback.session or fallback.channel):
            portrait, is_kept = await profiles.current(scope, now=now)
            if not is_kept and portrait.entries and not is_private:
                self._refresher.note_request(scope)
            return portrait
        shard = await store.shard(scope)
        mask = current_rows(shard, scope, query=Query("", 1, now, include="memories"))
        return await profiles.of_part(
            scope,
            shard,
            mask=await apply_filter(store, shard, scope=scope, mask=mask, filter_=slots),
            now=now,
            usable=partial(is_usable, session=fallback.session, channel=fallback.channel),
            by_hand=slots == EVERYTHING,
        )
