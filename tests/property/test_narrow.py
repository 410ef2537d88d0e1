"""A filter over the rows of a shard keeps exactly the records that it matches one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.domain.filters.parser import parse_filter
from ebbing.domain.filters.tree import matches
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Insert
from ebbing.recall.lists.list_memories import list_memories
from ebbing.recall.rows import apply_filter, rows_in_scope
from ebbing.testing.clock import ManualClock
from tests.property.test_filters import filters, records

ADA = Scope(user_id="ada")


async def store_of(many: Sequence[MemoryRecord]) -> SqliteMemoryStore:
    store = SqliteMemoryStore.in_memory(clock=ManualClock())
    await store.write(ADA, [Insert(record, None) for record in many])
    return store


def numbered(many: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    return [replace(record, id=f"m{number}") for number, record in enumerate(many)]


@pytest.mark.anyio
@given(
    many=st.lists(records, min_size=1, max_size=6).map(numbered),
    wanted=st.lists(filters, min_size=1, max_size=2),
    first=st.integers(0, 5),
)
async def test_the_rows_kept_are_those_whose_records_match(
    many: list[MemoryRecord], wanted: list[dict[str, Any]], first: int
) -> None:
    store = await store_of(many)
    shard = await store.shard(ADA)
    everything = rows_in_scope(shard, ADA, kinds=tuple(Kind))
    for tree in map(parse_filter, wanted):
        expected = np.array([matches(tree, record) for record in many])
        part = everything & (np.arange(shard.size) >= first)
        for among in (part, everything, part):
            mask = await apply_filter(store, shard, scope=ADA, mask=among, filter_=tree)
            assert list(mask) == list(among & expected)


@pytest.mark.anyio
@given(many=st.lists(records, max_size=8).map(numbered), wanted=filters, limit=st.integers(1, 4))
async def test_pages_of_a_filter_are_the_matches_newest_first(
    many: list[MemoryRecord], wanted: dict[str, Any], limit: int
) -> None:
    store, tree = await store_of(many), parse_filter(wanted)
    shown: list[str] = []
    cursor: str | None = None
    while True:
        page = await list_memories(store, ADA, kinds=tuple(Kind), filter_=tree, limit=limit, cursor=cursor)
        assert len(page.records) <= limit
        shown += [record.id for record in page.records]
        cursor = page.next_cursor
        if cursor is None:
            break
    everything = (await store.page(ADA, kinds=tuple(Kind), limit=100)).records
    assert shown == [record.id for record in everything if matches(tree, record)]
