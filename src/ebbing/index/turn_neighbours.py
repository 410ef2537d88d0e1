"""Which utterance came just before and just after another, within one session."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ebbing.index.shard import Shard
from ebbing.language.text.analyzer import TextFlag


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Parallel to the rows of a shard; −1 (the last element of a padded array) stands for "none"."""

    previous: NDArray[np.int64]
    next: NDArray[np.int64]
    previous_other: NDArray[np.bool_]
    """The previous utterance is another speaker's."""
    next_other: NDArray[np.bool_]
    one_speaker: bool
    """The whole log has one speaker: a diary."""
    session: NDArray[np.int64]
    """Number of the session of each row, dense from 0."""
    session_sizes: NDArray[np.int64]


def find_neighbours(shard: Shard) -> Neighbours:
    """Order the living utterances of each run by time said, then by arrival; the shard caches it until it changes."""
    return shard.cached("neighbours", lambda: _find_neighbours(shard))


def _find_neighbours(shard: Shard) -> Neighbours:
    size = shard.size
    utterance = ((shard.flags & TextFlag.UTTERANCE) != 0) & shard.alive
    previous = np.full(size, -1, dtype=np.int64)
    following = np.full(size, -1, dtype=np.int64)
    rows = np.flatnonzero(utterance)
    order = rows[np.lexsort((shard.seq[rows], shard.created[rows], shard.run[rows]))]
    adjacent = shard.run[order[1:]] == shard.run[order[:-1]]
    before, after = order[:-1][adjacent], order[1:][adjacent]
    previous[after] = before
    following[before] = after
    speaker = shard.role.astype(np.int64) * (1 << 32) + shard.actor
    padded = np.append(speaker, -1)
    known_runs, session = np.unique(shard.run, return_inverse=True)
    return Neighbours(
        previous=previous,
        next=following,
        previous_other=(previous >= 0) & (padded[previous] != speaker),
        next_other=(following >= 0) & (padded[following] != speaker),
        one_speaker=len(np.unique(speaker[rows])) < 2,
        session=session.astype(np.int64),
        session_sizes=np.bincount(session, minlength=len(known_runs)),
    )
