"""Whoever listens is told, whatever the others do."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime

import pytest

from ebbing.adapters.system.in_process_bus import InProcessEventBus
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import MemoryEvent, Topic

pytestmark = pytest.mark.anyio

ADDED = MemoryEvent(Topic.MEMORY_ADDED, Scope(user_id="ada"), datetime(2024, 5, 1, tzinfo=UTC), ("m1",))


async def test_sync_and_async_handlers_hear_of_their_topic_only() -> None:
    bus, heard = InProcessEventBus(), []

    async def listen(event: MemoryEvent) -> None:
        await asyncio.sleep(0)
        heard.append(("async", event))

    bus.subscribe(Topic.MEMORY_ADDED, lambda event: heard.append(("sync", event)))
    bus.subscribe(Topic.MEMORY_ADDED, listen)
    bus.subscribe(Topic.MEMORY_DELETED, lambda event: heard.append(("other", event)))
    assert await bus.publish(ADDED) == []
    assert heard == [("sync", ADDED), ("async", ADDED)]


async def test_a_failing_handler_stops_nobody_and_its_words_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    bus, heard = InProcessEventBus(), []

    def fail(event: MemoryEvent) -> None:
        raise ValueError("Ada's secret")

    async def fail_later(event: MemoryEvent) -> None:
        raise KeyError("Ada's secret")

    async def give_up(event: MemoryEvent) -> None:
        raise asyncio.CancelledError

    for handler in (fail, fail_later, give_up, heard.append):
        bus.subscribe(Topic.MEMORY_ADDED, handler)
    with caplog.at_level(logging.WARNING):
        failures = await bus.publish(ADDED)
    assert [type(one) for one in failures] == [ValueError, KeyError, RuntimeError]
    assert heard == [ADDED]
    assert "memory.added failed: ValueError" in caplog.text
    assert "secret" not in caplog.text


async def test_a_subscription_ends_by_itself_and_twice_is_no_matter() -> None:
    bus, heard = InProcessEventBus(), []
    ends = [bus.subscribe(Topic.MEMORY_ADDED, heard.append) for _ in range(2)]
    ends[0]()
    ends[0]()
    await bus.publish(ADDED)
    assert heard == [ADDED]
    ends[1]()
    assert not bus.is_heard(Topic.MEMORY_ADDED)
    assert await bus.publish(ADDED) == []
    assert heard == [ADDED]


async def test_a_handler_that_waits_is_waited_for() -> None:
    bus, go = InProcessEventBus(), asyncio.Event()

    async def wait(event: MemoryEvent) -> None:
        await go.wait()

    bus.subscribe(Topic.MEMORY_ADDED, wait)
    published = asyncio.create_task(bus.publish(ADDED))
    await asyncio.sleep(0.01)
    assert not published.done()
    go.set()
    assert await published == []
