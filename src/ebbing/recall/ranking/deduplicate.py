"""Statements that say the same: the best-fitting wording leads, the others are counted behind it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ebbing.index.dot_products import between
from ebbing.index.shard import Shard
from ebbing.ports.embedder import Calibration
from ebbing.recall.base.recall_settings import RecallSettings

Rows = NDArray[np.int64]
Pairs = NDArray[np.bool_]
"""Shape (rows, rows): which rows say the same."""
Groups = dict[int, tuple[int, ...]]
"""Rows that say the same: the one that is shown, and behind it the others, best first."""

_NO_COSINE = 2.0
"""A bound that no cosine reaches."""


def group_duplicates(
    shard: Shard,
    order: Rows,
    *,
    count: int,
    calibration: Calibration | None,
    settings: RecallSettings,
) -> Groups:
    """Return the first `count` groups of the rows in `order` (best first).

    Two rows say the same when the same person said them and their texts are equal, or when their meaning is the same
    and they hold the same numbers: texts that differ in a number never say the same. Where most of the best rows
    repeat each other, less similarity is enough: such a log tells each thing in many wordings. A log without repeats
    would only lose by that.
    """
    similar = same = _NO_COSINE
    if calibration is not None:
        similar = calibration.cosine(settings.alike_similarity)
        same = calibration.cosine(settings.same_similarity)
    first = order[: count + settings.collapse_probe]
    pairs = _pairs_above(shard, first, min_cosine=similar)
    probe = pairs[: settings.collapse_probe, : settings.collapse_probe]
    repeats = int(np.triu(probe, 1).any(axis=0).sum())
    if repeats >= settings.collapse_from:
        rows = order[: settings.collapse_depth]
        return _group(rows, _pairs_above(shard, rows, min_cosine=similar), count=count)
    return _group(first, _pairs_above(shard, first, min_cosine=same), count=count)


def _pairs_above(shard: Shard, rows: Rows, *, min_cosine: float) -> Pairs:
    """Return the pairs with the same words of the same speaker, or with the same numbers and a greater cosine."""
    same_text = shard.digest[rows][:, None] == shard.digest[rows]
    same_speaker = shard.actor[rows][:, None] == shard.actor[rows]
    pairs: Pairs = same_text & same_speaker
    if min_cosine > 1.0:
        return pairs
    same_numbers = shard.numbers[rows][:, None] == shard.numbers[rows]
    vectors = shard.vectors[rows]
    pairs |= same_numbers & (between(vectors, vectors) > min_cosine)
    return pairs


def _group(rows: Rows, pairs: Pairs, *, count: int) -> Groups:
    leads: list[int] = []
    groups: dict[int, list[int]] = {}
    has_duplicate = np.count_nonzero(pairs, axis=1) > 1
    for place in range(len(rows)):
        repeated: list[int] = np.flatnonzero(pairs[place, leads]).tolist() if has_duplicate[place] else []
        if repeated:
            lead = leads[repeated[0]]
            groups[lead].append(int(rows[place]))
        elif len(leads) < count:
            leads.append(place)
            groups[place] = []
    return {int(rows[lead]): tuple(behind) for lead, behind in groups.items()}
