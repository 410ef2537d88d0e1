"""A store is moved as a whole, goes on where it was stopped, and both ends are compared."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import ebbing
from ebbing import Memory
from ebbing.adapters.sql.moving.row_shapes import DERIVED, MOVED
from ebbing.adapters.sql.tables.owner_tables import METADATA, OWNER_TABLES
from ebbing.adapters.sqlite.connection import connections
from ebbing.adapters.sqlite.moving.new_store import PART_NAME, NewSqliteStore
from ebbing.adapters.sqlite.moving.row_shapes import NAMES
from ebbing.adapters.sqlite.moving.store_tables import SqliteStoreTables
from ebbing.api.admin.move import Progress
from ebbing.domain.errors import (
    ConfigurationError,
    ConflictError,
    InvalidInputError,
    SchemaError,
    StoreError,
    StoreNotFoundError,
)
from ebbing.ports.stores.store_tables import TABLES, MoveState
from tests.whole_life import answers, live, undo_everything

NOT_MOVED = {
    *("place_of_history", "unscrubbed", "staged_write", "outbox", "outbox_consumer"),
}
"""Tables about the file of a store, and what an index beside it has to follow: that is built anew."""
NOT_MOVED_BY_SERVERS = {
    *("erased", "outbox", "outbox_follower", "outbox_state", "session", "session_turn", "session_note"),
}
"""The same of a database; and running conversations, which have to end first."""


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A store with a whole life, and the API key that opens it."""
    folder = tmp_path_factory.mktemp("lived")
    return folder, live(folder, steps=12)


@pytest.fixture
def house(lived: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(lived[0], tmp_path / "house"))


def small(folder: Path) -> Path:
    with Memory(folder, embedder="none") as memory:
        memory.add("I live in Leeds", user_id="ada")
    return folder


def stop_after(pages: int) -> Progress:
    """An onlooker that breaks a move off."""
    seen = itertools.count(1)

    def look(step: str, *, done: int, total: int) -> None:
        assert step in {"move", "compare"}
        assert 0 <= done <= total
        if next(seen) == pages:
            raise KeyboardInterrupt

    return look


def test_a_moved_store_is_the_same_in_every_table_and_every_answer(house: Path, lived: Any, tmp_path: Path) -> None:
    before = (house / "ebbing.db").read_bytes()
    moved = ebbing.move(house, tmp_path / "new")
    assert moved.is_equal
    assert [table.table for table in moved.tables if not table.rows] == []
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["ebbing.db"]
    assert (house / "ebbing.db").read_bytes() == before
    assert ebbing.move(house, tmp_path / "new", compare_only=True).is_equal
    assert answers(house, lived[1]) == answers(tmp_path / "new", lived[1])
    assert undo_everything(house) == undo_everything(tmp_path / "new")


def test_the_layout_of_a_moved_store_is_that_of_a_new_one(house: Path, tmp_path: Path) -> None:
    ebbing.move(house, tmp_path / "new")
    small(tmp_path / "made")
    query = "SELECT name, sql FROM sqlite_master ORDER BY name"
    layouts = []
    for folder in ("new", "made"):
        with closing(sqlite3.connect(tmp_path / folder / "ebbing.db")) as db:
            layouts.append([db.execute(query).fetchall(), db.execute("PRAGMA user_version").fetchone()])
    assert layouts[0] == layouts[1]


def test_numbers_of_what_is_gone_are_given_to_nobody(house: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(house / "ebbing.db")) as db, db:
        db.execute("UPDATE sqlite_sequence SET seq = 900 WHERE name = 'job'")
    ebbing.move(house, tmp_path / "new")
    for folder in (house, tmp_path / "new"):
        with closing(SqliteStoreTables.open(folder)) as tables:
            counters = tables.counters()
        assert counters["job"] == 900
        assert counters.keys() == {"owner", "identity_merge", "job", "embedding_model", "history", "act"}


def test_a_move_that_was_stopped_anywhere_goes_on_and_doubles_nothing(house: Path, tmp_path: Path) -> None:
    with closing(SqliteStoreTables.open(house)) as tables:
        rows = sum(tables.count(table) for table in TABLES)
    for pages in range(1, 2 * len(TABLES), 7):
        target = tmp_path / str(pages)
        with pytest.raises(KeyboardInterrupt):
            ebbing.move(house, target, on_progress=stop_after(pages))
        assert not (target / "ebbing.db").exists()
        moved = ebbing.move(house, target)
        assert moved.is_equal
        assert sum(table.rows for table in moved.tables) == rows
        assert moved.moved_rows < rows or pages > len(TABLES)
        assert ebbing.move(house, target).moved_rows == 0


def test_a_move_that_was_stopped_at_the_very_end_is_finished(
    house: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("ebbing.adapters.sqlite.moving.new_store.settle", stop)
        with pytest.raises(KeyboardInterrupt):
            ebbing.move(house, tmp_path / "new")
    assert [file.name for file in (tmp_path / "new").iterdir()] == [PART_NAME]
    moved = ebbing.move(house, tmp_path / "new")
    assert (moved.is_equal, moved.moved_rows) == (True, 0)


@pytest.mark.parametrize("pages", [1, 6, 2 * len(TABLES)])
def test_what_was_written_to_the_source_while_the_move_was_stopped_is_moved_too(
    house: Path, lived: Any, tmp_path: Path, pages: int
) -> None:
    with pytest.raises(KeyboardInterrupt):
        ebbing.move(house, tmp_path / "new", on_progress=stop_after(pages))
    with Memory(house, embedder="none") as memory:
        memory.add("I was written in between", user_id="ada")
        memory.delete_all(user_id="bob")
        memory.audit.record("look", actor="ada")
    assert ebbing.move(house, tmp_path / "new").is_equal
    assert answers(house, lived[1]) == answers(tmp_path / "new", lived[1])


def test_a_row_that_changed_in_a_table_about_nobody_is_noticed(house: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        ebbing.move(house, tmp_path / "new", on_progress=stop_after(len(TABLES)))
    with Memory(house, embedder="none") as memory:
        memory.audit.record("look", actor="ada")
    assert ebbing.move(house, tmp_path / "new").is_equal


def test_nobody_writes_to_a_store_while_it_is_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BUSY_SECONDS", 0.05)
    house, refused = small(tmp_path / "house"), []
    with Memory(house, embedder="none") as memory:

        def write(step: str, *, done: int, total: int) -> None:
            assert memory.get_all(user_id="ada")["results"]
            with pytest.raises(StoreError, match="locked") as error:
                memory.add("I live in Berlin", user_id="ada")
            refused.append(error)

        assert ebbing.move(house, tmp_path / "new", on_progress=write).is_equal
        memory.add("I live in Berlin", user_id="ada")
    assert refused
    assert not ebbing.move(house, tmp_path / "new", compare_only=True).is_equal


def test_a_history_in_a_file_of_its_own_is_moved_along(tmp_path: Path) -> None:
    small(tmp_path / "house")
    settings = {"path": str(tmp_path / "house"), "history_path": str(tmp_path / "past.db"), "embedder": "none"}
    with Memory.from_config(settings) as memory:
        memory.add("I live in Berlin", user_id="ada")
    moved = ebbing.move(tmp_path / "house", tmp_path / "new")
    assert moved.is_equal
    assert next(table.rows for table in moved.tables if table.table == "history") > 1
    assert answers(tmp_path / "house", "")[4:] == answers(tmp_path / "new", "")[4:]


def test_writes_of_an_earlier_version_that_nobody_can_read_are_told(tmp_path: Path) -> None:
    house = small(tmp_path / "house")
    with closing(sqlite3.connect(house / "ebbing.db")) as db, db:
        db.execute("INSERT INTO staged_write VALUES (1, 'default', 'user', 'ada', 0, 'no JSON', NULL, NULL)")
    assert ebbing.move(house, tmp_path / "new").notes == (
        "1 writes of an earlier version cannot be read, and stay where they are",
    )


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_store_is_not_moved_to_where_it_is(tmp_path: Path) -> None:
    small(tmp_path)
    with pytest.raises(InvalidInputError, match="to where it is"):
        ebbing.move(tmp_path, tmp_path / "." / "x" / "..")
    for address in ("postgresql://ada:secret@host/db", "postgres://eva@host/db", "postgresql+psycopg://host/db"):
        with pytest.raises(InvalidInputError, match="to where it is"):
            ebbing.move("postgresql://ada:other@host/db", address)


def test_a_source_that_is_not_there_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFoundError, match="no store in"):
        ebbing.move(tmp_path / "missing", tmp_path / "new")
    small(tmp_path / "house")
    with pytest.raises(StoreNotFoundError, match="no store in"):
        ebbing.move(tmp_path / "house", tmp_path / "new", compare_only=True)
    assert [folder.name for folder in tmp_path.iterdir()] == ["house"]


def test_a_place_with_another_store_is_refused_and_left_alone(house: Path, tmp_path: Path) -> None:
    other = small(tmp_path / "other")
    before = (other / "ebbing.db").read_bytes()
    with pytest.raises(InvalidInputError, match="holds something else: name another place"):
        ebbing.move(house, other)
    assert (other / "ebbing.db").read_bytes() == before


def test_a_place_with_half_of_another_store_is_refused(house: Path, tmp_path: Path) -> None:
    other = small(tmp_path / "other")
    with pytest.raises(KeyboardInterrupt):
        ebbing.move(house, tmp_path / "new", on_progress=stop_after(3))
    with pytest.raises(InvalidInputError, match=f"a move from {house} is half done there"):
        ebbing.move(other, tmp_path / "new")
    assert ebbing.move(house, tmp_path / "new").is_equal


def test_half_a_move_of_another_version_is_refused(house: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        ebbing.move(house, tmp_path / "new", on_progress=stop_after(3))
    with closing(sqlite3.connect(tmp_path / "new" / PART_NAME)) as db:
        db.execute("PRAGMA user_version = 3")
    with pytest.raises(SchemaError, match=f"delete .*{PART_NAME}"):
        ebbing.move(house, tmp_path / "new")


def test_two_processes_do_not_move_to_the_same_place(house: Path, tmp_path: Path) -> None:
    with closing(SqliteStoreTables.open(house)) as old, closing(NewSqliteStore(tmp_path)) as one:
        [page] = old.pages("owner")
        state = MoveState(old.place, TABLES, tuple(page.last))
        one.begin(old.place)
        with closing(NewSqliteStore(tmp_path)) as other:
            other.begin(old.place)
            one.write("owner", page.rows, state=state)
            with pytest.raises(ConflictError, match="another process moves to the same place"):
                other.write("owner", page.rows, state=state)
            assert other.count("owner") == len(page.rows)


@pytest.mark.parametrize("address", ["oracle://ada:s3cret@host/db", "redis:/ada:s3cret@host"])
def test_an_address_of_another_kind_is_refused_without_its_password(address: str, tmp_path: Path) -> None:
    for source, target in ((address, tmp_path), (small(tmp_path / "house"), address)):
        with pytest.raises(ConfigurationError, match=r"postgresql:// or\s+mysql://") as error:
            ebbing.move(source, target)
        assert "s3cret" not in str(error.value)


def test_a_full_disk_is_said_and_the_move_goes_on_when_there_is_room(
    house: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: NewSqliteStore, source: str) -> MoveState:
        state = begin(self, source)
        self._db.execute("PRAGMA max_page_count = 50")
        return state

    begin = NewSqliteStore.begin
    with monkeypatch.context() as patch:
        patch.setattr(NewSqliteStore, "begin", full)
        with pytest.raises(StoreError, match="disk is full: nothing was written; make room, then retry"):
            ebbing.move(house, tmp_path / "new")
    assert ebbing.move(house, tmp_path / "new").is_equal


def test_rows_that_belong_to_nobody_are_not_dropped_in_silence(house: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(house / "ebbing.db")) as db, db:
        db.execute("UPDATE history SET memory_id = 'gone' WHERE id = 1")
    with pytest.raises(StoreError, match="ebbing doctor --verify"):
        ebbing.move(house, tmp_path / "new")


# ── the tables ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_table_of_every_store_is_moved_or_left_for_a_reason(house: Path) -> None:
    with closing(sqlite3.connect(house / "ebbing.db")) as db:
        names = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    names -= {"sqlite_sequence", "sqlite_stat1"}
    assert names == {NAMES.get(table, table) for table in TABLES} | NOT_MOVED
    assert set(METADATA.tables) == {*TABLES, *NOT_MOVED_BY_SERVERS}


def test_all_stores_have_the_same_columns_but_for_what_they_work_out(house: Path) -> None:
    owned = {table.name for table in OWNER_TABLES}
    with closing(SqliteStoreTables.open(house)) as tables:
        for table in TABLES:
            [page, *_] = tables.pages(table)
            columns = {column.name for column in MOVED[table].columns} - {*DERIVED.get(table, ())}
            if table in owned:
                columns -= {"tenant"}
            if table == "owner":
                columns -= {"kind", "name"}
            if table == "source":
                columns |= {"source_id"}
            assert set(page.rows[0]) == columns, table
