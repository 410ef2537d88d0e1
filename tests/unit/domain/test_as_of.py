"""A memory as it was at a moment, read from what happened since."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ebbing.domain.memory.as_of import as_it_was, is_believed
from ebbing.domain.memory.history import Event, HistoryEntry
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope

START = datetime(2024, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)
RECORD = MemoryRecord(id="m", belongs_to=Scope(user_id="u"), content="first", created_at=START, recorded_at=START)


def told(event: Event, *, day: int, old: str | None = None) -> HistoryEntry:
    return HistoryEntry(
        id=str(day),
        memory_id="m",
        old_memory=old,
        new_memory=None,
        event=event,
        created_at=START,
        updated_at=None if event is Event.ADD else START + day * DAY,
        is_deleted=False,
        actor_id=None,
        role=None,
        reason=None,
    )


REWORDED = [told(Event.ADD, day=0), told(Event.UPDATE, day=2, old="first"), told(Event.UPDATE, day=4, old="second")]


@pytest.mark.parametrize(
    ("day", "wording", "updated"), [(1, "first", None), (2, "second", 2), (3, "second", 2), (4, "third", 4)]
)
def test_the_wording_is_that_of_the_moment(day: int, wording: str, updated: int | None) -> None:
    now = replace(RECORD, content="third", updated_at=START + 4 * DAY)
    was = as_it_was(now, REWORDED, moment=START + day * DAY)
    assert was.content == wording
    assert was.updated_at == (None if updated is None else START + updated * DAY)


def test_an_end_that_was_learned_later_was_not_known() -> None:
    ended = replace(RECORD, valid_to=START + DAY, superseded_by="n")
    history = [told(Event.ADD, day=0), told(Event.SUPERSEDE, day=5, old="first")]
    assert as_it_was(ended, history, moment=START + 2 * DAY).valid_to is None
    assert as_it_was(ended, history, moment=START + 5 * DAY) == ended


@pytest.mark.parametrize(("day", "since"), [(1, None), (2, 2), (3, 2), (4, None)])
def test_a_memory_was_retired_from_its_merge_to_its_split(day: int, since: int | None) -> None:
    history = [told(Event.ADD, day=0), told(Event.MERGE, day=2, old="first"), told(Event.SPLIT, day=4, old="first")]
    was = as_it_was(RECORD, history, moment=START + day * DAY)
    assert was.retired_at == (None if since is None else START + since * DAY)
    assert is_believed(was, START + day * DAY) is (since is None)


def test_what_was_merged_later_told_for_itself() -> None:
    merged = replace(RECORD, retired_at=START + 2 * DAY, superseded_by="n")
    history = [told(Event.ADD, day=0), told(Event.MERGE, day=2, old="first")]
    assert as_it_was(merged, history, moment=START + DAY) == RECORD
    assert as_it_was(merged, history, moment=START + 3 * DAY) == merged


def test_deleting_and_restoring_are_taken_back_in_order() -> None:
    history = [
        told(Event.ADD, day=0),
        told(Event.DELETE, day=2, old="first"),
        told(Event.RESTORE, day=4, old="first"),
    ]
    believed = [
        is_believed(as_it_was(RECORD, history, moment=START + day * DAY), START + day * DAY) for day in range(6)
    ]
    assert believed == [True, True, False, False, True, True]


@pytest.mark.parametrize(
    ("fields", "days"),
    [
        ({}, [0, 1, 2, 3]),
        ({"recorded_at": START + 2 * DAY}, [2, 3]),
        ({"deleted_at": START + 2 * DAY}, [0, 1]),
        ({"valid_from": START + DAY, "valid_to": START + 3 * DAY}, [1, 2]),
        ({"expires_at": START + DAY}, [0]),
    ],
    ids=str,
)
def test_what_was_known_valid_and_kept_was_believed(fields: dict[str, datetime], days: list[int]) -> None:
    record = replace(RECORD, **fields)  # type: ignore[arg-type]
    assert [day for day in range(4) if is_believed(record, START + day * DAY)] == days
