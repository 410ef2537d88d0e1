"""From the running conversations to what is remembered of them, so that nothing said is lost on the way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any, Final, Protocol

from ebbing.domain.errors import EbbingError, InvalidInputError, StoreClosedError, StoreError
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import MemoryEvent, Topic
from ebbing.ports.working_memory import Turn
from ebbing.recall.context.session_search import last_rounds
from ebbing.wiring.build import Components

_ARRIVAL_SECONDS: Final = 10.0
_log: Final = logging.getLogger("ebbing.sessions")


class Remember(Protocol):
    """Puts messages of a session into the long-term memory; those that it knows by their ids change nothing."""

    def __call__(self, session: Scope, messages: Sequence[Message], *, infer: bool, vectors: bool) -> Awaitable[object]:
        """With `vectors` False without the embedder, for the time when it fails."""
        ...


class SessionBuffer:
    """The sessions of one memory.

    A message lies in working memory until it was remembered. That happens when its session ends, or when newer rounds
    took its place. Both may run side by side or be repeated after a failure: every message has an id by which the
    long-term memory knows it again. Of what left the last rounds the newest message stays one more time, so that an
    answer is never read without its question.
    """

    def __init__(self, components: Components, remember: Remember) -> None:
        self._components, self._remember = components, remember
        self._open: dict[Scope, bool] = {}
        """The sessions in which this memory heard something, and whether it is to learn from them."""
        self._private: set[Scope] = set()
        """The sessions that are off the record."""
        self._closed = False
        self._under_way: set[Scope] = set()
        self._tasks: dict[asyncio.Task[object], Scope] = {}
        self._putting: dict[asyncio.Event, tuple[Scope, asyncio.AbstractEventLoop]] = {}
        """Turns on their way into long-term memory: set when they are there, or not to get there."""
        components.events.subscribe(Topic.SESSION_END, self._extract)

    async def hear(self, session: Scope, turns: Sequence[Turn], *, infer: bool) -> None:
        """Keep what was said; microseconds, unless working memory is full.

        Raises:
            EbbingError: it is full, and what it holds cannot be stored; the error says why.
            StoreClosedError: the memory is closed.
        """
        if self._closed:
            raise StoreClosedError("this memory is closed: open a new one")
        working = self._components.working
        for turn in turns:
            if not await working.append(session, turn):
                await self._make_room(session)
                if not await working.append(session, turn):
                    raise StoreError("working memory is full and cannot be emptied now: try again later")
            self._open[session] = infer
        await self._tidy(session)

    def is_private(self, session: Scope) -> bool:
        """Return whether a session is off the record."""
        return session in self._private

    def set_private(self, session: Scope, is_private: bool) -> None:
        """Take a session off the record, or put what is said in it from now on there again."""
        (self._private.add if is_private else self._private.discard)(session)

    async def heard(self, session: Scope) -> list[Turn]:
        """Return all that was said in a session and is not forgotten here yet."""
        return await self._components.working.read(session)

    def last(self, turns: Sequence[Turn]) -> list[Turn]:
        """Return the last rounds, within the limits of the settings."""
        settings = self._components.settings
        return last_rounds(turns, rounds=settings.session_turns, tokens=settings.session_tokens)

    async def end(self, session: Scope) -> list[Exception]:
        """Tell that a session ended, by which it is remembered; return what kept it from that, empty if nothing.

        A session that could not be remembered stays as it is. Of one that was off the record nobody is told.
        """
        before = await self.heard(session)
        if all(turn.is_private for turn in before):
            await self._components.working.drop(session, before)
            self._open.pop(session, None)
            return []
        event = MemoryEvent(Topic.SESSION_END, session, self._components.clock.now())
        failures = await self._components.events.publish(event)
        left = set(before).intersection(await self.heard(session))
        if not left:
            return []
        await self._components.working.touch(session)  # so that it is not the next to be tried again at once
        return failures or [StoreError("the session could not be remembered: end it again")]

    async def end_all(self) -> None:
        """End the sessions of this memory, since it is about to close; without vectors where there are none to be had.

        Raises:
            EbbingError: a session cannot be stored in any way, and is lost with the process; the others are stored.
        """
        self._closed = True
        lost: list[EbbingError] = []
        for session in list(self._open):
            if await self.end(session):
                try:
                    await self._extract_from(session, vectors=False)
                except EbbingError as error:
                    lost.append(error)
        self._open.clear()
        loop = asyncio.get_running_loop()
        under_way = [task for task in self._tasks if task.get_loop() is loop]
        if under_way:
            await asyncio.wait(under_way)
        if lost:
            raise lost[0]

    async def forget(self, is_meant: Callable[[Scope], bool]) -> int:
        """Let go of what was said in sessions, unremembered; how many turns these were.

        What is on its way into long-term memory has arrived there or was stopped when this returns, so that nothing
        comes after an erasure that follows; one that takes longer than ten seconds is not waited for.
        """
        gone = 0
        for session in filter(is_meant, await self._components.working.sessions()):
            turns = await self._components.working.read(session)
            await self._components.working.drop(session, turns)
            gone += len(turns)
        for session in filter(is_meant, list(self._open)):
            del self._open[session]
        loop = asyncio.get_running_loop()
        tasks = [task for task, session in self._tasks.items() if is_meant(session) and task.get_loop() is loop]
        for task in tasks:
            task.cancel()
        under_way = [done for done, (session, its) in self._putting.items() if is_meant(session) and its is loop]
        arriving = [asyncio.ensure_future(done.wait()) for done in under_way]
        if tasks or arriving:
            await asyncio.wait({*tasks, *arriving}, timeout=_ARRIVAL_SECONDS)
        for item in arriving:
            item.cancel()
        return gone

    async def _tidy(self, session: Scope) -> None:
        """Start to remember what left the last rounds, and a session that seems to be forgotten open."""
        turns = await self.heard(session)
        if len(turns) - len(self.last(turns)) > 1:
            self._start(session, self._let_leave(session))
        idle_since = self._components.clock.now() - timedelta(minutes=self._components.settings.session_idle_minutes)
        for idle in await self._components.working.sessions(idle_since=idle_since, limit=1):
            self._start(idle, self.end(idle))

    async def _make_room(self, session: Scope) -> None:
        if await self.heard(session):
            await self._let_leave(session, keep=0)
        else:
            for idle in await self._components.working.sessions(limit=1):
                await self.end(idle)

    async def _let_leave(self, session: Scope, *, keep: int = 1) -> None:
        """Remember what is older than the last rounds, and let go of it but for the newest `keep`."""
        turns = await self.heard(session)
        leaving = turns[: len(turns) - len(self.last(turns))]
        if len(leaving) > keep:
            await self._put_away(session, leaving)
            await self._components.working.drop(session, leaving[: len(leaving) - keep])

    async def _extract(self, event: MemoryEvent) -> None:
        await self._extract_from(event.scope)

    async def _extract_from(self, session: Scope, *, vectors: bool = True) -> None:
        turns = await self.heard(session)
        if turns:
            await self._put_away(session, turns, vectors=vectors)
            await self._components.working.drop(session, turns)
        if not await self.heard(session):
            self._open.pop(session, None)

    async def _put_away(self, session: Scope, turns: Sequence[Turn], *, vectors: bool = True) -> None:
        """Remember turns; those off the record, and those that may not be stored at all, are left out."""
        messages, infer = [turn.message for turn in turns if not turn.is_private], self._open.get(session, True)
        if not messages:
            return
        done = asyncio.Event()
        self._putting[done] = (session, asyncio.get_running_loop())
        try:
            await self._remember(session, messages, infer=infer, vectors=vectors)
        except InvalidInputError:
            for message in messages:
                try:
                    await self._remember(session, [message], infer=infer, vectors=vectors)
                except InvalidInputError as error:
                    _log.warning("a message of a session may not be stored and was left out: %s", error.code)
        finally:
            del self._putting[done]
            done.set()

    def _start(self, session: Scope, work: Coroutine[Any, Any, object]) -> None:
        """Run it beside the conversation, once at a time for a session; what fails is tried again later."""
        if session in self._under_way:
            work.close()
            return
        self._under_way.add(session)
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[task] = session

        def done(task: asyncio.Task[object]) -> None:
            self._tasks.pop(task, None)
            self._under_way.discard(session)
            error = None if task.cancelled() else task.exception()
            if error is not None:
                failure = error.code if isinstance(error, EbbingError) else type(error).__name__
                _log.warning("older messages of a session could not be remembered yet: %s", failure)

        task.add_done_callback(done)
