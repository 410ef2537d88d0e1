"""How likely words ask that something is not written down, where no rule knows them.

People ask in a thousand ways ("not something i want you keeping", 这条你可别给我记一笔). So a linear model on pieces
of words stands beside the rules. It learned from messages of many authors (`training/off_record.py`), reads clause by
clause, and needs neither a vector nor a server.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from itertools import combinations
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

PLACES: Final = 1 << 15
"""Weights: a piece has the one that its checksum names."""
MAX_CLAUSES: Final = 2
"""In a row, that are read together."""
MAX_TOKENS: Final = 16
"""Of a clause: a longer one is read in parts that overlap by half."""
MAX_READ: Final = 2_000
"""Characters of a message that are read at each end: a request stands at the beginning or at the end of a long text."""
_LONGEST_PIECE: Final = 4
CLAUSE: Final = re.compile(r"[.!?。！？\n,，;；:：—…()（）~～]+| [-–] |(?<=[\u3400-\u9fff]) +(?=[\u3400-\u9fff])")
_TOKEN: Final = re.compile(r"[\u3400-\u9fff]|[a-z]+|\d+")
_APOSTROPHE: Final = re.compile(r"['’‘`]")
_ID: Final = re.compile(r"(?<![a-z\d])(?=[a-z\d-]*\d[a-z\d-]*\d)(?=[a-z\d-]*[a-z])[a-z\d-]{8,}")
"""A key, a checksum, a name that a machine gave: its pieces look like words, and are none."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The part of a text that asks the most clearly, if any does."""

    probability: float
    words: str
    rest: str
    """What else the text says."""


@dataclass(frozen=True, slots=True)
class _Model:
    weights: NDArray[np.float32]
    """Shape (PLACES,)."""
    base: float


def asking(text: str) -> Asking:
    """Return how likely some clauses of a text in a row ask that it is not written down, and which."""
    model = _model()
    clauses = list(clauses_of(text))
    scores = [float(model.weights[pieces_of(clause.tokens)].sum()) for clause in clauses]
    best, first, last = -np.inf, 0, 0
    for start in range(len(clauses)):
        for end in range(start + 1, min(start + MAX_CLAUSES, len(clauses)) + 1):
            score = sum(scores[start:end])
            if score > best:
                best, first, last = score, start, end
    words: list[str] = []
    rest: list[str] = []
    for place, clause in enumerate(clauses):
        is_best = first <= place < last
        (words if is_best else rest).extend(clause.tokens)
    odds = np.exp(best + model.base)
    share = odds / (1.0 + odds)
    return Asking(float(share), " ".join(words), " ".join(rest))


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a text, or a part of a long one."""

    start: int
    """Place of its first token among those of the text."""
    tokens: Sequence[str]


def clauses_of(text: str) -> Iterator[Clause]:
    """Yield the clauses of a text, long ones in parts."""
    read = text if len(text) <= 2 * MAX_READ else f"{text[:MAX_READ]}\n{text[-MAX_READ:]}"
    place = 0
    for clause in CLAUSE.split(read):
        tokens = tokens_of(clause)
        for start in range(0, max(len(tokens) - MAX_TOKENS // 2, 1) if tokens else 0, MAX_TOKENS // 2):
            yield Clause(place + start, tokens[start : start + MAX_TOKENS])
        place += len(tokens)


def tokens_of(text: str) -> list[str]:
    """Return the words of a text in lower case, without apostrophes and ids, and each Chinese character by itself."""
    return _TOKEN.findall(_ID.sub(" ", _APOSTROPHE.sub("", text.lower())))


def pieces_of(tokens: Sequence[str]) -> NDArray[np.int64]:
    """Return the places of up to four tokens in a row, and of the beginnings of words, each once; shape (pieces,)."""
    pieces = {" ".join(run) for run in _runs(tokens)}
    pieces |= {f"{token[:4]}*" for token in tokens if len(token) > 4}
    roles = [role for role, words in _roles().items() if not words.isdisjoint(tokens)]
    pieces |= {"+".join(some) for count in (1, 2, 3) for some in combinations(roles, count)}
    return np.array(sorted({crc32(piece.encode()) % PLACES for piece in pieces}), dtype=np.int64)


def _runs(tokens: Sequence[str]) -> Iterator[Sequence[str]]:
    marked = ["^", *tokens, "$"]
    for length in range(1, _LONGEST_PIECE + 1):
        for start in range(len(marked) - length + 1):
            yield marked[start : start + length]


@lru_cache(maxsize=1)
def _roles() -> Mapping[str, frozenset[str]]:
    """Return the words by what they do in such a request; some roles together are pieces too."""
    words = tomllib.loads((files("ebbing.privacy") / "off_record_words.toml").read_text("utf-8"))
    return {role: frozenset(listed.split()) for role, listed in words.items()}


@lru_cache(maxsize=1)
def _model() -> _Model:
    with as_file(files("ebbing.privacy").joinpath("off_record.npz")) as path, np.load(path) as data:
        weights = data["scale"] * data["weights"].astype(np.float32)
        return _Model(weights, float(data["base"]))
