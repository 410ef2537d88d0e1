"""What is known around a fact: read once, kept with the rows, and never written back as it was."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from ebbing import AsyncMemory
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.testing.clock import ManualClock

pytestmark = pytest.mark.anyio

ADA = Scope(user_id="ada")


async def told(memory: AsyncMemory, text: str, source: str | None = None) -> str:
    message = {"role": "user", "content": text, **({"id": source} if source else {})}
    [result] = (await memory.add([message], user_id="ada"))["results"]
    return str(result["id"])


async def kept(memory: AsyncMemory, memory_id: str) -> MemoryRecord:
    [record] = await memory.components.store.get(ADA, [memory_id])
    return record


async def test_a_memory_that_was_compared_before_is_not_read_again(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, read = memory.components.store, list[str]()
    get = store.get

    async def noted(scope: Scope, ids: Sequence[str], *, deleted: bool = False) -> list[MemoryRecord]:
        read.extend(ids)
        return await get(scope, ids, deleted=deleted)

    green = await told(memory, "I like green tea")
    black = await told(memory, "I like black tea")
    monkeypatch.setattr(store, "get", noted)
    await told(memory, "I like white tea")
    assert green not in read
    assert black in read
    read.clear()
    await memory.update(green, "likes green tea from Uji")
    read.clear()
    await told(memory, "I like red tea")
    assert green in read
    assert black not in read


async def test_what_was_said_of_a_memory_since_it_was_compared_stays(memory: AsyncMemory, clock: ManualClock) -> None:
    green = await told(memory, "I like green tea", "m1")
    await told(memory, "I like black tea")
    clock.advance(timedelta(days=30))
    await memory.feedback(green, "corrected")
    weaker = await kept(memory, green)
    assert weaker.strength < 1
    assert await told(memory, "I like green tea", "m2") == green
    now = await kept(memory, green)
    assert now.provenance.source_ids == ("m1", "m2")
    assert (now.strength, now.growth) == (weaker.strength, weaker.growth)
