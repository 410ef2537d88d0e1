"""A server that fails, in each way that servers fail: a clear error, nothing half written, and well again by itself."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from sqlalchemy import URL, create_engine, text

from ebbing.adapters.sql import SqlMemoryStore
from ebbing.adapters.sql.connection.addresses import with_driver
from ebbing.adapters.sql.connection.database import DEFAULT_SECONDS
from ebbing.adapters.sql.connection.schema import VERSION_TABLE, open_schema
from ebbing.domain.errors import SchemaError, StoreError
from ebbing.testing.clock import ManualClock
from ebbing.testing.ids import SequentialIds
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.testing.stores.case import ADA, StoreCase
from tests.own_servers import (
    DATABASE,
    PASSWORD,
    OwnServer,
    line_to,
    needs_program,
    own_server,
    small_disk,
    until,
)

pytestmark = [pytest.mark.extended, pytest.mark.anyio]
SERVERS = [pytest.param(name, marks=needs_program(name)) for name in ("postgres", "mariadb")]
SECONDS = 3.0
"""How long a statement may take, in the tests that wait for that."""


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[OwnServer]:
    """A server of this module's own."""
    with own_server(request.param) as server:
        yield server


class Failing(StoreCase):
    """A store on a server that may be made to fail."""

    @pytest.fixture(autouse=True)
    def _prepare(self) -> None:
        self.clock, self.ids, self.embedder = ManualClock(), SequentialIds(), FakeEmbedder(16)

    @asynccontextmanager
    async def store_at(self, address: URL, *, seconds: float = DEFAULT_SECONDS) -> AsyncIterator[SqlMemoryStore]:
        """A store; however little time its statements have, the tables may take theirs: a busy machine is slow."""
        await asyncio.to_thread(open_schema, address)
        store = await asyncio.to_thread(SqlMemoryStore.open, address, clock=self.clock, seconds=seconds)
        store.use_model(self.embedder)
        self.opened = store
        try:
            await store.reset("default")
            yield store
        finally:
            await store.aclose()

    async def refused(self, store: SqlMemoryStore) -> str:
        """What a write says that the server does not take, within a minute."""
        with anyio.fail_after(60), pytest.raises(StoreError) as error:
            await store.write(ADA, [self.insert(self.record(ADA, "this is lost"))])
        assert PASSWORD not in str(error.value)
        return str(error.value)

    async def check_well(self, store: SqlMemoryStore, ids: list[str]) -> None:
        """The store holds these memories, nothing by half, and takes new ones."""
        assert await self.living(store, ADA) == ids
        new = await self.stored(ADA, "rain")
        assert await self.living(store, ADA) == [*ids, new.id]
        assert await store.verify() == []


class TestDown(Failing):
    async def test_a_server_that_is_down_is_told_and_well_again_without_a_new_start(self, server: OwnServer) -> None:
        async with self.store_at(server.address) as store:
            tea = await self.stored(ADA, "tea")
            await asyncio.to_thread(server.stop)
            try:
                assert "cannot be reached: check that the server runs" in await self.refused(store)
                with pytest.raises(StoreError, match="cannot be reached"):
                    await store.shard(ADA)
            finally:
                await asyncio.to_thread(server.start)
            await self.check_well(store, [tea.id])


class TestSlow(Failing):
    async def test_a_table_that_somebody_locks_is_not_waited_for_without_end(self, server: OwnServer) -> None:
        async with self.store_at(server.address, seconds=SECONDS) as store:
            tea = await self.stored(ADA, "tea")
            with locked(server, "memory"):
                began = time.monotonic()
                assert "takes too long: look at the server's load and locks" in await self.refused(store)
                assert time.monotonic() - began < 6 * SECONDS
            await self.check_well(store, [tea.id])

    async def test_a_line_that_stalls_is_given_up_and_taken_anew(self, server: OwnServer) -> None:
        with line_to(server.port) as line:
            async with self.store_at(server.address.set(port=line.port), seconds=SECONDS) as store:
                tea = await self.stored(ADA, "tea")
                line.stall()
                assert "takes too long" in await self.refused(store)
                line.go_on()
                await self.check_well(store, [tea.id])

    @pytest.mark.parametrize("is_connected", [False, True])
    async def test_a_server_that_says_nothing_is_not_opened_for_ever(
        self, server: OwnServer, is_connected: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("ebbing.adapters.sql.connection.schema.CONNECT_SECONDS", 2)
        with line_to(server.port) as line:
            if is_connected:
                monkeypatch.setattr("ebbing.adapters.sql.connection.schema._refuse_old", lambda _: line.stall())
            else:
                line.stall()
            with anyio.fail_after(30), pytest.raises(StoreError, match=r"cannot be reached|takes too long"):
                await asyncio.to_thread(open_schema, server.address.set(port=line.port), seconds=SECONDS)


class locked:  # noqa: N801 (used as a function)
    """A table that another program keeps for itself, for the time of a block."""

    def __init__(self, server: OwnServer, table: str) -> None:
        self._is_postgres = server.name == "postgres"
        self._table = table
        self._engine = create_engine(with_driver(server.admin.set(database=DATABASE), blocking=True))

    def __enter__(self) -> None:
        self._db = self._engine.connect()
        statement = "LOCK TABLE {} IN ACCESS EXCLUSIVE MODE" if self._is_postgres else "LOCK TABLES {} WRITE"
        self._db.execute(text(statement.format(self._table)))

    def __exit__(self, *_: object) -> None:
        self._db.invalidate()
        self._db.close()
        self._engine.dispose()


class TestFull(Failing):
    @needs_program("postgres")
    async def test_a_full_disk_of_postgres(self) -> None:
        with own_server("postgres") as server, small_disk(server.directory / "small", "postgres", mebibytes=24) as disk:
            server.run(f"CREATE TABLESPACE small LOCATION '{disk}'", "GRANT CREATE ON TABLESPACE small TO ada")
            server.run(f"ALTER DATABASE {DATABASE} SET default_tablespace = small")
            await self.check_full(server, disk / "ballast")
            server.stop()

    @needs_program("mariadb")
    async def test_a_full_disk_of_mariadb(self) -> None:
        with own_server("mariadb") as server:
            place = server.directory / "data" / DATABASE
            with small_disk(place, "mysql", mebibytes=24) as disk:
                await self.check_full(server, disk / "ballast")
                server.stop()

    async def check_full(self, server: OwnServer, ballast: Path) -> None:
        async with self.store_at(server.address) as store:
            ids = [(await self.stored(ADA, "tea")).id]
            with pytest.raises(OSError, match="No space"):
                await asyncio.to_thread(ballast.write_bytes, bytes(2**29))
            with pytest.raises(StoreError, match="is full: nothing was written; make room"):
                await self.fill(store, ids)
            await asyncio.to_thread(ballast.unlink)
            await self.check_well(store, ids)

    async def fill(self, store: SqlMemoryStore, ids: list[str]) -> None:
        """Write until that fails; the ids of what was written are noted."""
        for number in range(3_000):
            record = self.record(ADA, f"{number} " + "x" * 4_000)
            await store.write(ADA, [self.insert(record)])
            ids.append(record.id)

    async def test_a_server_that_takes_no_writes(self, server: OwnServer) -> None:
        async with self.store_at(server.address) as store:
            tea = await self.stored(ADA, "tea")
            set_read_only(server, True)
            try:
                assert "takes no writes now" in await self.refused(store)
                assert await self.living(store, ADA) == [tea.id]
            finally:
                set_read_only(server, False)
            await self.check_well(store, [tea.id])

    async def test_a_server_that_takes_no_more_connections(self, server: OwnServer) -> None:
        async with self.store_at(server.address) as store:
            tea = await self.stored(ADA, "tea")
            end_connections(server, limit=1)
            engine = create_engine(with_driver(server.address, blocking=True))
            try:
                with engine.connect():
                    assert "takes no more connections" in await self.refused(store)
                    with pytest.raises(StoreError, match="takes no more connections"):
                        await asyncio.to_thread(open_schema, server.address)
            finally:
                engine.dispose()
                end_connections(server, limit=None)
            await self.check_well(store, [tea.id])


def set_read_only(server: OwnServer, is_on: bool) -> None:
    """From now on nobody may write, or may again."""
    if server.name == "mariadb":
        server.run(f"SET GLOBAL read_only = {int(is_on)}")
        return
    server.run(f"ALTER DATABASE {DATABASE} SET default_transaction_read_only = {'on' if is_on else 'off'}")
    end_connections(server, limit=None)


def end_connections(server: OwnServer, *, limit: int | None) -> None:
    """End all connections of the store, and let so many be made anew; wait until none is left that counts."""
    if server.name == "postgres":
        server.run(
            f"ALTER ROLE ada CONNECTION LIMIT {-1 if limit is None else limit}",
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE usename = 'ada'",
        )
        return
    server.run(f"ALTER USER ada@'%' WITH MAX_USER_CONNECTIONS {limit or 0}", "KILL USER ada")
    until(lambda: not is_connected(server), "the connections of the store did not end")


def is_connected(server: OwnServer) -> bool:
    """Whether a MariaDB has a connection of the store's user."""
    engine = create_engine(with_driver(server.admin, blocking=True))
    with engine.connect() as db:
        count = db.execute(text("SELECT count(*) FROM information_schema.processlist WHERE user = 'ada'")).scalar_one()
    engine.dispose()
    return bool(count)


class TestVersions(Failing):
    @needs_program("postgres")
    async def test_a_postgres_that_is_too_old(self) -> None:
        with ExitStack() as stack:
            server = stack.enter_context(own_server("postgres"))
            said = (f"PostgreSQL {server.version}.".encode(), b"PostgreSQL 14.")
            line = stack.enter_context(line_to(server.port, said))
            await self.check_too_old(server.address.set(port=line.port), "PostgreSQL .* at least version 15")

    @needs_program("mariadb")
    @pytest.mark.parametrize(
        ("version", "says"),
        [("10.6.9-MariaDB", "MariaDB .* at least version 10.11"), ("5.7.9-log", "MySQL .* at least version 8")],
    )
    async def test_a_mariadb_or_mysql_that_is_too_old(self, version: str, says: str) -> None:
        with own_server("mariadb", f"--version={version}") as server:
            await self.check_too_old(server.address, says)

    async def check_too_old(self, address: URL, says: str) -> None:
        with pytest.raises(SchemaError, match=says):
            await asyncio.to_thread(open_schema, address)

    @pytest.mark.parametrize(("layout", "says"), [("0000", "install the newer|ebbing migrate"), ("9999", "newer")])
    async def test_a_layout_that_this_version_does_not_know_is_refused_and_left_alone(
        self, server: OwnServer, layout: str, says: str
    ) -> None:
        async with self.store_at(server.address) as store:
            tea = await self.stored(ADA, "tea")
            latest = layout_of(server)
            server.run(f"UPDATE {VERSION_TABLE} SET version_num = '{layout}'", database=DATABASE)
            try:
                with pytest.raises(SchemaError, match=says):
                    await asyncio.to_thread(open_schema, server.address)
            finally:
                server.run(f"UPDATE {VERSION_TABLE} SET version_num = '{latest}'", database=DATABASE)
            await self.check_well(store, [tea.id])

    async def test_a_table_that_goes_while_the_store_is_open_is_told(self, server: OwnServer) -> None:
        async with self.store_at(server.address) as store:
            tea = await self.stored(ADA, "tea")
            server.run("ALTER TABLE history RENAME TO history_aside", database=DATABASE)
            try:
                with pytest.raises(SchemaError, match="ebbing migrate"):
                    await self.stored(ADA, "lost")
            finally:
                server.run("ALTER TABLE history_aside RENAME TO history", database=DATABASE)
            await self.check_well(store, [tea.id])


def layout_of(server: OwnServer) -> str:
    """The layout that the tables say they have."""
    engine = create_engine(with_driver(server.admin.set(database=DATABASE), blocking=True))
    with engine.connect() as db:
        layout = str(db.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one())
    engine.dispose()
    return layout


class TestCredentials(Failing):
    async def test_a_password_that_is_no_more_right_is_told_and_shown_nowhere(
        self, server: OwnServer, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        async with self.store_at(server.address) as store:
            tea = await self.stored(ADA, "tea")
            server.run(new_password(server, "another"))
            end_connections(server, limit=None)
            try:
                assert "refused the user name or the password: check EBBING_STORE" in await self.refused(store)
                with pytest.raises(StoreError, match="refused the user name or the password") as error:
                    await asyncio.to_thread(open_schema, server.address)
            finally:
                server.run(new_password(server, PASSWORD))
            await self.check_well(store, [tea.id])
            shown = [str(error.value), repr(error.value), repr(store), repr(vars(store)), caplog.text]
        assert not [text_ for text_ in shown if PASSWORD in text_]


def new_password(server: OwnServer, password: str) -> str:
    """The statement that gives the user another password."""
    if server.name == "postgres":
        return f"ALTER ROLE ada PASSWORD '{password}'"
    return f"ALTER USER ada@'%' IDENTIFIED BY '{password}'"
