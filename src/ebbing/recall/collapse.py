"""Statements that say the same, told once: the best-fitting wording leads, the others are counted behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ebbing.index.shard import Shard
from ebbing.recall.tuning import Tuning


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that say the same."""

    lead: int
    """The row that is shown."""
    repeats: tuple[int, ...] = ()
    """The other rows, best first."""


def collapse(shard: Shard, order: NDArray[np.int64], *, count: int, same_cosine: float, tuning: Tuning) -> list[Group]:
    """The first `count` groups of the rows in `order` (best first).

    Two rows say the same when their texts are equal, or when the cosine of their vectors is above
    `same_cosine` and they hold the same numbers: two texts that differ in a number never say the same.
    Where the top of the order holds no repeats, nothing is collapsed below it either: a log without duplicates only
    loses by it.
    """
    rows = order[: tuning.collapse_depth]
    same = _same(shard, rows[: tuning.collapse_probe], same_cosine=same_cosine)
    repeats = int(np.triu(same, 1).any(axis=0).sum())
    if repeats < tuning.collapse_from:
        return [Group(int(row)) for row in rows[:count]]
    same = _same(shard, rows, same_cosine=same_cosine)
    leads: list[int] = []
    behind: dict[int, list[int]] = {}
    for at in range(len(rows)):
        lead = next((first for first in leads if same[first, at]), None)
        if lead is not None:
            behind[lead].append(int(rows[at]))
        elif len(leads) < count:
            leads.append(at)
            behind[at] = []
    return [Group(int(rows[at]), tuple(behind[at])) for at in leads]


def _same(shard: Shard, rows: NDArray[np.int64], *, same_cosine: float) -> NDArray[np.bool_]:
    """Shape (rows, rows): which pairs say the same."""
    vectors = shard.vectors[rows]
    numbers, digests = shard.numbers[rows], shard.digest[rows]
    alike = (vectors @ vectors.T) > same_cosine
    alike &= numbers[:, None] == numbers[None, :]
    same: NDArray[np.bool_] = alike | (digests[:, None] == digests[None, :])
    return same
