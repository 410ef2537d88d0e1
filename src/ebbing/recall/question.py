"""What a question asks for: its terms, times, speakers, the people it names, and its vector."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.errors import EbbingError
from ebbing.domain.filters.query import Query
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import term_hash
from ebbing.index.shard import NO_OFFSET, Shard, micros
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
from ebbing.language.dates.resolve import may_name_time, resolve
from ebbing.language.signals.asked_for import Topic, topic_of
from ebbing.language.signals.mentions import names, quoted_phrases
from ebbing.language.text.analyzer import (
    LANGUAGE_FLAGS,
    TextFlag,
    asks_for_value,
    normalise,
    query_terms,
    wants_advice,
)
from ebbing.language.text.detect_language import detect
from ebbing.ports.models.embedder import Embedder
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.recall.rows import Mask, load_records

# What a question asks for, as far as its surface tells: terms, times and speakers.

DAY_MICROS: Final = 86_400_000_000
"""Microseconds of a day."""
_SENTENCE_END: Final = re.compile(r"[。！？!?\n]+|\.\s")
_DATE_NUMBER: Final = re.compile(r"\d|[一二三四五六七八九十]+[日号]")

Terms = tuple[int, ...]
"""Hashes of keyword terms."""


@dataclass(frozen=True, slots=True)
class EntityLink:
    """A question with one word replaced by another of the same meaning: the name of a sister for "sister"."""

    terms: Terms
    """All terms of the question with the replacement."""
    replacement: Terms
    actor: int
    """Code of the speaker in whose words it means this; 0 for any."""


@dataclass(frozen=True, slots=True)
class NamedTimes:
    """The times that a question names."""

    spans: tuple[tuple[int, int], ...] = ()
    """First and last microsecond of each."""
    date_terms: Terms = ()
    """Terms of a calendar date that it names ("8 December"): who wrote it down may be meant, not what was said then."""
    other_terms: Terms = ()
    """Its terms that name no time; with fewer than two it asks what was, at a time, and the time decides."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query as recall reads it."""

    text: str
    terms: Terms
    """Distinct, in order."""
    times: NamedTimes = NamedTimes()
    speakers: frozenset[int] = frozenset()
    """Codes of the owner's speakers that it names."""
    quotes: tuple[Terms, ...] = ()
    """The phrases that it quotes."""
    names: tuple[Terms, ...] = ()
    """The names in it that are no speaker's."""
    advice: bool = False
    """It asks for a recommendation or for help: what the person likes and requires comes first."""
    language: TextFlag = TextFlag(0)
    """`CHINESE` or `ENGLISH`, where its script decides it."""
    value: bool = False
    """It asks for something that has one current value."""
    topic: Topic | None = None
    """The attribute that it asks for."""
    links: tuple[EntityLink, ...] = ()
    """The same question with other words for those whom it names."""


def parse_query(query: Query, shard: Shard) -> Question:
    """Read the query with what the owner's shard knows (speaker names)."""
    text = query.text
    words = query_terms(text)
    speakers = _named_speakers(text, shard, words=words)
    return Question(
        text=text,
        terms=tuple(map(term_hash, words)),
        times=_named_times(query, words=words, zone=clock_of(shard)) if may_name_time(text) else NamedTimes(),
        speakers=speakers,
        quotes=_phrases(quoted_phrases(text)),
        names=_names_of_others(text, shard, speakers=speakers),
        advice=wants_advice(text),
        language=LANGUAGE_FLAGS.get(detect(text), TextFlag(0)),
        value=asks_for_value(text),
        topic=topic_of(text),
    )


def clock_of(shard: Shard) -> tzinfo | None:
    """Return the clock of the newest row that names one, which tells where its owner lives; None if none does."""
    return shard.cached("clock", lambda: _clock_of(shard))


def _clock_of(shard: Shard) -> tzinfo | None:
    rows = np.flatnonzero(shard.alive & (shard.utc_offset_minutes != NO_OFFSET))
    if not rows.size:
        return None
    newest = rows[np.argmax(shard.created[rows])]
    return timezone(timedelta(minutes=int(shard.utc_offset_minutes[newest])))


def _named_times(query: Query, *, words: Sequence[str], zone: tzinfo | None) -> NamedTimes:
    """Return the times that the question names, seen from when it is asked.

    A date that nothing places ("元旦那天") is the nearest one or the latest: either may be meant.
    """
    now = query.now.astimezone(query.timezone or zone or query.default_timezone)
    times = resolve(query.text, now=now)
    if not times:
        return NamedTimes()
    start = _start_of_question(query.text)
    past_times = resolve(query.text, now=now, lean="past")
    meant = [span for span in (*times, *past_times) if span.begin >= start]
    if not meant:
        return NamedTimes()
    dates = [span.text for span in times if span.grain == "day" and _DATE_NUMBER.search(span.text)]
    time_words = set(query_terms(" ".join(span.text for span in times)))
    return NamedTimes(
        spans=tuple(dict.fromkeys((micros(span.start), micros(span.end)) for span in meant)),
        date_terms=tuple(dict.fromkeys(term for date in dates for term in _hashes(date))),
        other_terms=tuple(term_hash(word) for word in words if word not in time_words),
    )


def _start_of_question(text: str) -> int:
    """Return where the sentence begins that asks: what stands before it tells of something else."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text) if text[match.end() :].strip()]
    return ends[-1] if ends else 0


def _names_of_others(text: str, shard: Shard, *, speakers: frozenset[int]) -> tuple[Terms, ...]:
    terms_of_speakers = {term for code in speakers for term in _hashes(shard.actors.name(code) or "")}
    return tuple(name for name in _phrases(names(text)) if not terms_of_speakers.issuperset(name))


def _phrases(texts: Sequence[str]) -> tuple[Terms, ...]:
    hashes = map(_hashes, texts)
    return tuple(terms for terms in hashes if terms)


def _hashes(text: str) -> Terms:
    return tuple(map(term_hash, query_terms(text)))


def _named_speakers(text: str, shard: Shard, *, words: Sequence[str]) -> frozenset[int]:
    if not shard.actors:
        return frozenset()
    normal, terms = normalise(text), frozenset(words)
    return frozenset(
        code for name, code in shard.actors.items() if normalise(name) in normal and _is_word(name, text, terms=terms)
    )


def _is_word(name: str, text: str, *, terms: frozenset[str]) -> bool:
    """Return whether the name is a word of its own; one that is no keyword ("Will") must be written like a name."""
    if not name.isascii():
        return True
    name_terms = frozenset(query_terms(name))
    if name_terms:
        return not terms.isdisjoint(name_terms)
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


# Entity neighbours: what is told of somebody under another word than the question's ("Lily" is "my sister").
#
# The graph is never stored: who bears which name is read, when a question names somebody, from the few rows that say
# so, and those are current by the same mask as every answer. So it cannot fall out of step with the memories.

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


@lru_cache(maxsize=1)
def _relation_words() -> frozenset[int]:
    """Return the terms of the words that stand for names."""
    return frozenset(map(term_hash, word_terms()))


@lru_cache(maxsize=1)
def _role_words() -> frozenset[int]:
    """Return the terms of messages that tell where somebody works or studies."""
    return frozenset(map(term_hash, role_terms()))


# The vector of a question, under a deadline: an answer without it is better than none.

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class QueryEmbedding:
    """The question's vector, or why there is none."""

    vector: NDArray[np.float32] | None
    """Shape (dim,)."""
    failure: str | None = None
    """Why there is no vector, where there should be one; holds no personal text."""


async def embed_query(embedder: Embedder | None, text: str, *, timeout_seconds: float) -> QueryEmbedding:
    """Return the vector of a question. A late, failing or confused embedder costs the vector, never the answer."""
    if embedder is None:
        return QueryEmbedding(None)
    try:
        async with asyncio.timeout(timeout_seconds):
            vectors = await embedder.embed_queries([text])
        is_usable = vectors.shape == (1, embedder.dim) and np.isfinite(vectors[0] @ vectors[0])
    except TimeoutError:
        return _failed(f"the embedder was not done within {1000 * timeout_seconds:.0f} ms")
    except EbbingError as error:
        return _failed(str(error))
    except Exception as error:  # an embedder given in code may raise anything; the conversation goes on
        return _failed(f"the embedder raised {type(error).__name__}")
    if not is_usable:
        return _failed("the embedder gave no usable vector")
    return QueryEmbedding(vectors[0])


def _failed(failure: str) -> QueryEmbedding:
    _log.warning("recall without vectors: %s", failure)
    return QueryEmbedding(None, failure)
