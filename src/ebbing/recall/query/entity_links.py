"""Entity neighbours: what is told of somebody under another word than the question's ("Lily" is "my sister").

The graph is never stored: who bears which name is read, when a question names somebody, from the few rows that say
so, and those are current by the same mask as every answer. So it cannot fall out of step with the memories.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import term_hash
from ebbing.index.shard import Shard
from ebbing.language.claims.relations import (
    Alias,
    aliases,
    means_one,
    of_value,
    role_attributes,
    role_terms,
    spellings,
    word_terms,
)
from ebbing.language.text.analyzer import normalise, query_terms
from ebbing.ports.memory_store import MemoryStore
from ebbing.recall.base.fusion import Mask
from ebbing.recall.base.load_records import load_records
from ebbing.recall.query.parse_query import EntityLink, Question, Terms

MAX_NAMING_ROWS: Final = 16
"""Rows that are read for who bears which name."""
MAX_LINKS: Final = 8
_MAX_NAME_TERMS: Final = 8
"""Terms of a row up to which it may say no more than a name."""
_NAMING_TERMS: Final = frozenset(map(term_hash, ("name", "call", "叫", "名", "名字")))


async def with_entity_links(
    store: MemoryStore, shard: Shard, *, scope: Scope, question: Question, mask: Mask, include_deleted: bool
) -> Question:
    """Return the question with its form in the other words for the people whom it names."""
    rows = rows_naming_entities(shard, question, mask=mask)
    if not rows:
        return question
    records = await load_records(store, shard, scope=scope, rows=rows, include_deleted=include_deleted)
    return replace(question, links=tuple(_links(shard, question, records=records)))


def rows_naming_entities(shard: Shard, question: Question, *, mask: Mask) -> list[int]:
    """Return the rows that may say who somebody in the question is, the likeliest first; none if it names nobody."""
    relation_words = _relation_words()
    words_asked = [term for term in question.terms if term in relation_words]
    # Chinese names have no mark: any question in Chinese may hold one.
    may_hold_name = bool(question.names) or not question.text.isascii()
    if not words_asked and not may_hold_name:
        return []
    naming = shard.cached("naming rows", lambda: _find_naming_rows(shard))
    if naming is None:
        return []
    rows = np.zeros(shard.size, dtype=np.bool_)
    if may_hold_name:
        other_terms = [term for term in question.terms if term not in relation_words]
        rows |= naming.relation & shard.postings.rows_with_any(other_terms)
    if words_asked:
        rows |= naming.name & (naming.role | shard.postings.rows_with_any(words_asked))
    numbers = np.flatnonzero(rows & mask)
    if len(numbers) > MAX_NAMING_ROWS:
        has_attribute = shard.attribute[numbers] > 0
        order = np.lexsort((shard.created[numbers], has_attribute))
        numbers = numbers[order[::-1][:MAX_NAMING_ROWS]]
    return [int(row) for row in numbers]


@dataclass(frozen=True, slots=True)
class _NamingRows:
    """Rows that may say who bears a name."""

    relation: Mask
    """They hold a word that stands for a name, or tell a role."""
    name: Mask
    """Those of them that may say which name."""
    role: Mask
    """They tell where somebody works or studies."""


def _find_naming_rows(shard: Shard) -> _NamingRows | None:
    relation = shard.postings.rows_with_any(_relation_words())
    role_codes = [code for name, code in shard.attributes.items() if name in role_attributes()]
    role = np.isin(shard.attribute, role_codes) | shard.postings.rows_with_any(_role_words())
    if not (relation.any() or role.any()):
        return None
    name_codes = [code for name, code in shard.attributes.items() if name.endswith(".name")]
    says_name = np.isin(shard.attribute, name_codes)
    says_name |= shard.length <= _MAX_NAME_TERMS
    says_name |= shard.postings.rows_with_any(_NAMING_TERMS)
    return _NamingRows(relation | role, (relation & says_name) | role, role)


def _links(shard: Shard, question: Question, *, records: Sequence[MemoryRecord]) -> list[EntityLink]:
    text = normalise(question.text)
    links: dict[EntityLink, None] = {}
    for record in records:
        actor = 0 if record.actor is None else shard.actors.find(record.actor)
        if question.speakers and actor and actor not in question.speakers:
            continue
        for alias in (*of_value(record.attribute, record.value), *aliases(record.content)):
            for word, replacement in _swaps(alias):
                other_text = _swap(text, word, replacement=replacement)
                if other_text is not None:
                    link = EntityLink(_hashes(other_text), _hashes(replacement), actor)
                    links[link] = None
    return list(links)[:MAX_LINKS]


def _swaps(alias: Alias) -> list[tuple[str, str]]:
    """Return what of a question is replaced and by what: the word by the name, and the name by the word."""
    if not means_one(alias.word):
        return []
    name, words = normalise(alias.name), spellings(alias.word)
    return [(name, word) for word in words] + [(word, name) for word in words]


def _swap(text: str, word: str, *, replacement: str) -> str | None:
    """Return the text with one word in another's place; None if it lacks the one or holds the other already."""
    if word not in text or replacement in text or not _hashes(replacement):
        return None
    if not word.isascii():
        return text.replace(word, replacement)
    swapped, count = re.subn(rf"\b{re.escape(word)}\b", replacement.replace("\\", r"\\"), text)
    return swapped if count else None


def _hashes(text: str) -> Terms:
    return tuple(map(term_hash, query_terms(text)))


@lru_cache(maxsize=1)
def _relation_words() -> frozenset[int]:
    """Return the terms of the words that stand for names."""
    return frozenset(map(term_hash, word_terms()))


@lru_cache(maxsize=1)
def _role_words() -> frozenset[int]:
    """Return the terms of messages that tell where somebody works or studies."""
    return frozenset(map(term_hash, role_terms()))
