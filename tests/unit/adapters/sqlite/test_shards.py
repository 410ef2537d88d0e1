"""A shard that is brought up to date is the same as one that is read anew."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, Layer, MemoryType, Role
from ebbing.domain.memory.scope import Scope
from ebbing.index.row import Row
from ebbing.index.shard import Shard
from ebbing.ports.stores.memory_store import Erase, Insert, Revise
from tests.unit.adapters.sqlite.stores import ADA, CLOCK, insert, record, stored

pytestmark = pytest.mark.anyio


def columns(shard: Shard) -> dict[str, object]:
    """Everything that a shard says of its rows, names spelt out."""
    names = {"agent": shard.agents, "run": shard.runs, "actor": shard.actors}
    names |= {"attribute": shard.attributes, "object": shard.objects}
    told: dict[str, object] = {
        name: getattr(shard, name).tolist()
        for name in (*Row._fields[2:22], "mentions", "embedded", "seq", "alive")
        if name not in names and hasattr(shard, name)
    }
    told |= {name: [table.name(code) for code in getattr(shard, name).tolist()] for name, table in names.items()}
    told |= {"ids": shard.ids[: shard.size], "vectors": shard.vectors.tolist(), "last": shard.last_seq}
    terms = [shard.postings.terms_of(row).tolist() for row in range(shard.size)]
    return told | {"terms": terms, "generation": shard.generation}


def varied() -> list[Insert]:
    now, plain = CLOCK.now(), insert(record(ADA, "drinks green tea"))
    whole = replace(
        record(Scope(user_id="ada", agent_id="guide", run_id="monday"), "喜欢绿茶"),
        kind=Kind.EPISODE,
        type=MemoryType.PREFERENCE,
        layer=Layer.LONG_TERM,
        role=Role.TOOL,
        actor="Ada",
        valid_from=now - timedelta(days=2),
        valid_to=now + timedelta(days=3),
        expires_at=now + timedelta(days=30),
        importance=0.25,
        strength=0.5,
        attribute="drink",
        object="tea",
        mentions=3,
    )
    other = insert(record(ADA, "owns 3 cats"))
    assert other.entry is not None
    return [
        plain,
        insert(whole),
        Insert(record(ADA, "bare"), None),
        replace(other, entry=replace(other.entry, model_id="x")),
    ]


async def test_a_shard_that_followed_is_the_one_that_is_read(
    store: SqliteMemoryStore, other: SqliteMemoryStore
) -> None:
    await stored(store, ADA, "first")
    await store.shard(ADA)
    for one in varied():
        await store.write(one.record.belongs_to, [one])
        followed = store._shards.current(ADA.owner)
        assert followed is not None
    await store.write(ADA, varied())
    followed = store._shards.current(ADA.owner)
    assert followed is not None
    assert columns(followed) == columns(await other.shard(ADA))


async def test_a_shard_is_read_where_another_handle_wrote(store: SqliteMemoryStore, other: SqliteMemoryStore) -> None:
    first = await stored(store, ADA, "first")
    await store.shard(ADA)
    await stored(store, ADA, "second")
    await stored(other, ADA, "theirs")
    await stored(store, ADA, "fourth")
    shard = await store.shard(ADA)
    assert shard.size == 4
    assert shard.ids[0] == first.id


@pytest.mark.parametrize("change", ["revised", "erased", "born deleted"])
async def test_a_shard_is_read_where_more_than_rows_were_added(store: SqliteMemoryStore, change: str) -> None:
    first = await stored(store, ADA, "first")
    await store.shard(ADA)
    changed: dict[str, list[Insert | Revise | Erase]] = {
        "revised": [Revise(replace(first, version=2, deleted_at=CLOCK.now()), Event.DELETE)],
        "erased": [Erase(first.id)],
        "born deleted": [insert(replace(record(ADA, "gone"), deleted_at=CLOCK.now()))],
    }
    await store.write(ADA, [insert(record(ADA, "new")), *changed[change]])
    assert sum((await store.shard(ADA)).alive) == (2 if change == "born deleted" else 1)
