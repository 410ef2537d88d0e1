"""Whether anything was committed is told without a statement, whoever did it, and without harm to SQLite's locks."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore, wal_index
from ebbing.adapters.sqlite.wal_index import HEADER_BYTES, WalIndex
from tests.unit.sqlite_stores import ADA, BOB, open_store, raw, stored

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="the index is not looked at there"),
]

COMMIT: Final = (
    "import sqlite3; db = sqlite3.connect({path!r}); db.execute('UPDATE owner SET tenant = tenant'); db.commit()"
)
IS_LOCKED: Final = """
import fcntl, struct
with open({path!r}, "r+b") as index:
    asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 128, 1, 0)
    print(struct.unpack("hhqqi4x", fcntl.fcntl(index, fcntl.F_GETLK, asked))[0] != fcntl.F_UNLCK)
"""
"""Whether another process holds the lock that says that the index is in use: a byte that SQLite has for that."""


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteMemoryStore]:
    opened = open_store(tmp_path)
    yield opened
    await opened.aclose()


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """A database in WAL mode that stays open."""
    path = tmp_path / "any.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript("PRAGMA journal_mode = WAL; CREATE TABLE note (text);")
        yield path


def statements_of(store: SqliteMemoryStore, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that is read with from here on."""
    seen: list[str] = []
    lend = store._connections.lend

    def watched() -> sqlite3.Connection:
        db = lend()
        db.set_trace_callback(seen.append)
        return db

    monkeypatch.setattr(store._connections, "lend", watched)
    return seen


async def elsewhere(code: str) -> str:
    """What a process of its own prints."""
    done = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code], capture_output=True, check=True)
    return done.stdout.decode().strip()


def test_a_commit_is_told_and_a_question_is_not(file: Path) -> None:
    index = WalIndex(file)
    before = index.state()
    assert before is not None
    with raw(file) as db:
        db.execute("SELECT * FROM note").fetchall()
        assert index.state() == before
        db.execute("INSERT INTO note VALUES ('tea')")
        assert index.state() == before  # not committed yet
    assert index.state() not in {before, None}


def test_a_link_leads_to_the_index_of_its_file(file: Path) -> None:
    link = file.with_name("link.db")
    link.symlink_to(file)
    file.with_name("link.db-shm").write_bytes(file.with_name("any.db-shm").read_bytes())  # left by somebody
    index = WalIndex(link)
    before = index.state()
    with raw(file) as db:
        db.execute("INSERT INTO note VALUES ('tea')")
    assert index.state() not in {before, None}


def test_a_log_that_begins_anew_is_told(file: Path) -> None:
    index, seen = WalIndex(file), set()
    for number in range(20):
        with raw(file) as db:
            db.execute("INSERT INTO note VALUES (?)", (number % 2,))
        seen.add(index.state())
        with raw(file) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert len(seen) == 20


def test_an_index_of_an_unknown_layout_tells_nothing(tmp_path: Path) -> None:
    path = tmp_path / "strange.db"
    assert WalIndex(path).state() is None
    (tmp_path / "strange.db-shm").write_bytes(b"")
    assert WalIndex(path).state() is None
    (tmp_path / "strange.db-shm").unlink()
    (tmp_path / "strange.db-shm").write_bytes(bytes(2 * HEADER_BYTES))
    assert WalIndex(path).state() is None


async def test_a_search_asks_the_file_only_after_a_commit(
    store: SqliteMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stored(store, ADA, "tea")
    await store.shard(ADA)  # puts what arrived in its place
    await store.shard(ADA)
    asked = statements_of(store, monkeypatch)
    shard = await store.shard(ADA)
    assert await store.shard(ADA) is shard
    assert asked == []
    await stored(store, BOB, "rain")  # nothing of hers
    assert await store.shard(ADA) is shard
    assert asked


async def test_the_commit_of_another_process_is_seen(store: SqliteMemoryStore, tmp_path: Path) -> None:
    await stored(store, ADA, "tea")
    await store.shard(ADA)
    assert await store.keys.is_empty()
    before = store._connections.state()
    assert before is not None
    await elsewhere(COMMIT.format(path=str(tmp_path / "ebbing.db")))
    assert store._connections.state() != before


async def test_where_the_index_cannot_be_read_a_statement_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wal_index, "_VERSION", 1)
    one, other = open_store(tmp_path), open_store(tmp_path)
    first = await stored(one, ADA, "tea")
    assert (await other.shard(ADA)).ids == [first.id]
    assert other._connections.state() is None
    second = await stored(one, ADA, "rain")
    assert (await other.shard(ADA)).ids == [first.id, second.id]
    await one.aclose()
    await other.aclose()


@pytest.mark.skipif(sys.platform != "linux", reason="asks for locks as Linux lays them out")
async def test_closing_one_of_two_stores_leaves_the_locks_of_the_other(tmp_path: Path) -> None:
    one, other = open_store(tmp_path), open_store(tmp_path)
    await stored(one, ADA, "tea")
    await other.shard(ADA)
    await other.aclose()
    del other
    gc.collect()
    assert await elsewhere(IS_LOCKED.format(path=str(tmp_path / "ebbing.db-shm"))) == "True"
    await one.aclose()


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors as Linux shows them")
async def test_stores_that_were_closed_leave_no_descriptor(tmp_path: Path) -> None:
    def there() -> int:
        gc.collect()
        return len(list(Path("/proc/self/fd").iterdir()))

    await open_store(tmp_path / "first").aclose()
    before = there()
    for number in range(10):
        one, other = open_store(tmp_path / str(number)), open_store(tmp_path / str(number))
        await stored(one, ADA, "tea")
        await other.shard(ADA)
        await one.aclose()
        await other.aclose()
    assert there() == before
