"""What the texts of one owner are worth, compared with each other: pure functions over the owner's rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.forgetting.importance import LASTING, PASTED, USUAL_ODDS, WORTH
from ebbing.index.near_rows import find_neighbours
from ebbing.index.shard import Shard
from ebbing.language.signals.salience import Holding, holding
from ebbing.language.text.analyzer import TextFlag, query_terms
from ebbing.language.text.caches import bounded_text_cache
from ebbing.language.wording.shorten import says_something

Numbers = NDArray[np.float64]

_BLOCK: Final = 512
_LOOKED_BACK: Final = 4_096
"""So many of the latest rows before it a text is compared with: what is new against them is new enough."""


@dataclass(frozen=True, slots=True)
class RowValues:
    """What the rows of a shard say about each other, by row."""

    novelty: Numbers
    """1 − the largest similarity to an earlier row; NaN where a row has no vector."""
    answers: NDArray[np.bool_]
    """It follows, or followed, a question of somebody else."""


def row_values(shard: Shard) -> RowValues:
    """Works out what only the owner's other rows can tell; kept with the shard until a row changes."""
    return shard.cached("standing", lambda: _standing_of(shard))


def log_odds(
    standing: RowValues,
    texts: Sequence[str],
    *,
    shorts: Sequence[str],
    rows: NDArray[np.int64],
    words: Vocabulary,
    pasted: NDArray[np.bool_] | None = None,
) -> Numbers:
    """How likely each text is to be needed, as log-odds; only differences between texts of one call mean something.

    Args:
        texts: whole records, or pieces of them.
        shorts: the same without function words.
        rows: the row of the shard that each text belongs to.
        words: how rare each word is.
        pasted: which texts are nobody's words.
    """
    if not len(texts):
        return np.zeros(0)
    salience = [holding(text) for text in texts]
    signals = {
        "length": np.log1p([len(short.encode("utf-8", "surrogatepass")) for short in shorts]),
        "says": np.array([says_something(text) for text in texts], dtype=np.float64),
        "idf": np.array([words.mean_rarity(text) for text in texts]),
        "answers": standing.answers[rows].astype(np.float64),
        "novelty": standing.novelty[rows],
        "states": _column(salience, "states"),
        "specifics": np.log1p(_column(salience, "specifics")),
        "asks": _column(salience, "asks"),
    }
    odds = np.full(len(texts), USUAL_ODDS)
    for name, weight in WORTH.items():
        odds += weight * _standard(signals[name])
    odds += LASTING * _column(salience, "lasts")
    return odds if pasted is None else odds + PASTED * pasted


class Vocabulary:
    """How rare words are among some texts: what was shortened counts with all that it said, or what was cut away
    everywhere would look rare where it is left."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = Counter[str]()
        for text in texts:
            counts.update(_terms(text))
        frequency = {count: _idf(count, texts=len(texts)) for count in {0, *counts.values()}}
        self._unknown = frequency[0]
        self._rarity = {term: frequency[count] for term, count in counts.items()}

    def rarity(self, word: str) -> float:
        """Inverse document frequency of a word, that of its rarest term; 0 for a word that is no term."""
        return max(self._rarities(word), default=0.0)

    def mean_rarity(self, text: str) -> float:
        """Mean inverse document frequency of the terms of a text."""
        rarities = self._rarities(text)
        return sum(rarities) / len(rarities) if rarities else 0.0

    def _rarities(self, text: str) -> list[float]:
        return [self._rarity.get(term, self._unknown) for term in _terms(text)]


def _idf(document_count: int, *, texts: int) -> float:
    """Inverse document frequency of a term that so many of the texts hold."""
    return log1p((texts - document_count + 0.5) / (document_count + 0.5))


@bounded_text_cache(32_768)
def _terms(text: str) -> frozenset[str]:
    return frozenset(query_terms(text))


def shares(values: Numbers) -> Numbers:
    """For each value the share of the others that are smaller, equal ones counting half; 0.5 for a single one."""
    if len(values) < 2:
        return np.full(len(values), 0.5)
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    upto = np.searchsorted(ordered, values, side="right")
    ranks: Numbers = (below + (upto - below - 1) / 2) / (len(values) - 1)
    return ranks


def _standing_of(shard: Shard) -> RowValues:
    near = find_neighbours(shard)
    asks = np.append((shard.flags & TextFlag.QUESTION) != 0, False)
    answers = (near.previous >= 0) & near.previous_other & asks[near.previous]
    return RowValues(_novelty(shard), answers | ((shard.flags & TextFlag.ANSWER) != 0))


def _novelty(shard: Shard) -> Numbers:
    """Against the rows said before, the latest of them where there are many."""
    novelty = np.full(shard.size, np.nan)
    rows = np.flatnonzero(shard.alive & shard.embedded)
    order = rows[np.lexsort((shard.seq[rows], shard.created[rows]))]
    if len(order):
        novelty[order[0]] = 1.0
    for start in range(1, len(order), _BLOCK):
        block = order[start : start + _BLOCK]
        first = max(0, start - _LOOKED_BACK)
        before = order[first : start + len(block)]
        similar = shard.vectors[block] @ shard.vectors[before].T
        # a row is compared with what stands before it, not with itself and what follows
        later = np.arange(first, start + len(block))[None, :] >= np.arange(start, start + len(block))[:, None]
        similar[later] = -1.0
        novelty[block] = 1.0 - similar.max(axis=1)
    return novelty


def _column(salience: Sequence[Holding], name: str) -> Numbers:
    return np.array([getattr(value, name) for value in salience], dtype=np.float64)


def _standard(values: Numbers) -> Numbers:
    """Standard scores; 0 for what is unknown, and for all where all are alike."""
    is_known = ~np.isnan(values)
    if not is_known.any():
        return np.zeros(len(values))
    spread = float(values[is_known].std())
    if spread < 1e-9:
        return np.zeros(len(values))
    scores: Numbers = np.where(is_known, (values - values[is_known].mean()) / spread, 0.0)
    return scores
