"""Whoever follows a store on a server misses no change, in whatever order its writers are done."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql import SqlMemoryStore
from ebbing.adapters.sql.memories.changes import apply, prepare
from ebbing.adapters.sql.tables.owner_tables import OUTBOX
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.scope import Scope
from ebbing.testing.clock import ManualClock
from ebbing.testing.ids import SequentialIds
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.testing.stores.case import ADA, BOB, StoreCase
from tests.servers import ADDRESSES, empty_store, needs

pytestmark = [pytest.mark.extended, pytest.mark.anyio]


class TestOutboxOfServer(StoreCase):
    @pytest.fixture(params=[pytest.param(name, marks=needs(name)) for name in ADDRESSES])
    async def store(self, request: pytest.FixtureRequest) -> AsyncIterator[SqlMemoryStore]:
        self.clock, self.ids, self.embedder = ManualClock(), SequentialIds(), FakeEmbedder(16)
        async with empty_store(request.param, self.clock) as store:
            store.use_model(self.embedder)
            self.opened = store
            yield store

    @asynccontextmanager
    async def writing(self, store: SqlMemoryStore, scope: Scope, text: str) -> AsyncIterator[str]:
        """The id of a new memory that is written at the beginning of a block, and committed at its end."""
        record, now = self.record(scope, text), self.clock.now()
        is_written, may_commit, prepared = anyio.Event(), anyio.Event(), prepare(scope, [self.insert(record)])

        async def work(db: AsyncConnection) -> None:
            await apply(db, scope, changes=prepared, now=now, seen=None, change=ChangeSet(Cause.WRITE))
            is_written.set()
            await may_commit.wait()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store._database.write, work)
            await is_written.wait()
            yield record.id
            may_commit.set()

    async def drained(self, store: SqlMemoryStore) -> list[str]:
        """Ids of all changes before the follower, who then has passed them."""
        changes = await store.outbox.read("index")
        if changes:
            await store.outbox.advance("index", changes[-1].seq)
        return [change.memory_id for change in changes]

    async def test_a_change_that_was_numbered_first_and_committed_last_is_not_skipped(
        self, store: SqlMemoryStore
    ) -> None:
        await self.stored(ADA, "before")
        await self.stored(BOB, "before")
        await store.outbox.register("index")
        async with self.writing(store, ADA, "slow") as slow:
            fast = await self.stored(BOB, "fast")
            assert await self.drained(store) == [fast.id]
            async with self.writing(store, BOB, "second") as second:
                assert await self.drained(store) == []
            assert await self.drained(store) == [second]
            standing = await store.outbox.standing("index", ADA.owner, limit=9)
            assert standing is not None
            assert standing.behind == ()
        behind = await store.outbox.standing("index", ADA.owner, limit=9)
        assert behind is not None
        assert len(behind.behind or ()) == 1
        assert await self.drained(store) == [slow]

    async def test_who_registers_waits_for_those_who_write_and_note_nothing(self, store: SqlMemoryStore) -> None:
        await self.stored(ADA, "before")
        registered = anyio.Event()

        async def register() -> None:
            await store.outbox.register("index")
            registered.set()

        async with anyio.create_task_group() as tasks:
            async with self.writing(store, ADA, "unnoted"):
                tasks.start_soon(register)
                await anyio.sleep(0.3)
                assert not registered.is_set()
            with anyio.fail_after(10):
                await registered.wait()
            assert len(await self.living(store, ADA)) == 2
        later = await self.stored(ADA, "later")
        assert await self.drained(store) == [later.id]

    async def test_a_follower_beside_many_writers_reads_each_change_once(self, store: SqlMemoryStore) -> None:
        await store.outbox.register("index")
        people = [Scope(user_id=f"person{number}") for number in range(6)]
        written: list[str] = []
        followed: list[str] = []

        async def write(scope: Scope) -> None:
            for number in range(15):
                written.append((await self.stored(scope, f"note {number}")).id)

        async def follow() -> None:
            while len(followed) < 90:
                followed.extend(await self.drained(store))

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(follow)
                for scope in people:
                    tasks.start_soon(write, scope)
        assert sorted(followed) == sorted(written)

    async def test_what_every_follower_has_passed_is_removed(self, store: SqlMemoryStore) -> None:
        for name in ("index", "graph"):
            await store.outbox.register(name)
        for text in "abc":
            await self.stored(ADA, text)
        noted = await store.outbox.read("graph")
        await self.drained(store)
        await store.outbox.advance("graph", noted[1].seq)
        [[count]] = await store._database.rows(select(func.count()).select_from(OUTBOX))
        assert count == 1
        await store.outbox.unregister("graph")
        await store.outbox.unregister("index")
        [[count]] = await store._database.rows(select(func.count()).select_from(OUTBOX))
        assert count == 0
