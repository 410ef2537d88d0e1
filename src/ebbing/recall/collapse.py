"""Statements that say the same, told once: the best-fitting wording leads, the others are counted behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ebbing.index.shard import Shard
from ebbing.ports.embedder import Calibration
from ebbing.recall.tuning import Tuning

Pairs = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that say the same."""

    lead: int
    """The row that is shown."""
    repeats: tuple[int, ...] = ()
    """The other rows, best first."""


def collapse(
    shard: Shard, order: NDArray[np.int64], *, count: int, calibration: Calibration | None, tuning: Tuning
) -> list[Group]:
    """The first `count` groups of the rows in `order` (best first).

    Two rows say the same when the same person said them and their texts are equal, or when their meaning is the same
    and they hold the same numbers: texts that differ in a number never say the same. Where most of the best rows
    repeat each other, less likeness is enough: such a log tells each thing in many wordings. A log without repeats
    would only lose by that.
    """
    first = order[: count + tuning.collapse_probe]
    alike, same = _likeness(shard, first, calibration=calibration, tuning=tuning)
    if np.count_nonzero(alike) == len(first):
        return [Group(row) for row in first[:count].tolist()]
    probe = alike[: tuning.collapse_probe, : tuning.collapse_probe]
    if int(np.triu(probe, 1).any(axis=0).sum()) >= tuning.collapse_from:
        rows = order[: tuning.collapse_depth]
        return _grouped(rows, _likeness(shard, rows, calibration=calibration, tuning=tuning)[0], count=count)
    return _grouped(first, same, count=count)


def _likeness(
    shard: Shard, rows: NDArray[np.int64], *, calibration: Calibration | None, tuning: Tuning
) -> tuple[Pairs, Pairs]:
    """Which pairs of rows say about the same, and which say just the same; both of shape (rows, rows)."""
    digests, actors = shard.digest[rows], shard.actor[rows]
    equal: Pairs = (digests[:, None] == digests[None, :]) & (actors[:, None] == actors[None, :])
    if calibration is None:
        return equal, equal
    vectors, numbers = shard.vectors[rows], shard.numbers[rows]
    cosines = np.where(numbers[:, None] == numbers[None, :], vectors @ vectors.T, -1.0)
    alike = equal | (cosines > calibration.cosine(tuning.alike_similarity))
    same = equal | (cosines > calibration.cosine(tuning.same_similarity))
    return alike, same


def _grouped(rows: NDArray[np.int64], same: Pairs, *, count: int) -> list[Group]:
    leads: list[int] = []
    behind: dict[int, list[int]] = {}
    for at in range(len(rows)):
        found = np.flatnonzero(same[at, leads])
        if len(found):
            behind[leads[found[0]]].append(int(rows[at]))
        elif len(leads) < count:
            leads.append(at)
            behind[at] = []
    return [Group(int(rows[at]), tuple(behind[at])) for at in leads]
