"""The facts that hold the attribute which a question asks for, whatever the language of either."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from ebbing.domain.memory.record import Kind, MemoryType
from ebbing.index.index_entry import term_hash
from ebbing.index.shard import KINDS, TYPES, Shard
from ebbing.language.claims.relations import word_terms
from ebbing.language.signals.asked_for import Topic
from ebbing.language.text.analyzer import query_terms
from ebbing.recall.base.fusion import Mask, Scores

_MEMORY: Final = KINDS.index(Kind.MEMORY)
_CONSTRAINT: Final = TYPES.index(MemoryType.CONSTRAINT)


def facts_about(shard: Shard, topic: Topic | None) -> Mask | None:
    """Return the rows of facts that tell of the person what the topic names; None where there are none."""
    if topic is None:
        return None
    mask: Mask | None = shard.kept(f"facts about {topic.name}", lambda: _facts_about(shard, topic))
    return mask


def _facts_about(shard: Shard, topic: Topic) -> Mask | None:
    """Facts by their attribute, and constraints without one by their words, as long as these name nobody else."""
    codes = [code for name, code in shard.attributes.items() if _is_about(name, topic)]
    by_words = (shard.type == _CONSTRAINT) & (shard.attribute == 0)
    words = {term for word in topic.words for term in query_terms(word) if len(term) > 1}
    by_words &= _rows_with(shard, words) & ~_rows_with(shard, word_terms())
    mask = (shard.kind == _MEMORY) & (np.isin(shard.attribute, codes) | by_words)
    return mask if mask.any() else None


def _is_about(attribute: str, topic: Topic) -> bool:
    """Return whether an attribute has one of the topic's names, or begins with it as a word: "allergic to walnut"."""
    return any(attribute == name or attribute.startswith(f"{name.rstrip()} ") for name in topic.attributes)


def lift(total: Scores, answering: Mask, *, among: Mask, at_least: float) -> Scores:
    """Return the points of facts that answer: as many as bring the best of them level with the best row there is.

    A fact of a few words may share none with the question, and in a large store scores spread far: no fixed number of
    points would do.
    """
    there = answering & among
    gap = float(total[among].max() - total[there].max()) if there.any() else 0.0
    return np.where(answering, max(at_least, gap), 0.0)


def _rows_with(shard: Shard, terms: Iterable[str]) -> Mask:
    """Return the rows whose text holds one of the terms."""
    postings = shard.postings.find(np.array(sorted(set(map(term_hash, terms))), dtype=np.uint64))
    mask = np.zeros(shard.size, dtype=np.bool_)
    mask[postings.rows[postings.tf > 0]] = True
    return mask
