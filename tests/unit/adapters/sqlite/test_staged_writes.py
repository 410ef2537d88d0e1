"""What an earlier version left staged is taken in when the store is opened: once, whole, and never again."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ebbing.adapters.sqlite.connection.connections import FILE_NAME
from ebbing.adapters.sqlite.connection.schema import migrate, migrations
from ebbing.adapters.system.machine import TimeOrderedIds
from ebbing.domain.memory.record import MemoryType, Role, content_hash
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import STORED_VECTOR, digest, micros
from ebbing.language.text.analyzer import TextFlag
from tests.unit.adapters.sqlite.stores import ADA, BOB, CLOCK, EMBEDDER, open_store, raw, stored

pytestmark = pytest.mark.anyio
_IDS = TimeOrderedIds()
STAGED_LAYOUT = 13
"""The last one whose version staged small writes."""
STAGED_COLUMNS = (
    '[[["{id}", "memory", null, "episodic", "short_term", "coach", null, null, {at},'
    ' null, null, null, null, {digest}, 0.5, 1.0, null, null, 1, {at}, null, null, 0, 1.0, null, null, "user", null,'
    ' "en", null, null, null, null, null, null, null, null, null, null, null, null, null, "{text}", null, null,'
    ' null, null, null, null], "stored as said", {flags}, null, 0]]'
)
"""A row of the time when records were staged column by column."""


def earlier_store(directory: Path) -> None:
    """Make a store of the layout whose version staged small writes."""
    directory.mkdir(exist_ok=True)
    with raw(directory / FILE_NAME) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.isolation_level = None
        migrate(db, migrations()[:STAGED_LAYOUT])


def stage(
    directory: Path, body: str, *, name: str = "ada", vectors: bytes | None = None, refused: int | None = None
) -> None:
    """Leave a row as that version did."""
    with raw(directory / FILE_NAME) as db:
        db.execute(
            "INSERT INTO arrival (tenant, kind, name, at, body, vectors, refused) VALUES (?, 'user', ?, ?, ?, ?, ?)",
            (ADA.tenant, name, micros(CLOCK.now()), body, vectors, refused),
        )


def message(text: str, **shared: Any) -> tuple[str, str]:
    """The id and the row of one plain message."""
    new = _IDS.new()
    return new, json.dumps({"said": [[new, text, 0, None]], **shared}, ensure_ascii=False)


def waiting(directory: Path) -> int:
    with raw(directory / FILE_NAME) as db:
        return int(db.execute("SELECT count(*) FROM staged_write").fetchone()[0])


def bytes_in(directory: Path) -> list[bytes]:
    return [file.read_bytes() for file in directory.iterdir()]


async def test_messages_are_taken_in_with_all_that_was_staged_of_them(tmp_path: Path) -> None:
    earlier_store(tmp_path)
    first, second, now = _IDS.new(), _IDS.new(), CLOCK.now()
    [vector] = EMBEDDER.embed(["I dislike cafés"])
    stored_vector = vector.astype(STORED_VECTOR).tobytes()
    said_at, ends = now - timedelta(days=9), now + timedelta(days=3)
    body = {
        "said": [
            [first, "I dislike cafés", len(stored_vector), EMBEDDER.model_id],
            [second, "我喜欢茶", 0, None, ["assistant", "assistant", "Nova", micros(said_at)]],
        ],
        "agent": "coach",
        "run": "r1",
        "metadata": {"n": [1, 2.5]},
        "tags": ["dislike", "x"],
        "expires": micros(ends),
    }
    stage(tmp_path, json.dumps(body), vectors=stored_vector)
    store = open_store(tmp_path)
    one, other = await store.get(ADA, [first, second])
    assert (one.content, one.created_at, one.recorded_at, one.role, one.trust) == (
        *("I dislike cafés", now, now, Role.USER, "user"),
    )
    assert (one.belongs_to, one.metadata, one.tags, one.type, one.expires_at) == (
        *(Scope(user_id="ada", agent_id="coach", run_id="r1"), {"n": [1, 2.5]}, ("dislike", "x")),
        *(MemoryType.PREFERENCE, ends),
    )
    assert (other.content, other.created_at, other.role, other.actor, other.language) == (
        *("我喜欢茶", said_at, Role.ASSISTANT, "Nova", "zh"),
    )
    assert [entry.new_memory for entry in await store.history(ADA, first)] == ["I dislike cafés"]
    shard = await store.shard(ADA)
    assert shard.ids == [first, second]
    np.testing.assert_allclose(shard.vectors[0], vector, atol=1e-3)
    assert await store.verify() == []
    assert waiting(tmp_path) == 0
    await store.aclose()


async def test_records_that_were_staged_column_by_column_are_taken_in_too(tmp_path: Path) -> None:
    earlier_store(tmp_path)
    at, scope = micros(CLOCK.now()), Scope(user_id="ada", agent_id="coach")
    row = {"at": at, "digest": digest(content_hash("likes rain")), "flags": int(TextFlag.UTTERANCE)}
    stage(tmp_path, STAGED_COLUMNS.format(id=_IDS.new(), text="likes rain", **row))
    store = open_store(tmp_path)
    [found] = (await store.page(scope)).records
    assert (found.content, found.belongs_to, found.created_at) == ("likes rain", scope, CLOCK.now())
    assert await store.verify() == []
    await store.aclose()


async def test_what_was_taken_in_and_erased_does_not_come_back_at_the_next_start(tmp_path: Path) -> None:
    earlier_store(tmp_path)
    new, body = message("likes quokkaberry jam")
    stage(tmp_path, body)
    first, beside = open_store(tmp_path), open_store(tmp_path)
    assert [one.id for one in (await beside.page(ADA)).records] == [new]
    await first.erase(ADA)
    await first.aclose()
    await beside.aclose()
    again = open_store(tmp_path)
    assert (await again.page(ADA)).records == ()
    await again.aclose()
    assert not any(b"quokkaberry" in data for data in bytes_in(tmp_path))


async def test_one_row_that_cannot_be_taken_in_holds_up_no_other(tmp_path: Path) -> None:
    earlier_store(tmp_path)
    nested = '{"a":' * 5_000 + "1" + "}" * 5_000
    stage(tmp_path, f'{{"said":[["{_IDS.new()}","deep",0,null]],"metadata":{nested}}}', name="mallory")
    stage(tmp_path, "no JSON", name="mallory")
    stage(tmp_path, '{"said":[[1]]}', name="mallory")
    new, body = message("likes rain")
    stage(tmp_path, body)
    stage(tmp_path, body, name="bob")  # the same id again
    for _ in range(2):
        store = open_store(tmp_path)
        assert [one.id for one in (await store.page(ADA)).records] == [new]
        assert (await store.page(BOB)).records == ()
        assert await store.verify() == ["4 writes of an earlier version could not be taken in"]
        await store.aclose()


@pytest.mark.parametrize("erased", [ADA, Scope(user_id="ada", agent_id="coach")], ids=["all", "of an agent"])
async def test_an_erasure_takes_along_what_could_not_be_taken_in(tmp_path: Path, erased: Scope) -> None:
    earlier_store(tmp_path)
    stage(tmp_path, STAGED_COLUMNS.format(id=_IDS.new(), text="likes rain", at=0, digest=0, flags=0), refused=1)
    stage(tmp_path, message("likes tea", agent="coach")[1], refused=1)
    stage(tmp_path, "no JSON", refused=1)
    store = open_store(tmp_path)
    await store.erase(BOB)
    assert waiting(tmp_path) == 3
    await store.erase(erased)
    assert waiting(tmp_path) == 0
    await store.aclose()


async def test_a_reset_takes_along_what_could_not_be_taken_in(tmp_path: Path) -> None:
    earlier_store(tmp_path)
    stage(tmp_path, "no JSON")
    store = open_store(tmp_path)
    await store.reset("another tenant")
    assert waiting(tmp_path) == 1
    await store.reset(ADA.tenant)
    assert waiting(tmp_path) == 0
    await store.aclose()


async def test_what_could_not_be_taken_in_follows_its_owner_into_a_merge(tmp_path: Path) -> None:
    earlier_store(tmp_path)
    stage(tmp_path, "no JSON")
    store = open_store(tmp_path)
    await stored(store, ADA, "likes tea")
    await store.identities.merge(ADA.tenant, "bob", gone="ada", at=CLOCK.now())
    await store.erase(BOB)
    assert waiting(tmp_path) == 0
    await store.aclose()
