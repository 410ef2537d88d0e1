"""A store is moved around the ring: embedded, PostgreSQL, MariaDB, embedded. It is the same everywhere."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import text

import ebbing
from ebbing import Memory
from ebbing.adapters.sql.connection.addresses import address_of
from ebbing.adapters.sql.connection.schema import open_schema
from ebbing.adapters.sql.moving.new_store import STATE_TABLE
from ebbing.domain.errors import InvalidInputError, SchemaError, StoreError, StoreNotFoundError
from ebbing.ports.stores.store_tables import TABLES
from ebbing.wiring.store_tables import open_tables
from tests.acceptance.killed_often import connected, empty_database
from tests.servers import ADDRESSES, needs
from tests.unit.api.test_move import small, stop_after
from tests.whole_life import answers, live, undo_everything

SERVERS = [pytest.param(name, marks=needs(name)) for name in ADDRESSES]
pytestmark = pytest.mark.extended
NAME = f"ebbing_test_move_{os.getpid()}"


@pytest.fixture(params=SERVERS)
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    with empty_database(request.param, NAME) as address:
        yield address


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A store with a whole life, and the API key that opens it."""
    folder = tmp_path_factory.mktemp("lived")
    return folder, live(folder, seed=2, steps=25)


@pytest.fixture
def house(lived: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(lived[0], tmp_path / "house"))


@needs("postgres")
@needs("mariadb")
def test_a_store_is_the_same_all_around_the_ring(house: Path, lived: tuple[Path, str], tmp_path: Path) -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(empty_database(server, NAME)) for server in ("postgres", "mariadb")]
        places = [str(house), *servers, str(tmp_path / "back")]
        for source, target in pairwise(places):
            assert ebbing.move(source, target).is_equal
        around = ebbing.move(house, tmp_path / "back", compare_only=True)
        assert around.is_equal
        assert [table.table for table in around.tables if not table.rows] == []
        for place in places[1:]:
            with closing(open_tables(house)) as first, closing(open_tables(place)) as there:
                ours, theirs = first.counters(), there.counters()
            assert all(theirs[table] >= number for table, number in ours.items())
        expected = answers(house, lived[1])
        for place in places[1:]:
            assert answers(place, lived[1]) == expected
        taken_back = undo_everything(house)
        for place in places[1:]:
            assert undo_everything(place) == taken_back


def test_the_next_rows_get_numbers_that_nobody_had(database: str, tmp_path: Path) -> None:
    house = small(tmp_path / "house")
    ebbing.move(house, database)
    with Memory(database, embedder="none") as memory:
        for user in ("ada", "bob"):
            memory.add("I live in Berlin", user_id=user)
            assert memory.history(memory.get_all(user_id=user)["results"][0]["id"], user_id=user)
        assert memory.changes.list(user_id="ada")["changes"][0]["inserted"]
        assert memory.maintenance.verify() == []


def test_half_a_store_cannot_be_opened_and_the_move_goes_on(house: Path, database: str) -> None:
    for pages in (1, 4, len(TABLES) + 3):
        with pytest.raises(KeyboardInterrupt):
            ebbing.move(house, database, on_progress=stop_after(pages))
        with pytest.raises(SchemaError, match="repeat the same `ebbing move`"):
            Memory(database)
        with pytest.raises(InvalidInputError, match="half done there"):
            ebbing.move(small(house.parent / "other"), database)
    with Memory(house, embedder="none") as memory:
        memory.add("I was written in between", user_id="ada")
    moved = ebbing.move(house, database)
    assert moved.is_equal
    assert ebbing.move(house, database).moved_rows == 0
    with connected(database) as db:
        tables = db.dialect.get_table_names(db)  # type: ignore[no-untyped-call]
    assert STATE_TABLE not in tables


def test_whoever_writes_to_the_source_waits_until_it_is_moved(database: str, tmp_path: Path) -> None:
    ebbing.move(small(tmp_path / "house"), database)
    with Memory(database, embedder="none") as memory:
        writer = threading.Thread(target=memory.add, args=("I live in Berlin",), kwargs={"user_id": "ada"})

        def write(step: str, *, done: int, total: int) -> None:
            if not writer.ident:
                writer.start()
                time.sleep(0.3)
            assert done <= total, step
            assert writer.is_alive()
            assert memory.get_all(user_id="ada")["results"]

        assert ebbing.move(database, tmp_path / "new", on_progress=write).is_equal
        writer.join(10)
        assert not writer.is_alive()
        assert "I live in Berlin" in str(memory.get_all(user_id="ada", include="all"))
    assert not ebbing.move(database, tmp_path / "new", compare_only=True).is_equal


def test_a_lost_server_is_said_and_the_move_goes_on(house: Path, database: str, tmp_path: Path) -> None:
    lost = []

    def lose(step: str, *, done: int, total: int) -> None:
        assert done <= total, step
        if len(lost) < 1:
            lost.append(end_connections(database))

    with pytest.raises(StoreError, match="cannot be reached: check that the server runs, then retry") as error:
        ebbing.move(house, database, on_progress=lose)
    assert "secret" not in str(error.value)
    assert ebbing.move(house, database).is_equal
    lost.clear()
    with pytest.raises(StoreError, match="cannot be reached"):
        ebbing.move(database, tmp_path / "new", on_progress=lose)
    assert ebbing.move(database, tmp_path / "new").is_equal


def end_connections(address: str) -> int:
    """End every connection to a database, as a server that is restarted does; how many there were."""
    with connected(address) as db:
        if db.dialect.name == "postgresql":
            query = "SELECT pid FROM pg_stat_activity WHERE datname = :name AND pid <> pg_backend_pid()"
            end = "SELECT pg_terminate_backend({})"
        else:
            query = "SELECT id FROM information_schema.processlist WHERE db = :name AND id <> connection_id()"
            end = "KILL {}"
        numbers = list(db.execute(text(query), {"name": NAME}).scalars())
        for number in numbers:
            db.execute(text(end.format(number)))
    assert numbers
    return len(numbers)


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"username": "nobody", "password": "s3cret"}, "refused the user name or the password"),
        ({"database": "ebbing_not_there"}, "no database of that name"),
    ],
)
def test_a_server_that_refuses_is_told_without_the_password(
    server: str, change: dict[str, str], says: str, tmp_path: Path
) -> None:
    address = address_of(ADDRESSES[server]).set(**change).render_as_string(hide_password=False)  # type: ignore[arg-type]
    for source, target in ((str(small(tmp_path / "house")), address), (address, str(tmp_path / "new"))):
        with pytest.raises(StoreError, match=says) as error:
            ebbing.move(source, target)
        assert "s3cret" not in str(error.value)


def test_an_empty_database_is_no_source_and_stays_empty(database: str, tmp_path: Path) -> None:
    with pytest.raises(StoreNotFoundError, match="there is no store at"):
        ebbing.move(database, tmp_path / "new")
    with connected(database) as db:
        assert db.dialect.get_table_names(db) == []  # type: ignore[no-untyped-call]
    assert not (tmp_path / "new").exists()


def test_a_database_with_another_store_is_refused_and_one_without_rows_is_not(
    house: Path, database: str, tmp_path: Path
) -> None:
    open_schema(address_of(database))
    assert ebbing.move(small(tmp_path / "other"), database).is_equal
    with pytest.raises(InvalidInputError, match="holds something else: name another place"):
        ebbing.move(house, database)
    assert ebbing.move(tmp_path / "other", database, compare_only=True).is_equal


def test_running_conversations_have_to_end_before_a_move(database: str, tmp_path: Path) -> None:
    ebbing.move(small(tmp_path / "house"), database)
    with Memory(database, embedder="none") as memory:
        session = memory.session(user_id="ada", run_id="monday")
        session.add("I live in Berlin")
        with pytest.raises(StoreError, match="1 conversations are running in the store"):
            ebbing.move(database, tmp_path / "new")
        session.end()
        assert ebbing.move(database, tmp_path / "new").is_equal
