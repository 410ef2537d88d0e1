"""Events for listeners in the same process."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Callable
from typing import Final

from ebbing.ports.event_bus import Handler, MemoryEvent, Topic

_log: Final = logging.getLogger("ebbing.events")


class InProcessEventBus:
    """An `EventBus` whose handlers run on the event loop of the publisher; async ones run side by side."""

    def __init__(self) -> None:
        self._handlers: dict[Topic, tuple[_Subscription, ...]] = {}
        self._lock = threading.Lock()

    def subscribe(self, topic: Topic, handler: Handler) -> Callable[[], None]:
        subscription = _Subscription(handler)
        with self._lock:
            self._handlers[topic] = (*self._handlers.get(topic, ()), subscription)

        def end() -> None:
            with self._lock:
                self._handlers[topic] = tuple(other for other in self._handlers[topic] if other is not subscription)

        return end

    def is_heard(self, topic: Topic) -> bool:
        return bool(self._handlers.get(topic))

    async def publish(self, event: MemoryEvent) -> list[Exception]:
        subscriptions = self._handlers.get(event.topic, ())
        calls = [_call(subscription, event) for subscription in subscriptions]
        results = await asyncio.gather(*calls, return_exceptions=True)
        failures = [_as_error(result) for result in results if isinstance(result, BaseException)]
        for error in failures:
            # The error's own words may hold what the handler was working on.
            _log.warning("a handler of %s failed: %s", event.topic.value, type(error).__name__)
        return failures


class _Subscription:
    """One subscription: the same handler may be subscribed twice, and each ends by itself."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler


async def _call(subscription: _Subscription, event: MemoryEvent) -> None:
    answer = subscription.handler(event)
    if inspect.isawaitable(answer):
        await answer


def _as_error(raised: BaseException) -> Exception:
    return raised if isinstance(raised, Exception) else RuntimeError("the handler was cancelled")
