"""The searchable sides of what the upkeep writes."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.record import MemoryRecord, Stage
from ebbing.index.index_entry import IndexEntry, entry_for, passage
from ebbing.language.text.analyzer import analyse
from ebbing.language.text.text_compression import full_text
from ebbing.ports.models.embed_passages import embed_passages
from ebbing.upkeep.step import StepContext

Vector = NDArray[np.float32]
_log: Final = logging.getLogger(__name__)


async def entries_of(
    deps: StepContext,
    records: Sequence[MemoryRecord],
    *,
    vectors_at_hand: Mapping[int, Vector] | None = None,
    utterances: Collection[int] = (),
) -> list[IndexEntry]:
    """One entry a record, in order.

    Args:
        known: vectors that are at hand, by the place of their record; the others are embedded, but for those that have
            faded to their words. Where the embedder fails, a record is found by its words until it is embedded anew.
        utterances: places of records whose text is a message as it was said.
    """
    embedder = deps.embedder
    vectors: dict[int, Vector | None] = {**(vectors_at_hand or {})}
    fresh: dict[int, str] = {}
    for place, record in enumerate(records):
        if place not in vectors and record.stage is Stage.FULL:
            fresh[place] = passage(record)
    if embedder is not None and fresh:
        got = await embed_passages(embedder, list(fresh.values()), seconds=deps.policy.embedding_seconds)
        vectors |= zip(fresh, got.vectors, strict=True)
        if got.failure is not None:
            _log.warning("embedding failed (%s): some texts are stored without vectors", got.failure.code)
    return [
        entry_for(
            analyse(full_text(record), speaker=record.actor, said_at=record.said_at),
            vector=vectors.get(place),
            model_id=embedder.model_id if embedder else None,
            utterance=place in utterances,
        )
        for place, record in enumerate(records)
    ]
