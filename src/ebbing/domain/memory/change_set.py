"""Everything that one call wrote about one owner, as one thing that has a name and can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from ebbing.domain.memory.scope import Owner


class Cause(StrEnum):
    """The kind of call or work that wrote a change set."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"
    RESTORE = "restore"
    FORGET = "forget"
    IMPORT = "import"
    MAINTENANCE = "maintenance"
    """The daily round, or a single step of it."""
    MERGE = "merge"
    """Repeated memories became one on request."""
    HABIT = "habit"
    """Habits were derived on request."""
    FADE = "fade"
    """Memories faded on request."""
    SPLIT = "split"
    """A merged memory was taken apart on request."""
    PROFILE = "profile"
    FEEDBACK = "feedback"
    REVIEW = "review"
    REREAD = "reread"
    """Messages that a language model had failed to read were read again."""
    UNDO = "undo"
    WRITE = "write"
    """Written through the port of the store, which was told of no cause."""


@dataclass(slots=True)
class ChangeSet:
    """The change sets of one call, by owner; the store fills in the ids.

    A call that writes to several owners makes one change set of each.
    """

    cause: Cause
    undoes: str | None = None
    """Id of the change set that this one takes back."""
    is_partial: bool = False
    """It takes back what became of some memories only."""
    ids: dict[Owner, str] = field(default_factory=dict)
    """By owner, the id that the store gave it. Nobody is in it of whom nothing was written."""

    def id_of(self, owner: Owner) -> str | None:
        """Return the id with an owner; None where nothing was written."""
        return self.ids.get(owner)

    @property
    def only_id(self) -> str | None:
        """The id of a change set of one owner; None where nothing was written."""
        return next(iter(self.ids.values()), None)


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """A change set as the store keeps it."""

    id: str
    number: int
    """Of its owner, rising."""
    cause: Cause
    at: datetime
    """When its first write was made."""
    inserted: int
    revised: int
    erased: int
    """Records of each kind. What was erased cannot be brought back."""
    undoes: str | None = None
    is_partial: bool = False


def undone_by(logged: LoggedChange, later: Sequence[LoggedChange], *, partly: bool = False) -> str | None:
    """Return the id of the change set that took this one back and still does; None if none does.

    Args:
        later: change sets of the same owner; those that are no undoing of this one are passed over.
        partly: count also those that took back what became of some memories only.
    """
    for change in later:
        counts = partly or not change.is_partial
        if change.undoes == logged.id and counts and undone_by(change, later, partly=partly) is None:
            return change.id
    return None
