"""What was said around an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from ebbing.domain.memory.scope import Scope
from ebbing.memory import AsyncMemory
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.recall.rows import expand, load_windows
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings

START = datetime(2024, 5, 1, 9, tzinfo=UTC)
SCOPE = Scope(user_id="u")
TURNS = ("one", "two", "three", "four", "five")

pytestmark = pytest.mark.anyio


@pytest.fixture
async def memory() -> AsyncIterator[AsyncMemory]:
    components = build(load_settings({"store": "ephemeral"}), embedder=FakeEmbedder(), clock=ManualClock(START))
    async with AsyncMemory(components=components) as opened:
        yield opened


async def say(memory: AsyncMemory, *texts: str, run: str, agent: str | None = None, at: datetime = START) -> None:
    turns = [{"role": "user", "content": text, "timestamp": at + timedelta(minutes=n)} for n, text in enumerate(texts)]
    await memory.add(turns, user_id="u", run_id=run, agent_id=agent, infer=False)


async def around(store: MemoryStore, text: str, *, before: int, after: int, scope: Scope = SCOPE) -> list[str]:
    shard = await store.shard(scope)
    texts = {record.content: record.id for record in (await store.page(SCOPE, limit=50)).records}
    row = shard.ids.index(texts[text])
    [window] = await load_windows(store, shard, scope=scope, windows=expand(shard, [row], before=before, after=after))
    return [record.content for record in window]


async def test_turns_around_an_answer_come_in_the_order_said(memory: AsyncMemory) -> None:
    await say(memory, *TURNS, run="r")
    assert await around(memory.components.store, "three", before=1, after=1) == ["two", "three", "four"]
    assert await around(memory.components.store, "three", before=0, after=2) == ["three", "four", "five"]


async def test_a_window_ends_where_the_run_ends(memory: AsyncMemory) -> None:
    await say(memory, *TURNS, run="r")
    await say(memory, "elsewhere", run="other", at=START + timedelta(minutes=2))
    assert await around(memory.components.store, "one", before=3, after=1) == ["one", "two"]
    assert await around(memory.components.store, "five", before=1, after=9) == ["four", "five"]
    assert await around(memory.components.store, "elsewhere", before=2, after=2) == ["elsewhere"]


async def test_turns_are_ordered_by_when_they_were_said_not_when_they_were_stored(memory: AsyncMemory) -> None:
    await say(memory, "later", run="r", at=START + timedelta(hours=1))
    await say(memory, "sooner", run="r")
    assert await around(memory.components.store, "later", before=1, after=1) == ["sooner", "later"]


async def test_turns_that_the_caller_may_not_see_are_passed_over(memory: AsyncMemory) -> None:
    await say(memory, *TURNS, run="r")
    shard = await memory.components.store.shard(SCOPE)
    mask = np.array([True, False, True, True, True])
    assert expand(shard, [2], before=1, after=0, mask=mask) == [[0, 2]]


async def test_a_turn_of_another_agent_is_never_read(memory: AsyncMemory) -> None:
    await say(memory, "to Ann", run="r", agent="ann")
    await say(memory, "to Bob", run="r", agent="bob", at=START + timedelta(minutes=1))
    ann = Scope(user_id="u", agent_id="ann")
    assert await around(memory.components.store, "to Ann", before=1, after=1, scope=ann) == ["to Ann"]


async def test_nothing_asked_around_nothing_gives_nothing(memory: AsyncMemory) -> None:
    shard = await memory.components.store.shard(SCOPE)
    assert (
        await load_windows(memory.components.store, shard, scope=SCOPE, windows=expand(shard, [], before=1, after=1))
        == []
    )
