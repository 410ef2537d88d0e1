"""A filter over one owner's rows, exactly: columns where the shard has them, the records themselves for the rest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import inf
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.filters.fields import Op
from ebbing.domain.filters.timestamps import Span
from ebbing.domain.filters.tree import All, AnyOf, Filter, Test, conjuncts, including_namesakes, predicate, verdict
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.interned_names import Names
from ebbing.index.shard import ALWAYS, KINDS, LAYERS, NEVER, RECORDS_READ, ROLES, TYPES, Shard, micros
from ebbing.ports.memory_store import MemoryStore

Mask = NDArray[np.bool_]
"""Shape (rows of the shard,)."""

MAX_KEPT: Final = 64
"""Comparisons whose answers are kept with a shard."""
_CODED: Final[dict[str, tuple[str, Callable[[Shard], Sequence[str | None]]]]] = {
    "kind": ("kind", lambda _: KINDS),
    "role": ("role", lambda _: ROLES),
    "type": ("type", lambda _: TYPES),
    "layer": ("layer", lambda _: LAYERS),
    "agent_id": ("agent", lambda shard: _names(shard.agents, shard.agent)),
    "run_id": ("run", lambda shard: _names(shard.runs, shard.run)),
    "actor_id": ("actor", lambda shard: _names(shard.actors, shard.actor)),
}
"""Field to the column of its codes, and what the codes stand for."""
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


def covered(shard: Shard, scope: Scope, *, kinds: Collection[Kind]) -> Mask:
    """The living rows of these kinds that the scope sees; not to be written to."""
    mask: Mask = shard.alive
    if len(kinds) < len(KINDS):
        mask = mask & np.isin(shard.kind, [KINDS.index(kind) for kind in kinds])
    if scope.agent_id is not None:
        mask = mask & (shard.agent == shard.agents.find(scope.agent_id))
    if scope.run_id is not None:
        mask = mask & (shard.run == shard.runs.find(scope.run_id))
    return mask


async def narrowed(store: MemoryStore, shard: Shard, *, scope: Scope, among: Mask, wanted: Filter) -> Mask:
    """The rows of `among` that match. Records are read only for comparisons that no column answers, and kept.

    Where no row matches, metadata keys that are called like a field of ours may match in its place.
    """
    rows = await _narrowed(store, shard, scope=scope, among=among, wanted=wanted)
    if rows.any() or (widened := including_namesakes(wanted)) is None:
        return rows
    return await _narrowed(store, shard, scope=scope, among=among, wanted=widened)


async def _narrowed(store: MemoryStore, shard: Shard, *, scope: Scope, among: Mask, wanted: Filter) -> Mask:
    parts = sorted(conjuncts(wanted), key=_needs_records)
    for part in parts:
        if _needs_records(part):
            await _read(store, shard, scope=scope, among=among)
        among = _matching(shard, part, among=among, scope=scope)
    return among


async def fresh_records(
    store: MemoryStore, shard: Shard, *, scope: Scope, rows: Sequence[int], deleted: bool = False
) -> list[MemoryRecord]:
    """The records of rows in their order; what is gone by now is left out.

    A record that was read before is kept with the shard, which drops it as soon as its row changes: the shard is
    current as of this search, and so is the record.
    """
    ids = [*map(shard.ids.__getitem__, rows)]
    found = [record for record in map(shard.records.get, ids) if record is not None]
    if len(found) == len(ids):
        if not shard.rewritten:
            return found
    else:
        # A small owner's are read at one go: for the next question they are at hand.
        wanted = shard.ids[: shard.size] if shard.is_kept_whole else ids
        missing = [memory_id for memory_id in wanted if memory_id not in shard.records]
        there = {record.id: record for record in await store.get(scope, missing, deleted=deleted)}
        # Under the very strings that are looked up: then nothing is compared but where they lie.
        shard.records.update((memory_id, there[memory_id]) for memory_id in missing if memory_id in there)
    return [record for memory_id in ids if (record := shard.record(memory_id)) is not None]


async def _read(store: MemoryStore, shard: Shard, *, scope: Scope, among: Mask) -> None:
    """Sees to it that the shard keeps the records of the rows; deleted ones too, for questions about the past."""
    have: Mask = shard.kept(RECORDS_READ, lambda: np.zeros(shard.size, dtype=np.bool_))
    rows = np.flatnonzero(among & ~have)
    missing = [memory_id for row in rows if shard.record(memory_id := shard.ids[row]) is None]
    if missing:
        shard.records.update((record.id, record) for record in await store.get(scope, missing, deleted=True))
    have |= among


def _needs_records(wanted: Filter) -> bool:
    if isinstance(wanted, Test):
        return wanted.field.name not in _COLUMNS
    return any(map(_needs_records, wanted.parts))


def _matching(shard: Shard, wanted: Filter, *, among: Mask, scope: Scope) -> Mask:
    """The rows of `among` that match; each part looks only at the rows that are still open."""
    if isinstance(wanted, Test):
        if wanted.field.name in _COLUMNS:
            return among & _column_test(shard, wanted, among=among, scope=scope)
        return _record_test(shard, wanted, among=among)
    if isinstance(wanted, All):
        for part in wanted.parts:
            among = _matching(shard, part, among=among, scope=scope)
        return among
    rest = among
    for part in wanted.parts:
        rest = rest & ~_matching(shard, part, among=rest, scope=scope)
    return among & ~rest if isinstance(wanted, AnyOf) else rest


def _column_test(shard: Shard, test: Test, *, among: Mask, scope: Scope) -> Mask:
    name, holds = test.field.name, verdict(test)
    if name in _CODED:
        column, names = _CODED[name]
        answers = np.fromiter(map(holds, names(shard)), dtype=np.bool_)
        found: Mask = answers[getattr(shard, column)]
        return found
    if name in _TIMES:
        column_of_times = getattr(shard, _TIMES[name])
        there = (column_of_times != ALWAYS) & (column_of_times != NEVER)
        return _time_test(column_of_times, test, there=there)
    if name == "user_id":
        return np.full(shard.size, holds(scope.user_id))
    if name == "id":
        return _row_by_row(among, lambda row: holds(shard.ids[row]))
    return _number_test(getattr(shard, name), test)


def _time_test(times: NDArray[np.int64], test: Test, *, there: Mask) -> Mask:
    if test.op is Op.PRESENT:
        return there

    def equals(span: Span | None) -> Mask:
        if span is None:
            return ~there
        return there & (times >= micros(span.first)) & (times <= micros(span.last))

    if test.op in _EQUALITY:
        return _equality(test, equals, size=len(times))
    edge = micros(test.value.last if test.op in {Op.GT, Op.LTE} else test.value.first)
    return there & _COMPARED[test.op](times, edge)


def _number_test(numbers: NDArray[np.float64], test: Test) -> Mask:
    """Every row has these numbers."""
    if test.op is Op.PRESENT:
        return np.ones(len(numbers), dtype=np.bool_)
    if test.op in _EQUALITY:
        nothing = np.zeros(len(numbers), dtype=np.bool_)
        return _equality(test, lambda one: nothing if one is None else numbers == _float(one), size=len(numbers))
    return _COMPARED[test.op](numbers, _float(test.value))


def _equality(test: Test, equals: Callable[[Any], Mask], *, size: int) -> Mask:
    found = np.zeros(size, dtype=np.bool_)
    for value in test.value if test.op in {Op.IN, Op.NIN} else (test.value,):
        found |= equals(value)
    return ~found if test.op in {Op.NE, Op.NIN} else found


def _record_test(shard: Shard, test: Test, *, among: Mask) -> Mask:
    """Asks each record once; the answers are kept until a row changes."""
    answers: dict[str, tuple[Mask, Mask]] = shard.kept("filter answers", dict)
    if len(answers) >= MAX_KEPT:
        answers.clear()
    nobody = np.zeros(shard.size, dtype=np.bool_)
    asked, said = answers.setdefault(repr(test), (nobody, nobody.copy()))
    matches = predicate(test)

    def says(row: int) -> bool:
        record = shard.record(shard.ids[row])
        return record is not None and matches(record)

    said |= _row_by_row(among & ~asked, says)
    asked |= among
    return said & among


def _row_by_row(among: Mask, says: Callable[[int], bool]) -> Mask:
    rows = np.flatnonzero(among)
    mask = np.zeros(len(among), dtype=np.bool_)
    mask[rows] = np.fromiter(map(says, rows.tolist()), dtype=np.bool_, count=len(rows))
    return mask


def _names(names: Names, codes: NDArray[np.int32]) -> list[str | None]:
    return [names.name(code) for code in range(int(codes.max(initial=0)) + 1)]


def _float(value: float) -> float:
    """A whole number too large for a float becomes infinite, which compares the same."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf
