"""Statements that say the same, told once: the best-fitting wording leads, the others are counted behind it."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.index.dot_products import between
from ebbing.index.shard import Shard
from ebbing.ports.embedder import Calibration
from ebbing.recall.base.fusion import is_empty, is_whole
from ebbing.recall.base.recall_settings import RecallSettings

Pairs = NDArray[np.bool_]

KEPT_ROWS: Final = 256
"""Rows of an owner up to which it is kept which of them are alike: 128 KiB at most."""
ALL_ROWS: Final = 128
"""Rows of an owner up to which all are compared with all at once, which takes a tenth of a millisecond."""


Groups = dict[int, tuple[int, ...]]
"""Rows that say the same: the one that is shown, and behind it the others, best first."""


def collapse(
    shard: Shard,
    order: NDArray[np.int64],
    *,
    count: int,
    calibration: Calibration | None,
    recall_settings: RecallSettings,
) -> Groups:
    """The first `count` groups of the rows in `order` (best first).

    Two rows say the same when the same person said them and their texts are equal, or when their meaning is the same
    and they hold the same numbers: texts that differ in a number never say the same. Where most of the best rows
    repeat each other, less likeness is enough: such a log tells each thing in many wordings. A log without repeats
    would only lose by that.
    """
    first = order[: count + recall_settings.collapse_probe]
    likeness = _likeness(shard, calibration=calibration, recall_settings=recall_settings)
    if likeness.are_alone(first):
        return dict.fromkeys(first[:count].tolist(), ())
    alike = likeness.alike(first)
    probe = alike[: recall_settings.collapse_probe, : recall_settings.collapse_probe]
    if int(np.triu(probe, 1).any(axis=0).sum()) >= recall_settings.collapse_from:
        rows = order[: recall_settings.collapse_depth]
        return _grouped(rows, likeness.alike(rows), count=count)
    return _grouped(first, likeness.same(first), count=count)


class _Likeness:
    """Which rows of a shard say about the same, and which say just the same.

    In a small shard what was compared once is kept until a row changes.
    """

    def __init__(self, shard: Shard, *, calibration: Calibration | None, recall_settings: RecallSettings) -> None:
        self._shard = shard
        self._about = self._just = 2.0  # no cosine
        if calibration is not None:
            self._about = calibration.cosine(recall_settings.alike_similarity)
            self._just = calibration.cosine(recall_settings.same_similarity)
        kept = shard.size if shard.size <= KEPT_ROWS and shard.is_asked_often else 0
        self._known, self._has_alike = np.zeros((2, kept), dtype=np.bool_)
        self._alike, self._same = np.zeros((2, kept, kept), dtype=np.bool_)
        self._all_known = self._none_alike = False

    def are_alone(self, rows: NDArray[np.int64]) -> bool:
        """Whether none of the rows says about the same as another one."""
        if self._none_alike:
            return True
        if len(self._known):
            self._know(rows)
            if is_empty(self._has_alike.take(rows)):
                return True
        return int(np.count_nonzero(self.alike(rows))) == len(rows)

    def alike(self, rows: NDArray[np.int64]) -> Pairs:
        """Pairs that say about the same, shape (rows, rows)."""
        return self._pairs(rows, self._alike, above=self._about)

    def same(self, rows: NDArray[np.int64]) -> Pairs:
        """Pairs that say just the same, shape (rows, rows)."""
        return self._pairs(rows, self._same, above=self._just)

    def _pairs(self, rows: NDArray[np.int64], kept: Pairs, *, above: float) -> Pairs:
        if not len(self._known):
            return self._compared(rows, rows, above)[0]
        self._know(rows)
        found: Pairs = kept[rows[:, None], rows]
        return found

    def _know(self, rows: NDArray[np.int64]) -> None:
        """Compares these rows with everyone where that was not done yet."""
        if self._all_known or is_whole(self._known.take(rows)):
            return
        everyone = np.arange(self._shard.size)
        new = everyone if self._shard.size <= ALL_ROWS else rows[~self._known[rows]]
        self._alike[new], self._same[new] = self._compared(new, everyone, self._about, self._just)
        self._has_alike[new] = np.count_nonzero(self._alike[new], axis=1) > 1
        self._known[new] = True
        self._all_known = bool(self._known.all())
        self._none_alike = self._all_known and not self._has_alike.any()

    def _compared(self, rows: NDArray[np.int64], others: NDArray[np.int64], *above: float) -> list[Pairs]:
        """For each bound which pairs lie above it, shape (rows, others); texts with other numbers never do."""
        shard = self._shard
        equal: Pairs = (shard.digest[rows][:, None] == shard.digest[others]) & (
            shard.actor[rows][:, None] == shard.actor[others]
        )
        if min(above) > 1.0:
            return [equal] * len(above)
        numbers = shard.numbers[rows][:, None] == shard.numbers[others]
        cosines = between(shard.vectors[rows], shard.vectors[others])
        return [equal | (numbers & (cosines > bound)) for bound in above]


def _likeness(shard: Shard, *, calibration: Calibration | None, recall_settings: RecallSettings) -> _Likeness:
    def anew() -> _Likeness:
        return _Likeness(shard, calibration=calibration, recall_settings=recall_settings)

    return shard.kept("likeness", anew) if shard.is_asked_often else anew()


def _grouped(rows: NDArray[np.int64], same: Pairs, *, count: int) -> Groups:
    leads: list[int] = []
    behind: dict[int, list[int]] = {}
    repeated = (np.count_nonzero(same, axis=1) > 1).tolist()
    for at, is_repeated in enumerate(repeated):
        told = np.flatnonzero(same[at, leads]).tolist() if is_repeated else []
        if told:
            behind[leads[told[0]]].append(int(rows[at]))
        elif len(leads) < count:
            leads.append(at)
            behind[at] = []
    return {int(rows[at]): tuple(behind[at]) for at in leads}
