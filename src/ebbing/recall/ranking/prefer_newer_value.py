"""A value that was told twice: the later telling comes first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ebbing.index.shard import Shard
from ebbing.recall.base.recall_settings import RecallSettings
from ebbing.recall.scoring.score_rows import Scored


def newer_first(
    shard: Shard, scored: Scored, *, order: NDArray[np.int64], recall_settings: RecallSettings
) -> NDArray[np.int64]:
    """The order (best first) with one row put before the row that it seems to bring up to date.

    Two rows tell a value twice when the same kind of speaker said both, both hold much of the question's wording and
    a number, and the numbers differ. The later one is put directly above if it is not far behind. This is a guess from
    the surface, so only one pair an answer is touched; what is known to be superseded never gets here at all.
    """
    top = order[: recall_settings.newer_depth]
    telling = (scored.coverage[top] >= recall_settings.newer_coverage) & (shard.numbers[top] != 0)
    places = np.flatnonzero(telling)
    for at, lower in enumerate(places):
        for upper in places[:at]:
            older, newer = int(top[upper]), int(top[lower])
            if _brings_up_to_date(shard, newer, older=older) and (
                scored.total[older] - scored.total[newer] <= recall_settings.newer_gap
            ):
                return np.insert(np.delete(order, lower), upper, newer)
    return order


def _brings_up_to_date(shard: Shard, newer: int, *, older: int) -> bool:
    same_speaker = shard.role[newer] == shard.role[older] and shard.actor[newer] == shard.actor[older]
    later = (shard.created[newer], shard.seq[newer]) > (shard.created[older], shard.seq[older])
    return bool(same_speaker and later and shard.numbers[newer] != shard.numbers[older])
