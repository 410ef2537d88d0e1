"""What tells others that something happened."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from ebbing.domain.memory.scope import Scope


class Topic(StrEnum):
    """What can be listened to."""

    SESSION_END = "session.end"
    MEMORY_ADDED = "memory.added"
    MEMORY_UPDATED = "memory.updated"
    MEMORY_DELETED = "memory.deleted"
    MEMORY_ACCESSED = "memory.accessed"
    SCHEDULE_DAILY = "schedule.daily"
    """The daily round of an owner is done."""


class MemoryEvent(NamedTuple):
    """One thing that happened. It names memories and never holds their text."""

    topic: Topic
    scope: Scope
    """Whose memory, and for `session.end` the session."""
    at: datetime
    memory_ids: tuple[str, ...] = ()
    source_id: str | None = None
    """The message whose memories were deleted, where a message was."""
    is_bulk: bool = False
    """All that the scope held was erased."""


Handler = Callable[[MemoryEvent], Awaitable[None] | None]
"""Sync or async. It runs before the call that it hears of returns; a sync one runs on the event loop and must not
wait."""


class EventBus(Protocol):
    """Hands what happens to those who listen, in this process."""

    def subscribe(self, topic: Topic, handler: Handler) -> Callable[[], None]:
        """Call the handler for every event of this topic from now on; return a function that ends that."""
        ...

    def is_heard(self, topic: Topic) -> bool:
        """Whether anybody listens, so that nothing need be put together if not."""
        ...

    async def publish(self, event: MemoryEvent) -> list[Exception]:
        """Call every handler of the topic and return what they raised, when all are done.

        A handler that fails is logged without what it failed on, and stops nobody else.
        """
        ...
