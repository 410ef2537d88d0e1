"""A message whose statement is over stands behind what took the statement's place."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.record import Kind
from ebbing.index.shard import KINDS, NEVER, Shard
from ebbing.recall.base.fusion import Mask
from ebbing.recall.base.recall_settings import RecallSettings
from ebbing.recall.scoring.score_rows import Scored

Rows = NDArray[np.int64]

_MEMORY: Final = KINDS.index(Kind.MEMORY)
_EPISODE: Final = KINDS.index(Kind.EPISODE)


def behind_their_update(
    shard: Shard, scored: Scored, *, order: Rows, among: Mask, at: int, recall_settings: RecallSettings
) -> Rows:
    """The order (best first) with what ended a statement put before the message that made it.

    A message says more than one memory does, so it stays in the answer when a memory read from it is over. Where the
    question is about that memory (no other memory of the message fits it better, and it fits about as well as the
    message), what was said when it ended comes directly before the message.

    Args:
        order: rows, best first.
        among: rows that the caller may get back.
        at: microseconds since 1970 (UTC) for which the answer holds.
    """
    ended = shard.kept("ended statements", lambda: _ended(shard))
    if not len(ended):
        return order
    top = order[: recall_settings.newer_depth]
    doubtful = top[(shard.kind[top] == _EPISODE) & np.isin(shard.created[top], ended)]
    for message in doubtful.tolist():
        newer = _replacing(shard, scored, message=message, among=among, at=at, recall_settings=recall_settings)
        if newer is not None and _stands_behind(order, newer, other=message):
            rest = order[order != newer]
            order = np.insert(rest, int(np.flatnonzero(rest == message)[0]), newer)
    return order


def _ended(shard: Shard) -> Rows:
    """When statements were made that are over, or will be."""
    ended = shard.alive & (shard.kind == _MEMORY) & (shard.valid_to < NEVER)
    return np.unique(shard.created[ended])


def _stands_behind(order: Rows, row: int, *, other: int) -> bool:
    places = np.flatnonzero((order == row) | (order == other))
    return bool(order[places[-1]] == row) or len(places) == 1


def _replacing(
    shard: Shard, scored: Scored, *, message: int, among: Mask, at: int, recall_settings: RecallSettings
) -> int | None:
    """The best row of what was said when the statement ended that the question is about; None where it is not over."""
    total = scored.total
    mine = _read_from(shard, message)
    over = mine[shard.valid_to[mine] <= at]
    if not len(over):
        return None
    meant = int(over[np.argmax(total[over])])
    standing = mine[shard.valid_to[mine] > at]
    if len(standing) and total[standing].max() > total[meant]:
        return None
    if total[message] - total[meant] > recall_settings.ended_gap:
        return None
    ended = shard.valid_to[meant]
    if ended <= shard.created[message]:
        return None  # all was said at once, and nothing tells which message came later
    then = np.flatnonzero(among & (shard.created == ended))
    return int(then[np.argmax(total[then])]) if len(then) else None


def _read_from(shard: Shard, message: int) -> Rows:
    """Memories that were read from a message: said in its moment, and nearer to it than to what else was said then."""
    then = np.flatnonzero(shard.alive & (shard.created == shard.created[message]))
    memories: Rows = then[shard.kind[then] == _MEMORY]
    messages: Rows = then[shard.kind[then] == _EPISODE]
    if len(messages) == 1 or not len(memories):
        return memories
    alike = shard.vectors[memories] @ shard.vectors[messages].T
    nearest: Mask = messages[np.argmax(alike, axis=1)] == message
    return memories[nearest]
