"""The file that a SQLite store leaves behind: its layout, its versions, its history for others to read."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import pytest

from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.schema import migrate, migrations, statements
from ebbing.adapters.sqlite.store import SqliteMemoryStore
from ebbing.adapters.sqlite.tables import job_rows
from ebbing.domain.errors import SchemaError, StoreError
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.pending_extraction import PendingExtraction
from ebbing.domain.memory.scope import Scope
from tests.unit.adapters.sqlite.stores import ADA, BOB, CLOCK, open_store, raw, stored

pytestmark = pytest.mark.anyio
HISTORY_COLUMNS = (
    *("id", "memory_id", "old_memory", "new_memory", "event"),
    *("created_at", "updated_at", "is_deleted", "actor_id", "role"),
)


def layout(db: sqlite3.Connection) -> list[str]:
    """What defines every table, index and view, without white space and comments that change nothing."""
    rows = db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name")
    bare = (" ".join(line.partition("--")[0].strip() for line in row[0].splitlines()) for row in rows)
    return [re.sub(r" *([,)])", r"\1", sql) for sql in bare]


def test_the_migrations_lead_to_the_schema_that_is_written_down(tmp_path: Path) -> None:
    Connections(tmp_path, scripts=migrations()).close()
    script = (files("ebbing.adapters.sqlite") / "schema.sql").read_text("utf-8")
    with raw(tmp_path / "ebbing.db") as migrated, closing(sqlite3.connect(":memory:")) as written_down:
        written_down.executescript(script)
        assert layout(migrated) == layout(written_down)


async def test_a_note_of_what_is_to_be_overwritten_never_gets_the_number_of_another(tmp_path: Path) -> None:
    await open_store(tmp_path).aclose()
    with raw(tmp_path / "ebbing.db") as db:
        first = db.execute("INSERT INTO unscrubbed (level) VALUES (1)").lastrowid
        db.execute("DELETE FROM unscrubbed")
        second = db.execute("INSERT INTO unscrubbed (level) VALUES (1)").lastrowid
    assert (first or 0) < (second or 0)


def test_every_migration_has_a_number_of_its_own_and_none_is_left_out() -> None:
    scripts = files("ebbing.adapters.sqlite").joinpath("migrations").iterdir()
    numbers = sorted(int(script.name[:4]) for script in scripts if script.name.endswith(".sql"))
    assert numbers == [*range(1, len(numbers) + 1)]


async def test_an_older_file_is_brought_up_to_date_without_loss(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    record = await stored(store, ADA, "likes tea")
    await store.aclose()
    newer = [
        *migrations(),
        "ALTER TABLE memory ADD COLUMN mood TEXT; -- why; not\nUPDATE memory SET mood = 'calm; and quiet';",
    ]
    Connections(tmp_path, scripts=newer).close()
    with raw(tmp_path / "ebbing.db") as db:
        assert db.execute("SELECT id, content, mood FROM memory").fetchall() == [
            (record.id, "likes tea", "calm; and quiet")
        ]
        assert db.execute("PRAGMA user_version").fetchone() == (len(newer),)


async def test_jobs_of_an_older_file_are_known_by_their_owners(tmp_path: Path) -> None:
    before = next(at for at, script in enumerate(migrations()) if "job ADD COLUMN user_id" in script)
    Connections(tmp_path, scripts=migrations()[:before]).close()
    unread = PendingExtraction(Scope("ada", "nova", "r1", "acme"), ("e1",))
    with raw(tmp_path / "ebbing.db") as db:
        db.execute(
            "INSERT INTO job (kind, key, payload, state, attempts, max_attempts, run_at)"
            " VALUES ('extract', 'e1', ?, 'dead', 10, 10, 0)",
            (json.dumps(unread.payload()),),
        )
        db.commit()
    store = open_store(tmp_path)
    [job] = await store.jobs.list()
    assert (job.belongs_to, job.tenant, job.ended_at) == (unread.scope, "acme", datetime(1970, 1, 1, tzinfo=UTC))
    assert await store.jobs.forget(Scope("ada", tenant="acme")) == 1
    await store.aclose()


async def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    await open_store(tmp_path).aclose()
    broken = [*migrations(), "CREATE TABLE half (x); SELECT * FROM nowhere;"]
    with pytest.raises(StoreError):
        Connections(tmp_path, scripts=broken)
    with raw(tmp_path / "ebbing.db") as db:
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'half'").fetchone() == (0,)
        assert db.execute("PRAGMA user_version").fetchone() == (len(broken) - 1,)
    await open_store(tmp_path).aclose()


def test_a_script_is_split_into_its_statements() -> None:
    script = "CREATE TABLE a (b TEXT DEFAULT 'x;y'); -- one; two\n-- three;\nDROP TABLE a;\n"
    with closing(sqlite3.connect(":memory:")) as db:
        for statement in statements(script):
            db.execute(statement)
        assert db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


async def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    await open_store(tmp_path).aclose()
    with raw(tmp_path / "ebbing.db") as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(SchemaError, match="install the newer Ebbing"):
        open_store(tmp_path)


@pytest.mark.parametrize("version", [0, 1])
def test_a_database_of_another_program_is_refused(tmp_path: Path, version: int) -> None:
    with raw(tmp_path / "ebbing.db") as db:
        db.execute("CREATE TABLE somebody_elses (x)")
        db.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(SchemaError, match="another program"):
        open_store(tmp_path)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ebbing.db").write_text("just some text, longer than a header would be" * 50)
    with pytest.raises(SchemaError):
        open_store(tmp_path)


def test_a_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError):
        open_store(tmp_path / "file" / "inside")


async def test_the_directory_is_for_its_owner_alone(tmp_path: Path) -> None:
    await open_store(tmp_path / "new").aclose()
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0


def test_opening_twice_migrates_once(tmp_path: Path) -> None:
    with raw(tmp_path / "ebbing.db") as db:
        db.isolation_level = None
        migrate(db, migrations())
        before = layout(db)
        migrate(db, migrations())
        assert layout(db) == before


async def test_the_history_can_be_read_with_sqlite_alone(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    record = await stored(store, ADA, "喜欢茶")
    await store.aclose()
    with raw(tmp_path / "ebbing.db") as db:
        cursor = db.execute("SELECT * FROM history")
        assert tuple(column[0] for column in cursor.description)[:10] == HISTORY_COLUMNS
        assert cursor.fetchone()[1:8] == (record.id, None, "喜欢茶", "ADD", "2024-01-01T00:00:00+00:00", None, 0)


async def test_the_history_moves_to_the_file_that_is_configured(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    record = await stored(store, ADA, "likes tea")
    await store.aclose()
    elsewhere = tmp_path / "past" / "history.db"
    store = open_store(tmp_path, history_path=elsewhere)
    other = await stored(store, BOB, "likes rain")
    assert [told.event for told in await store.history(ADA, record.id)] == [Event.ADD]
    assert await store.verify() == []
    await store.aclose()
    with raw(elsewhere) as db:
        assert db.execute("SELECT memory_id FROM history ORDER BY id").fetchall() == [(record.id,), (other.id,)]
    with raw(tmp_path / "ebbing.db") as db:
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE name LIKE 'history%'").fetchone() == (0,)


async def test_the_history_is_found_where_it_was_put_and_erased_there(tmp_path: Path) -> None:
    elsewhere = tmp_path / "past" / "history.db"
    store = open_store(tmp_path, history_path=elsewhere)
    record = await stored(store, ADA, "likes tea")
    await store.aclose()
    moved = shutil.move(tmp_path, tmp_path.with_name(f"{tmp_path.name}-moved"))
    store = open_store(moved)
    assert [told.event for told in await store.history(ADA, record.id)] == [Event.ADD]
    assert (await store.erase(ADA)).history == 1
    await store.aclose()
    assert b"likes tea" not in (moved / "past" / "history.db").read_bytes()


async def test_the_history_moves_from_one_file_of_its_own_to_another(tmp_path: Path) -> None:
    records = []
    for name in ("first", "second"):
        store = open_store(tmp_path / "store", history_path=tmp_path / f"{name}.db")
        records.append(await stored(store, ADA, f"likes the {name}"))
        assert [len(await store.history(ADA, record.id)) for record in records] == [1] * len(records)
        assert await store.verify() == []
        await store.aclose()
    with raw(tmp_path / "first.db") as db:
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE name LIKE 'history%'").fetchone() == (0,)


async def test_a_file_of_history_that_is_gone_is_begun_anew(tmp_path: Path) -> None:
    store = open_store(tmp_path, history_path=tmp_path / "history.db")
    await stored(store, ADA, "likes tea")
    await store.aclose()
    (tmp_path / "history.db").unlink()
    store = open_store(tmp_path)
    record = await stored(store, ADA, "likes rain")
    assert len(await store.history(ADA, record.id)) == 1
    await store.aclose()


async def test_a_store_can_be_opened_without_a_model(tmp_path: Path) -> None:
    store = SqliteMemoryStore.open(str(tmp_path), clock=CLOCK)
    await stored(store, ADA, "x")
    assert (await store.shard(ADA)).vectors.shape == (1, 0)
    await store.aclose()


async def test_the_next_job_is_found_without_looking_through_those_that_wait(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.aclose()
    waiting, lost = job_rows.DUE
    with raw(tmp_path / "ebbing.db") as db:
        for query in (waiting, lost, job_rows.BURY):
            rows = db.execute(f"EXPLAIN QUERY PLAN {query}", {"kind": "daily", "now": 1, "lost": "lost"})
            plan = " ".join(row[3] for row in rows)
            assert re.search("SEARCH job USING (COVERING )?INDEX job_", plan)
            assert query != waiting or "B-TREE" not in plan  # sorted already
