"""The contract of `ports.working_memory.WorkingMemory` as tests. An adapter gives `open_working_memory`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
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


def turn_of(text: str, message_id: str | None = None, *, private: bool = False) -> Turn:
    """What a user says, one token a character."""
    return Turn(Message(text, id=message_id or text), len(text), private)


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
        await working.drop(ADA, [turn_of("tea")])
        await working.touch(ADA)
        assert await working.sessions() == []

    async def test_every_name_of_a_session_tells_it_from_others(self, working: WorkingMemory) -> None:
        scopes = [ADA, Scope(user_id="ada", run_id="tuesday"), Scope(user_id="ada", run_id="monday", tenant="other")]
        for number, scope in enumerate(scopes):
            await working.append(scope, turn_of(str(number)))
        assert [await self.texts(working, scope) for scope in scopes] == [["0"], ["1"], ["2"]]
        assert await working.read(Scope(user_id="ada", agent_id="bot", run_id="monday")) == []

    async def test_what_was_read_is_a_copy_of_it(self, working: WorkingMemory) -> None:
        await working.append(ADA, turn_of("tea"))
        (await working.read(ADA)).clear()
        assert await self.texts(working) == ["tea"]

    async def test_a_message_with_a_known_id_takes_the_place_of_the_other(self, working: WorkingMemory) -> None:
        for turn in (turn_of("tea", "1"), turn_of("cake", "2"), turn_of("coffee", "1")):
            assert await working.append(ADA, turn)
        assert await self.texts(working) == ["coffee", "cake"]

    async def test_dropped_messages_are_gone_and_the_others_stay(self, working: WorkingMemory) -> None:
        turns = [turn_of(str(number)) for number in range(4)]
        for turn in turns:
            await working.append(ADA, turn)
        await working.drop(ADA, [*turns[:2], turn_of("never held")])
        await working.drop(ADA, turns[:2])
        assert await self.texts(working) == ["2", "3"]

    async def test_a_message_that_was_edited_meanwhile_is_not_dropped(self, working: WorkingMemory) -> None:
        await working.append(ADA, turn_of("tea", "1"))
        [before] = await working.read(ADA)
        await working.append(ADA, turn_of("coffee", "1"))
        await working.drop(ADA, [before])
        assert await self.texts(working) == ["coffee"]

    async def test_a_session_is_closed_with_its_last_message(self, working: WorkingMemory) -> None:
        await working.append(ADA, turn_of("tea"))
        assert await working.sessions() == [ADA]
        await working.drop(ADA, [turn_of("tea")])
        assert await working.sessions() == []

    async def test_a_full_session_takes_no_message_until_room_is_made(self, working: WorkingMemory) -> None:
        assert await working.append(ADA, turn_of("茶" * 19, "1"))
        assert await working.append(ADA, turn_of("茶" * 500, "2"))  # below its bound without it
        assert not await working.append(ADA, turn_of("茶", "3"))
        assert len(await working.read(ADA)) == 2
        await working.drop(ADA, [turn_of("茶" * 500, "2")])
        assert await working.append(ADA, turn_of("茶", "3"))

    async def test_a_full_session_lets_a_message_be_shortened(self, working: WorkingMemory) -> None:
        await working.append(ADA, turn_of("茶" * 30, "1"))
        assert not await working.append(ADA, turn_of("茶" * 31, "1"))
        assert await working.append(ADA, turn_of("茶", "1"))
        assert await working.append(ADA, turn_of("茶", "2"))
        assert await self.texts(working) == ["茶", "茶"]

    async def test_only_so_many_sessions_are_open_at_once(self, working: WorkingMemory) -> None:
        scopes = [Scope(user_id="ada", run_id=str(number)) for number in range(4)]
        assert [await working.append(scope, turn_of("tea")) for scope in scopes] == [True, True, True, False]
        assert await working.append(scopes[0], turn_of("cake"))
        await working.drop(scopes[1], [turn_of("tea")])
        assert await working.append(scopes[3], turn_of("tea"))

    async def test_sessions_are_listed_by_how_long_they_are_idle(self, working: WorkingMemory) -> None:
        scopes = [Scope(user_id="ada", run_id=str(number)) for number in range(3)]
        for scope in scopes:
            await working.append(scope, turn_of("tea"))
            self.clock.advance(MINUTE)
        await working.touch(scopes[0])
        assert await working.sessions() == [scopes[1], scopes[2], scopes[0]]
        assert await working.sessions(limit=1) == [scopes[1]]
        assert await working.sessions(idle_since=self.clock.now() - MINUTE) == [scopes[1], scopes[2]]
        assert await working.sessions(idle_since=self.clock.now() - 3 * MINUTE) == []

    async def test_messages_appended_at_once_are_all_kept(self, working: WorkingMemory) -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(12):
                tasks.start_soon(working.append, ADA, turn_of(str(number)))
        assert sorted(await self.texts(working), key=int) == [str(number) for number in range(12)]

    async def test_sessions_of_a_scope_and_of_a_tenant_are_found(self, working: WorkingMemory) -> None:
        other, elsewhere = Scope(user_id="ada", run_id="tuesday"), Scope(user_id="ada", tenant="default2")
        for scope in (ADA, other, elsewhere):
            await working.append(scope, turn_of("tea"))
            self.clock.advance(MINUTE)
        assert await working.sessions(within=Scope(user_id="ada")) == [ADA, other]
        assert await working.sessions(within=Scope(user_id="ada"), limit=1) == [ADA]
        assert await working.sessions(within=Scope(user_id="ada"), idle_since=self.clock.now() - 3 * MINUTE) == [ADA]
        assert await working.sessions(within=other) == [other]
        assert await working.sessions(within="default") == [ADA, other]
        assert await working.sessions(within="default2") == [elsewhere]
        assert await working.sessions(within=Scope(user_id="ad")) == []
        assert await working.sessions(within="") == []

    async def test_turns_off_the_record_stand_where_they_were_said(self, working: WorkingMemory) -> None:
        for turn in (turn_of("a"), turn_of("b", private=True), turn_of("c"), turn_of("d", private=True)):
            assert await working.append(ADA, turn)
            self.clock.advance(MINUTE)
        turns = await working.read(ADA)
        assert [(turn.message.content, turn.is_private) for turn in turns] == [
            ("a", False),
            ("b", True),
            ("c", False),
            ("d", True),
        ]
        await working.drop(ADA, turns[:3])
        assert await self.texts(working) == ["d"]
        assert await working.sessions() == [ADA]
        await working.drop(ADA, turns)
        assert await working.sessions() == []

    async def test_a_turn_that_goes_off_the_record_and_comes_back_keeps_its_place(self, working: WorkingMemory) -> None:
        turns = [turn_of("a"), turn_of("b"), turn_of("c")]
        for turn in turns:
            await working.append(ADA, turn)
        for is_private in (True, False):
            changed = replace(turns[1], is_private=is_private)
            assert await working.append(ADA, changed)
            assert await working.read(ADA) == [turns[0], changed, turns[2]]

    async def test_turns_off_the_record_count_towards_what_a_session_may_hold(self, working: WorkingMemory) -> None:
        assert await working.append(ADA, turn_of("茶" * 12, "1", private=True))
        assert await working.append(ADA, turn_of("茶" * 12, "2"))
        for private in (True, False):
            assert not await working.append(ADA, turn_of("茶", "3", private=private))
        await working.drop(ADA, [turn_of("茶" * 12, "1", private=True)])
        assert await working.append(ADA, turn_of("茶", "3", private=True))

    async def test_the_switch_of_a_session_is_its_own_and_outlives_its_messages(self, working: WorkingMemory) -> None:
        assert not await working.is_private(ADA)
        await working.set_private(ADA, True)
        await working.append(ADA, turn_of("tea", private=True))
        await working.drop(ADA, [turn_of("tea", private=True)])
        assert await working.is_private(ADA)
        assert not await working.is_private(Scope(user_id="ada", run_id="tuesday"))
        assert await working.sessions() == []
        await working.set_private(ADA, False)
        assert not await working.is_private(ADA)

    async def test_what_is_on_its_way_into_the_store_is_noted_until_it_is_there(self, working: WorkingMemory) -> None:
        notes = [await working.begin_storing(ADA), await working.begin_storing(ADA)]
        for note in notes:
            assert await working.is_storing(ADA)
            assert await working.is_storing(Scope(user_id="ada"))
            assert await working.is_storing("default")
            assert not await working.is_storing(Scope(user_id="bob"))
            assert not await working.is_storing("other")
            await working.end_storing(ADA, note)
        assert not await working.is_storing("default")


@pytest.mark.anyio
class SharedWorkingMemorySuite(WorkingMemorySuite):
    """Everything that a working memory promises which several processes share."""

    def open_beside(
        self, clock: Clock, *, most_sessions: int, most_tokens: int
    ) -> AbstractAsyncContextManager[WorkingMemory]:
        """Another one over the same sessions, as another process would open it; it empties nothing."""
        raise NotImplementedError

    @pytest.fixture
    async def other(self, working: WorkingMemory) -> AsyncIterator[WorkingMemory]:
        """The working memory of another process."""
        assert working.is_shared
        async with self.open_beside(self.clock, most_sessions=3, most_tokens=20) as other:
            yield other

    async def test_a_conversation_that_two_processes_hear_is_one_in_its_order(
        self, working: WorkingMemory, other: WorkingMemory
    ) -> None:
        for number in range(10):
            assert await (working if number % 2 else other).append(ADA, turn_of(str(number)))
        for process in (working, other):
            assert await self.texts(process) == [str(number) for number in range(10)]
            assert await process.sessions() == [ADA]
        await other.drop(ADA, await other.read(ADA))
        assert await working.read(ADA) == []

    async def test_what_is_said_later_stands_later_although_a_clock_is_slow(
        self, working: WorkingMemory, other: WorkingMemory
    ) -> None:
        self.clock.advance(MINUTE)
        await working.append(ADA, turn_of("a"))
        self.clock.advance(-MINUTE)
        await other.append(ADA, turn_of("b"))
        assert await self.texts(working) == ["a", "b"]

    async def test_what_is_off_the_record_is_known_to_whoever_heard_it_alone(
        self, working: WorkingMemory, other: WorkingMemory
    ) -> None:
        await working.set_private(ADA, True)
        assert await other.is_private(ADA)
        await other.append(ADA, turn_of("a"))
        self.clock.advance(MINUTE)
        await working.append(ADA, turn_of("b", private=True))
        self.clock.advance(MINUTE)
        await other.append(ADA, turn_of("c"))
        assert await self.texts(working) == ["a", "b", "c"]
        assert await self.texts(other) == ["a", "c"]

    async def test_bounds_hold_over_all_processes_together(self, working: WorkingMemory, other: WorkingMemory) -> None:
        scopes = [Scope(user_id="ada", run_id=str(number)) for number in range(4)]
        taken = [await (working, other)[at % 2].append(scope, turn_of("tea")) for at, scope in enumerate(scopes)]
        assert taken == [True, True, True, False]
        assert await working.append(scopes[0], turn_of("茶" * 20, "1"))
        assert not await other.append(scopes[0], turn_of("茶", "2"))

    async def test_messages_that_two_processes_append_at_once_are_all_kept(
        self, working: WorkingMemory, other: WorkingMemory
    ) -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon((working, other)[number % 2].append, ADA, turn_of(chr(97 + number)))
        assert sorted(await self.texts(working)) == [chr(97 + number) for number in range(20)]
        assert await self.texts(working) == await self.texts(other)

    async def test_a_note_is_seen_by_every_process(self, working: WorkingMemory, other: WorkingMemory) -> None:
        note = await working.begin_storing(ADA)
        assert await other.is_storing(ADA)
        await working.end_storing(ADA, note)
        assert not await other.is_storing(ADA)
