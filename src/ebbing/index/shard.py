"""One owner's searchable memories in RAM, as parallel arrays: a filter is a mask, a search a few products."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import repeat
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.record import Kind, Layer, MemoryRecord, MemoryType, Role
from ebbing.index.corpus_stats import CorpusStats, Totals
from ebbing.index.index_entry import InternedNames
from ebbing.index.postings import Postings, TermMatches
from ebbing.index.row import Row
from ebbing.index.sorted_rows import SortedRows

NEVER: Final = int(np.iinfo(np.int64).max)
"""Stands for "no end" in the time columns, which hold microseconds since 1970 (UTC)."""
ALWAYS: Final = -NEVER
"""Stands for "no beginning"."""
NO_OFFSET: Final = int(np.iinfo(np.int16).min)
"""Stands for "no offset named" in `utc_offset_minutes`."""

KINDS: Final = tuple(Kind)
ROLES: Final = (None, *Role)
TYPES: Final = tuple(MemoryType)
LAYERS: Final = tuple(Layer)
MAX_CACHED_RECORDS: Final = 256
"""Records up to which those that were read stay with the shard when its rows change."""
SPARE_FROM: Final = 50_000
"""Rows from which on a shard is loaded with room for half as many again, since to move them takes seconds. Room that
is not filled takes no RAM."""
RECORDS_READ: Final = "records read"
"""The name under which a filter caches of which rows it read the records."""
STORED_VECTOR: Final = np.dtype("<f2")
"""Vectors rest in half precision (the cosine changes by less than 0.001) and are searched in single precision."""


_Convert = Callable[[Sequence[Any]], Iterable[int]]


def _coded(members: Sequence[str | None]) -> _Convert:
    codes = {member: code for code, member in enumerate(members)}
    return lambda values: map(codes.__getitem__, values)


def _or(default: int) -> _Convert:
    return lambda values: [default if value is None else value for value in values]


_COLUMNS: Final[dict[str, tuple[Any, _Convert | None]]] = {
    "seq": (np.int64, None),
    "kind": (np.uint8, _coded(KINDS)),
    "role": (np.uint8, _coded(ROLES)),
    "type": (np.uint8, _coded(TYPES)),
    "layer": (np.uint8, _coded(LAYERS)),
    "agent": (np.int32, None),
    "run": (np.int32, None),
    "actor": (np.int32, None),
    "attribute": (np.int32, None),
    "object": (np.int32, None),
    "created": (np.int64, None),
    "valid_from": (np.int64, _or(ALWAYS)),
    "valid_to": (np.int64, _or(NEVER)),
    "expires": (np.int64, _or(NEVER)),
    "digest": (np.int64, None),
    "importance": (np.float64, None),
    "strength": (np.float64, None),
    "recorded": (np.int64, None),
    "deleted": (np.int64, _or(NEVER)),
    "alive": (np.bool_, None),
    "length": (np.int32, _or(0)),
    "flags": (np.uint8, _or(0)),
    "numbers": (np.int64, _or(0)),
    "mentions": (np.int32, None),
    "utc_offset_minutes": (np.int16, _or(NO_OFFSET)),
}
_EMBEDDED: Final = "embedded"
_SORTED: Final = ("created", "attribute", "flags")
"""Columns that `Shard.sorted_rows` may sort by."""
_Derived = TypeVar("_Derived")


class Shard:
    """Parallel arrays over the rows of one owner, in the order in which they were stored.

    The columns of `Row` up to `numbers` are read as attributes, each of shape (size,), with names turned into small
    integers (`agents`, `runs`, `actors`, `attributes`, `objects`), enums into their position (`KINDS`, `ROLES`, …) and
    missing times into `ALWAYS` / `NEVER`. `embedded` says which rows of `vectors`, shape (size, dim), are filled.

    A row that is gone stays with `alive` False; a wording that was replaced has also been `deleted` since `ALWAYS`.
    Whoever keeps a shard current changes a `successor` and hands that out, so that a search keeps the size and the
    living rows that it started with.
    """

    stands_for: NDArray[np.float64] | None = None
    """How many rows of the owner each row stands for in statistics; None where each stands for itself."""
    places: NDArray[np.int64] | None = None
    """Where each row stands among all rows of the owner; None where all are here."""

    def __init__(self, *, model_id: str | None, dim: int) -> None:
        self.model_id = model_id
        self.dim = dim
        self.generation = -1
        self.size = 0
        self._ids: list[str] = []
        self.agents, self.runs, self.actors = InternedNames(), InternedNames(), InternedNames()
        self.attributes, self.objects = InternedNames(), InternedNames()
        self.postings = Postings()
        self._last_seq = 0
        self._row_of: dict[int, int] = {}
        self._columns: dict[str, NDArray[Any]] = {name: np.zeros(0, dtype=kind) for name, (kind, _) in _COLUMNS.items()}
        self._columns[_EMBEDDED] = np.zeros(0, dtype=np.bool_)
        self._vectors = np.zeros((0, dim), dtype=np.float32)
        self._totals: Totals | None = Totals(0, 0, 0)
        """None where they have to be counted anew."""
        self._owns_ends = True
        """Whether `alive` and `deleted` are this shard's alone, and no predecessor's."""
        self._sorted: dict[str, SortedRows] = {}
        self.derived: dict[str, Any] = {}
        """What was worked out from the rows and holds until they change (see `kept`)."""
        self.records: dict[str, MemoryRecord] = {}
        """Records that somebody read beside the rows, by id, for whoever needs them next; as new as the rows."""
        self.compared: dict[str, Any] = {}
        """What was made of records to compare them with what is said next, by id: kept and dropped with the row."""
        self.rewritten: dict[str, MemoryRecord] = {}
        """Records as they once were, by id, in a shard that shows the past: they stand before those of `records`."""

    def __getattr__(self, name: str) -> NDArray[Any]:
        try:
            return self._columns[name][: self.size]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def vectors(self) -> NDArray[np.float32]:
        """Shape (size, dim); a row of zeros where `embedded` is False."""
        return self._vectors[: self.size]

    @property
    def ids(self) -> list[str]:
        """The memory of each row."""
        return self._ids

    def id_of(self, row: int) -> str:
        """Return the memory of a row."""
        return self._ids[row]

    @property
    def last_seq(self) -> int:
        """The largest seq that the shard knows, 0 when it is empty."""
        return self._last_seq

    @property
    def nbytes(self) -> int:
        """Bytes of RAM that the arrays hold, for an LRU by size."""
        row = sum(array.itemsize for array in self._columns.values()) + self.dim * self._vectors.itemsize
        texts = 200 * len(self._ids) + 3_000 * len(self.records) + 6_500 * len(self.compared)
        orders = sum(rows.nbytes for rows in self._sorted.values())
        return int(row * self.size + self.postings.nbytes + texts + orders)

    def successor(self) -> Shard:
        """A shard to change in this one's place: it shares the arrays, so this one must not be changed any more.

        Rows added to it lie beyond the size of this one; only what a known row says about itself (its times, strength,
        …) is seen through both. The records that answered questions are left behind once they are many, unless a filter
        needs them.
        """
        other: Shard = Shard.__new__(Shard)  # whose arrays would be made for nothing
        vars(other).update(vars(self))
        other._columns, other._owns_ends = self._columns.copy(), False
        other._sorted = self._sorted.copy()
        other.derived = {}
        other.rewritten = {}
        has_few_records = len(self.records) <= MAX_CACHED_RECORDS
        other.records = self.records.copy() if has_few_records or RECORDS_READ in self.derived else {}
        other.compared = self.compared.copy() if len(self.compared) <= MAX_CACHED_RECORDS else {}
        return other

    def detached(self) -> Shard:
        """A copy that may be changed while others use this one; what is large is shared until it grows.

        `records` is shared: what is read for the one serves the other.
        """
        other: Shard = self.successor()
        other._ids = self._ids[: self.size]
        other._row_of = dict(zip(self.seq.tolist(), range(self.size), strict=True))
        other._columns = {name: array[: self.size].copy() for name, array in other._columns.items()}
        other._vectors, other.records = self.vectors, self.records
        other._owns_ends, other._totals, other._sorted = True, None, {}
        return other

    def record(self, memory_id: str) -> MemoryRecord | None:
        """The record behind a row, if it was read or rewritten."""
        return self.rewritten.get(memory_id) or self.records.get(memory_id)

    @property
    def corpus_stats(self) -> CorpusStats:
        """Counts over the rows that are not gone."""
        living, terms, _ = self._counted()
        return CorpusStats(max(living, 1), max(terms / max(living, 1), 1.0), living == self.size)

    @property
    def embedded_count(self) -> int:
        """How many rows have a vector and are not gone."""
        return self._counted().embedded

    def document_count(self, terms: NDArray[np.uint64], matches: TermMatches | None = None) -> NDArray[Any]:
        """How many rows hold each term; with all its `matches`, how many that are not gone."""
        if matches is None:
            return self.postings.document_count(terms)
        is_alive = None if self.corpus_stats.all_alive else self.alive[matches.rows]
        return np.bincount(matches.term, weights=is_alive, minlength=len(terms))

    def rows_of(self, seqs: Iterable[int]) -> NDArray[np.int64]:
        """Where the rows of these numbers stand, those that are here."""
        rows = np.fromiter(map(self._row_of.get, seqs, repeat(self.size)), dtype=np.int64)
        return rows[rows < self.size]

    def cached(self, name: str, compute: Callable[[], _Derived]) -> _Derived:
        """Return what `compute` returns, computed once until a row changes."""
        derived = self.derived
        if name not in derived:
            derived[name] = compute()
        value: _Derived = derived[name]
        return value

    def sorted_rows(self, name: str, values_from: Callable[[int], NDArray[Any]]) -> SortedRows:
        """Return the rows in the order of a value, sorted once and not again until many more rows were added.

        Args:
            name: of the value.
            values_from: returns the values of the rows from one on.
        """
        rows = self._sorted.get(name)
        if rows is None or self.size > rows.max_size:
            rows = self._sorted[name] = SortedRows(values_from(0))
        return rows

    def upsert(self, rows: Sequence[Row]) -> None:
        """Add new rows and rewrite known ones. A rewritten text goes to the end under its old id and seq."""
        self.derived = {}
        fresh: list[Row] = []
        for row in rows:
            self._forget_record(row.id)
            at = self._row_of.get(row.seq)
            if at is not None and self._same_entry(at, row):
                self._rewrite(at, row)
                continue
            if at is not None:
                self._end(at)
                self._columns["deleted"][at] = ALWAYS
            fresh.append(row)
        if fresh:
            self._append(fresh)

    def mark_deleted(self, seqs: Iterable[int]) -> None:
        """Mark rows as gone."""
        self.derived = {}
        for seq in seqs:
            at = self._row_of.get(seq)
            if at is not None:
                self._end(at)
                self._forget_record(self.ids[at])

    def _end(self, at: int) -> None:
        self._own_ends()
        if self._totals is not None:
            self._totals = self._totals.plus(self._count(at, at + 1), sign=-1)
        self._columns["alive"][at] = False

    def _rewrite(self, at: int, row: Row) -> None:
        """Put what a row says about itself in the place of what it said before."""
        has_same_end = bool(self.alive[at]) == row.alive and int(self.deleted[at]) == _end_of(row)
        if not has_same_end:
            self._own_ends()
        before, counts = [self._columns[name][at] for name in _SORTED], self._count(at, at + 1)
        self._write(slice(at, at + 1), [row])
        if [self._columns[name][at] for name in _SORTED] != before:
            self._sorted = {}
        if self._totals is not None:
            self._totals = self._totals.plus(counts, sign=-1).plus(self._count(at, at + 1))

    def _own_ends(self) -> None:
        """Copy the columns that say what is gone: a search that began before goes on with the former ones."""
        if not self._owns_ends:
            self._columns |= {name: self._columns[name].copy() for name in ("alive", "deleted")}
            self._owns_ends = True

    def _forget_record(self, memory_id: str) -> None:
        for cache in (self.records, self.compared):
            cache.pop(memory_id, None)

    def _tables(self) -> Iterable[tuple[str, InternedNames]]:
        names = {"agent": self.agents, "run": self.runs, "actor": self.actors}
        return (names | {"attribute": self.attributes, "object": self.objects}).items()

    def _counted(self) -> Totals:
        if self._totals is None:
            self._totals = self._count(0, self.size)
        return self._totals

    def _count(self, first: int, after: int) -> Totals:
        columns = (self._columns[name][first:after] for name in ("alive", "length", _EMBEDDED))
        alive, length, embedded = columns
        terms = length.sum(where=alive, dtype=np.int64)
        return Totals(int(np.count_nonzero(alive)), int(terms), int(np.count_nonzero(embedded & alive)))

    def _append(self, rows: Sequence[Row]) -> None:
        first, after = self.size, self.size + len(rows)
        self._grow(after)
        self._write(slice(first, after), rows)
        self._ids.extend(row.id for row in rows)
        self._row_of.update((row.seq, at) for at, row in enumerate(rows, start=first))
        self.postings = self.postings.extended([row.terms or b"" for row in rows])
        self._last_seq = max(self._last_seq, *(row.seq for row in rows))
        if self._totals is not None:
            self._totals = self._totals.plus(self._count(first, after))
        self.size = after

    def _grow(self, needed: int) -> None:
        have = len(self._vectors)
        if needed <= have:
            return
        is_tight = have == 0 and needed < SPARE_FROM
        room = needed if is_tight else max(needed + needed // 2, 64)
        for name, array in self._columns.items():
            self._columns[name] = _with_room(array, room)
        self._vectors = _with_room(self._vectors, room)
        self._owns_ends = True

    def _same_entry(self, at: int, row: Row) -> bool:
        """Whether the row at hand says what the inverted index and the matrix already hold."""
        terms = self.postings.terms_of(at).tobytes()
        vector = self._vectors[at].astype(STORED_VECTOR).tobytes() if self._columns[_EMBEDDED][at] else None
        return terms == (row.terms or b"") and vector == (row.vector if self._is_usable(row) else None)

    def _is_usable(self, row: Row) -> bool:
        fits = row.vector is not None and len(row.vector) == self.dim * STORED_VECTOR.itemsize
        return fits and self.model_id is not None and row.model_id == self.model_id

    def _write(self, where: slice, rows: Sequence[Row]) -> None:
        columns: dict[str, Any] = dict(zip(Row._fields, zip(*rows, strict=True), strict=True))
        for name, table in self._tables():
            columns[name] = table.codes(columns[name])
        for name, (kind, convert) in _COLUMNS.items():
            values = columns[name] if convert is None else convert(columns[name])
            self._columns[name][where] = np.fromiter(values, dtype=kind, count=len(rows))
        embedded = [self._is_usable(row) for row in rows]
        self._columns[_EMBEDDED][where] = embedded
        stored = b"".join(row.vector or b"" for row, usable in zip(rows, embedded, strict=True) if usable)
        if stored:
            at = np.flatnonzero(embedded) + where.start
            self._vectors[at] = np.frombuffer(stored, dtype=STORED_VECTOR).reshape(len(at), self.dim)


def _with_room(array: NDArray[Any], room: int) -> NDArray[Any]:
    """Return a copy with zeros behind it, up to `room` rows."""
    larger = np.zeros((room, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def _end_of(row: Row) -> int:
    return NEVER if row.deleted is None else row.deleted


def stored_vector(vector: NDArray[np.float32] | None) -> bytes | None:
    """The vector as it rests in a store: little-endian half precision."""
    return None if vector is None else vector.astype(STORED_VECTOR).tobytes()


def vector_of(stored: bytes | None) -> NDArray[np.float32] | None:
    """The vector behind what a store holds of it."""
    return None if stored is None else np.frombuffer(stored, STORED_VECTOR).astype(np.float32)


def digest(content_hash: str) -> int:
    """A content hash as a signed 64-bit number, to find the same statement without reading the text."""
    return int.from_bytes(bytes.fromhex(content_hash[:16]), "little", signed=True)


def micros(moment: datetime) -> int:
    """Microseconds since 1970-01-01 UTC, exact."""
    delta = moment - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def moment(value: int) -> datetime:
    """The inverse of `micros`."""
    return _EPOCH + timedelta(microseconds=value)


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
