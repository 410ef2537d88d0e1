"""What any product must beat: plain BM25, the embedder alone, and the two joined by reciprocal rank fusion.

Everything here is this folder's own code, so that a change of the product never moves its own yardstick.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import Stemmer
from numpy.typing import NDArray

from evals.metrics import Ranked

Scores = NDArray[np.float64]

_WORD = re.compile(r"[\u3400-\u9fff]+|[a-z0-9]+(?:'[a-z]+)?")
_STOP = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they "
    "this to was will with what when where who whom whose which why how did does do has have had would could should "
    "can i me my mine you your yours he him his she her hers we us our them were been being am about from".split()
)
_STEMMER = Stemmer.Stemmer("english")


def terms(text: str) -> list[str]:
    """English words, stemmed, without those that carry no topic; Chinese characters, and pairs of neighbours."""
    found: list[str] = []
    for run in _WORD.findall(text.lower()):
        if run[0] >= "\u3400":
            found += run
            found += [run[at : at + 2] for at in range(len(run) - 1)]
        elif (word := run.split("'")[0]) not in _STOP:
            found.append(_STEMMER.stemWord(word))
    return found


class BM25:
    """Okapi BM25 with the idf that never turns negative: log(1 + (N - df + 0.5) / (df + 0.5)); k1 = 1.5, b = 0.75."""

    def __init__(self, texts: Sequence[str], *, k1: float = 1.5, b: float = 0.75) -> None:
        counts = [Counter(terms(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], dtype=float)
        norm = k1 * (1 - b + b * lengths / max(lengths.mean(), 1e-9))
        holders: dict[str, list[int]] = {}
        for row, count in enumerate(counts):
            for term in count:
                holders.setdefault(term, []).append(row)
        self._size = len(texts)
        self._weights: dict[str, tuple[NDArray[np.int64], Scores]] = {}
        for term, at in holders.items():
            rows = np.array(at)
            frequency = np.array([counts[row][term] for row in at], dtype=float)
            idf = math.log(1 + (self._size - len(at) + 0.5) / (len(at) + 0.5))
            self._weights[term] = rows, idf * frequency * (k1 + 1) / (frequency + norm[rows])

    def scores(self, question: str) -> Scores:
        """One score a text; 0 where no word matches."""
        total = np.zeros(self._size)
        for term in terms(question):
            if term in self._weights:
                rows, weights = self._weights[term]
                total[rows] += weights
        return total


def reciprocal_rank_fusion(legs: Sequence[Scores], *, k: int = 60) -> Scores:
    """Sum of 1 / (k + rank) over the legs (Cormack et al. 2009); what a leg does not match gets nothing from it."""
    total = np.zeros(len(legs[0]))
    for leg in legs:
        order = np.argsort(-leg, kind="stable")
        ranks = np.empty(len(leg))
        ranks[order] = np.arange(1, len(leg) + 1)
        total += np.where(leg > 0, 1.0 / (k + ranks), 0.0)
    return total


def ranked(scores: Scores, ids: Sequence[str], *, depth: int) -> Ranked:
    """The ids of the best texts, best first; ties in the order in which they were said. Unmatched texts stay out."""
    order = np.argsort(-scores, kind="stable")[:depth]
    return [(ids[at],) for at in order if scores[at] != 0]
