"""Statements that say the same, told once: the best-fitting wording leads, the others are counted behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ebbing.index.shard import Shard
from ebbing.ports.embedder import Calibration
from ebbing.recall.tuning import Tuning


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

    Two rows say the same when their texts are equal, or when their meaning is the same and they hold the same numbers:
    texts that differ in a number never say the same. Where most of the best rows repeat each other, less likeness is
    enough: such a log tells each thing in many wordings. A log without repeats would only lose by that.
    """
    probe = order[: tuning.collapse_probe]
    repeats = _same(shard, probe, similarity=tuning.alike_similarity, calibration=calibration)
    is_repetitive = int(np.triu(repeats, 1).any(axis=0).sum()) >= tuning.collapse_from
    rows = order[: tuning.collapse_depth if is_repetitive else count + tuning.collapse_probe]
    similarity = tuning.alike_similarity if is_repetitive else tuning.same_similarity
    same = _same(shard, rows, similarity=similarity, calibration=calibration)
    leads: list[int] = []
    behind: dict[int, list[int]] = {}
    for at in range(len(rows)):
        found = np.flatnonzero(same[at, leads])
        if len(found):
            behind[leads[found[0]]].append(int(rows[at]))
        elif len(leads) < count:
            leads.append(at)
            behind[at] = []
        elif not is_repetitive:
            break
    return [Group(int(rows[at]), tuple(behind[at])) for at in leads]


def _same(
    shard: Shard, rows: NDArray[np.int64], *, similarity: float, calibration: Calibration | None
) -> NDArray[np.bool_]:
    """Shape (rows, rows): which pairs say the same, from this calibrated similarity on."""
    digests, numbers = shard.digest[rows], shard.numbers[rows]
    same: NDArray[np.bool_] = digests[:, None] == digests[None, :]
    if calibration is not None:
        vectors = shard.vectors[rows]
        near = (vectors @ vectors.T) > calibration.cosine(similarity)
        same |= near & (numbers[:, None] == numbers[None, :])
    return same
