"""The contract of `ports.working_memory.WorkingMemory` as tests. An adapter gives `open_working_memory`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta

import anyio
import pytest

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.domain.memory.scope import Scope
from ebbing.ports.clock import Clock
from ebbing.ports.working_memory import Turn, WorkingMemory
from ebbing.testing.clock import ManualClock

ADA = Scope(user_id="ada", run_id="monday")
MINUTE = timedelta(minutes=1)


def said(text: str, message_id: str | None = None) -> Turn:
    """What a user says, one token a character."""
    return Turn(Message(text, id=message_id or text), len(text))


@pytest.mark.anyio
class WorkingMemorySuite:
    """Everything that a working memory promises. Needs pytest, and a fixture `anyio_backend` that returns "asyncio"."""

    clock: ManualClock

    def open_working_memory(
        self, clock: Clock, *, most_sessions: int, most_tokens: int
    ) -> AbstractAsyncContextManager[WorkingMemory]:
        """An empty one with these bounds that is gone at the end of the context."""
        raise NotImplementedError

    @pytest.fixture
    async def working(self) -> AsyncIterator[WorkingMemory]:
        """A fresh one for a test: three sessions of twenty tokens."""
        self.clock = ManualClock()
        async with self.open_working_memory(self.clock, most_sessions=3, most_tokens=20) as working:
            yield working

    async def texts(self, working: WorkingMemory, session: Scope = ADA) -> list[str]:
        """What a session holds, in its order."""
        return [turn.message.content for turn in await working.read(session)]

    async def test_messages_come_back_whole_in_the_order_said(self, working: WorkingMemory) -> None:
        at = datetime(2024, 5, 1, 12, tzinfo=UTC)
        said_so = [
            Message("你好 👋🏽\n", Role.ASSISTANT, "Max", "1", at),
            Message("tea", id="2"),
            Message("tea"),
            Message("tea"),
        ]
        turns = [Turn(message, tokens) for tokens, message in enumerate(said_so, start=1)]
        for turn in turns:
            assert await working.append(ADA, turn)
        assert await working.read(ADA) == turns

    async def test_a_session_that_nobody_began_is_empty(self, working: WorkingMemory) -> None:
        assert await working.read(ADA) == []
        await working.drop(ADA, [said("tea")])
        await working.touch(ADA)
        assert await working.sessions() == []

    async def test_every_name_of_a_session_tells_it_from_others(self, working: WorkingMemory) -> None:
        scopes = [ADA, Scope(user_id="ada", run_id="tuesday"), Scope(user_id="ada", run_id="monday", tenant="other")]
        for number, scope in enumerate(scopes):
            await working.append(scope, said(str(number)))
        assert [await self.texts(working, scope) for scope in scopes] == [["0"], ["1"], ["2"]]
        assert await working.read(Scope(user_id="ada", agent_id="bot", run_id="monday")) == []

    async def test_what_was_read_is_a_copy_of_it(self, working: WorkingMemory) -> None:
        await working.append(ADA, said("tea"))
        (await working.read(ADA)).clear()
        assert await self.texts(working) == ["tea"]

    async def test_a_message_with_a_known_id_takes_the_place_of_the_other(self, working: WorkingMemory) -> None:
        for turn in (said("tea", "1"), said("cake", "2"), said("coffee", "1")):
            assert await working.append(ADA, turn)
        assert await self.texts(working) == ["coffee", "cake"]

    async def test_dropped_messages_are_gone_and_the_others_stay(self, working: WorkingMemory) -> None:
        turns = [said(str(number)) for number in range(4)]
        for turn in turns:
            await working.append(ADA, turn)
        await working.drop(ADA, [*turns[:2], said("never held")])
        await working.drop(ADA, turns[:2])
        assert await self.texts(working) == ["2", "3"]

    async def test_a_message_that_was_edited_meanwhile_is_not_dropped(self, working: WorkingMemory) -> None:
        await working.append(ADA, said("tea", "1"))
        [before] = await working.read(ADA)
        await working.append(ADA, said("coffee", "1"))
        await working.drop(ADA, [before])
        assert await self.texts(working) == ["coffee"]

    async def test_a_session_is_closed_with_its_last_message(self, working: WorkingMemory) -> None:
        await working.append(ADA, said("tea"))
        assert await working.sessions() == [ADA]
        await working.drop(ADA, [said("tea")])
        assert await working.sessions() == []

    async def test_a_full_session_takes_no_message_until_room_is_made(self, working: WorkingMemory) -> None:
        assert await working.append(ADA, said("茶" * 19, "1"))
        assert await working.append(ADA, said("茶" * 500, "2"))  # below its bound without it
        assert not await working.append(ADA, said("茶", "3"))
        assert len(await working.read(ADA)) == 2
        await working.drop(ADA, [said("茶" * 500, "2")])
        assert await working.append(ADA, said("茶", "3"))

    async def test_a_full_session_lets_a_message_be_shortened(self, working: WorkingMemory) -> None:
        await working.append(ADA, said("茶" * 30, "1"))
        assert not await working.append(ADA, said("茶" * 31, "1"))
        assert await working.append(ADA, said("茶", "1"))
        assert await working.append(ADA, said("茶", "2"))
        assert await self.texts(working) == ["茶", "茶"]

    async def test_only_so_many_sessions_are_open_at_once(self, working: WorkingMemory) -> None:
        scopes = [Scope(user_id="ada", run_id=str(number)) for number in range(4)]
        assert [await working.append(scope, said("tea")) for scope in scopes] == [True, True, True, False]
        assert await working.append(scopes[0], said("cake"))
        await working.drop(scopes[1], [said("tea")])
        assert await working.append(scopes[3], said("tea"))

    async def test_sessions_are_listed_by_how_long_they_are_idle(self, working: WorkingMemory) -> None:
        scopes = [Scope(user_id="ada", run_id=str(number)) for number in range(3)]
        for scope in scopes:
            await working.append(scope, said("tea"))
            self.clock.advance(MINUTE)
        await working.touch(scopes[0])
        assert await working.sessions() == [scopes[1], scopes[2], scopes[0]]
        assert await working.sessions(limit=1) == [scopes[1]]
        assert await working.sessions(idle_since=self.clock.now() - MINUTE) == [scopes[1], scopes[2]]
        assert await working.sessions(idle_since=self.clock.now() - 3 * MINUTE) == []

    async def test_messages_appended_at_once_are_all_kept(self, working: WorkingMemory) -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(12):
                tasks.start_soon(working.append, ADA, said(str(number)))
        assert sorted(await self.texts(working), key=int) == [str(number) for number in range(12)]
