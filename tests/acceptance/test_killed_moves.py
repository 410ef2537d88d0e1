"""A move and a migration are killed at random moments and go on: nothing is lost, nothing is doubled."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path

import pytest

import ebbing
from ebbing.adapters.sql.connection.addresses import address_of
from ebbing.adapters.sql.connection.schema import LAYOUTS, server_and_layout
from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.schema import migrations
from tests.acceptance.killed_often import Mover, downgrade, drop_tables, empty_database
from tests.servers import ADDRESSES, needs
from tests.whole_life import answers, live, opened

KILLS = int(os.environ.get("MOVE_KILLS", "50"))
"""In the slow tests."""
FEW = 3
SERVERS = [pytest.param(name, marks=needs(name)) for name in ADDRESSES]
OLD_LAYOUT = 12
"""Of the embedded store: before change sets, lengths of vectors and today's names of stages."""
COPIES = 60
pytestmark = pytest.mark.extended


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A store with a whole life, and the API key that opens it."""
    folder = tmp_path_factory.mktemp("lived")
    return folder, live(folder, seed=3, steps=25)


@pytest.fixture
def house(lived: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(lived[0], tmp_path / "house"))


# ── moves ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def kill_moves(source: str, target: str, *, key: str, kills: int) -> None:
    """Move again and again, until so many moves were killed."""
    moves = count = 0
    with Mover(kills) as mover:
        mover.warm_up("move", source, target)
        _empty(target)
        within = mover.seconds_of("move", source, target)
        while count < kills:
            _empty(target)
            count += mover.killed_until_done("move", source, target, within=within, at_most=kills - count)
            moves += 1
            assert ebbing.move(source, target, compare_only=True).is_equal
            with opened(target) as memory:
                assert memory.maintenance.verify() == []
    assert answers(target, key) == answers(source, key)
    print(f"{kind_of(source)} to {kind_of(target)}: {count} kills, {moves} moves, each within {within:.1f} s")


def kind_of(place: str) -> str:
    return place.partition(":")[0] if "://" in place else "embedded"


def _empty(target: str) -> None:
    if "://" in target:
        drop_tables(target)
    else:
        shutil.rmtree(target)


def test_a_move_that_is_killed_goes_on(house: Path, lived: tuple[Path, str], tmp_path: Path) -> None:
    kill_moves(str(house), str(tmp_path / "new"), key=lived[1], kills=FEW)


@pytest.mark.slow
def test_a_move_that_is_killed_fifty_times_goes_on(house: Path, lived: tuple[Path, str], tmp_path: Path) -> None:
    kill_moves(str(house), str(tmp_path / "new"), key=lived[1], kills=KILLS)


@pytest.fixture
def ring(house: Path, tmp_path: Path) -> Iterator[list[str]]:
    """Places of all kinds, the first of which holds a store."""
    with ExitStack() as stack:
        databases = [
            stack.enter_context(empty_database(server, f"ebbing_test_killed_{os.getpid()}")) for server in ADDRESSES
        ]
        yield [str(house), *databases, str(tmp_path / "back")]


@needs("postgres")
@needs("mariadb")
def test_moves_between_servers_that_are_killed_go_on(ring: list[str], lived: tuple[Path, str]) -> None:
    for source, target in pairwise(ring):
        kill_moves(source, target, key=lived[1], kills=FEW)


@pytest.mark.slow
@needs("postgres")
@needs("mariadb")
def test_moves_between_servers_that_are_killed_fifty_times_go_on(ring: list[str], lived: tuple[Path, str]) -> None:
    for source, target in pairwise(ring):
        kill_moves(source, target, key=lived[1], kills=KILLS)


# ── migrations of a database ─────────────────────────────────────────────────────────────────────────────────────────


def kill_migrations(server: str, house: Path, key: str, *, kills: int) -> None:
    """Migrate from the first layout, and from nothing, again and again until so many migrations were killed."""
    count = {"from nothing": 0, "from the first layout": 0}
    with empty_database(server, f"ebbing_test_migrated_{os.getpid()}") as address, Mover(kills) as mover:
        mover.warm_up("migrate", address)
        drop_tables(address)
        within = mover.seconds_of("migrate", address)
        while count["from nothing"] < kills // 2:
            drop_tables(address)
            count["from nothing"] += mover.killed_until_done("migrate", address, within=within)
            assert server_and_layout(address_of(address))[1] == LAYOUTS[-1]
        ebbing.move(house, address)
        downgrade(address, LAYOUTS[0])
        within = mover.seconds_of("migrate", address)
        while count["from the first layout"] < kills - kills // 2:
            downgrade(address, LAYOUTS[0])
            count["from the first layout"] += mover.killed_until_done("migrate", address, within=within)
            assert server_and_layout(address_of(address))[1] == LAYOUTS[-1]
            assert ebbing.move(house, address, compare_only=True).is_equal
        assert answers(address, key) == answers(house, key)
    print(f"{server}: migrations killed: {count}")


@pytest.mark.parametrize("server", SERVERS)
def test_a_migration_that_is_killed_goes_on(server: str, house: Path, lived: tuple[Path, str]) -> None:
    kill_migrations(server, house, lived[1], kills=FEW)


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
def test_a_migration_that_is_killed_fifty_times_goes_on(server: str, house: Path, lived: tuple[Path, str]) -> None:
    kill_migrations(server, house, lived[1], kills=KILLS)


# ── migrations of the embedded store ─────────────────────────────────────────────────────────────────────────────────


def old_store(folder: Path, lived: Path) -> int:
    """A store of an old layout with many copies of the records of another one; how many records."""
    Connections(folder, scripts=migrations()[:OLD_LAYOUT]).close()
    with closing(sqlite3.connect(folder / "ebbing.db", isolation_level=None)) as db:
        db.execute("ATTACH ? AS lived", (str(lived / "ebbing.db"),))
        for table in ("model", "owner", "memory", "index_entry", "history"):
            columns = ", ".join(_columns(db, "main", table) & _columns(db, "lived", table))
            db.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM lived.{table}")
        db.execute("UPDATE memory SET source_ids = NULL, compression_sources = NULL")
        db.execute("UPDATE owner SET last_seq = 1000000")
        _multiply(db, "memory", mid="mid + :n * 1000", id="id || '-' || :n")
        _multiply(db, "index_entry", mid="mid + :n * 1000")
        _multiply(db, "history", id="id + :n * 100000", memory_id="memory_id || '-' || :n")
        return int(db.execute("SELECT count(*) FROM memory").fetchone()[0])


def _columns(db: sqlite3.Connection, database: str, table: str) -> set[str]:
    return {row[1] for row in db.execute(f"PRAGMA {database}.table_info({table})")}


def _multiply(db: sqlite3.Connection, table: str, **new: str) -> None:
    columns = sorted(_columns(db, "main", table))
    values = ", ".join(new.get(column, column) for column in columns)
    db.execute(f"CREATE TEMP TABLE origin AS SELECT * FROM {table}")
    for number in range(1, COPIES + 1):
        statement = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM origin"
        db.execute(statement, {"n": number})
    db.execute("DROP TABLE origin")


def kill_upgrades(folder: Path, lived: Path, *, kills: int) -> None:
    """Open a store of an old layout again and again, until so many processes that did were killed."""
    count = rounds = 0
    records = old_store(folder / "old", lived)
    first = Path(shutil.copytree(folder / "old", folder / "first"))
    with Mover(kills) as mover:
        mover.warm_up("open", str(shutil.copytree(folder / "old", folder / "other")))
        within = mover.seconds_of("open", str(first))
        while count < kills:
            store = Path(shutil.copytree(folder / "old", folder / f"store {rounds}"))
            rounds += 1
            while mover.killed("open", str(store), within=within):
                count += 1
                with closing(sqlite3.connect(store / "ebbing.db")) as db:
                    assert db.execute("PRAGMA user_version").fetchone()[0] in {OLD_LAYOUT, len(migrations())}
                    assert db.execute("SELECT count(*) FROM memory").fetchone()[0] == records
            with opened(store) as memory:
                assert memory.maintenance.verify() == []
            assert ebbing.move(first, store, compare_only=True).is_equal
            shutil.rmtree(store)
    print(f"embedded: {count} kills, {rounds} upgrades of {records} records, each within {within:.2f} s")


def test_an_upgrade_of_the_embedded_store_that_is_killed_is_done_by_the_next(
    lived: tuple[Path, str], tmp_path: Path
) -> None:
    kill_upgrades(tmp_path, lived[0], kills=FEW)


@pytest.mark.slow
def test_an_upgrade_of_the_embedded_store_that_is_killed_fifty_times_is_done_by_the_next(
    lived: tuple[Path, str], tmp_path: Path
) -> None:
    kill_upgrades(tmp_path, lived[0], kills=KILLS)
