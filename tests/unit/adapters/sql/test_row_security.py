"""Row level security: what a statement that forgot its tenant sees, who may set it up, and who it holds for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import URL, create_engine, select, text

from ebbing.adapters.sql import SqlMemoryStore
from ebbing.adapters.sql.connection.addresses import with_driver
from ebbing.adapters.sql.connection.row_security import PROTECTED
from ebbing.adapters.sql.connection.schema import migrate
from ebbing.adapters.sql.moving.store_tables import SqlStoreTables
from ebbing.adapters.sql.tables.conditions import REACH
from ebbing.adapters.sql.tables.owner_tables import MEMORY, METADATA
from ebbing.domain.errors import ConfigurationError, SchemaError, StoreError
from ebbing.domain.memory.scope import Scope
from ebbing.ports.clock import Clock
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.testing.clock import ManualClock
from ebbing.testing.ids import SequentialIds
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.testing.store_suite import MemoryStoreSuite
from ebbing.testing.stores.case import ADA, BOB, StoreCase
from tests.own_servers import DATABASE, PASSWORD, OwnServer, needs_program, own_server

pytestmark = [pytest.mark.extended, pytest.mark.anyio, needs_program("postgres")]
ELSEWHERE = Scope(user_id="ada", tenant="elsewhere")


@pytest.fixture(scope="module")
def server() -> Iterator[OwnServer]:
    """A server with policies, and with a user who may read and write the tables but does not own them."""
    with own_server("postgres") as server:
        migrate(server.address, row_security=True)
        server.run(f"CREATE ROLE servant LOGIN PASSWORD '{PASSWORD}'", database=DATABASE)
        rights = "SELECT, INSERT, UPDATE, DELETE"
        server.run(f"GRANT {rights} ON ALL TABLES IN SCHEMA public TO servant", database=DATABASE)
        server.run("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO servant", database=DATABASE)
        yield server


@asynccontextmanager
async def store_for(address: URL, clock: Clock) -> AsyncIterator[SqlMemoryStore]:
    """An empty store with row security."""
    store = await asyncio.to_thread(SqlMemoryStore.open, address, clock=clock, row_security=True)
    yield store
    await store.aclose()


def empty(server: OwnServer) -> None:
    """Delete everything, past all policies."""
    server.run(
        *(f'TRUNCATE "{table.name}"' for table in METADATA.sorted_tables if table.name != "outbox_state"),
        database=DATABASE,
    )
    server.run("UPDATE outbox_state SET value = 0", database=DATABASE)


@pytest.fixture(params=["ada", "servant"])
def address(request: pytest.FixtureRequest, server: OwnServer) -> URL:
    """Where an empty store is, for the user who owns the tables and for another one."""
    empty(server)
    return server.address.set(username=request.param)


class TestMemoryStoreWithRowSecurity(MemoryStoreSuite):
    @pytest.fixture(autouse=True)
    def _place(self, server: OwnServer) -> None:
        empty(server)
        self.address = server.address.set(username="servant")

    @asynccontextmanager
    async def open_store(self, clock: Clock) -> AsyncIterator[MemoryStore]:
        async with store_for(self.address, clock) as store:
            yield store


class TestSecondWall(StoreCase):
    @pytest.fixture(autouse=True)
    async def _store(self, address: URL) -> AsyncIterator[None]:
        self.clock, self.ids, self.embedder = ManualClock(), SequentialIds(), FakeEmbedder(16)
        async with store_for(address, self.clock) as store:
            store.use_model(self.embedder)
            self.opened = store
            for scope, content in ((ADA, "of ada"), (BOB, "of bob"), (ELSEWHERE, "of another tenant")):
                await store.write(scope, [self.insert(self.record(scope, content))])
            self.database = store._database
            yield

    async def seen(self, *, as_scope: Scope | None, reach: str | None = None) -> set[str]:
        """What a statement without any condition sees, after one that named an owner in the same transaction."""
        forgetful = select(MEMORY.c.content)
        if reach is not None:
            forgetful = forgetful.execution_options(**{REACH: reach})

        async def work(db: object) -> set[str]:
            if as_scope is not None:
                owner = as_scope.owner
                named = select(MEMORY.c.id).where(
                    MEMORY.c.tenant == text(":of_tenant"), MEMORY.c.owner == text(":of_owner")
                )
                await db.execute(named, {"of_tenant": owner.tenant, "of_owner": owner.digest})  # type: ignore[attr-defined]
            return set((await db.execute(forgetful)).scalars())  # type: ignore[attr-defined]

        return await self.database.read(work)

    async def test_a_statement_without_its_tenant_sees_nothing_of_anybody_else(self) -> None:
        assert await self.seen(as_scope=None) == set()
        assert await self.seen(as_scope=ADA) == {"of ada"}
        assert await self.seen(as_scope=ELSEWHERE) == {"of another tenant"}

    async def test_a_statement_that_forgets_its_condition_changes_nothing_of_anybody_else(self) -> None:
        await self.database.write(lambda db: db.execute(MEMORY.delete()))
        await self.database.write(lambda db: db.execute(MEMORY.update().values(content="spoilt")))
        everything = await self.seen(as_scope=None, reach="service: everything is checked")
        assert everything == {"of ada", "of bob", "of another tenant"}

    async def test_what_a_transaction_named_is_forgotten_by_the_next_one(self) -> None:
        for _ in range(30):
            assert await self.seen(as_scope=BOB) == {"of bob"}
            assert await self.seen(as_scope=None) == set()

    async def test_a_row_of_another_owner_cannot_be_written(self) -> None:
        async def work(db: object) -> None:
            owner = ADA.owner
            values = {"of_tenant": owner.tenant, "of_owner": owner.digest, "other": BOB.owner.digest}
            moved = (
                MEMORY.update()
                .values(owner=text(":other"))
                .where(MEMORY.c.tenant == text(":of_tenant"), MEMORY.c.owner == text(":of_owner"))
            )
            await db.execute(moved, values)  # type: ignore[attr-defined]

        with pytest.raises(StoreError, match="may not do this"):
            await self.database.write(work)

    async def test_a_move_of_the_whole_store_takes_the_rows_of_everybody(self, address: URL) -> None:
        tables = SqlStoreTables.open(address.render_as_string(hide_password=False))
        try:
            assert await asyncio.to_thread(tables.count, "memory") == 3
        finally:
            tables.close()


class TestSettingUp:
    async def test_every_table_with_a_tenant_has_its_policy_but_those_that_say_whose_a_call_is(self) -> None:
        with_tenant = {table.name for table in METADATA.sorted_tables if "tenant" in table.c}
        assert with_tenant - {table.name for table in PROTECTED} == {"api_key", "webhook", "job"}

    async def test_a_store_whose_policies_are_not_as_the_setting_says_is_refused(self, server: OwnServer) -> None:
        open_it = SqlMemoryStore.open
        with pytest.raises(SchemaError, match="has row security, and EBBING_STORE_ROW_SECURITY=false"):
            open_it(server.address, clock=ManualClock())
        migrate(server.address, row_security=False)
        try:
            await open_it(server.address, clock=ManualClock()).aclose()
            with pytest.raises(SchemaError, match="lacks row security, and EBBING_STORE_ROW_SECURITY=true"):
                open_it(server.address, clock=ManualClock(), row_security=True)
            assert count(server.address, "pg_class WHERE relrowsecurity") == 0
        finally:
            migrate(server.address, row_security=True)
        assert count(server.address, "pg_class WHERE relforcerowsecurity") == len(PROTECTED)

    async def test_a_user_who_passes_every_policy_is_refused(self, server: OwnServer) -> None:
        with pytest.raises(ConfigurationError, match="has no effect for this user"):
            SqlMemoryStore.open(server.admin.set(database=DATABASE), clock=ManualClock(), row_security=True)

    @needs_program("mariadb")
    async def test_another_server_than_postgres_is_refused(self) -> None:
        with own_server("mariadb") as server, pytest.raises(ConfigurationError, match="needs PostgreSQL"):
            SqlMemoryStore.open(server.address, clock=ManualClock(), row_security=True)


def count(address: URL, source: str) -> int:
    """How many rows there are."""
    engine = create_engine(with_driver(address, blocking=True))
    with engine.connect() as db:
        number = int(db.execute(text(f"SELECT count(*) FROM {source}")).scalar_one())
    engine.dispose()
    return number
