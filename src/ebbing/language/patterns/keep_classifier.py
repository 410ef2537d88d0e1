"""Whether a clause is worth remembering for long, and as what: learned from labelled clauses.

A clause shows *signs*: its words, pairs of words, how it begins and ends, the cues of its pack, whom it is about. Each
sign has learned weights, in a table that it finds by a hash of its name. The weights are what
`python -m evals worth --train` makes of the labelled clauses in `evals/data`: see docs/extraction.md.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Final

from ebbing.domain.memory.record import MemoryType
from ebbing.language.text.statement import Statement

TYPES: Final = (
    MemoryType.FACT,
    MemoryType.PREFERENCE,
    MemoryType.CONSTRAINT,
    MemoryType.EPISODIC,
    MemoryType.PROCEDURAL,
)
"""What a clause may be taken for, in the order of the learned weights."""
HEADS: Final = 1 + len(TYPES)
"""Weights of one sign: for being worth keeping, then for each type."""
PLACES: Final = 1 << 15
"""Rows of the table."""
_TOKEN: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|\S")
_STEM: Final = 4
_ENDING: Final = 3
_LONG: Final = 6
"""Signs of length beyond which a clause is only long."""
_MOST_TOKENS: Final = 80


@dataclass(frozen=True, slots=True)
class Learned:
    """Learned weights: one row of `HEADS` small integers for each place of the table."""

    rows: bytes = field(repr=False)
    """int8, place by place."""
    unit: float
    """What one step of a weight is worth, in log-odds."""
    base: tuple[float, ...]
    """Log-odds of each head before any sign is seen."""

    def worth(self, places: Iterable[int]) -> float:
        """Log-odds of being worth keeping, by the places of the signs."""
        rows = memoryview(self.rows).cast("b")
        return self.base[0] + self.unit * sum(rows[place * HEADS] for place in places)

    def kinds(self, places: Sequence[int]) -> list[MemoryType]:
        """The types of what is worth keeping, the likeliest first."""
        rows = memoryview(self.rows).cast("b")
        scores = [
            self.base[head] + self.unit * sum(rows[place * HEADS + head] for place in places)
            for head in range(1, HEADS)
        ]
        return sorted(TYPES, key=lambda kind: -scores[TYPES.index(kind)])


NOTHING_LEARNED: Final = Learned(bytes(HEADS * PLACES), 1.0, (0.0,) * HEADS)


def places_of(signs: Iterable[str]) -> list[int]:
    """Where the weights of the signs stand; each place once."""
    return list({zlib.crc32(sign.encode("utf-8", "replace")) % PLACES for sign in signs})


@lru_cache(maxsize=2)
def learned(language: str) -> Learned:
    """The shipped weights of a language."""
    return unpacked((files("ebbing.language") / "packs" / f"lasting.{language}").read_bytes())


def packed(weights: Learned) -> bytes:
    """The weights as a file holds them: a line of JSON, then the packed rows."""
    head = {"unit": weights.unit, "base": weights.base}
    return json.dumps(head).encode() + b"\n" + zlib.compress(weights.rows, 9)


def unpacked(data: bytes) -> Learned:
    """The weights of a file."""
    head, rows = data.split(b"\n", maxsplit=1)
    return Learned(rows=zlib.decompress(rows), **{**json.loads(head), "base": tuple(json.loads(head)["base"])})


def signs(statement: Statement, cues: Iterable[str], *, aside: bool) -> set[str]:
    """What is seen of a clause. `cues` are the names of those that it holds; `aside`: said beside another fact."""
    marked = {
        "not": statement.negated,
        "ended": statement.ended,
        "hedged": statement.hedged,
        "corrects": statement.corrects,
        "carried": statement.carried,
        "aside": aside,
    }
    tokens = _tokens(f"{statement.lead} {statement.clause}")
    predicate = _tokens(statement.predicate)
    first = predicate[0] if predicate else ""
    return {
        f"w {statement.who}",
        f"b {first}",
        f"b {' '.join(predicate[:2])}",
        f"b {statement.who} {first}",
        f"e {predicate[-1] if predicate else ''}",
        f"l {min(len(tokens) // 3, _LONG)}",
        *(f"m {name}" for name, marks in marked.items() if marks),
        *(f"c {cue}" for cue in cues),
        *_wording(tokens),
    }


def _tokens(text: str) -> list[str]:
    tokens = _TOKEN.findall(text.lower())[:_MOST_TOKENS]
    return ["0" if token.isdigit() else token for token in tokens]


def _wording(tokens: Sequence[str]) -> Iterator[str]:
    before = "^"
    for token in tokens:
        yield f"1 {token}"
        yield f"2 {before} {token}"
        before = token
        if len(token) > _STEM:
            yield f"p {token[:_STEM]}"
            yield f"s {token[-_ENDING:]}"
    yield f"2 {before} $"
