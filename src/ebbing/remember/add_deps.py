"""The dependencies of a write, and the vectors that new texts get with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.pending_extraction import WriteMode
from ebbing.domain.memory.scope import Scope
from ebbing.ports.clock import Clock
from ebbing.ports.ids import Ids
from ebbing.ports.models.change_model import ChangeModel
from ebbing.ports.models.embedder import Embedder
from ebbing.ports.models.off_record import OffRecordModel
from ebbing.ports.models.salience import SalienceModel
from ebbing.ports.stores.memory_store import Insert, MemoryStore
from ebbing.remember.facts.drafts import Draft
from ebbing.remember.intake.write_policy import WritePolicy
from ebbing.remember.llm.client import LlmOptions
from ebbing.remember.vectors.deferred_embedding import DeferredEmbedder
from ebbing.remember.vectors.embed_drafts import (
    REINDEX_DELAY,
    EmbedOptions,
    embed_drafts,
    enqueue_reindex,
    vectors_of,
)

MAX_ATTEMPTS: Final = 32
"""How often a change is planned anew because somebody else, such as a round of upkeep, wrote in between."""


@dataclass(frozen=True, slots=True)
class AddDeps:
    """The dependencies of a write."""

    store: MemoryStore
    embedder: Embedder | None
    clock: Clock
    ids: Ids
    policy: WritePolicy = field(default_factory=WritePolicy)
    mode: WriteMode = WriteMode.RULES
    llm: LlmOptions | None = None
    """The language model, if there is one."""
    zone: tzinfo = UTC
    """Where days begin and end for a message whose time names no zone."""
    deferred_embedder: DeferredEmbedder | None = None
    """Makes the vectors of texts that are stored without, where vectors may come later."""
    salience: SalienceModel | None = None
    """Judges what is worth remembering of messages that no rule reads, if there is one for the embedder."""
    change_model: ChangeModel | None = None
    """Judges which quotations a message leaves without ground, if there is one for the embedder."""
    off_record: OffRecordModel | None = None
    """Judges which messages ask not to be written down, if there is one for the embedder."""

    async def vectors(self, passages: Sequence[str]) -> Sequence[NDArray[np.float32] | None]:
        """Return the vectors of texts; None for those that could not be embedded.

        Raises:
            EmbeddingError: the embedder failed, and the policy is strict.
        """
        return await vectors_of(self._embed_options, passages)

    async def embed(self, drafts: Sequence[Draft]) -> list[Insert]:
        """Return the inserts of drafts, with their vectors.

        Raises:
            EmbeddingError: the embedder failed, and the policy is strict.
        """
        return await embed_drafts(self._embed_options, drafts)

    async def embed_now_or_later(self, drafts: Sequence[Draft]) -> tuple[list[Insert], bool]:
        """Return the inserts of drafts, and whether their vectors come later since too many others wait for theirs."""
        if self.deferred_embedder is None or self.policy.strict_embeddings:
            return await self.embed(drafts), False
        with self.deferred_embedder.turn(self.embedder) as is_later:
            options = replace(self._embed_options, is_later=is_later)
            return await embed_drafts(options, drafts), is_later

    async def note_missing_vectors(self, memory_ids: Sequence[str], scope: Scope, *, is_later: bool = False) -> int:
        """Queue memories that were stored without a vector; return how many wait for theirs."""
        if self.embedder is None or not memory_ids:
            return 0
        if is_later and self.deferred_embedder is not None:
            await self.deferred_embedder.take(memory_ids, scope, embedder=self.embedder)
        else:
            await enqueue_reindex(self.store.jobs, scope, run_at=self.clock.now() + REINDEX_DELAY)
        return len(memory_ids)

    @property
    def _embed_options(self) -> EmbedOptions:
        return EmbedOptions(self.embedder, self.policy.embedding_seconds, self.policy.strict_embeddings)
