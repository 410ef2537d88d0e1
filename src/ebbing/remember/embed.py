"""Drafts become inserts: analysed for keywords, embedded where there is an embedder."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from ebbing.domain.errors import EmbeddingError
from ebbing.index.entry import entry_for, passage
from ebbing.language.analyse import analyse
from ebbing.ports.embedder import Embedder, Vectors
from ebbing.ports.memory_store import Insert
from ebbing.remember.draft import Draft

_log = logging.getLogger(__name__)


async def embedded(embedder: Embedder | None, drafts: Sequence[Draft]) -> list[Insert]:
    """Inserts for the drafts, in order, each distinct text embedded once.

    When the embedder fails, the drafts are stored without vectors, found by keyword, and embedded later.
    """
    vectors, row_of = await _vectors(embedder, drafts)
    inserts: list[Insert] = []
    for draft in drafts:
        record = draft.record
        entry = entry_for(
            analyse(record.content, speaker=record.actor, said_at=record.created_at),
            vector=None if vectors is None else vectors[row_of[passage(record)]],
            model_id=None if embedder is None else embedder.model_id,
            utterance=draft.utterance,
        )
        inserts.append(Insert(record, entry, once=draft.once, reason=draft.reason))
    return inserts


async def _vectors(embedder: Embedder | None, drafts: Sequence[Draft]) -> tuple[Vectors | None, dict[str, int]]:
    row_of = {text: row for row, text in enumerate(dict.fromkeys(passage(draft.record) for draft in drafts))}
    if embedder is None or not row_of:
        return None, row_of
    try:
        return await embedder.embed_passages(list(row_of)), row_of
    except EmbeddingError as error:
        _log.warning("embedding failed (%s): %d texts stored without vectors", error.code, len(row_of))
        return None, row_of
