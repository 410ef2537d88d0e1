"""The turns that belong to what was found: the answer behind a question, the detail behind a piece of news, and the
newest message about the same thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np

from ebbing.domain.filters.query import Hit
from ebbing.domain.memory.record import MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.index.near_rows import along
from ebbing.index.shard import ROLES, Shard
from ebbing.language.text.analyzer import TextFlag, flags_of, normalise
from ebbing.ports.models.embedder import Calibration
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.recall.rows import Mask, expand, load_records, load_windows, rows_by_id

READ_ON: Final = 8
"""Of so many of the best hits, the turns behind them come along …"""
READ_BACK: Final = 4
"""… and of so many, those before them."""
_TURNS: Final = 2
"""Turns on either side."""
_PAUSE: Final = timedelta(hours=1)
"""What is said after so long a silence belongs to something else."""
_UPDATED: Final = 6
"""Of so many of the best hits, the newest message about the same thing is looked for."""
SAME_THING: Final = 0.5
"""Calibrated similarity of two texts about the same thing."""
_SHARE: Final = 0.5
"""Score of a turn that belongs to a hit, by the score of the hit: nothing in it speaks to the question."""
_USER: Final = ROLES.index(Role.USER)


@dataclass(frozen=True, slots=True)
class SearchableRows:
    """The rows of an owner among which turns are looked for."""

    shard: Shard
    mask: Mask
    """Rows that the caller may get back."""
    calibration: Calibration | None
    """Of the model that made the vectors; None where there are none."""


async def with_turns(store: MemoryStore, hits: Sequence[Hit], *, scope: Scope, searchable: SearchableRows) -> list[Hit]:
    """Return the hits (best first) with the turns that belong to them.

    A message that only asks is followed by what somebody said to it, which may share no word with the question. The
    turns around the best hits, and what was said later about the same thing, come last of all: they take the room that
    is left.
    """
    rows = _rows_of(searchable.shard, hits)
    windows = await _windows(store, rows, scope=scope, searchable=searchable)
    newer = await load_records(
        store, searchable.shard, scope=scope, rows=list(_newer_rows(hits, rows, searchable=searchable))
    )
    ordered = [*_with_replies(hits, windows), *_turns_around(hits, windows)]
    ordered += [_hit_like(hits[0], record) for record in newer if scope.covers(record.belongs_to)]
    by_id: dict[str, Hit] = {}
    for hit in ordered:
        by_id.setdefault(hit.record.id, hit)
    return list((by_id | {hit.record.id: hit for hit in hits}).values())


async def _windows(
    store: MemoryStore, rows: Mapping[str, int], *, scope: Scope, searchable: SearchableRows
) -> dict[str, Sequence[MemoryRecord]]:
    """Return the turns around each row, itself included, by the id of its memory."""
    windows = expand(searchable.shard, list(rows.values()), before=_TURNS, after=_TURNS, mask=searchable.mask)
    turns = await load_windows(store, searchable.shard, scope=scope, windows=windows)
    return dict(zip(rows, turns, strict=True))


def _with_replies(hits: Sequence[Hit], windows: Mapping[str, Sequence[MemoryRecord]]) -> Iterator[Hit]:
    for hit in hits:
        yield hit
        yield from (_hit_like(hit, reply, share=1.0) for reply in _replies(hit.record, windows.get(hit.record.id, ())))


def _turns_around(hits: Sequence[Hit], windows: Mapping[str, Sequence[MemoryRecord]]) -> Iterator[Hit]:
    for place, hit in enumerate(hits[:READ_ON]):
        window = windows.get(hit.record.id, ())
        yield from (_hit_like(hit, turn) for turn in _said_after(hit.record, window))
        if place < READ_BACK:
            yield from (_hit_like(hit, turn) for turn in _said_before(hit.record, window))


def _hit_like(hit: Hit, record: MemoryRecord, *, share: float = _SHARE) -> Hit:
    """Return a record that belongs to a hit as one that is worth a share of it."""
    return Hit(record, share * hit.score, hit.rank_score)


def _rows_of(shard: Shard, hits: Sequence[Hit]) -> dict[str, int]:
    """Return the rows of the hits whose turns may be needed."""
    hit_ids = {hit.record.id for place, hit in enumerate(hits) if place < READ_ON or _asks(hit.record)}
    return rows_by_id(shard, hit_ids)


def _newer_rows(hits: Sequence[Hit], rows: Mapping[str, int], *, searchable: SearchableRows) -> Iterator[int]:
    """Yield for each of the best hits the row that is nearest to it of those that a person said later, if it is about
    the same thing."""
    shard = searchable.shard
    if searchable.calibration is None or not shard.embedded_count:
        return
    least = searchable.calibration.cosine(SAME_THING)
    messages = searchable.mask & shard.embedded & (shard.role == _USER) & ((shard.flags & TextFlag.UTTERANCE) != 0)
    for hit in hits[:_UPDATED]:
        row = rows.get(hit.record.id)
        if row is None or not shard.embedded[row]:
            continue
        later = np.flatnonzero(messages & (shard.created > shard.created[row]))
        if not len(later):
            continue
        cosines = along(shard.vectors[later], shard.vectors[row])
        if cosines.max() >= least:
            yield int(later[np.argmax(cosines)])


def _replies(record: MemoryRecord, window: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """Return what a person said right after a message that only asks."""
    replies = _after(record, window)[:1] if _asks(record) else []
    return [reply for reply in replies if reply.role is not Role.ASSISTANT]


def _said_after(record: MemoryRecord, window: Sequence[MemoryRecord]) -> Iterator[MemoryRecord]:
    """Yield the turns right behind a message; of an assistant's only those that answer a question."""
    last = record
    for turn in _after(record, window):
        if turn.created_at - last.created_at > _PAUSE:
            return
        if turn.role is not Role.ASSISTANT or _asks(last):
            yield turn
        last = turn


def _said_before(record: MemoryRecord, window: Sequence[MemoryRecord]) -> Iterator[MemoryRecord]:
    """Yield the turns right before a message, the nearest first; of an assistant's only those that ask."""
    ids = [turn.id for turn in window]
    later = record
    for turn in reversed(window[: ids.index(record.id)] if record.id in ids else []):
        if later.created_at - turn.created_at > _PAUSE:
            return
        if turn.role is not Role.ASSISTANT or _asks(turn):
            yield turn
        later = turn


def _after(record: MemoryRecord, window: Sequence[MemoryRecord]) -> Sequence[MemoryRecord]:
    ids = [turn.id for turn in window]
    return window[ids.index(record.id) + 1 :] if record.id in ids else []


def _asks(record: MemoryRecord) -> bool:
    return bool(flags_of(normalise(record.content)) & TextFlag.ASKING)
