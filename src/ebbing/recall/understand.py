"""What a question asks for, as far as its surface tells: terms, times and speakers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ebbing.domain.query import Query
from ebbing.index.entry import term_hash
from ebbing.index.shard import Shard, micros
from ebbing.language.analyse import normalise, query_terms
from ebbing.language.dates import resolve
from ebbing.recall.tuning import Tuning


@dataclass(frozen=True, slots=True)
class Question:
    """A query, read."""

    text: str
    terms: tuple[int, ...]
    """Hashes of its keyword terms, distinct, in order."""
    spans: tuple[tuple[int, int], ...]
    """Times in which an answer may have been said: first and last microsecond."""
    speakers: frozenset[int]
    """Codes of the owner's speakers that it names."""


def understand(query: Query, shard: Shard, *, tuning: Tuning) -> Question:
    """Reads the query against what the owner's shard knows (speaker names)."""
    early, late = timedelta(days=tuning.date_days_before), timedelta(days=tuning.date_days_after)
    return Question(
        text=query.text,
        terms=tuple(term_hash(term) for term in query_terms(query.text)),
        spans=tuple(
            (micros(span.start - early), micros(span.end + late)) for span in resolve(query.text, now=query.now)
        ),
        speakers=_named(query.text, shard),
    )


def _named(text: str, shard: Shard) -> frozenset[int]:
    normal = normalise(text)
    words = set(query_terms(text))
    return frozenset(
        code
        for name, code in shard.actors.items()
        if normalise(name) in normal and (not name.isascii() or words & set(query_terms(name)))
    )
