"""A second opinion on the best candidates, blended into their scores and never in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ebbing.ports.reranker import Reranker
from ebbing.recall.base.fusion import Scores, zscore
from ebbing.recall.scoring.deadlines import gather_opinion


@dataclass(frozen=True, slots=True)
class Reranking:
    """How much a reranker has to say, and how long it may take."""

    weight: float = 0.8
    """Points of the fused score that one standard deviation of the reranker's scores is worth."""
    depth: int = 50
    """How many of the best candidates it reads."""
    seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class Reranked:
    """Scores to order by, and what the reranker said."""

    scores: Scores
    """Shape (candidates,): the fused scores, those of the first `depth` with the reranker's share on top."""
    opinion: NDArray[np.float64] | None
    """The reranker's own scores of the first `depth`; None when it had no say."""
    failure: str | None = None
    """Why it had no say, where it should have had one; holds no personal text."""


async def rerank(
    reranker: Reranker, query: str, *, candidates: Sequence[str], scores: Scores, how: Reranking
) -> Reranked:
    """Blends a reranker's opinion into fused scores: score + weight · z(opinion) over the first `how.depth`.

    A reranker that fails, or is not done in time, changes nothing and is reported. Whoever is below the depth keeps
    its score and its place: order only what was read.

    Args:
        candidates: texts, best first, each with its speaker (`index_entry.passage`; worth 1 point of R@10); only the
            first `how.depth` are needed.
        scores: their fused scores, shape (at least len(candidates),), in the same order.
    """
    texts = candidates[: how.depth]
    if len(texts) < 2 or how.weight == 0:
        return Reranked(scores, None)
    said = await gather_opinion(reranker, query, texts=texts, seconds=how.seconds)
    if said.scores is None:
        return Reranked(scores, None, said.failure)
    blended = scores.astype(np.float64)
    blended[: len(texts)] += how.weight * zscore(said.scores, np.ones(len(texts), dtype=bool))
    return Reranked(blended, said.scores)
