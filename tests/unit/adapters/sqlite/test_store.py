"""What the SQLite store promises beyond the contract of all stores: several handles on one file, erasure, repair."""

from __future__ import annotations

import asyncio
import os
import random
import re
import sqlite3
import threading
import warnings
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from ebbing.adapters.rows.recent_shards import WORN_SIZE
from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.adapters.sqlite import store as store_module
from ebbing.adapters.sqlite.connection import scrubbing
from ebbing.adapters.sqlite.memories import change_log, changes, shards
from ebbing.adapters.sqlite.memories.rows import MAX_SEQ
from ebbing.adapters.sqlite.memories.shards import ShardCache
from ebbing.adapters.sqlite.tables import history
from ebbing.adapters.system import forks
from ebbing.domain.errors import StoreError
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.scope import Scope
from ebbing.language.text.text_compression import pack
from ebbing.ports.stores.memory_store import Erase, Revise
from tests.unit.adapters.sqlite.stores import ADA, BOB, EMBEDDER, insert, open_store, raw, record, stored

pytestmark = pytest.mark.anyio


async def living(store: SqliteMemoryStore, scope: Scope) -> list[str]:
    shard = await store.shard(scope)
    return [shard.ids[row] for row in range(shard.size) if shard.alive[row]]


# ── several handles on one file ──────────────────────────────────────────────────────────────────────────────────────


async def test_each_handle_sees_what_the_other_wrote(store: SqliteMemoryStore, other: SqliteMemoryStore) -> None:
    first = await stored(store, ADA, "tea")
    assert await living(other, ADA) == [first.id]
    second = await stored(other, ADA, "rain")
    assert await living(store, ADA) == [first.id, second.id]
    await store.write(ADA, [Erase(first.id)])
    assert await living(other, ADA) == [second.id]
    assert await other.get(ADA, [first.id, second.id]) == [second]


async def test_a_handle_notices_that_an_owner_was_erased_and_came_back(
    store: SqliteMemoryStore, other: SqliteMemoryStore
) -> None:
    old = [await stored(store, ADA, "tea"), await stored(store, ADA, "milk")]
    assert await living(other, ADA) == [record.id for record in old]
    await store.erase(ADA)
    new = [await stored(store, ADA, "rain"), await stored(store, ADA, "snow")]
    assert await living(other, ADA) == [record.id for record in new]
    await store.reset("default")
    assert await living(other, ADA) == []


async def test_threads_with_loops_of_their_own_share_a_store(store: SqliteMemoryStore) -> None:
    async def fill(scope: Scope) -> None:
        for number in range(20):
            record = await stored(store, scope, f"note {number}")
            assert (await living(store, scope))[-1] == record.id

    scopes = (ADA, BOB, Scope(agent_id="guide"))
    await asyncio.gather(*(asyncio.to_thread(asyncio.run, fill(scope)) for scope in scopes))
    assert [len(await living(store, scope)) for scope in scopes] == [20, 20, 20]
    assert await store.verify() == []


async def test_a_forked_child_is_told_to_open_the_store_itself(store: SqliteMemoryStore, tmp_path: Path) -> None:
    record = await stored(store, ADA, "tea")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of threads and fork: that is what is tested
        child = os.fork()
    if not child:
        _exit_after(_use_inherited(store, tmp_path, record.id))
    _, status = await asyncio.to_thread(os.waitpid, child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert await store.get(ADA, [record.id]) == [record]


async def test_a_child_forked_in_the_middle_of_a_call_is_refused_the_file(
    store: SqliteMemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forks, "QUIET_SECONDS", 0.05)
    record = await stored(store, ADA, "tea")
    with warnings.catch_warnings(), store._connections.reading():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        _exit_after(_open_in_child(tmp_path))
    _, status = await asyncio.to_thread(os.waitpid, child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert await store.get(ADA, [record.id]) == [record]
    await stored(store, ADA, "rain")


async def _open_in_child(directory: Path) -> None:
    with pytest.raises(StoreError, match="spawn"):
        open_store(directory)


def _exit_after(work: Coroutine[object, object, None]) -> NoReturn:
    """Ends the child whatever happens: it must not go on with the parent's tests."""
    asyncio.events._set_running_loop(None)
    code = 1
    try:
        asyncio.new_event_loop().run_until_complete(work)
        code = 0
    finally:
        os._exit(code)


async def _use_inherited(store: SqliteMemoryStore, directory: Path, memory_id: str) -> None:
    calls = (store.get(ADA, [memory_id]), store.shard(ADA), store.write(ADA, [Erase(memory_id)]), store.erase(ADA))
    for call in calls:
        with pytest.raises(StoreError, match="fork"):
            await call
    await store.aclose()
    opened = open_store(directory)
    assert len(await opened.get(ADA, [memory_id])) == 1
    await opened.aclose()


# ── shards ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_searches_at_once_load_a_shard_once(store: SqliteMemoryStore) -> None:
    await stored(store, ADA, "tea")
    found = await asyncio.gather(*(store.shard(ADA) for _ in range(10)))
    assert all(shard is found[0] for shard in found)


async def test_the_least_recently_used_shard_makes_room(store: SqliteMemoryStore) -> None:
    owners = [Scope(user_id=f"user {number}") for number in range(4)]
    for scope in owners:
        await stored(store, scope, "x")
    one = (await store.shard(owners[0])).nbytes
    cache = ShardCache(store._connections, model_id=EMBEDDER.model_id, dim=EMBEDDER.dim, max_bytes=2 * one)
    first, second = cache.load(owners[0].owner), cache.load(owners[1].owner)
    assert cache.current(owners[0].owner) is first
    cache.load(owners[2].owner)
    assert cache.current(owners[0].owner) is first
    assert cache.current(owners[1].owner) is None
    assert cache.load(owners[1].owner) is not second


async def test_a_shard_larger_than_the_cache_is_still_kept_while_in_use(store: SqliteMemoryStore) -> None:
    await stored(store, ADA, "x")
    cache = ShardCache(store._connections, model_id=EMBEDDER.model_id, dim=EMBEDDER.dim, max_bytes=1)
    assert cache.load(ADA.owner) is cache.current(ADA.owner)


async def test_a_small_change_is_followed_without_another_thread(store: SqliteMemoryStore) -> None:
    await stored(store, ADA, "tea")
    await store.shard(ADA)
    record = await stored(store, ADA, "rain")
    shard = store._shards.current(ADA.owner)
    assert shard is not None
    assert shard.ids[-1] == record.id


async def test_a_worn_shard_is_loaded_anew(store: SqliteMemoryStore) -> None:
    records = [record(ADA, f"note {number}") for number in range(WORN_SIZE // 2 + 1)]
    await store.write(ADA, [insert(of) for of in records])
    await store.shard(ADA)
    for version in (2, 3):
        revised = [replace(of, content=f"{of.content} {version}", version=version) for of in records]
        await store.write(ADA, [Revise(of, Event.UPDATE, insert(of).entry) for of in revised])
        shard = await store.shard(ADA)
    assert (shard.size, int(shard.alive.sum())) == (len(records), len(records))


# ── what is erased is gone from the disk ─────────────────────────────────────────────────────────────────────────────


def on_disk(directory: Path, words: bytes) -> list[str]:
    return [path.name for path in sorted(directory.rglob("*")) if path.is_file() and words in path.read_bytes()]


@pytest.mark.parametrize("history", [None, "past/history.db"])
async def test_no_word_of_an_erased_owner_stays_on_the_disk(tmp_path: Path, history: str | None) -> None:
    store = open_store(tmp_path, history_path=tmp_path / history if history else None)
    for number in range(60):
        scope = (ADA, BOB, Scope(user_id="eve"))[number % 3]
        await stored(
            store,
            scope,
            f"{scope.user_id}-secret {number} " * (1 + number % 40),
            source=f"{scope.user_id}-message-{number}",
        )
    kept = await stored(store, ADA, "ada-secret, once more")
    await store.write(
        ADA, [Revise(replace(kept, content="ada-secret, revised", version=2), Event.UPDATE, insert(kept).entry)]
    )
    assert on_disk(tmp_path, b"ada-secret")
    await store.erase(ADA)
    assert on_disk(tmp_path, b"ada-secret") == []
    assert on_disk(tmp_path, b"ada-message") == []
    assert on_disk(tmp_path, b"bob-secret")
    await store.aclose()


async def test_no_earlier_wording_of_an_erased_memory_stays_on_the_disk(
    store: SqliteMemoryStore, tmp_path: Path
) -> None:
    kept = await stored(store, ADA, "rain-word")
    gone = await stored(store, ADA, "secret-wording number 0")
    for version in (2, 3, 4):
        gone = replace(gone, content=f"secret-wording number {version}", version=version)
        await store.write(ADA, [Revise(gone, Event.UPDATE, insert(gone).entry)])
    faded = replace(gone, content="", packed=pack(gone.content), version=5)
    await store.write(ADA, [Revise(faded, Event.FADE)])
    assert on_disk(tmp_path, b"secret-wording number 2")
    assert on_disk(tmp_path, pack(gone.content))
    await store.write(ADA, [Erase(gone.id)])
    await store.scrub()
    for words in (b"secret-wording", pack(gone.content), gone.id.encode()):
        assert on_disk(tmp_path, words) == []
    assert on_disk(tmp_path, kept.content.encode())
    assert await store.verify() == []


async def test_every_column_of_a_memory_is_kept_for_undoing(tmp_path: Path) -> None:
    """A column that a migration adds to the one table and not to the other would be lost by an undoing."""
    await open_store(tmp_path).aclose()
    with raw(tmp_path / "ebbing.db") as db:
        columns = {
            table: {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
            for table in ("memory", "index_entry", "revision")
        }
    assert columns["memory"] - {"changed"} | columns["index_entry"] | {"no"} == columns["revision"]


async def test_no_word_stays_in_the_unused_parts_of_pages(tmp_path: Path) -> None:
    """Rows of many lengths and owners, interleaved, split pages in the middle: 18 traces without the rewriting."""
    store, chance = open_store(tmp_path), random.Random(0)
    owners = [Scope(user_id=f"owner{number:03}x") for number in range(10)]
    for turn in range(30):
        texts = [f"{scope.user_id} " * chance.randint(1, 150) for scope in owners]
        await asyncio.gather(
            *(stored(store, scope, text, source=f"{turn}") for scope, text in zip(owners, texts, strict=True))
        )
    for scope in owners[::3]:
        await store.erase(scope)
        assert on_disk(tmp_path, f"{scope.user_id}".encode()) == []
    assert await store.verify() == []
    await store.aclose()


async def test_a_file_too_large_to_rewrite_at_once_can_be_compacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scrubbing, "MAX_REWRITTEN_BYTES", -1)
    store = open_store(tmp_path)
    for number in range(300):
        await stored(store, (ADA, BOB)[number % 2], f"note {number} " * 20)
    await store.erase(ADA)
    large = (await store.stats("default")).bytes_on_disk
    assert not (await store.stats("default")).is_scrubbed
    assert not await store.scrub()
    assert await store.compact()
    assert (await store.stats("default")).is_scrubbed
    assert (await store.stats("default")).bytes_on_disk < 0.8 * large
    assert len(await living(store, BOB)) == 150
    assert await store.verify() == []
    await store.aclose()


async def test_no_word_of_one_erased_memory_stays_on_the_disk(store: SqliteMemoryStore, tmp_path: Path) -> None:
    records = [await stored(store, ADA, f"secret-{number}-word") for number in range(20)]
    await store.write(ADA, [Erase(records[7].id)])
    assert on_disk(tmp_path, b"secret-7-word") == []
    assert on_disk(tmp_path, records[7].id.encode()) == []
    assert on_disk(tmp_path, b"secret-8-word")


# ── statements go by a key ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "statement",
    [
        store_module._GET,
        store_module._PAGE,
        history._HISTORY,
        store_module._SCOPE_OF,
        shards._NEW,
        shards._CHANGED,
        shards._STANDING,
        changes._FIND,
        change_log._LIST,
        change_log._UNDOINGS,
        change_log._GET,
        change_log._SCOPE_OF,
        change_log._STATES,
        change_log._REVISED,
        change_log._INSERTED,
        change_log._NOW,
        change_log._MID,
        change_log._SETS,
        change_log._BIRTH,
        change_log._OLD,
    ],
)
async def test_no_statement_of_a_call_reads_a_whole_table(store: SqliteMemoryStore, statement: str) -> None:
    await stored(store, ADA, "tea")
    values = dict.fromkeys(re.findall(r":(\w+)", statement)) or (None,) * statement.count("?")
    with store._connections.reading() as db:
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
    whole = [step for step in plan if step.startswith("SCAN") and "json_each" not in step]
    assert whole == [], plan
    assert "USE TEMP B-TREE FOR ORDER BY" not in plan


# ── repair ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        ("DELETE FROM index_entry", "records have no index entry"),
        ("INSERT INTO index_entry SELECT mid + 9, 1, 0, 0, 1, NULL, x'', NULL FROM memory", "belong to no record"),
        ("UPDATE index_entry SET terms = x''", "do not say what their records say"),
        ("UPDATE index_entry SET length = length + 1", "do not say what their records say"),
        ("UPDATE memory SET content = 'likes rain'", "digest of another text"),
        ("UPDATE source SET mid = mid + 9", "source ids belong to no record"),
        ("UPDATE source SET owner_no = 9", "point to another owner"),
        ("UPDATE history SET memory_id = 'x'", "history rows belong to no record"),
        ("DELETE FROM history", "have no history"),
        ("DELETE FROM owner", "belong to no owner"),
        ("UPDATE owner SET last_seq = 0", "beyond their owner's last number"),
        ("UPDATE memory SET changed = 99", "changed later than their owner"),
        ("UPDATE owner SET erased_generation = 99", "erased in the future"),
        ("UPDATE index_entry SET vector = NULL", "vector without a model"),
        ("UPDATE index_entry SET model = 99", "unknown model"),
        ("UPDATE index_entry SET vector = x'00' WHERE mid & 1", "several sizes"),
        ("UPDATE index_entry SET analyzer = 0", "another version of the analyser"),
        ("DROP INDEX memory_by_time", ""),
    ],
)
async def test_every_contradiction_in_the_file_is_found(tmp_path: Path, damage: str, finding: str) -> None:
    store = open_store(tmp_path)
    for text in ("likes tea", "likes snow"):
        await stored(store, ADA, text, source=text)
    assert await store.verify() == []
    with raw(tmp_path / "ebbing.db") as db:
        db.execute(damage)
    found = await store.verify()
    await store.aclose()
    assert [sentence for sentence in found if finding in sentence] if finding else found == []
    assert not [sentence for sentence in found if "tea" in sentence or "ada" in sentence]


async def test_a_damaged_page_is_reported(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for number in range(200):
        await stored(store, ADA, f"likes tea {number}")
    await store.aclose()
    path = tmp_path / "ebbing.db"
    content = bytearray(path.read_bytes())
    at = content.rfind(b"likes tea 150") // 4096 * 4096
    content[at : at + 64] = b"\xff" * 64
    path.write_bytes(content)
    store = open_store(tmp_path)
    try:
        found = await store.verify()
    except StoreError as error:
        found = [str(error)]
    finally:
        await store.aclose()
    assert found


async def test_an_owner_who_has_used_every_number_is_told_so(store: SqliteMemoryStore, tmp_path: Path) -> None:
    await stored(store, ADA, "x")
    with raw(tmp_path / "ebbing.db") as db:
        db.execute("UPDATE owner SET last_seq = ?", (MAX_SEQ,))
    with pytest.raises(StoreError, match="export"):
        await stored(store, ADA, "y")


# ── the outbox ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_nothing_is_noted_while_nobody_follows(store: SqliteMemoryStore, tmp_path: Path) -> None:
    await stored(store, ADA, "x")
    with raw(tmp_path / "ebbing.db") as db:
        assert db.execute("SELECT count(*) FROM outbox").fetchone() == (0,)


async def test_what_every_follower_has_passed_is_removed(store: SqliteMemoryStore, tmp_path: Path) -> None:
    for name in ("qdrant", "milvus"):
        await store.outbox.register(name)
    for text in "abc":
        await stored(store, ADA, text)
    noted = await store.outbox.read("qdrant")
    await store.outbox.advance("qdrant", noted[2].seq)
    await store.outbox.advance("milvus", noted[1].seq)
    with raw(tmp_path / "ebbing.db") as db:
        assert db.execute("SELECT seq FROM outbox").fetchall() == [(noted[2].seq,)]
    for name in ("qdrant", "milvus"):
        await store.outbox.unregister(name)
    with raw(tmp_path / "ebbing.db") as db:
        assert db.execute("SELECT count(*) FROM outbox").fetchone() == (0,)


async def test_a_reader_that_is_busy_closes_when_it_is_done(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store._connections.reading() as db:
        await store.aclose()
        assert db.execute("SELECT 1").fetchone() == (1,)
    with pytest.raises(sqlite3.ProgrammingError):
        db.execute("SELECT 1")


async def test_a_closed_store_leaves_no_thread_and_no_log_behind(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    store = open_store(tmp_path)
    await stored(store, ADA, "x")
    await store.aclose()
    assert not [thread for thread in set(threading.enumerate()) - before if thread.name == "ebbing-writer"]
    assert on_disk(tmp_path, b"") == ["ebbing.db"]
