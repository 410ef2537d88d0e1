"""Statements that say the same, told once: the best-fitting wording leads, the others are counted behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.index.alike import nearness
from ebbing.index.shard import Shard
from ebbing.ports.embedder import Calibration
from ebbing.recall.tuning import Tuning

Pairs = NDArray[np.bool_]

KEPT_ROWS: Final = 512
"""Rows of an owner up to which it is kept which of them are alike: half a megabyte at most."""


@dataclass(slots=True)
class Group:
    """Rows that say the same. Not frozen, like `Hit`, for speed."""

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
    likeness = _likeness(shard, calibration=calibration, tuning=tuning)
    alike = likeness.alike(first)
    if np.count_nonzero(alike) == len(first):
        return [Group(row) for row in first[:count].tolist()]
    probe = alike[: tuning.collapse_probe, : tuning.collapse_probe]
    if int(np.triu(probe, 1).any(axis=0).sum()) >= tuning.collapse_from:
        rows = order[: tuning.collapse_depth]
        return _grouped(rows, likeness.alike(rows), count=count)
    return _grouped(first, likeness.same(first), count=count)


class _Likeness:
    """Which rows of a shard say about the same, and which say just the same.

    In a small shard what was compared once is kept until a row changes.
    """

    def __init__(self, shard: Shard, *, calibration: Calibration | None, tuning: Tuning) -> None:
        self._shard = shard
        self._about = self._just = 2.0  # no cosine
        if calibration is not None:
            self._about = calibration.cosine(tuning.alike_similarity)
            self._just = calibration.cosine(tuning.same_similarity)
        kept = shard.size if shard.size <= KEPT_ROWS else 0
        self._known = np.zeros(kept, dtype=np.bool_)
        self._alike, self._same = np.zeros((2, kept, kept), dtype=np.bool_)

    def alike(self, rows: NDArray[np.int64]) -> Pairs:
        """Pairs that say about the same, shape (rows, rows)."""
        return self._pairs(rows, self._alike, above=self._about)

    def same(self, rows: NDArray[np.int64]) -> Pairs:
        """Pairs that say just the same, shape (rows, rows)."""
        return self._pairs(rows, self._same, above=self._just)

    def _pairs(self, rows: NDArray[np.int64], kept: Pairs, *, above: float) -> Pairs:
        if not len(self._known):
            return self._compared(rows, rows, above)[0]
        if not self._known[rows].all():
            new = rows[~self._known[rows]]
            everyone = np.arange(self._shard.size)
            self._alike[new], self._same[new] = self._compared(new, everyone, self._about, self._just)
            self._known[new] = True
        found: Pairs = kept[rows[:, None], rows]
        return found

    def _compared(self, rows: NDArray[np.int64], others: NDArray[np.int64], *above: float) -> list[Pairs]:
        """For each bound which pairs lie above it, shape (rows, others)."""
        shard = self._shard
        equal: Pairs = (shard.digest[rows][:, None] == shard.digest[others]) & (
            shard.actor[rows][:, None] == shard.actor[others]
        )
        if min(above) > 1.0:
            return [equal] * len(above)
        cosines = nearness(shard, rows, others=others)
        return [equal | (cosines > bound) for bound in above]


def _likeness(shard: Shard, *, calibration: Calibration | None, tuning: Tuning) -> _Likeness:
    return shard.kept("likeness", lambda: _Likeness(shard, calibration=calibration, tuning=tuning))


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
