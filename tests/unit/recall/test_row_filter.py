"""A filter over the rows of a shard, column by column: every operator on every field, and when records are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.filters.fields import FIELDS, OPERATORS, Op, Sort
from ebbing.domain.filters.parser import parse_filter
from ebbing.domain.filters.tree import matches
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, Layer, MemoryRecord, MemoryType, Role
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Insert, Revise
from ebbing.recall.rows import Mask, apply_filter, rows_in_scope
from ebbing.testing.clock import ManualClock

ADA = Scope(user_id="ada")
START = datetime(2024, 5, 1, 12, tzinfo=UTC)
MOMENTS = [START + timedelta(hours=12 * half) for half in range(-2, 3)]


def record(number: int) -> MemoryRecord:
    """Records in which every field takes several values, together in many ways."""
    moment, other = MOMENTS[number % 5], MOMENTS[number * 7 % 5]
    return MemoryRecord(
        id=f"m{number}",
        belongs_to=Scope(
            user_id="ada", agent_id=[None, "guide", "小明"][number % 3], run_id=[None, "r1", "R1"][number // 3 % 3]
        ),
        content=["茶", "Tea", "ｔｅａ", "no tea"][number % 4],
        created_at=moment,
        recorded_at=START,
        kind=list(Kind)[number % 2],
        type=list(MemoryType)[number % 6],
        layer=list(Layer)[number % 3],
        scope=["global", "session:1", "channel:茶"][number % 3],
        actor=[None, "Ada", "ada"][number % 3],
        role=[None, *Role][number % 5],
        tags=[(), ("茶",), ("Tea", "茶")][number % 3],
        metadata=[{}, {"mood": "calm"}, {"mood": None, "home": {"n": number}}][number % 3],
        language=["zh", "en", "und"][number % 3],
        updated_at=None if number % 2 else other,
        valid_from=None if number % 3 else moment,
        valid_to=None if number % 4 else other,
        expires_at=None if number % 5 else other,
        importance=[0.0, 0.1, 0.7, 1.0][number % 4],
        confidence=[0.0, 0.1, 0.7, 1.0][number // 2 % 4],
        strength=[0.1, 0.3, 0.7][number % 3],
        abstraction_level=number % 3,
    )


RECORDS = [record(number) for number in range(40)]
WORDS = ["guide", "R1", "ada", "茶", "tea", "", "global", "zh", "m3", "小明"]
VALUES: dict[Sort, Sequence[Any]] = {
    Sort.TEXT: WORDS,
    Sort.NUMBER: [0, 0.1, 0.3, 0.7, 1, 2, 10**400, -(10**400)],
    Sort.MOMENT: [*MOMENTS, "2024-05-01", "1999-01-01", START.timestamp()],
    Sort.LIST: ["茶", "tea", ["Tea", "茶"], []],
}


def every_filter(name: str) -> list[dict[str, Any]]:
    """Every operator of the field with every value."""
    field = FIELDS[name]
    values = [*(field.choices or VALUES[field.sort])]
    found: list[dict[str, Any]] = [{name: "*"}]
    for op in OPERATORS[field.sort]:
        if op in {Op.IN, Op.NIN}:
            found += [{name: {op: []}}, {name: {op: [None, values[0]]}}, {name: {op: values[1:3]}}]
        else:
            found += [{name: {op: value}} for value in [*values, None]]
    return found


async def store_of(records: Sequence[MemoryRecord]) -> SqliteMemoryStore:
    store = SqliteMemoryStore.in_memory(clock=ManualClock())
    await store.write(ADA, [Insert(one, None) for one in records])
    return store


async def mask_of(store: SqliteMemoryStore, wanted: dict[str, Any]) -> Mask:
    shard = await store.shard(ADA)
    everything = rows_in_scope(shard, ADA, kinds=tuple(Kind))
    return await apply_filter(store, shard, scope=ADA, mask=everything, filter_=parse_filter(wanted))


@pytest.mark.anyio
@pytest.mark.parametrize("name", FIELDS)
async def test_every_operator_of_a_field_keeps_exactly_the_rows_that_match(name: str) -> None:
    store = await store_of(RECORDS)
    kept = 0
    for wanted in every_filter(name):
        try:
            tree = parse_filter(wanted)
        except InvalidInputError:
            continue
        mask = await mask_of(store, wanted)
        assert list(mask) == [matches(tree, one) for one in RECORDS], wanted
        kept += int(mask.sum())
    assert kept


class CountingStore(SqliteMemoryStore):
    """Counts the records that are read."""

    read = 0

    async def get(self, scope: Scope, ids: Sequence[str], *, deleted: bool = False) -> list[MemoryRecord]:
        self.read += len(ids)
        return await super().get(scope, ids, deleted=deleted)


@pytest.mark.anyio
async def test_records_are_read_only_where_no_column_answers_and_only_once() -> None:
    store = CountingStore.in_memory(clock=ManualClock())
    await store.write(ADA, [Insert(one, None) for one in RECORDS])
    await mask_of(store, {"type": "fact", "created_at": {"gte": "2024-05-01"}, "importance": {"gte": 0.7}})
    assert store.read == 0
    facts = sum(one.type is MemoryType.FACT for one in RECORDS)
    await mask_of(store, {"mood": "calm", "type": "fact"})
    assert store.read == facts
    await mask_of(store, {"mood": "calm"})
    assert store.read == len(RECORDS)
    await mask_of(store, {"tags": "茶", "mood": {"ne": "calm"}})
    assert store.read == len(RECORDS)


@pytest.mark.anyio
async def test_a_changed_record_is_read_again_and_no_other() -> None:
    store = CountingStore.in_memory(clock=ManualClock())
    await store.write(ADA, [Insert(one, None) for one in RECORDS])
    assert not (await mask_of(store, {"mood": "glad"})).any()
    changed = replace(RECORDS[3], metadata={"mood": "glad"}, version=2)
    await store.write(ADA, [Revise(changed, Event.UPDATE)])
    mask = await mask_of(store, {"mood": "glad"})
    assert list(np.flatnonzero(mask)) == [3]
    assert store.read == len(RECORDS) + 1


@pytest.mark.anyio
async def test_a_filter_of_a_scope_reads_nothing_beyond_it() -> None:
    store = CountingStore.in_memory(clock=ManualClock())
    await store.write(ADA, [Insert(one, None) for one in RECORDS])
    narrow = Scope(user_id="ada", agent_id="guide")
    shard = await store.shard(narrow)
    among = rows_in_scope(shard, narrow, kinds=tuple(Kind))
    mask = await apply_filter(store, shard, scope=narrow, mask=among, filter_=parse_filter({"mood": {"ne": "x"}}))
    expected = [one.belongs_to.agent_id == "guide" for one in RECORDS]
    assert list(mask) == expected
    assert store.read == sum(expected)
