"""The order of rows of which one updates the other: the newer comes first."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.record import Kind
from ebbing.index.shard import KINDS, NEVER, Shard
from ebbing.recall.base.fusion import Mask
from ebbing.recall.base.recall_settings import RecallSettings
from ebbing.recall.scoring.score_rows import RowScores

Rows = NDArray[np.int64]

_MEMORY: Final = KINDS.index(Kind.MEMORY)
_EPISODE: Final = KINDS.index(Kind.EPISODE)


def prefer_newer_value(shard: Shard, scores: RowScores, *, order: Rows, settings: RecallSettings) -> Rows:
    """Return the order (best first) with one row put before the row that it seems to update.

    Two rows tell a value twice when the same kind of speaker said both, both hold much of the question's wording and
    a number, and the numbers differ. The later one is put directly above if it is not far behind. This is a guess from
    the surface, so only one pair an answer is touched; what is known to be superseded never gets here at all.
    """
    top = order[: settings.newer_depth]
    holds_value = (scores.coverage[top] >= settings.newer_coverage) & (shard.numbers[top] != 0)
    places = np.flatnonzero(holds_value)
    for position, lower in enumerate(places):
        for upper in places[:position]:
            older, newer = int(top[upper]), int(top[lower])
            gap = scores.comparable[older] - scores.comparable[newer]
            if gap <= settings.newer_gap and _updates(shard, newer, older=older):
                return np.insert(np.delete(order, lower), upper, newer)
    return order


def _updates(shard: Shard, newer: int, *, older: int) -> bool:
    same_speaker = shard.role[newer] == shard.role[older] and shard.actor[newer] == shard.actor[older]
    is_later = (shard.created[newer], shard.seq[newer]) > (shard.created[older], shard.seq[older])
    return bool(same_speaker and is_later and shard.numbers[newer] != shard.numbers[older])


def demote_superseded(
    shard: Shard, scores: RowScores, *, order: Rows, mask: Mask, moment: int, settings: RecallSettings
) -> Rows:
    """Return the order (best first) with what ended a statement put before the message that made it.

    A message says more than one memory does, so it stays in the answer when a memory read from it is over. Where the
    question is about that memory (no other memory of the message fits it better, and it fits about as well as the
    message), what was said when it ended comes directly before the message.

    Args:
        order: rows, best first.
        mask: rows that the caller may get back.
        moment: microseconds since 1970 (UTC) for which the answer holds.
    """
    statement_times = shard.cached("times of ended statements", lambda: _times_of_ended_statements(shard))
    if not len(statement_times):
        return order
    top = order[: settings.newer_depth]
    is_doubtful = (shard.kind[top] == _EPISODE) & np.isin(shard.created[top], statement_times)
    for message in top[is_doubtful].tolist():
        newer = _replacement_of(shard, scores, message=message, mask=mask, moment=moment, settings=settings)
        if newer is not None and _stands_behind(order, newer, other=message):
            rest = order[order != newer]
            place = int(np.flatnonzero(rest == message)[0])
            order = np.insert(rest, place, newer)
    return order


def _times_of_ended_statements(shard: Shard) -> Rows:
    """Return when statements were made that are over, or will be."""
    has_end = shard.alive & (shard.kind == _MEMORY) & (shard.valid_to < NEVER)
    return np.unique(shard.created[has_end])


def _stands_behind(order: Rows, row: int, *, other: int) -> bool:
    places = np.flatnonzero((order == row) | (order == other))
    return bool(order[places[-1]] == row) or len(places) == 1


def _replacement_of(
    shard: Shard, scores: RowScores, *, message: int, mask: Mask, moment: int, settings: RecallSettings
) -> int | None:
    """Return the best row of what was said when the statement ended that the question is about; None if none ended."""
    total = scores.comparable
    memories = _memories_of(shard, message)
    is_over = shard.valid_to[memories] <= moment
    ended, standing = memories[is_over], memories[~is_over]
    if not len(ended):
        return None
    best = int(ended[np.argmax(total[ended])])
    if len(standing) and total[standing].max() > total[best]:
        return None
    if total[message] - total[best] > settings.ended_gap:
        return None
    end = shard.valid_to[best]
    if end <= shard.created[message]:
        return None  # all was said at once, and nothing tells which message came later
    said_at_end = np.flatnonzero(mask & (shard.created == end))
    return int(said_at_end[np.argmax(total[said_at_end])]) if len(said_at_end) else None


def _memories_of(shard: Shard, message: int) -> Rows:
    """Return the memories that were read from a message.

    They were said in its moment, and are nearer to it than to what else was said then.
    """
    same_time = np.flatnonzero(shard.alive & (shard.created == shard.created[message]))
    memories: Rows = same_time[shard.kind[same_time] == _MEMORY]
    messages: Rows = same_time[shard.kind[same_time] == _EPISODE]
    if len(messages) == 1 or not len(memories):
        return memories
    cosines = shard.vectors[memories] @ shard.vectors[messages].T
    is_nearest: Mask = messages[np.argmax(cosines, axis=1)] == message
    return memories[is_nearest]
