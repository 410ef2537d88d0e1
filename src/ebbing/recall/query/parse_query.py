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
from ebbing.language.text.analyzer import asks_for_value, normalise, query_terms, wants_advice
from ebbing.language.text.caches import kept_of_texts
from ebbing.language.text.mentions import names, quoted_phrases
from ebbing.recall.base.tuning import Tuning

_DAY: Final = 86_400_000_000
"""In microseconds."""
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
    """Times in which an answer may have been said: first and last microsecond."""
    only_time: bool
    """It asks what was, at a time, and says next to nothing else: the time decides."""
    speakers: frozenset[int]
    """Codes of the owner's speakers that it names."""
    quotes: tuple[tuple[int, ...], ...] = ()
    """Hashes of the terms of each phrase that it quotes."""
    names: tuple[tuple[int, ...], ...] = ()
    """Hashes of the terms of each name in it that is no speaker's."""
    advice: bool = False
    """It asks for a recommendation or for help: what the person likes and requires comes first."""
    value: bool = False
    """It asks for something that has one current value."""
    links: tuple[Link, ...] = ()
    """The same question about those it names, in the words by which they are told of elsewhere."""


def understand(query: Query, shard: Shard, *, tuning: Tuning) -> Question:
    """Reads the query against what the owner's shard knows (speaker names)."""
    words, said, may_name_time = _read(query.text)
    if may_name_time:
        said = _timed(said, query, words=words, tuning=tuning)
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
        only_time=False,
        speakers=_NOBODY,
        quotes=tuple(filter(None, map(_hashes, quoted_phrases(text)))),
        names=tuple(filter(None, map(_hashes, names(text)))),
        advice=wants_advice(text),
        value=asks_for_value(text),
    )
    return tuple(words), said, may_name_time(text)


def _timed(said: Question, query: Query, *, words: Sequence[str], tuning: Tuning) -> Question:
    """The question with the times that it names, seen from when it is asked."""
    times = resolve(query.text, now=query.now)
    if not times:
        return said
    early, late = tuning.date_days_before * _DAY, tuning.date_days_after * _DAY
    spans = tuple((micros(span.start) - early, micros(span.end) + late) for span in times)
    only_time = len(words) - len(query_terms(" ".join(span.text for span in times))) < 2
    return replace(said, spans=spans, only_time=only_time)


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
