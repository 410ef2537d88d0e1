"""What is computed from a ranked list. All values lie in [0, 1]; higher is better."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

CUTS = (5, 10, 20)
METRICS = (*(f"R@{k}" for k in CUTS), *(f"hit@{k}" for k in CUTS), "MRR", "NDCG@10")

Ranked = Sequence[Collection[str]]
"""A result list, best first: each hit is the set of item ids that it answers for."""


def first_ranks(ranked: Ranked, groups: Iterable[Collection[str]]) -> list[float]:
    """For each group the rank (0 = top) of the first hit that holds one of its ids; infinite if there is none."""
    rank_of: dict[str, int] = {}
    for rank, ids in enumerate(ranked):
        for item_id in ids:
            rank_of.setdefault(item_id, rank)
    return [min((rank_of[item_id] for item_id in group if item_id in rank_of), default=math.inf) for group in groups]


def score_ranking(ranked: Ranked, groups: Sequence[Collection[str]]) -> dict[str, float]:
    """Recall@k: share of the groups found in the top k. hit@k: 1 if any is. MRR: of the first one found.

    NDCG@10 is binary with one gain a group, against the ideal of one hit a group; a hit that answers for two groups at
    once cannot lift it above 1.
    """
    ranks = first_ranks(ranked, groups)
    best = min(ranks)
    scores = {f"R@{k}": sum(rank < k for rank in ranks) / len(ranks) for k in CUTS}
    scores |= {f"hit@{k}": float(best < k) for k in CUTS}
    scores["MRR"] = 0.0 if math.isinf(best) else 1.0 / (1.0 + best)
    gained = sum(1.0 / math.log2(rank + 2) for rank in ranks if rank < 10)
    ideal = sum(1.0 / math.log2(rank + 2) for rank in range(min(len(ranks), 10)))
    scores["NDCG@10"] = min(1.0, gained / ideal)
    return scores


def newer_above_older(ranked: Ranked, newer: Collection[str], *, older: Collection[str]) -> bool:
    """Whether the updated statement was found and stands above the outdated one (or that one was not found)."""
    first_newer, first_older = first_ranks(ranked, [newer, older])
    return first_newer < first_older


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of one question under one system."""

    user: str
    category: str
    scores: Mapping[str, float]


def means(rows: Sequence[Scored]) -> dict[str, float]:
    """The mean of each metric over questions, and their number as `n`."""
    if not rows:
        return {"n": 0}
    return {name: float(np.mean([row.scores[name] for row in rows])) for name in rows[0].scores} | {"n": len(rows)}


def by_category(rows: Sequence[Scored], *, apart: Collection[str] = ()) -> dict[str, dict[str, float]]:
    """Means by category, and `ALL`: over the questions of every category that is not set apart."""
    table = {"ALL": means([row for row in rows if row.category not in apart])}
    for category in sorted({row.category for row in rows}):
        table[category] = means([row for row in rows if row.category == category])
    return table


def paired_difference(ours: Sequence[Scored], theirs: Sequence[Scored], *, metric: str) -> tuple[float, float, float]:
    """Mean difference per question with a 95 % bootstrap interval over users (they, not questions, are independent)."""
    users: dict[str, list[float]] = {}
    for mine, other in zip(ours, theirs, strict=True):
        users.setdefault(mine.user, []).append(mine.scores[metric] - other.scores[metric])
    sums = np.array([sum(differences) for differences in users.values()])
    counts = np.array([len(differences) for differences in users.values()])
    drawn = np.random.default_rng(0).integers(0, len(sums), (2000, len(sums)))
    resampled = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.percentile(resampled, [2.5, 97.5])
    return float(sums.sum() / counts.sum()), float(low), float(high)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie, interpolated."""
    return float(np.quantile(np.asarray(values), share))
