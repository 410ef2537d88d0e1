"""Entity neighbours: what is told of somebody under another word than the question's ("Lily" is "my sister").

The graph is never stored: who bears which name is read, when a question names somebody, from the few rows that say
so, and those are current by the same mask as every answer. So it cannot fall out of step with the memories.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
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
from ebbing.recall.base.row_filter import fresh_records
from ebbing.recall.query.parse_query import Link, Question

MAX_SAYING: Final = 16
"""Rows that are read for who bears which name."""
MAX_LINKS: Final = 8
_SHORT: Final = 8
"""Terms of a row up to which it may say no more than a name."""


async def linked(
    store: MemoryStore, shard: Shard, *, scope: Scope, question: Question, rows: Sequence[int], past: bool
) -> Question:
    """The question with what it would be in the words by which its people are told of elsewhere, as `rows` say."""
    records = await fresh_records(store, shard, scope=scope, rows=rows, deleted=past)
    found = _links(shard, question, records=records)
    return replace(question, links=tuple(found)) if found else question


def saying(shard: Shard, question: Question, *, among: Mask) -> list[int]:
    """The rows that may say who somebody in the question is, the most telling first; none where it names nobody."""
    words = _words()
    asks_by_word = not words.isdisjoint(question.terms)
    # Chinese names have no mark: any question in Chinese may hold one.
    asks_by_name = bool(question.names) or not question.text.isascii()
    if not (asks_by_word or asks_by_name):
        return []
    told = shard.kept("names told", lambda: _telling(shard))
    if told is None:
        return []
    mask = np.zeros(shard.size, dtype=bool)
    if asks_by_name:
        others = [term for term in question.terms if term not in words]
        mask |= told.word & _rows_with(shard, others)
    if asks_by_word:
        mask |= told.naming & (told.role | _rows_with(shard, [term for term in question.terms if term in words]))
    rows = np.flatnonzero(mask & among)
    if len(rows) > MAX_SAYING:
        order = np.lexsort((shard.created[rows], shard.attribute[rows] > 0))
        rows = rows[order[::-1][:MAX_SAYING]]
    return [int(row) for row in rows]


@dataclass(frozen=True, slots=True)
class _Telling:
    """Rows that something about their words sets apart."""

    word: Mask
    """They hold a word that stands for a name, or tell a role."""
    naming: Mask
    """Those of them that may say which name."""
    role: Mask
    """They tell where somebody works or studies."""


def _telling(shard: Shard) -> _Telling | None:
    word = _rows_with(shard, _words())
    role = np.isin(shard.attribute, [code for name, code in shard.attributes.items() if name in role_attributes()])
    role |= _rows_with(shard, _roles())
    if not (word.any() or role.any()):
        return None
    name = np.isin(shard.attribute, [code for name, code in shard.attributes.items() if name.endswith(".name")])
    naming = name | (shard.length <= _SHORT) | _rows_with(shard, _SAYING)
    return _Telling(word | role, (word & naming) | role, role)


def _rows_with(shard: Shard, terms: Collection[int]) -> Mask:
    """Rows whose text holds one of the terms."""
    found = shard.postings.find(np.array(sorted(terms), dtype=np.uint64))
    held = np.zeros(shard.size, dtype=bool)
    held[found.rows[found.tf > 0]] = True
    return held


def _links(shard: Shard, question: Question, *, records: Sequence[MemoryRecord]) -> list[Link]:
    text, found = normalise(question.text), dict[Link, None]()
    for record in records:
        actor = 0 if record.actor is None else shard.actors.find(record.actor)
        if question.speakers and actor and actor not in question.speakers:
            continue
        for alias in (*of_value(record.attribute, record.value), *aliases(record.content)):
            for taken, instead in _swaps(alias):
                other = _swapped(text, taken, instead=instead)
                if other is not None:
                    found[Link(_hashes(other), _hashes(instead), actor)] = None
    return list(found)[:MAX_LINKS]


def _swaps(alias: Alias) -> list[tuple[str, str]]:
    """What of a question is taken out and what comes instead: the name for the word, and the word for the name."""
    if not means_one(alias.word):
        return []
    name, words = normalise(alias.name), spellings(alias.word)
    return [(name, word) for word in words] + [(word, name) for word in words]


def _swapped(text: str, taken: str, *, instead: str) -> str | None:
    """The text with one word in another's place; None where it does not hold the one, or holds the other already."""
    if taken not in text or instead in text or not _hashes(instead):
        return None
    if not taken.isascii():
        return text.replace(taken, instead)
    swapped, times = re.subn(rf"\b{re.escape(taken)}\b", instead.replace("\\", r"\\"), text)
    return swapped if times else None


def _hashes(text: str) -> tuple[int, ...]:
    return tuple(map(term_hash, query_terms(text)))


@lru_cache(maxsize=1)
def _words() -> frozenset[int]:
    """Terms of the words that stand for names."""
    return frozenset(map(term_hash, word_terms()))


@lru_cache(maxsize=1)
def _roles() -> frozenset[int]:
    """Terms of the messages that tell where somebody works or studies."""
    return frozenset(map(term_hash, role_terms()))


_SAYING: Final = frozenset(map(term_hash, ("name", "call", "叫", "名", "名字")))
