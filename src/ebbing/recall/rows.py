"""The rows of a shard that may answer, the best of them, and their records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import inf
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.filters.fields import Op
from ebbing.domain.filters.query import KINDS_OF, Query
from ebbing.domain.filters.timestamps import Span
from ebbing.domain.filters.tree import (
    EVERYTHING,
    All,
    AnyOf,
    Filter,
    Test,
    asks_for_ends,
    conjuncts,
    including_namesakes,
    predicate,
    verdict,
)
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import InternedNames
from ebbing.index.near_rows import find_neighbours
from ebbing.index.shard import (
    ALWAYS,
    KINDS,
    LAYERS,
    NEVER,
    RECORDS_READ,
    ROLES,
    TYPES,
    Shard,
    digest,
    micros,
)
from ebbing.ports.stores.memory_store import MemoryStore

# From the scores of several retrievers to one, and from scores to the best rows.

Scores = NDArray[np.float64]
"""Shape (rows of the shard,)."""
Mask = NDArray[np.bool_]
"""Shape (rows of the shard,)."""


def zscore(
    scores: Scores, mask: Mask, *, weight: float = 1.0, min_count: int = 0, stands_for: Scores | None = None
) -> Scores:
    """Return `weight` times (x − mean) / standard deviation, both over the rows of the mask.

    All are 0 where the rows do not differ.

    Args:
        min_count: rows that the statistics stand for; those that are lacking count as 0. Of a handful of rows none can
            lie far from their mean.
        stands_for: how many rows each one stands for (`Shard.stands_for`); itself alone unless given.
    """
    chosen = scores[mask]
    counted = chosen if stands_for is None else chosen * stands_for[mask]
    count = max(float(len(chosen) if stands_for is None else stands_for[mask].sum()), min_count)
    if not count:
        return np.zeros_like(scores)
    mean = float(counted.sum()) / count
    variance = float(counted.dot(chosen)) / count - mean * mean
    if variance < 1e-12:
        return np.zeros_like(scores)
    scaled: Scores = weight * variance**-0.5 * (scores - mean)
    return scaled


def best_rows(scores: Scores, mask: Mask, *, count: int) -> NDArray[np.int64]:
    """Return the `count` best rows of the mask, best first.

    Equal scores keep the order of arrival, at the cut as well.
    """
    rows = np.flatnonzero(mask)
    points = scores[rows]
    if len(rows) > count:
        threshold = np.partition(points, len(rows) - count)[len(rows) - count]
        rows = rows[points >= threshold]
    order = np.argsort(-scores[rows], kind="stable")
    return rows[order[:count]]


# The mask of rows that may answer: scope, time and filter, by columns where the shard has them, else by records.

MAX_CACHED_TESTS: Final = 64
"""Tests whose answers a shard caches."""
_CODED: Final[dict[str, tuple[str, Callable[[Shard], Sequence[str | None]]]]] = {
    "kind": ("kind", lambda _: KINDS),
    "role": ("role", lambda _: ROLES),
    "type": ("type", lambda _: TYPES),
    "layer": ("layer", lambda _: LAYERS),
    "agent_id": ("agent", lambda shard: _names(shard.agents, shard.agent)),
    "run_id": ("run", lambda shard: _names(shard.runs, shard.run)),
    "actor_id": ("actor", lambda shard: _names(shard.actors, shard.actor)),
}
"""Field to the column of its codes, and the names behind the codes."""
_TIMES: Final = {
    "created_at": "created",
    "valid_from": "valid_from",
    "valid_to": "valid_to",
    "expires_at": "expires",
}
_NUMBERS: Final = frozenset({"importance", "strength"})
_EQUALITY: Final = frozenset({Op.EQ, Op.NE, Op.IN, Op.NIN})
_COMPARED: Final[dict[Op, Callable[[Any, Any], Mask]]] = {
    Op.GT: np.greater,
    Op.GTE: np.greater_equal,
    Op.LT: np.less,
    Op.LTE: np.less_equal,
}
_COLUMNS: Final = frozenset({"id", "user_id", *_CODED, *_TIMES, *_NUMBERS})


def rows_in_scope(shard: Shard, scope: Scope, *, kinds: Collection[Kind]) -> Mask:
    """Return the living rows of these kinds that the scope sees; the caller does not write to it."""
    mask: Mask = shard.alive
    if len(kinds) < len(KINDS):
        mask = mask & np.isin(shard.kind, [KINDS.index(kind) for kind in kinds])
    if scope.agent_id is not None:
        mask = mask & (shard.agent == shard.agents.find(scope.agent_id))
    if scope.run_id is not None:
        mask = mask & (shard.run == shard.runs.find(scope.run_id))
    return mask


def current_rows(shard: Shard, scope: Scope, *, query: Query) -> Mask:
    """Return the rows that the caller may get back: in scope, of the asked kind, current and not expired.

    A filter that asks for an end decides itself about what is over, as in `list_memories`.
    """
    mask = rows_in_scope(shard, scope, kinds=KINDS_OF[query.include])
    if query.present:
        digests = [digest(content_hash) for content_hash in query.present]
        mask = mask & ~np.isin(shard.digest, digests)
    if asks_for_ends(query.filter):
        return mask
    moment = micros(query.as_of or query.now)
    return mask & (shard.valid_to > moment) & (shard.expires > moment)


async def visible_rows(store: MemoryStore, shard: Shard, *, scope: Scope, query: Query) -> Mask:
    """Return the rows that may answer a query: current, and matching its filter."""
    mask = current_rows(shard, scope, query=query)
    if query.filter is EVERYTHING:
        return mask
    return await apply_filter(store, shard, scope=scope, mask=mask, filter_=query.filter)


async def apply_filter(store: MemoryStore, shard: Shard, *, scope: Scope, mask: Mask, filter_: Filter) -> Mask:
    """Return the rows of the mask that match. Records are read only for comparisons that no column answers.

    Where no row matches, metadata keys that are called like a field of ours may match in its place.
    """
    rows = await _matching_rows(store, shard, scope=scope, mask=mask, filter_=filter_)
    if rows.any() or (widened := including_namesakes(filter_)) is None:
        return rows
    return await _matching_rows(store, shard, scope=scope, mask=mask, filter_=widened)


async def _matching_rows(store: MemoryStore, shard: Shard, *, scope: Scope, mask: Mask, filter_: Filter) -> Mask:
    for part in sorted(conjuncts(filter_), key=_needs_records):
        if _needs_records(part):
            await _read_records(store, shard, scope=scope, mask=mask)
        mask = _match(shard, part, mask=mask, scope=scope)
    return mask


async def _read_records(store: MemoryStore, shard: Shard, *, scope: Scope, mask: Mask) -> None:
    """Cache the records of the rows in the shard; deleted ones too, for questions about the past."""
    rows_read: Mask = shard.cached(RECORDS_READ, lambda: np.zeros(shard.size, dtype=np.bool_))
    rows = np.flatnonzero(mask & ~rows_read).tolist()
    missing = [shard.id_of(row) for row in rows if shard.record(shard.id_of(row)) is None]
    if missing:
        records = await store.get(scope, missing, deleted=True)
        shard.records.update((record.id, record) for record in records)
    rows_read |= mask


def _needs_records(filter_: Filter) -> bool:
    if isinstance(filter_, Test):
        return filter_.field.name not in _COLUMNS
    return any(map(_needs_records, filter_.parts))


def _match(shard: Shard, filter_: Filter, *, mask: Mask, scope: Scope) -> Mask:
    """Return the rows of the mask that match; each part looks only at the rows that are still open."""
    if isinstance(filter_, Test):
        if filter_.field.name in _COLUMNS:
            return mask & _column_test(shard, filter_, mask=mask, scope=scope)
        return _record_test(shard, filter_, mask=mask)
    if isinstance(filter_, All):
        for part in filter_.parts:
            mask = _match(shard, part, mask=mask, scope=scope)
        return mask
    rest = mask
    for part in filter_.parts:
        rest = rest & ~_match(shard, part, mask=rest, scope=scope)
    return mask & ~rest if isinstance(filter_, AnyOf) else rest


def _column_test(shard: Shard, test: Test, *, mask: Mask, scope: Scope) -> Mask:
    name, matches = test.field.name, verdict(test)
    if name in _CODED:
        column, names = _CODED[name]
        by_code = np.fromiter(map(matches, names(shard)), dtype=np.bool_)
        rows: Mask = by_code[getattr(shard, column)]
        return rows
    if name in _TIMES:
        times = getattr(shard, _TIMES[name])
        is_set = (times != ALWAYS) & (times != NEVER)
        return _time_test(times, test, is_set=is_set)
    if name == "user_id":
        return np.full(shard.size, matches(scope.user_id))
    if name == "id":
        return _test_rows(mask, lambda row: matches(shard.id_of(row)))
    return _number_test(getattr(shard, name), test)


def _time_test(times: NDArray[np.int64], test: Test, *, is_set: Mask) -> Mask:
    if test.op is Op.PRESENT:
        return is_set

    def equals(span: Span | None) -> Mask:
        if span is None:
            return ~is_set
        return is_set & (times >= micros(span.first)) & (times <= micros(span.last))

    if test.op in _EQUALITY:
        return _equality(test, equals, size=len(times))
    edge = micros(test.value.last if test.op in {Op.GT, Op.LTE} else test.value.first)
    return is_set & _COMPARED[test.op](times, edge)


def _number_test(numbers: NDArray[np.float64], test: Test) -> Mask:
    """Every row has these numbers."""
    if test.op is Op.PRESENT:
        return np.ones(len(numbers), dtype=np.bool_)

    def equals(number: float | None) -> Mask:
        if number is None:
            return np.zeros(len(numbers), dtype=np.bool_)
        return np.asarray(numbers == _to_float(number))

    if test.op in _EQUALITY:
        return _equality(test, equals, size=len(numbers))
    return _COMPARED[test.op](numbers, _to_float(test.value))


def _equality(test: Test, equals: Callable[[Any], Mask], *, size: int) -> Mask:
    values = test.value if test.op in {Op.IN, Op.NIN} else (test.value,)
    rows = np.zeros(size, dtype=np.bool_)
    for value in values:
        rows |= equals(value)
    return ~rows if test.op in {Op.NE, Op.NIN} else rows


def _record_test(shard: Shard, test: Test, *, mask: Mask) -> Mask:
    """Test each record once; the shard caches the answers until a row changes."""
    answers: dict[str, tuple[Mask, Mask]] = shard.cached("filter answers", dict)
    if len(answers) >= MAX_CACHED_TESTS:
        answers.clear()
    no_rows = np.zeros(shard.size, dtype=np.bool_)
    tested, matching = answers.setdefault(repr(test), (no_rows, no_rows.copy()))
    matches = predicate(test)

    def test_record(row: int) -> bool:
        record = shard.record(shard.id_of(row))
        return record is not None and matches(record)

    matching |= _test_rows(mask & ~tested, test_record)
    tested |= mask
    return matching & mask


def _test_rows(mask: Mask, test_row: Callable[[int], bool]) -> Mask:
    rows = np.flatnonzero(mask)
    matching = np.zeros(len(mask), dtype=np.bool_)
    matching[rows] = np.fromiter(map(test_row, rows.tolist()), dtype=np.bool_, count=len(rows))
    return matching


def _names(names: InternedNames, codes: NDArray[np.int32]) -> list[str | None]:
    return [names.name(code) for code in range(int(codes.max(initial=0)) + 1)]


def _to_float(value: float) -> float:
    """A whole number too large for a float becomes infinite, which compares the same."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


# The records of rows: read from the store where the shard has not cached them.


def rows_by_id(shard: Shard, ids: Collection[str]) -> dict[str, int]:
    """Return the living rows of these ids, as far as the shard has them."""
    alive, every = shard.alive, shard.ids[: shard.size]
    return {memory_id: row for row, memory_id in enumerate(every) if memory_id in ids and alive[row]}


async def load_records(
    store: MemoryStore, shard: Shard, *, scope: Scope, rows: Sequence[int], include_deleted: bool = False
) -> list[MemoryRecord]:
    """Return the records of rows in their order; what is gone by now is left out.

    The shard caches a record until its row changes: the shard is current as of this search, and so is the record.
    """
    ids = [shard.id_of(row) for row in rows]
    missing = [memory_id for memory_id in ids if shard.record(memory_id) is None]
    if missing:
        read = await store.get(scope, missing, deleted=include_deleted)
        shard.records.update((record.id, record) for record in read)
    records = [shard.record(memory_id) for memory_id in ids]
    return [record for record in records if record is not None]


async def load_windows(
    store: MemoryStore,
    shard: Shard,
    *,
    scope: Scope,
    windows: Sequence[Sequence[int]],
    include_deleted: bool = False,
) -> list[list[MemoryRecord]]:
    """Return the records of each window, read in one call; rows that are gone or outside the scope are left out.

    Args:
        include_deleted: the shard shows the past, to which records belong that were deleted since.
    """
    rows = list(dict.fromkeys(row for window in windows for row in window))
    records = await load_records(store, shard, scope=scope, rows=rows, include_deleted=include_deleted)
    by_id = {record.id: record for record in records if scope.covers(record.belongs_to)}
    return [[by_id[shard.id_of(row)] for row in window if shard.id_of(row) in by_id] for window in windows]


def expand(shard: Shard, rows: Sequence[int], *, before: int, after: int, mask: Mask | None = None) -> list[list[int]]:
    """Return for each row a window: itself and up to `before` and `after` turns of its run, in the order said.

    Turns outside the mask (those that the caller may see) are passed over and do not count. A row that is no utterance
    has no neighbours and comes back alone. Windows of rows that were said close together overlap.
    """
    neighbours = find_neighbours(shard)
    windows: list[list[int]] = []
    for row in rows:
        earlier = _walk(neighbours.previous, row, count=before, mask=mask)
        later = _walk(neighbours.next, row, count=after, mask=mask)
        windows.append([*reversed(earlier), row, *later])
    return windows


def _walk(step: NDArray[np.int64], start: int, *, count: int, mask: Mask | None) -> list[int]:
    """Return the nearest `count` rows in one direction, the nearest first."""
    rows: list[int] = []
    row = int(step[start])
    while row >= 0 and len(rows) < count:
        if mask is None or mask[row]:
            rows.append(row)
        row = int(step[row])
    return rows
