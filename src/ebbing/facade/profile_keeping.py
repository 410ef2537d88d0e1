"""Profiles that somebody asks for are brought up to date soon after something was written, off everybody's way."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from ebbing.domain.errors import EbbingError
from ebbing.domain.scope import Scope
from ebbing.people.profiles import Profiles
from ebbing.ports.clock import Clock
from ebbing.ports.event_bus import EventBus, Happening, Topic

QUIET_SECONDS: Final = 1.0
"""So long nothing is written before the profiles of those who were written about are looked after."""
MAX_WAITING: Final = 10_000
"""People whose profiles wait; those of more are made when they are asked for."""
_WRITES: Final = (Topic.MEMORY_ADDED, Topic.MEMORY_UPDATED, Topic.MEMORY_DELETED)

_log: Final = logging.getLogger("ebbing.profiles")


class ProfileKeeper:
    """Listens to what is written, and keeps the profiles that were kept before.

    A profile is right without it, since reading one looks whether it is up to date; this spares the next reader the
    work. It does nothing for people whose profile nobody ever asked for, and loses nothing when it is stopped.
    """

    def __init__(self, profiles: Profiles, *, events: EventBus, clock: Clock) -> None:
        self._profiles, self._clock = profiles, clock
        self._waiting: dict[Scope, bool] = {}
        """Whose profiles wait, and whether to keep them even if none was kept before."""
        self._written_at = 0.0
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        for topic in _WRITES:
            events.subscribe(topic, self._hear)

    def asked(self, scope: Scope) -> None:
        """A profile had to be made for an answer: it is kept for the next one. Call it on an event loop."""
        self._wait(scope, asked=True)

    async def settle(self) -> None:
        """Brings what waits up to date, and returns when that is done."""
        while self._waiting:
            await self._refresh(next(iter(self._waiting)))

    async def aclose(self) -> None:
        """Stops; what waits is made when somebody asks for it."""
        self._closed = True
        self._waiting.clear()
        if self._task is not None and self._task.get_loop() is asyncio.get_running_loop():
            self._task.cancel()
            await asyncio.wait([self._task])

    def _hear(self, happening: Happening) -> None:
        if not happening.is_everything:
            self._wait(happening.scope, asked=False)

    def _wait(self, scope: Scope, *, asked: bool) -> None:
        if self._closed or len(self._waiting) >= MAX_WAITING:
            return
        loop = asyncio.get_running_loop()
        whole = Scope.of(scope.owner)
        self._waiting[whole] = asked or self._waiting.get(whole, False)
        self._written_at = loop.time()
        if self._task is None or self._task.done() or not self._task.get_loop().is_running():
            self._task = loop.create_task(self._run(), name="ebbing-profiles")

    async def _run(self) -> None:
        while self._waiting:
            rest = self._written_at + QUIET_SECONDS - asyncio.get_running_loop().time()
            if rest > 0:
                await asyncio.sleep(rest)
            else:
                await self._refresh(next(iter(self._waiting)))

    async def _refresh(self, scope: Scope) -> None:
        asked = self._waiting.pop(scope, False)
        try:
            if asked or await self._profiles.is_kept(scope):
                await self._profiles.refreshed(scope, now=self._clock.now())
        except EbbingError as error:
            _log.warning("a profile could not be kept (%s): it is made when it is asked for", error.code)
