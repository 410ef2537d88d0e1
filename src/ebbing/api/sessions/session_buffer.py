"""From the running conversations to what is remembered of them, so that nothing said is lost on the way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Coroutine, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final, Protocol

from ebbing.domain.errors import EbbingError, InvalidInputError, StoreClosedError, StoreError
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import MemoryEvent, Topic
from ebbing.ports.working_memory import Turn, is_within
from ebbing.recall.context.session_search import last_rounds
from ebbing.wiring.build import Components

_ARRIVAL_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.05
_IDLE_ROUND_SECONDS: Final = 60.0
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
        self._open: dict[Scope, None] = {}
        """The sessions in which this memory heard something, in the order of the first word."""
        self._private: dict[Scope, bool] = {}
        """The sessions of which it is known here whether they are off the record; those of no entry are not."""
        self._switched: set[Scope] = set()
        """Those that were switched here, and whoever shares the sessions does not know it yet."""
        self._closed = False
        self._under_way: set[Scope] = set()
        self._tasks: dict[asyncio.Task[object], Scope] = {}
        components.events.subscribe(Topic.SESSION_END, self._extract)

    async def hear(self, session: Scope, turns: Sequence[Turn]) -> None:
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
            self._open[session] = None
        await self._tidy(session)

    def is_private(self, session: Scope) -> bool:
        """Return whether a session is off the record, as far as it is known here."""
        return self._private.get(session, False)

    def set_private(self, session: Scope, is_private: bool) -> None:
        """Take a session off the record, or put what is said in it from now on there again.

        Whoever shares the sessions learns of it with the next `off_record`.
        """
        self._private[session] = is_private
        self._switched.add(session)

    async def off_record(self, session: Scope) -> bool:
        """Return whether a session is off the record, wherever that was said."""
        working = self._components.working
        if session in self._switched:
            await working.set_private(session, self.is_private(session))
            self._switched.discard(session)
        elif await working.is_private(session):
            self._private[session] = True
        else:
            self._private.pop(session, None)
        return self.is_private(session)

    async def stored_turns(self, session: Scope) -> list[Turn]:
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
        before = await self.stored_turns(session)
        if all(turn.is_private for turn in before):
            await self._components.working.drop(session, before)
            self._open.pop(session, None)
            return []
        event = MemoryEvent(Topic.SESSION_END, session, self._components.clock.now())
        failures = await self._components.events.publish(event)
        left = set(before).intersection(await self.stored_turns(session))
        if not left:
            return []
        await self._components.working.touch(session)  # so that it is not the next to be tried again at once
        return failures or [StoreError("the session could not be remembered: end it again")]

    async def end_idle(self) -> None:
        """End the sessions in which nothing was said for as long as the settings allow; what fails is logged."""
        try:
            for session in await self._components.working.sessions(idle_since=self._idle_since()):
                await self.end(session)
        except EbbingError as error:
            _log.warning("sessions that seem to be forgotten could not be ended yet: %s", error.code)

    async def keep_ending_idle(self) -> None:
        """End idle sessions every minute until it is cancelled: also those that a process left which is gone."""
        while not self._closed:
            await self.end_idle()
            await asyncio.sleep(_IDLE_ROUND_SECONDS)

    async def end_all(self) -> None:
        """End the sessions of this memory, since it is about to close; without vectors where there are none to be had.

        Sessions that other processes share go on without this one.

        Raises:
            EbbingError: a session cannot be stored in any way, and is lost with the process; the others are stored.
        """
        self._closed = True
        lost: list[EbbingError] = []
        ending = [] if self._components.working.is_shared else list(self._open)
        for session in ending:
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

    async def forget(self, within: Scope | str) -> int:
        """Let go of what was said in the sessions of a scope or a tenant, unremembered; how many turns these were.

        What is on its way into long-term memory has arrived there or was stopped when this returns, so that nothing
        comes after an erasure that follows; one that takes longer than ten seconds is not waited for. That holds for
        every process that shares the sessions.

        Raises:
            StoreError: working memory cannot be reached.
        """
        gone, working = 0, self._components.working
        for session in await working.sessions(within=within):
            turns = await working.read(session)
            await working.drop(session, turns)
            gone += len(turns)
        for session in [session for session in self._open if is_within(within, session)]:
            del self._open[session]
        loop = asyncio.get_running_loop()
        meant = [task for task, session in self._tasks.items() if is_within(within, session)]
        tasks = [task for task in meant if task.get_loop() is loop]
        for task in tasks:
            task.cancel()
        deadline = loop.time() + _ARRIVAL_SECONDS
        if tasks:
            await asyncio.wait(tasks, timeout=_ARRIVAL_SECONDS)
        while loop.time() < deadline:
            if not await working.is_storing(within):
                break
            await asyncio.sleep(_LOOK_SECONDS)
        return gone

    async def _tidy(self, session: Scope) -> None:
        """Start to remember what left the last rounds, and a session that seems to be forgotten open."""
        turns = await self.stored_turns(session)
        if len(turns) - len(self.last(turns)) > 1:
            self._start(session, self._let_leave(session))
        for idle in await self._components.working.sessions(idle_since=self._idle_since(), limit=1):
            self._start(idle, self.end(idle))

    def _idle_since(self) -> datetime:
        return self._components.clock.now() - timedelta(minutes=self._components.settings.session_idle_minutes)

    async def _make_room(self, session: Scope) -> None:
        if await self.stored_turns(session):
            await self._let_leave(session, keep=0)
        else:
            for idle in await self._components.working.sessions(limit=1):
                await self.end(idle)

    async def _let_leave(self, session: Scope, *, keep: int = 1) -> None:
        """Remember what is older than the last rounds, and let go of it but for the newest `keep`."""
        turns = await self.stored_turns(session)
        leaving = turns[: len(turns) - len(self.last(turns))]
        if len(leaving) > keep:
            await self._put_away(session, leaving)
            await self._components.working.drop(session, leaving[: len(leaving) - keep])

    async def _extract(self, event: MemoryEvent) -> None:
        await self._extract_from(event.scope)

    async def _extract_from(self, session: Scope, *, vectors: bool = True) -> None:
        turns = await self.stored_turns(session)
        if turns:
            await self._put_away(session, turns, vectors=vectors)
            await self._components.working.drop(session, turns)
        if not await self.stored_turns(session):
            self._open.pop(session, None)

    async def _put_away(self, session: Scope, turns: Sequence[Turn], *, vectors: bool = True) -> None:
        """Remember turns; those off the record, and those that may not be stored at all, are left out.

        The note comes first, and then the turns are looked for once more: so whoever erases a person in another
        process either sees the note and waits, or has let go of the turns already.
        """
        working = self._components.working
        note = await working.begin_storing(session)
        try:
            still_here = set(await working.read(session))
            messages = [turn for turn in turns if turn in still_here and not turn.is_private]
            for infer, part in groupby(messages, key=lambda turn: turn.infer):
                await self._put(session, [turn.message for turn in part], infer=infer, vectors=vectors)
        finally:
            await working.end_storing(session, note)

    async def _put(self, session: Scope, messages: Sequence[Message], *, infer: bool, vectors: bool) -> None:
        try:
            await self._remember(session, messages, infer=infer, vectors=vectors)
        except InvalidInputError:
            for message in messages:
                try:
                    await self._remember(session, [message], infer=infer, vectors=vectors)
                except InvalidInputError as error:
                    _log.warning("a message of a session may not be stored and was left out: %s", error.code)

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
