"""What this process wrote is followed without being read, and is the same as if it were read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.adapters.sqlite.memories import recent_writes as last_writes
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, Layer, MemoryRecord, MemoryType, Role
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.row import Row
from ebbing.index.shard import Shard
from ebbing.ports.memory_store import Erase, Insert, Revise
from tests.unit.adapters.sqlite.stores import ADA, BOB, CLOCK, insert, record, stored

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
        await store.write(one.record.whose, [one])
        followed = store._shards.current(ADA.owner)
        assert followed is not None
    await store.write(ADA, varied())
    followed = store._shards.current(ADA.owner)
    assert followed is not None
    assert [*followed.as_written] == [
        one for one, kind in zip(followed.ids[1:], followed.kind[1:], strict=True) if not kind
    ]
    assert columns(followed) == columns(await other.shard(ADA))


async def test_a_shard_is_read_where_another_handle_wrote(store: SqliteMemoryStore, other: SqliteMemoryStore) -> None:
    first = await stored(store, ADA, "first")
    await store.shard(ADA)
    await stored(store, ADA, "second")
    await stored(other, ADA, "theirs")
    await stored(store, ADA, "fourth")
    assert store._shards.current(ADA.owner) is None
    shard = await store.shard(ADA)
    assert shard.size == 4
    assert not shard.as_written
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
    assert store._shards.current(ADA.owner) is None
    assert sum((await store.shard(ADA)).alive) == (2 if change == "born deleted" else 1)


async def test_nothing_of_an_erased_owner_waits_to_be_followed(store: SqliteMemoryStore) -> None:
    for scope in (ADA, BOB):
        await stored(store, scope, "a word")
    writes = store._shards.writes
    await store.erase(ADA)
    assert {owner for owner, _ in writes._writes} == {BOB.owner}
    await store.reset("default")
    assert not writes._writes


def test_only_the_last_writes_are_kept() -> None:
    writes, owner = last_writes.LastWrites(), Owner("default", "user", "ada")
    many = last_writes.Added(1, MemoryRecord("a", ADA, "a", CLOCK.now(), CLOCK.now()), (), None, None)
    for generation in range(1, last_writes.MOST + 3):
        writes.note(owner, [last_writes.Written(1, generation, [many])])
    writes.note(owner, [last_writes.Written(1, last_writes.MOST + 3, [many] * (last_writes.FEW + 1))])
    found = writes.between(owner, 1, since=2, now=last_writes.MOST + 2)
    assert found is not None
    assert [one.generation for one in found] == [*range(3, last_writes.MOST + 3)]
    assert writes.between(owner, 1, since=1, now=last_writes.MOST + 2) is None
    assert writes.between(owner, 1, since=2, now=last_writes.MOST + 3) is None
    assert writes.between(owner, 2, since=2, now=3) is None


def test_long_texts_are_not_kept() -> None:
    writes, owner = last_writes.LastWrites(), Owner("default", "user", "ada")
    for generation, size in enumerate((last_writes.SHORT, last_writes.SHORT + 1), start=1):
        long = MemoryRecord("a", ADA, "a" * size, CLOCK.now(), CLOCK.now())
        added = last_writes.Added(1, long, (), None, None)
        writes.note(owner, [last_writes.Written(1, generation, [added])])
    assert writes.between(owner, 1, since=0, now=1) is not None
    assert writes.between(owner, 1, since=1, now=2) is None
