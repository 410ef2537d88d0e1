"""Moves a whole store into another one, and compares the two row by row."""

from __future__ import annotations

import hashlib
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from ebbing.domain.errors import InvalidInputError, StoreError
from ebbing.ports.stores.store_tables import TABLES, MoveState, NewStoreTables, Row, StoreTables
from ebbing.wiring.store_tables import is_same_place, make_tables, open_tables

_DIGEST_BYTES: Final = 16
_MODULUS: Final = 1 << (8 * _DIGEST_BYTES)


class Progress(Protocol):
    """What is called while a store is moved."""

    def __call__(self, step: str, *, done: int, total: int) -> None:
        """In the step `move` or `compare`, so many rows of so many are done."""


@dataclass(frozen=True, slots=True)
class TableComparison:
    """A table at both ends."""

    table: str
    rows: int
    """At the source."""
    target_rows: int
    is_equal: bool
    """Every row of the one is a row of the other, in all of its columns."""


@dataclass(frozen=True, slots=True)
class MoveResult:
    """What came of a move, or of a comparison."""

    source: str
    target: str
    moved_rows: int
    """By this call; an earlier one that was stopped may have moved others."""
    tables: tuple[TableComparison, ...]
    notes: tuple[str, ...]
    """What could not be moved, without personal text."""

    @property
    def is_equal(self) -> bool:
        """Whether both ends hold the same."""
        return all(table.is_equal for table in self.tables)


def move(
    source: str | Path,
    target: str | Path,
    *,
    compare_only: bool = False,
    on_progress: Progress | None = None,
) -> MoveResult:
    """Move a store into a place where none is, and prove by comparing every row that both hold the same.

    Nobody can write to the source meanwhile, and nobody can open the target before the end. The source stays as it
    is. A move that was stopped goes on where it was when the same call is made again; what was written to the source
    in between is moved too.

    Args:
        source: a directory, or the address of a database server.
        target: a directory without a store, or the address of an empty database.
        compare_only: write nothing, and compare two stores that are there.
        on_progress: called after each page, in the steps `move` and `compare`.

    Raises:
        InvalidInputError: both are the same place, or another store is at the target.
        ConfigurationError: an address is of no kind that is known, or its driver is not installed.
        StoreNotFoundError: there is no store at the source; with `compare_only`, at either of them.
        SchemaError: one of them is of another layout.
        StoreError: one of them cannot be reached or used; what was moved stays, and the next call goes on.
    """
    if is_same_place(source, target):
        raise InvalidInputError("a store cannot be moved to where it is: name another place")
    progress = on_progress or _unobserved
    with closing(open_tables(source)) as old, old.still():
        new = None if compare_only else make_tables(target)
        if new is not None:
            with closing(new):
                _refuse_running(old)
                return _move(old, new, progress=progress)
        with closing(open_tables(target)) as present:
            result = MoveResult(old.place, present.place, 0, compare(old, present, progress=progress), ())
        if not compare_only and not result.is_equal:
            raise InvalidInputError(
                f"there is a store at {present.place} already, and it holds something else: name another place"
            )
        return result


def compare(old: StoreTables, new: StoreTables, *, progress: Progress | None = None) -> tuple[TableComparison, ...]:
    """Return, table by table, whether two stores hold the same rows."""
    progress = progress or _unobserved
    total, done = sum(old.count(table) for table in TABLES), 0
    tables = []
    for table in TABLES:
        sums = []
        for store in (old, new):
            count = digest = 0
            with closing(store.pages(table)) as pages:
                for page in pages:
                    count += len(page.rows)
                    digest += sum(map(_row_digest, page.rows))
                    if store is old:
                        progress("compare", done=done + count, total=total)
            sums.append((count, digest % _MODULUS))
        tables.append(TableComparison(table, sums[0][0], sums[1][0], sums[0] == sums[1]))
        done += sums[0][0]
    return tuple(tables)


def _move(old: StoreTables, new: NewStoreTables, *, progress: Progress) -> MoveResult:
    state = _resumed(old, new)
    moved = _copy(old, new, state=state, progress=progress)
    tables = compare(old, new, progress=progress)
    if not all(table.is_equal for table in tables):
        # The source was written to between this call and an earlier one that was stopped.
        state = MoveState(old.place)
        new.clear(state)
        moved += _copy(old, new, state=state, progress=progress)
        tables = compare(old, new, progress=progress)
    unequal = [table.table for table in tables if not table.is_equal]
    if unequal:
        raise StoreError(
            f"both ends do not hold the same in {', '.join(unequal)}: nothing can be opened there; look whether a"
            " disk is damaged, and repeat the move"
        )
    old.check_still()
    new.finish(old.counters())
    return MoveResult(old.place, new.place, moved, tables, tuple(old.left_behind()))


def _refuse_running(old: StoreTables) -> None:
    running = old.running_sessions()
    if running:
        raise StoreError(
            f"{running} conversations are running in the store, and are not memories yet: end them, or let"
            " `ebbing worker` end those that are idle; then move"
        )


def _resumed(old: StoreTables, new: NewStoreTables) -> MoveState:
    """How far the move is. Where the owners are not as they were when it was stopped, it begins anew."""
    state = new.begin(old.place)
    if "owner" in state.remaining or _sum(old, "owner") == _sum(new, "owner"):
        return state
    state = MoveState(old.place)
    new.clear(state)
    return state


def _copy(old: StoreTables, new: NewStoreTables, *, state: MoveState, progress: Progress) -> int:
    counts = {table: old.count(table) for table in TABLES}
    total, moved = sum(counts.values()), 0
    done = sum(count for table, count in counts.items() if table not in state.remaining)
    if state.remaining:
        done += new.count(state.remaining[0])
    remaining = state.remaining
    for place, table in enumerate(remaining):
        here = remaining[place:]
        with closing(old.pages(table, after=state.last if place == 0 else None)) as pages:
            for page in pages:
                new.write(table, page.rows, state=MoveState(old.place, here, tuple(page.last)))
                moved += len(page.rows)
                progress("move", done=min(done + moved, total), total=total)
    if remaining:
        new.clear(MoveState(old.place, ()))
    return moved


def _sum(store: StoreTables, table: str) -> int:
    with closing(store.pages(table)) as pages:
        return sum(_row_digest(row) for page in pages for row in page.rows) % _MODULUS


def _row_digest(row: Row) -> int:
    """A number that stands for a row. The sum of these says whether two tables hold the same, in whatever order."""
    text = repr(sorted(row.items())).encode("utf-8", "backslashreplace")
    return int.from_bytes(hashlib.blake2b(text, digest_size=_DIGEST_BYTES).digest())


def _unobserved(step: str, *, done: int, total: int) -> None:
    """Nobody looks on."""
