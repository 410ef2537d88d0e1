"""Events for listeners in the same process."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Callable
from operator import attrgetter
from typing import Final

from ebbing.domain.errors import EbbingError
from ebbing.ports.event_bus import Handler, MemoryEvent, Topic
from ebbing.ports.loop import on_a_loop

_log: Final = logging.getLogger("ebbing.events")


class InProcessEventBus:
    """An `EventBus` whose handlers are called where the event was published.

    Async handlers run side by side, unless all may run anywhere: then one after the other, which spares a task each.
    """

    def __init__(self) -> None:
        self._handlers: dict[Topic, tuple[_Entry, ...]] = {}
        self._lock = threading.Lock()

    def subscribe(self, topic: Topic, handler: Handler, *, anywhere: bool = False) -> Callable[[], None]:
        entry = _Entry(handler, anywhere=anywhere)
        with self._lock:
            self._handlers[topic] = (*self._handlers.get(topic, ()), entry)

        def end() -> None:
            with self._lock:
                self._handlers[topic] = tuple(one for one in self._handlers[topic] if one is not entry)

        return end

    def is_heard(self, topic: Topic) -> bool:
        return bool(self._handlers.get(topic))

    async def publish(self, event: MemoryEvent) -> list[Exception]:
        handlers = self._handlers.get(event.topic, ())
        results: list[BaseException | None] = []
        if all(map(_ANYWHERE, handlers)):
            for one in handlers:
                try:
                    if (rest := one.handler(event)) is not None:
                        await rest
                except EbbingError as refusal:
                    results.append(refusal)
        else:
            await on_a_loop()
            results += await asyncio.gather(*(_told(one, event) for one in handlers), return_exceptions=True)
        if not results:
            return []
        failures = [_as_error(result) for result in results if isinstance(result, BaseException)]
        for error in failures:
            # The error's own words may hold what the handler was working on.
            _log.warning("a handler of %s failed: %s", event.topic.value, type(error).__name__)
        return failures


class _Entry:
    """One subscription: the same handler may be subscribed twice, and each ends by itself."""

    def __init__(self, handler: Handler, *, anywhere: bool) -> None:
        self.handler, self.anywhere = handler, anywhere


_ANYWHERE: Final = attrgetter("anywhere")


async def _told(handler: _Entry, event: MemoryEvent) -> None:
    answer = handler.handler(event)
    if inspect.isawaitable(answer):
        await answer


def _as_error(raised: BaseException) -> Exception:
    return raised if isinstance(raised, Exception) else RuntimeError("the handler was cancelled")
