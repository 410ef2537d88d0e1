"""What a store on a server promises beyond the contract: several replicas, layouts, lost connections, clear errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, create_engine, text

from ebbing.adapters.sql import SqlMemoryStore
from ebbing.adapters.sql.connection.addresses import address_of, with_driver
from ebbing.adapters.sql.connection.dialects import end_turn, take_turn
from ebbing.adapters.sql.connection.schema import LAYOUTS, VERSION_TABLE, migrate, open_schema, server_and_layout
from ebbing.adapters.sql.moving.new_store import NewSqlStore
from ebbing.adapters.sql.tables.owner_tables import METADATA
from ebbing.domain.errors import ConfigurationError, ConflictError, InvalidInputError, SchemaError, StoreError
from ebbing.domain.memory.history import Event
from ebbing.ports.stores.memory_store import Erase, MemoryStore
from ebbing.testing.clock import ManualClock
from ebbing.testing.ids import SequentialIds
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.testing.stores.case import ADA, StoreCase
from tests.servers import ADDRESSES, empty_store, needs

SERVERS = [pytest.param(name, marks=needs(name)) for name in ADDRESSES]
pytestmark = [pytest.mark.extended, pytest.mark.anyio]


class Replicas(StoreCase):
    """A store, and others on the same tables."""

    @pytest.fixture(params=SERVERS)
    async def store(self, request: pytest.FixtureRequest) -> AsyncIterator[SqlMemoryStore]:
        self.clock, self.ids, self.embedder = ManualClock(), SequentialIds(), FakeEmbedder(16)
        self.address = ADDRESSES[request.param]
        async with empty_store(request.param, self.clock) as store:
            store.use_model(self.embedder)
            self.opened = store
            yield store

    @asynccontextmanager
    async def replica(self) -> AsyncIterator[SqlMemoryStore]:
        store = SqlMemoryStore.open(self.address, clock=self.clock)
        store.use_model(self.embedder)
        try:
            yield store
        finally:
            await store.aclose()


class TestReplicas(Replicas):
    async def test_a_write_through_one_replica_is_found_through_the_other_at_once(self, store: MemoryStore) -> None:
        async with self.replica() as other:
            for number in range(20):
                writer, reader = (store, other) if number % 2 else (other, store)
                record = self.record(ADA, f"note {number}")
                await writer.write(ADA, [self.insert(record)])
                assert (await self.living(reader, ADA))[-1] == record.id
                change = self.revise(record, Event.UPDATE, content=f"changed {number}")
                await writer.write(ADA, [change])
                assert (await reader.get(ADA, [record.id])) == [change.record]
                shard = await reader.shard(ADA)
                assert shard.generation == (await writer.shard(ADA)).generation

    async def test_what_one_replica_erased_is_in_no_answer_of_the_other(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "tea")
        async with self.replica() as other:
            assert await self.living(other, ADA) == [record.id]
            await store.write(ADA, [Erase(record.id)])
            assert await self.living(other, ADA) == []
            again = await self.stored(ADA, "rain")
            assert await self.living(other, ADA) == [again.id]
            await store.erase(ADA)
            new = await self.stored(ADA, "snow")
            assert await self.living(other, ADA) == [new.id]

    async def test_writers_of_one_owner_at_once_lose_nothing(self, store: MemoryStore) -> None:
        records = [self.record(ADA, f"note {number}", source=f"m{number % 10}") for number in range(20)]
        async with self.replica() as other, anyio.create_task_group() as tasks:
            for number, record in enumerate(records):
                tasks.start_soon([store, other][number % 2].write, ADA, [self.insert(record, once=True)])
        assert len(await self.living(store, ADA)) == 10
        assert (await store.shard(ADA)).generation == 10
        assert await store.verify() == []

    async def test_of_two_who_change_the_same_version_one_is_refused(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "tea")
        async with self.replica() as other:
            await other.write(ADA, [self.revise(record, Event.UPDATE, content="coffee")])
            with pytest.raises(ConflictError):
                await store.write(ADA, [self.revise(record, Event.UPDATE, content="cocoa")])

    async def test_a_store_serves_several_event_loops(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "tea")

        def elsewhere() -> list[str]:
            async def look() -> list[str]:
                async with self.replica() as other:
                    return await self.living(other, ADA)

            return asyncio.run(look())

        assert await asyncio.to_thread(elsewhere) == [record.id]

    async def test_a_connection_that_was_lost_costs_nobody_an_answer(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "tea")
        await self.living(store, ADA)
        with blocking(self.address) as db:
            for number in others(db):
                db.execute(text(end_connection(db)), {"number": number})
        assert await self.living(store, ADA) == [record.id]
        with blocking(self.address) as db:
            for number in others(db):
                db.execute(text(end_connection(db)), {"number": number})
        assert await self.stored(ADA, "rain")
        assert await store.verify() == []

    async def test_nothing_is_backed_up_but_by_the_server_itself(self, store: MemoryStore, tmp_path: Path) -> None:
        with pytest.raises(InvalidInputError, match="pg_dump"):
            await store.back_up(tmp_path)

    async def test_what_was_erased_lies_in_the_files_until_they_are_written_anew(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "tea")
        assert await store.scrub()
        await store.write(ADA, [Erase(record.id)])
        assert not await store.scrub()
        assert not (await store.stats("default")).is_scrubbed
        assert await store.compact()
        assert (await store.stats("default")).is_scrubbed


class blocking:  # noqa: N801 (used as a function)
    """A connection of another program, for the time of a block."""

    def __init__(self, address: str) -> None:
        self._engine = create_engine(with_driver(address_of(address), blocking=True), isolation_level="AUTOCOMMIT")

    def __enter__(self) -> Connection:
        self._db = self._engine.connect()
        return self._db

    def __exit__(self, *_: object) -> None:
        self._db.close()
        self._engine.dispose()


def others(db: Connection) -> list[int]:
    """The numbers of the other connections to the same database."""
    if db.dialect.name == "postgresql":
        query = (
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND backend_type = 'client backend'"
        )
    else:
        query = "SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()"
    return list(db.execute(text(query)).scalars())


def end_connection(db: Connection) -> str:
    """The statement that ends a connection."""
    return "SELECT pg_terminate_backend(:number)" if db.dialect.name == "postgresql" else "KILL :number"


# ── layouts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(params=SERVERS)
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a database of its own, empty."""
    address, name = address_of(ADDRESSES[request.param]), "ebbing_test_layouts"
    with blocking(ADDRESSES[request.param]) as db:
        db.execute(text(f"DROP DATABASE IF EXISTS {name}"))
        db.execute(text(f"CREATE DATABASE {name}"))
    yield address.set(database=name).render_as_string(hide_password=False)
    with blocking(ADDRESSES[request.param]) as db:
        db.execute(text(f"DROP DATABASE {name}"))


def set_layout(address: str, layout: str) -> None:
    """Let the tables say that they are of this layout."""
    with blocking(address) as db:
        db.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = :layout"), {"layout": layout})


def test_the_tables_that_a_migration_makes_are_those_of_the_statements(database: str) -> None:
    open_schema(address_of(database))
    with blocking(database) as db:
        options = {"version_table": VERSION_TABLE, "compare_type": False}
        changes = compare_metadata(MigrationContext.configure(db, opts=options), METADATA)
    kinds = {part[0] for change in changes for part in (change if isinstance(change, list) else [change])}
    # MariaDB needs a key for the numbers that it gives, and names what is unique after an index.
    assert kinds <= {"add_constraint", "remove_constraint", "remove_index"}


def test_an_empty_database_gets_its_tables_and_says_its_layout(database: str) -> None:
    assert migrate(address_of(database)) == (None, LAYOUTS[-1])
    assert migrate(address_of(database)) == (LAYOUTS[-1], LAYOUTS[-1])
    server, layout = server_and_layout(address_of(database))
    assert server.split()[0] in {"PostgreSQL", "MariaDB", "MySQL"}
    assert layout == LAYOUTS[-1]


def test_a_layout_of_a_newer_version_is_refused_and_so_is_its_migration(database: str) -> None:
    open_schema(address_of(database))
    set_layout(database, "9999")
    with pytest.raises(SchemaError, match="newer Ebbing"):
        open_schema(address_of(database))
    with pytest.raises(SchemaError, match="ebbing migrate"):
        migrate(address_of(database))


def make_first_layout(address: str) -> None:
    """Make the tables of the first layout in an empty database, with an owner in them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ebbing.adapters.sql.connection.schema.LAYOUTS", ("0001",))
        open_schema(address_of(address))
    with blocking(address) as db:
        columns = "tenant, owner, kind, name, generation, erased_generation, last_seq, last_change"
        db.execute(text(f"INSERT INTO owner ({columns}) VALUES ('t', 'digest', 'user', 'ada', 7, 0, 0, 0)"))


def test_a_move_that_was_stopped_while_its_tables_were_made_goes_on(database: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ebbing.adapters.sql.connection.schema.LAYOUTS", ("0001",))
        open_schema(address_of(database))
    store = NewSqlStore.make(database)
    assert store is not None
    store.close()
    assert server_and_layout(address_of(database))[1] == LAYOUTS[-1]


def test_an_older_layout_is_refused_with_the_command_that_mends_it(database: str) -> None:
    make_first_layout(database)
    with pytest.raises(SchemaError, match="run `ebbing migrate`"):
        open_schema(address_of(database))
    assert migrate(address_of(database)) == ("0001", LAYOUTS[-1])
    open_schema(address_of(database))
    with blocking(database) as db:
        assert db.execute(text("SELECT name, generation FROM owner")).all() == [("ada", 7)]
        assert set(db.execute(text("SELECT name, value FROM outbox_state"))) == {("followers", 0), ("last_place", 0)}


def test_a_migration_that_was_stopped_is_taken_up_again(database: str) -> None:
    make_first_layout(database)
    migrate(address_of(database))
    set_layout(database, "0001")  # as on a server whose tables are no part of a transaction
    with blocking(database) as db:
        db.execute(text("DROP TABLE outbox_follower"))
        db.execute(text("DROP TABLE session_turn"))
        db.execute(text("DELETE FROM outbox_state WHERE name = 'last_place'"))
    assert migrate(address_of(database)) == ("0001", LAYOUTS[-1])
    test_the_tables_that_a_migration_makes_are_those_of_the_statements(database)
    with blocking(database) as db:
        assert set(db.execute(text("SELECT name, value FROM outbox_state"))) == {("followers", 0), ("last_place", 0)}


def test_another_programs_tables_are_left_alone(database: str) -> None:
    with blocking(database) as db:
        db.execute(text("CREATE TABLE owner (id INTEGER)"))
    with pytest.raises(SchemaError, match="another program"):
        open_schema(address_of(database))


async def test_tables_that_another_replica_is_just_making_are_no_older_ones(database: str) -> None:
    open_schema(address_of(database))
    with blocking(database) as maker:
        take_turn(maker)
        set_layout(database, LAYOUTS[0])
        opening = asyncio.create_task(asyncio.to_thread(open_schema, address_of(database)))
        await asyncio.sleep(0.5)
        set_layout(database, LAYOUTS[-1])
        end_turn(maker)
        await opening


async def test_replicas_that_open_an_empty_database_at_once_make_its_tables_once(database: str) -> None:
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(asyncio.to_thread, open_schema, address_of(database))
    assert server_and_layout(address_of(database))[1] == LAYOUTS[-1]


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"username": "nobody", "password": "secret"}, "password: check EBBING_STORE"),
        ({"database": "ebbing_not_there"}, "no database of that name"),
        ({"port": 9, "password": "secret"}, "cannot be reached"),
    ],
)
def test_a_server_that_cannot_be_used_is_told_without_the_password(
    server: str, change: dict[str, str | int], says: str
) -> None:
    with pytest.raises(StoreError, match=says) as error:
        open_schema(address_of(ADDRESSES[server]).set(**change))
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("text_", ["oracle://ada:secret@host/db", "postgresql://ada:secret@host", "://secret"])
def test_an_address_that_is_none_is_refused_without_being_repeated(text_: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        address_of(text_)
    assert "secret" not in str(error.value)
