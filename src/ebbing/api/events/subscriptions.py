"""Handlers of events in the same process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ebbing.api.calls.call_context import CallContext
from ebbing.domain.errors import InvalidInputError
from ebbing.ports.event_bus import Handler, MemoryEvent, Topic


class Subscriptions:
    """The verb that calls a handler for each event of a tenant."""

    def __init__(self, context: CallContext) -> None:
        self._context = context

    def subscribe(self, event: str, handler: Handler) -> Callable[[], None]:
        """Call a function, sync or async, with a `MemoryEvent` whenever this happens through this memory.

        The call that it hears of returns after it. One that fails is logged and stops nobody.

        Args:
            event: `session.end`, `memory.added`, `memory.updated`, `memory.deleted`, `memory.accessed` or
                `schedule.daily`.

        Returns:
            What ends it.

        Raises:
            InvalidInputError: an unknown event, or nothing to call.
        """
        if event not in set(Topic):
            raise InvalidInputError(f"event must be one of {', '.join(Topic)}")
        if not callable(handler):
            raise InvalidInputError("handler must be a function that takes what happened")
        tenant = self._context.tenant

        def call(occurred: MemoryEvent) -> Awaitable[None] | None:
            return handler(occurred) if occurred.scope.tenant == tenant else None

        return self._context.components.events.subscribe(Topic(event), call)
