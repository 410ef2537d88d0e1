"""What keeps count of recalled memories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from ebbing.domain.memory.change_set import ChangeSet
from ebbing.domain.memory.feedback import Feedback, Usage
from ebbing.domain.memory.scope import Owner, Scope

KEPT_FEEDBACK: Final = 100
"""Signals kept of one memory; its record counts every use for good."""


class Returned(NamedTuple):
    """How often searches returned one memory since the last batch. A tuple, since there is one for every answer."""

    owner: Owner
    memory_id: str
    times: int
    last_at: datetime


class UsageLog(Protocol):
    """Book-keeping beside the records: it writes no history, raises no version, and makes no shard reload.

    What it changes of a record (`access_count`, `last_accessed_at`, `strength`, `growth`) shows in `get` and `page`
    at once; a shard may know an older strength until the owner's next write. All of it goes when the memory is erased.

    Raises:
        StoreError: the store could not do it; nothing was written.
        StoreClosedError: after the store was closed.
    """

    async def returned(self, batch: Sequence[Returned]) -> None:
        """Adds to the counts, all or none. Memories that are gone are passed over."""
        ...

    async def tell(self, scope: Scope, feedback: Feedback, *, change: ChangeSet | None = None) -> bool:
        """Notes a signal, and what it does to the memory (`domain.forgetting.curves.after_signal`); durable on return.

        What it does to the memory belongs to `change`, or is a change set by itself; the signal stays noted when that
        is undone.

        Returns:
            False when the same signal about the same memory and answer was noted before: nothing changed.

        Raises:
            MemoryNotFoundError: the scope covers no memory with this id.
        """
        ...

    async def usage(self, scope: Scope, memory_id: str) -> Usage:
        """What is known of a memory; nothing for one that the scope does not cover."""
        ...
