"""Everything that a store holds, table by table: for moving it into another store, and for comparing the two."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, Protocol

Row = dict[str, Any]
"""A row in the form that all stores share: plain values under the names of the columns.

`owner` is an `Owner`, and `seq` the number of a record among the owner's; times are microseconds since 1970. What a
store works out of other columns, and what is about its own files, is in no row.
"""
Key = Sequence[int | str]
"""Names a place in a table of one store: rows are read in the order of their keys."""

TABLES: Final = (
    *("owner", "embedding_model", "memory", "index_entry", "source", "history", "returned", "feedback", "mark"),
    *("change_set", "revision", "profile", "profile_edit"),
    *("identity", "identity_merge", "parked_edit", "profile_default", "tenant_setting"),
    *("act", "request", "webhook", "api_key", "job"),
)
"""In the order in which they are moved: the first two are named by rows of the others."""
PAGE: Final = 1_000
"""Rows that are read and written at once."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows of a table."""

    rows: Sequence[Row]
    last: Key
    """The key of the last row."""


@dataclass(frozen=True, slots=True)
class MoveState:
    """How far a move is: committed at the destination together with the rows."""

    source: str
    """The place that the rows come from."""
    remaining: tuple[str, ...] = TABLES
    """Tables that are not there yet; the first one may be there in part."""
    last: tuple[int | str, ...] | None = None
    """The key, at the source, of the last row of the first remaining table that is there."""


class StoreTables(Protocol):
    """The rows of a store."""

    place: str
    """Where it is, for people; without a password."""

    def still(self) -> AbstractContextManager[None]:
        """Let nobody write to the store until the end; whoever wants to waits, or is refused.

        Raises:
            StoreError: somebody else is in the middle of writing, or may not be kept from it.
        """
        ...

    def check_still(self) -> None:
        """Make sure that nobody could write since `still` began.

        Raises:
            StoreError: the connection that prevents it was lost.
        """
        ...

    def count(self, table: str) -> int:
        """Return how many rows a table of `TABLES` has."""
        ...

    def pages(self, table: str, *, after: Key | None = None) -> Generator[Page]:
        """Yield the rows of a table in the order of their keys, those after a key if there is one; to be closed.

        Raises:
            StoreError: the store cannot be read, or rows belong to nobody.
        """
        ...

    def counters(self) -> Mapping[str, int]:
        """Return, by table, the highest number that the store ever gave to a row, also to one that is gone."""
        ...

    def running_sessions(self) -> int:
        """Return how many conversations are running in the store, which are not memories yet and cannot be moved."""
        ...

    def left_behind(self) -> Sequence[str]:
        """Return sentences about what cannot be moved, without personal text."""
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...


class NewStoreTables(StoreTables, Protocol):
    """A store that is being filled from another one. Nobody can open it before `finish`."""

    def begin(self, source: str) -> MoveState:
        """Return how far the move from a place is; where nothing is there yet, it begins.

        Raises:
            InvalidInputError: another move is half done there.
            SchemaError: the half-done move is of another version.
        """
        ...

    def write(self, table: str, rows: Sequence[Row], *, state: MoveState) -> None:
        """Add rows and keep how far the move is then, both or neither.

        Raises:
            ConflictError: another process moves to the same place.
            StoreError: the store could not do it, nothing was written.
        """
        ...

    def clear(self, state: MoveState) -> None:
        """Empty the tables that are remaining in `state`, and keep it."""
        ...

    def finish(self, counters: Mapping[str, int]) -> None:
        """Go on numbering where the source would, and let the store be opened."""
        ...
