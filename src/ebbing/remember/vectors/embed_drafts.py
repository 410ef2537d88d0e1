"""Drafts become inserts: embedded where there is an embedder, facts analysed for keywords too."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.errors import StoreError
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import passage, read_entry, unread_entry
from ebbing.ports.job_queue import JobQueue
from ebbing.ports.models.embed_passages import embed_passages
from ebbing.ports.models.embedder import Embedder
from ebbing.ports.stores.memory_store import Insert
from ebbing.remember.facts.drafts import Draft

REINDEX_JOB: Final = "reindex"
"""Kind of the job that makes index entries anew."""
EMBEDDING_SECONDS: Final = 30.0
REINDEX_DELAY: Final = timedelta(minutes=1)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EmbedOptions:
    """The embedder and its limits."""

    embedder: Embedder | None = None
    seconds: float = EMBEDDING_SECONDS
    """How long some 16,000 characters may take."""
    strict: bool = False
    """A text that cannot be embedded is not stored."""
    is_later: bool = False
    """Texts are stored without vectors for now, which follow: see `deferred_embedding.py`."""


async def embed_drafts(options: EmbedOptions, drafts: Sequence[Draft]) -> list[Insert]:
    """Inserts for the drafts, in order, each distinct text embedded once.

    When the embedder fails, hangs or gives nonsense, the drafts are stored without vectors, found by keyword, and
    embedded later (see `enqueue_reindex`).

    Raises:
        EmbeddingError: with `strict`, the embedder failed.
    """
    vectors = await vectors_of(options, [passage(draft.record) for draft in drafts])
    model_id = None if options.embedder is None else options.embedder.model_id
    return [insert_of(draft, vector, model_id=model_id) for draft, vector in zip(drafts, vectors, strict=True)]


def insert_of(draft: Draft, vector: NDArray[np.float32] | None, *, model_id: str | None) -> Insert:
    """Return the insert of a draft whose vector is known, or that has none."""
    record = draft.record
    entry = unread_entry(vector=vector, model_id=model_id, utterance=draft.utterance)
    if not draft.utterance:  # a fact is compared with what is known, by its words too
        entry = read_entry(entry, record)
    return Insert(record, entry, once=draft.once, reason=draft.reason)


def ids_without_vector(inserts: Sequence[Insert]) -> list[str]:
    """Return the ids of those that say something and have no vector."""
    without = (insert.record for insert in inserts if insert.entry is None or insert.entry.vector is None)
    return [record.id for record in without if record.content.strip()]


async def enqueue_reindex(queue: JobQueue, scope: Scope, *, run_at: datetime) -> None:
    """Queue an owner to be indexed anew, of whom something was stored without a vector though there is an embedder."""
    owner = scope.whole
    with suppress(StoreError):  # it is stored by now, and the daily round finds it too
        await queue.enqueue(REINDEX_JOB, owner.owner.digest, belongs_to=owner, run_at=run_at)


async def vectors_of(options: EmbedOptions, passages: Sequence[str]) -> Sequence[NDArray[np.float32] | None]:
    """Vectors for texts, in order, as `embedded` gives them."""
    if options.embedder is None or options.is_later or not passages:
        return [None] * len(passages)
    texts = passages if len(passages) == 1 else list(dict.fromkeys(passages))
    done = await embed_passages(options.embedder, texts, seconds=options.seconds)
    if done.failure is not None:
        if options.strict:
            raise done.failure
        bare = sum(vector is None for vector in done.vectors)
        _log.warning("embedding failed (%s): %d texts stored without vectors", done.failure, bare)
    if len(texts) == len(passages):
        return done.vectors
    vector_of = dict(zip(texts, done.vectors, strict=True))
    return [vector_of[text] for text in passages]
