"""What a question asks for, as far as its surface tells: terms, times and speakers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ebbing.domain.filters.query import Query
from ebbing.index.index_entry import term_hash
from ebbing.index.shard import Shard, micros
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
        times=_named_times(query, words=words) if may_name_time(text) else NamedTimes(),
        speakers=speakers,
        quotes=_phrases(quoted_phrases(text)),
        names=_names_of_others(text, shard, speakers=speakers),
        advice=wants_advice(text),
        language=LANGUAGE_FLAGS.get(detect(text), TextFlag(0)),
        value=asks_for_value(text),
        topic=topic_of(text),
    )


def _named_times(query: Query, *, words: Sequence[str]) -> NamedTimes:
    """Return the times that the question names, seen from when it is asked.

    A date that nothing places ("元旦那天") is the nearest one or the latest: either may be meant.
    """
    now = query.now.astimezone(query.timezone)
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
