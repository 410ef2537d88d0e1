"""A small write of the SQLite store: durable in one page, and in its place before anybody reads."""

from __future__ import annotations

import asyncio
import shutil
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ebbing import AsyncMemory
from ebbing.adapters.ids import TimeOrderedIds
from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.adapters.sqlite import staging as arrivals
from ebbing.adapters.sqlite.rows import MAX_SEQ
from ebbing.adapters.sqlite.staging import FEW
from ebbing.domain.errors import ConflictError
from ebbing.domain.memory.record import MemoryRecord, Role, content_hash
from ebbing.domain.memory.scope import Scope
from ebbing.index.raw_message import Call, Said, said_record
from ebbing.index.shard import digest, micros
from ebbing.language.text.analyzer import TextFlag
from ebbing.ports.memory_store import made
from tests.unit.sqlite_stores import ADA, BOB, CLOCK, EMBEDDER, insert, open_store, raw, record, stored

pytestmark = pytest.mark.anyio
_IDS = TimeOrderedIds()


def said(scope: Scope, text: str, **of_call: Any) -> Said:
    call = Call(scope, of_call.pop("metadata", {}), CLOCK.now(), **of_call)
    return in_call(call, text)


def in_call(call: Call, text: str, *, speaker: str | None = None) -> Said:
    [vector] = EMBEDDER.embed([text])
    return Said(_IDS.new(), text, call, Role.USER, speaker, None, "user", EMBEDDER.model_id, vector)


async def told(store: SqliteMemoryStore, scope: Scope, text: str) -> MemoryRecord:
    new = said(scope, text)
    assert await store.write(scope, [new]) == [new.id]
    return said_record(new)


def waiting(directory: Path) -> int:
    with raw(directory / "ebbing.db") as db:
        return int(db.execute("SELECT count(*) FROM arrival").fetchone()[0])


def bytes_in(directory: Path) -> list[bytes]:
    return [file.read_bytes() for file in directory.iterdir()]


@pytest.fixture(autouse=True)
def no_moment_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "QUIET_SECONDS", 600.0)


async def test_a_small_write_waits_in_one_table_and_is_there_for_whoever_reads(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    new = await told(store, ADA, "likes rain")
    with raw(tmp_path / "ebbing.db") as db:
        assert db.execute("SELECT count(*) FROM memory").fetchone() == (0,)
    assert waiting(tmp_path) == 1
    assert await store.get(ADA, [new.id]) == [new]
    assert waiting(tmp_path) == 0
    assert [entry.new_memory for entry in await store.history(ADA, new.id)] == ["likes rain"]
    assert (await store.shard(ADA)).ids == [new.id]
    assert await store.verify() == []
    await store.aclose()


async def test_another_process_sees_it_at_its_next_read(tmp_path: Path) -> None:
    store, other = open_store(tmp_path), open_store(tmp_path)
    assert (await other.shard(ADA)).size == 0
    new = await told(store, ADA, "likes rain")
    assert (await other.shard(ADA)).ids == [new.id]
    assert await store.get(ADA, [new.id]) == [new]
    for one in (store, other):
        await one.aclose()


async def test_what_waits_when_the_power_goes_is_there_at_the_next_start(tmp_path: Path) -> None:
    store, left = open_store(tmp_path / "store"), tmp_path / "left"
    news = [await told(store, scope, f"likes {thing}") for scope in (ADA, BOB) for thing in ("rain", "tea")]
    assert waiting(tmp_path / "store") == 4
    shutil.copytree(tmp_path / "store", left)
    await store.aclose()
    again = open_store(left)
    found = [*await again.get(ADA, [new.id for new in news]), *await again.get(BOB, [new.id for new in news])]
    assert found == news
    assert await again.verify() == []
    await again.aclose()


def rows(directory: Path) -> dict[str, list[tuple[object, ...]]]:
    tables = ("owner", "memory", "index_entry", "model", "source", "history", "arrival")
    with raw(directory / "ebbing.db") as db:
        return {table: db.execute(f"SELECT * FROM {table}").fetchall() for table in tables}


async def test_what_arrived_becomes_byte_for_byte_what_is_written_directly(tmp_path: Path) -> None:
    whose, now = Scope(user_id="ada", agent_id="coach", run_id="r1"), CLOCK.now()
    call = Call(whose, {"mood": "gr\u00fcn", "n": [1, 2.5]}, now, ("dislike", "x"), now + timedelta(days=3))
    texts = ["I dislike caf\u00e9s \x00 at 8", "\u6211\u559c\u6b22\u8336", "no words: 12"]
    parts = [in_call(call, text, speaker=speaker) for text, speaker in zip(texts, ("Ada", None, None), strict=True)]
    parts.append(parts[0]._replace(id=_IDS.new(), said_at=now - timedelta(days=9), role=None, trust=None, vector=None))
    parts.append(parts[1]._replace(id=_IDS.new(), vector=np.zeros(EMBEDDER.dim, np.float32)))
    calls = [parts, [said(BOB, "a plain one")], [said(Scope(agent_id="nova"), "one of an agent")]]
    for name, one_by_one in (("waits", False), ("direct", True)):
        store = open_store(tmp_path / name)
        for these in calls:
            scope = these[0].call.scope
            await store.write(scope, [*map(made, these)] if one_by_one else these)
        assert waiting(tmp_path / name) == (0 if one_by_one else len(calls))
        await store.aclose()
    assert rows(tmp_path / "waits") == rows(tmp_path / "direct")


EARLIER = (
    '[[["019aac50-0000-7000-8000-000000000001", "memory", null, "episodic", "short_term", "coach", null, null, {at},'
    ' null, null, null, null, {digest}, 0.5, 1.0, null, null, 1, {at}, null, null, 0, 1.0, null, null, "user", null,'
    ' "en", null, null, null, null, null, null, null, null, null, null, null, null, null, "likes rain", null, null,'
    ' null, null, null, null], "stored as said", {flags}, null, 0]]'
)


async def test_what_an_earlier_version_left_is_put_in_its_place_too(tmp_path: Path) -> None:
    at, whose = micros(CLOCK.now()), Scope(user_id="ada", agent_id="coach")
    body = EARLIER.format(at=at, digest=digest(content_hash("likes rain")), flags=int(TextFlag.UTTERANCE))
    await open_store(tmp_path).aclose()
    with raw(tmp_path / "ebbing.db") as db:
        db.execute(
            "INSERT INTO arrival (tenant, kind, name, at, body) VALUES (?, 'user', 'ada', ?, ?)", (ADA.tenant, at, body)
        )
    store = open_store(tmp_path)
    [found] = (await store.page(whose)).records
    assert (found.content, found.whose, found.created_at) == ("likes rain", whose, CLOCK.now())
    assert await store.verify() == []
    await store.aclose()


@pytest.mark.parametrize("erased", [ADA, Scope(user_id="ada", agent_id="coach")], ids=["all", "of an agent"])
async def test_an_erasure_takes_what_an_earlier_version_was_refused_along(tmp_path: Path, erased: Scope) -> None:
    await open_store(tmp_path).aclose()
    with raw(tmp_path / "ebbing.db") as db:
        db.execute(
            "INSERT INTO arrival (tenant, kind, name, at, body, refused) VALUES (?, 'user', 'ada', 0, ?, 1)",
            (ADA.tenant, EARLIER.format(at=0, digest=0, flags=0)),
        )
    store = open_store(tmp_path)
    await store.erase(Scope(user_id="ada", agent_id="cook"))
    assert waiting(tmp_path) == 1
    await store.erase(erased)
    assert waiting(tmp_path) == 0
    await store.aclose()


async def test_a_quiet_moment_puts_it_in_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "QUIET_SECONDS", 0.01)
    store = open_store(tmp_path)
    await told(store, ADA, "likes rain")
    give_up = time.monotonic() + 10
    while waiting(tmp_path) and time.monotonic() < give_up:  # noqa: ASYNC110 – a thread of the store does it
        await asyncio.sleep(0.01)
    assert waiting(tmp_path) == 0
    await store.aclose()


async def test_closing_puts_all_in_its_place(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for number in range(arrivals.AT_ONCE + 1):
        await told(store, ADA, f"thing {number}")
    await store.aclose()
    assert waiting(tmp_path) == 0


async def test_a_decision_made_before_it_arrived_is_made_again(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await told(store, ADA, "likes rain")
    seen = (await store.shard(ADA)).generation
    await told(store, ADA, "likes tea")
    with pytest.raises(ConflictError):
        await store.write(ADA, [said(ADA, "likes snow")], seen=seen)
    await store.aclose()


async def test_records_keep_the_order_in_which_they_came_however_they_came(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    texts = ["one", "two", "three", "four"]
    for number, text in enumerate(texts):
        await (told if number % 2 == 0 else stored)(store, ADA, text)
    page = await store.page(ADA)
    assert [one.content for one in page.records] == texts[::-1]
    await store.aclose()


async def test_many_at_once_and_what_depends_on_others_go_to_their_places_directly(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    call = said(ADA, "").call
    await store.write(ADA, [in_call(call, f"thing {number}") for number in range(FEW + 1)])
    await store.write(ADA, [said(ADA, "of one call"), said(ADA, "of another")])
    await store.write(ADA, [insert(record(ADA, "an id from elsewhere"))])
    await store.write(ADA, [in_call(call, "with a record"), insert(record(ADA, "that was made"))])
    assert waiting(tmp_path) == 0
    assert (await store.shard(ADA)).size == FEW + 6
    await store.aclose()


async def test_an_owner_who_is_almost_full_is_written_directly(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await stored(store, ADA, "likes rain")
    with raw(tmp_path / "ebbing.db") as db:
        db.execute("UPDATE owner SET last_seq = ?", (MAX_SEQ - 2,))
    await told(store, ADA, "likes tea")
    assert waiting(tmp_path) == 0
    await store.aclose()


async def test_what_cannot_be_put_in_its_place_is_kept_and_told_of(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    there = await stored(store, BOB, "likes snow")
    new = await told(store, ADA, "likes rain")
    with raw(tmp_path / "ebbing.db") as db:
        db.execute("UPDATE arrival SET body = replace(body, ?, ?)", (new.id, there.id))
    assert await store.get(ADA, [new.id]) == []
    assert await store.get(BOB, [there.id]) == [there]
    assert waiting(tmp_path) == 1
    assert await store.verify() == ["1 writes could not be put in their place"]
    await store.aclose()


async def refused(store: SqliteMemoryStore, directory: Path, scope: Scope, text: str) -> None:
    """Something that cannot be put in its place."""
    there = await stored(store, Scope(user_id="cy"), "likes snow")
    new = await told(store, scope, text)
    with raw(directory / "ebbing.db") as db:
        db.execute("UPDATE arrival SET body = replace(body, ?, ?)", (new.id, there.id))
    assert await store.get(scope, [new.id]) == []
    assert waiting(directory) == 1


@pytest.mark.parametrize("erased", [ADA, Scope(user_id="ada", agent_id="coach")], ids=["all", "of an agent"])
async def test_an_erasure_takes_what_was_refused_along(tmp_path: Path, erased: Scope) -> None:
    store = open_store(tmp_path)
    await refused(store, tmp_path, Scope(user_id="ada", agent_id="coach"), "likes quokkaberry jam")
    await store.erase(BOB)
    await store.erase(Scope(user_id="ada", agent_id="cook"))
    assert waiting(tmp_path) == 1
    await store.erase(erased)
    assert waiting(tmp_path) == 0
    await store.aclose()


async def test_a_reset_takes_what_was_refused_along(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await refused(store, tmp_path, ADA, "likes rain")
    await store.reset("another tenant")
    assert waiting(tmp_path) == 1
    await store.reset(ADA.tenant)
    assert waiting(tmp_path) == 0
    await store.aclose()


async def test_what_was_refused_belongs_to_whom_its_owner_became(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await stored(store, ADA, "likes tea")
    await refused(store, tmp_path, ADA, "likes rain")
    await store.identities.merge(ADA.tenant, "bob", gone="ada", at=CLOCK.now())
    await store.erase(BOB)
    assert waiting(tmp_path) == 0
    await store.aclose()


async def test_an_import_asks_at_once_whether_its_ids_are_free(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        await memory.add("likes rain", user_id="ada", infer=False)
        assert waiting(tmp_path) == 1
        lines = (await memory.export(user_id="ada"))["records"]
        assert (await memory.import_(lines, user_id="bob"))["imported"] == 1
        assert waiting(tmp_path) == 0


async def test_what_was_erased_right_after_it_arrived_is_in_no_page(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await told(store, ADA, "likes quokkaberry jam")
    await store.erase(ADA)
    await store.aclose()
    assert not any(b"quokkaberry" in data for data in bytes_in(tmp_path))
