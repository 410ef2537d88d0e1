"""What was believed at a moment: the rows known, valid and not deleted then, in the wording of then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

import numpy as np

from ebbing.domain.errors import EmbeddingError
from ebbing.domain.memory.as_of import as_it_was, is_believed
from ebbing.domain.memory.history import HistoryEntry
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import IndexEntry, entry_for, passage
from ebbing.index.record_row import row_for
from ebbing.index.row import Row
from ebbing.index.shard import ALWAYS, NEVER, Shard, digest, micros
from ebbing.language.text.analyzer import TextFlag, analyse
from ebbing.ports.models.embedder import Embedder, Vectors
from ebbing.ports.stores.memory_store import MemoryStore

MAX_VIEWS: Final = 2
"""Moments that are kept ready with a shard, because people turn pages and ask again."""


async def shard_as_of(store: MemoryStore, embedder: Embedder | None, *, scope: Scope, moment: datetime) -> Shard:
    """The owner's shard as of a moment: `alive` says what was believed then; `rewritten` holds what changed since.

    With an embedder, former wordings have vectors too.
    """
    full = await store.shard(scope, deleted=True)
    at = micros(moment)
    views: dict[tuple[int, Scope, bool], Shard] = full.cached("views of the past", dict)
    key = (at, scope, embedder is None)
    if key in views:
        return views[key]
    shard = full.detached()
    shard.alive[:] = (
        (shard.recorded <= at)
        & (shard.deleted > at)
        & (shard.valid_from <= at)
        & (shard.valid_to > at)
        & (shard.expires > at)
    )
    entries_by_id: defaultdict[str, list[HistoryEntry]] = defaultdict(list)
    for entry in await store.histories(scope, changed_after=moment):
        entries_by_id[entry.memory_id].append(entry)
    if entries_by_id:
        records = await store.get(scope, list(entries_by_id), deleted=True)
        await _take_back(
            shard,
            embedder,
            records=[as_it_was(record, entries_by_id[record.id], moment=moment) for record in records],
            moment=moment,
        )
    while len(views) >= MAX_VIEWS:
        views.pop(next(iter(views)), None)
    views[key] = shard
    return shard


async def _take_back(
    shard: Shard, embedder: Embedder | None, *, records: Sequence[MemoryRecord], moment: datetime
) -> None:
    """Puts the former records in the place of their rows."""
    row_of = {shard.ids[row]: int(row) for row in np.flatnonzero(shard.deleted != ALWAYS)}
    former = [record for record in records if record.id in row_of]
    believed = [record for record in former if is_believed(record, moment)]
    reworded = [record for record in believed if _is_reworded(shard, record, row=row_of[record.id])]
    entries = dict(
        zip((record.id for record in reworded), await _entries(shard, embedder, records=reworded), strict=True)
    )
    shard.alive[[row_of[record.id] for record in former]] = False
    for record in believed:
        row = row_of[record.id]
        shard.alive[row], shard.valid_to[row] = True, NEVER if record.valid_to is None else micros(record.valid_to)
    # The records that were read are those of other moments too: putting former wordings must not drop them.
    shard.records, read = {}, shard.records
    shard.upsert([_former_row(shard, record, entry=entries[record.id], row=row_of[record.id]) for record in reworded])
    shard.records = read
    shard.rewritten.update((record.id, record) for record in former)


def _former_row(shard: Shard, record: MemoryRecord, *, entry: IndexEntry, row: int) -> Row:
    return row_for(int(shard.seq[row]), record, entry=entry)._replace(alive=True)


def _is_reworded(shard: Shard, record: MemoryRecord, *, row: int) -> bool:
    return digest(record.hash) != int(shard.digest[row])


async def _entries(shard: Shard, embedder: Embedder | None, *, records: Sequence[MemoryRecord]) -> list[IndexEntry]:
    """What a search needs of former wordings; keywords alone where the embedder fails."""
    vectors: Vectors | None = None
    if embedder is not None and records:
        with suppress(EmbeddingError):
            vectors = await embedder.embed_passages([passage(record) for record in records])
    utterances = {shard.ids[row] for row in np.flatnonzero(shard.flags & TextFlag.UTTERANCE)}
    return [
        entry_for(
            analyse(record.content, speaker=record.actor, said_at=record.said_at),
            vector=None if vectors is None else vectors[place],
            model_id=None if embedder is None else embedder.model_id,
            utterance=record.id in utterances,
        )
        for place, record in enumerate(records)
    ]
