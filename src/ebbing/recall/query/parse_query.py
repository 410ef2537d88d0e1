"""What a question asks for, as far as its surface tells: terms, times and speakers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from ebbing.language.text.caches import kept_of_texts
from ebbing.language.text.detect_language import detect

DAY_MICROS: Final = 86_400_000_000
"""Microseconds of a day."""
_SENTENCE_END: Final = re.compile(r"[。！？!?\n]+|\.\s")
_FIGURE: Final = re.compile(r"\d|[一二三四五六七八九十]+[日号]")
_NOBODY: Final = frozenset[int]()


@dataclass(frozen=True, slots=True)
class Link:
    """A question with one word in another's place, that means the same: the name of a sister for "sister"."""

    terms: tuple[int, ...]
    """Hashes of its keyword terms."""
    instead: tuple[int, ...]
    """Those of the word that took the place."""
    actor: int
    """Code of the speaker in whose words it means this; 0 for nobody named."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query, read. Frozen, since what its words say by themselves is read once for all who ask it."""

    text: str
    terms: tuple[int, ...]
    """Hashes of its keyword terms, distinct, in order."""
    spans: tuple[tuple[int, int], ...]
    """The times that it names: first and last microsecond."""
    time_in_words: tuple[int, ...]
    """Terms of a calendar date that it names ("8 December"): who wrote it down may be meant, not what was said then."""
    beside_time: tuple[int, ...]
    """Of its terms those that name no time; with fewer than two it asks what was, at a time, and the time decides."""
    speakers: frozenset[int]
    """Codes of the owner's speakers that it names."""
    quotes: tuple[tuple[int, ...], ...] = ()
    """Hashes of the terms of each phrase that it quotes."""
    names: tuple[tuple[int, ...], ...] = ()
    """Hashes of the terms of each name in it that is no speaker's."""
    advice: bool = False
    """It asks for a recommendation or for help: what the person likes and requires comes first."""
    language: TextFlag = TextFlag(0)
    """`CHINESE` or `ENGLISH`, where its script decides it."""
    value: bool = False
    """It asks for something that has one current value."""
    topic: Topic | None = None
    """The attribute that it asks for."""
    links: tuple[Link, ...] = ()
    """The same question about those it names, in the words by which they are told of elsewhere."""


def understand(query: Query, shard: Shard) -> Question:
    """Reads the query against what the owner's shard knows (speaker names)."""
    words, said, may_name_time = _read(query.text)
    if may_name_time:
        said = _timed(said, query, words=words)
    speakers = _named(query.text, shard, words=words)
    if not speakers:
        return said
    spoken = {term for code in speakers for term in _hashes(shard.actors.name(code) or "")}
    others = tuple(name for name in said.names if not spoken.issuperset(name))
    return replace(said, speakers=speakers, names=others)


@kept_of_texts(2_048)
def _read(text: str) -> tuple[tuple[str, ...], Question, bool]:
    """The keyword terms of a question, what it says whoever asks it and whenever, and whether it may name a time."""
    words = query_terms(text)
    said = Question(
        text=text,
        terms=tuple(map(term_hash, words)),
        spans=(),
        time_in_words=(),
        beside_time=(),
        speakers=_NOBODY,
        quotes=tuple(filter(None, map(_hashes, quoted_phrases(text)))),
        names=tuple(filter(None, map(_hashes, names(text)))),
        advice=wants_advice(text),
        value=asks_for_value(text),
        topic=topic_of(text),
        language=LANGUAGE_FLAGS.get(detect(text), TextFlag(0)),
    )
    return tuple(words), said, may_name_time(text)


def _timed(said: Question, query: Query, *, words: Sequence[str]) -> Question:
    """The question with the times that it names, seen from when it is asked.

    A date that nothing places ("元旦那天") is the nearest one or the latest: either may be meant.
    """
    now = query.now.astimezone(query.timezone)
    times = resolve(query.text, now=now)
    if not times:
        return said
    asks_from = _asks_from(query.text)
    either = [*times, *resolve(query.text, now=now, lean="past")]
    spans = tuple(dict.fromkeys((micros(one.start), micros(one.end)) for one in either if one.begin >= asks_from))
    if not spans:
        return said
    dated = [term for span in times if span.grain == "day" and _FIGURE.search(span.text) for term in _hashes(span.text)]
    naming = set(query_terms(" ".join(span.text for span in times)))
    beside = tuple(term_hash(word) for word in words if word not in naming)
    return replace(said, spans=spans, time_in_words=tuple(dict.fromkeys(dated)), beside_time=beside)


def _asks_from(text: str) -> int:
    """Where the sentence begins that asks: what stands before it tells of something else."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text) if text[found.end() :].strip()]
    return ends[-1] if ends else 0


def _hashes(text: str) -> tuple[int, ...]:
    return tuple(map(term_hash, query_terms(text)))


def _named(text: str, shard: Shard, *, words: Sequence[str]) -> frozenset[int]:
    if not shard.actors:
        return _NOBODY
    normal, told = normalise(text), frozenset(words)
    return frozenset(
        code for name, code in shard.actors.items() if normalise(name) in normal and _means(name, text, words=told)
    )


def _means(name: str, text: str, *, words: frozenset[str]) -> bool:
    """Whether the name is a word of its own there; one that is no keyword ("Will") must be written like a name."""
    if not name.isascii():
        return True
    terms = frozenset(query_terms(name))
    return bool(words & terms) if terms else re.search(rf"\b{re.escape(name)}\b", text) is not None
