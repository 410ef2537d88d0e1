"""The messages that a trained model finds worth remembering, as quotations that are ready to be stored."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.errors import EmbeddingError
from ebbing.language.text.sentences import split_text
from ebbing.ports.stores.memory_store import Insert
from ebbing.remember.add_deps import AddDeps
from ebbing.remember.extraction.extractor import is_in_company
from ebbing.remember.extraction.salient_words import (
    LEAST,
    LEAST_IN_COMPANY,
    READ_BACK,
    Words,
    salient_fact,
    stated_words,
)
from ebbing.remember.facts.drafts import DraftContext, fact_draft
from ebbing.remember.facts.new_fact import NewFact, to_new_fact
from ebbing.remember.intake.screening import ScreenedMessage
from ebbing.remember.vectors.embed_drafts import insert_of

Vector = NDArray[np.float32]


async def salient_facts(
    deps: AddDeps,
    screened: Sequence[ScreenedMessage],
    *,
    episodes: Sequence[Insert],
    read_places: Collection[int],
    context: DraftContext,
) -> list[NewFact]:
    """Return a quotation of each message that is worth remembering and from which nothing else is made.

    Args:
        episodes: the messages with their vectors; without them nothing is judged, nor where they are stored already.
        read_places: places of messages from which a fact is made, or that are known.
    """
    model = deps.salience
    if model is None or deps.embedder is None or deps.embedder.model_id != model.model_id or not episodes:
        return []
    stated = stated_words(screened, read_places=read_places)
    if not stated:
        return []
    vectors = await _vectors_of(deps, stated, whole=dict(_whole_vectors(screened, episodes)))
    judged = [(words, vector) for words, vector in zip(stated, vectors, strict=True) if vector is not None]
    is_in_talk = await is_in_company(screened, store=deps.store, scope=context.scope)
    saliences = model.judge([words.text for words, _ in judged], [vector for _, vector in judged], in_talk=is_in_talk)
    least = LEAST_IN_COMPANY if is_in_talk else LEAST
    facts: list[NewFact] = []
    for (words, vector), salience in zip(judged, saliences, strict=True):
        before = [each.message.content for each in screened[max(words.source - READ_BACK, 0) : words.source]]
        fact = salient_fact(words, salience, version=model.version, least=least, before=before)
        if fact is not None:
            draft = fact_draft(fact, screened[words.source], context=context)
            facts.append(to_new_fact(fact, insert_of(draft, vector, model_id=model.model_id)))
    return facts


async def _vectors_of(deps: AddDeps, stated: Sequence[Words], *, whole: dict[int, Vector]) -> list[Vector | None]:
    """Return the vector of each, that of a whole message as it is known; None for a part that cannot be embedded."""
    parts = [words for words in stated if not words.is_whole and words.source in whole]
    part_vectors: dict[int, Vector | None] = {}
    with suppress(EmbeddingError):  # the message itself has its vector: only a part of it is not looked at
        vectors = await deps.vectors([words.passage for words in parts])
        part_vectors.update(zip((words.source for words in parts), vectors, strict=True))
    return [whole.get(words.source) if words.is_whole else part_vectors.get(words.source) for words in stated]


def _whole_vectors(screened: Sequence[ScreenedMessage], episodes: Sequence[Insert]) -> Iterator[tuple[int, Vector]]:
    """Yield the vector of each message that is stored in one piece, by its place."""
    first = 0
    for source, (message, _, _) in enumerate(screened):
        count = len(split_text(message.content))
        entry = episodes[first].entry if count == 1 else None
        if entry is not None and entry.vector is not None:
            yield source, entry.vector
        first += count
