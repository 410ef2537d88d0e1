"""What a caller says about a recalled memory."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ebbing import AsyncMemory
from ebbing.domain.errors import InvalidInputError, MemoryNotFoundError, TooLargeError
from ebbing.domain.forgetting.curves import idle_days, retention
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.testing.clock import ManualClock

pytestmark = pytest.mark.anyio

ADA = Scope(user_id="ada")


async def added(memory: AsyncMemory, text: str, *, user_id: str = "ada") -> str:
    [result] = (await memory.add(text, user_id=user_id, infer=False))["results"]
    return str(result["id"])


async def kept(memory: AsyncMemory, memory_id: str) -> MemoryRecord:
    [record] = await memory.components.store.get(ADA, [memory_id])
    return record


@pytest.mark.parametrize("signal", ["used", "up", "POSITIVE", " Used "])
async def test_a_memory_that_was_of_use_starts_afresh(memory: AsyncMemory, clock: ManualClock, signal: str) -> None:
    memory_id = await added(memory, "likes rain")
    clock.advance(timedelta(days=30))
    assert (await memory.feedback(memory_id, signal))["counted"]
    record = await kept(memory, memory_id)
    assert (record.access_count, record.strength, idle_days(record, clock.now())) == (1, 1.0, 0)


@pytest.mark.parametrize("signal", ["ignored", "down", "NEGATIVE", "VERY_NEGATIVE"])
async def test_other_signals_do_not_reinforce(memory: AsyncMemory, signal: str) -> None:
    memory_id = await added(memory, "likes rain")
    before = await kept(memory, memory_id)
    await memory.feedback(memory_id, signal, reason="  no longer ")
    assert await kept(memory, memory_id) == before
    [told] = (await memory.components.store.usage.usage(ADA, memory_id)).feedback
    assert told.reason == "no longer"


async def test_a_memory_that_was_corrected_fades_faster(memory: AsyncMemory, clock: ManualClock) -> None:
    memory_id = await added(memory, "likes rain")
    clock.advance(timedelta(days=5))
    before = await kept(memory, memory_id)
    await memory.feedback(memory_id, "corrected", recall_id="r1")
    after = await kept(memory, memory_id)
    assert retention(after, clock.now()) < retention(before, clock.now())
    assert after.strength < before.strength
    await memory.feedback(memory_id, "corrected", recall_id="r1")
    assert await kept(memory, memory_id) == after


async def test_a_repeated_call_counts_once_for_its_answer(memory: AsyncMemory) -> None:
    memory_id = await added(memory, "likes rain")
    counted = [
        (await memory.feedback(memory_id, "used", recall_id=answer))["counted"] for answer in ("r1", "r1", "r2", None)
    ]
    assert counted == [True, False, True, True]
    assert (await kept(memory, memory_id)).access_count == 3


async def test_feedback_about_somebody_elses_memory_is_refused(memory: AsyncMemory) -> None:
    memory_id = await added(memory, "likes rain")
    for user, known in (("bob", memory_id), (None, "unknown"), ("ada", "unknown")):
        with pytest.raises(MemoryNotFoundError):
            await memory.feedback(known, "used", user_id=user)
    assert (await kept(memory, memory_id)).access_count == 0


async def test_unusable_feedback_is_refused(memory: AsyncMemory) -> None:
    memory_id = await added(memory, "likes rain")
    with pytest.raises(InvalidInputError, match="used, ignored, corrected, up, down"):
        await memory.feedback(memory_id, "liked")
    with pytest.raises(InvalidInputError, match="recall_id"):
        await memory.feedback(memory_id, "used", recall_id=" ")
    with pytest.raises(TooLargeError, match="reason"):
        await memory.feedback(memory_id, "down", reason="x" * 1_001)
    with pytest.raises(InvalidInputError, match="memory_id"):
        await memory.feedback("", "used")


async def test_an_answer_credits_the_memories_that_it_was_made_with(memory: AsyncMemory) -> None:
    sister = await added(memory, "Her sister Lin moved to Suzhou in 2021")
    job = await added(memory, "She works as a nurse at the children's hospital")
    results = [await memory.get(sister), await memory.get(job)]
    found = {"results": results, "recall_id": "r1"}
    for _ in range(2):
        credited = await memory.attribute_usage(
            "Lin has lived in Suzhou since 2021.", found, question="Where is my sister?"
        )
        assert credited == {"used": [sister]}
    assert (await kept(memory, sister)).access_count == 1
    assert (await kept(memory, job)).access_count == 0


async def test_memories_that_went_meanwhile_are_not_credited(memory: AsyncMemory) -> None:
    memory_id = await added(memory, "Her sister Lin moved to Suzhou")
    found = [await memory.get(memory_id)]
    assert await memory.attribute_usage("Lin is in Suzhou", found, user_id="bob") == {"used": []}
    await memory.delete(memory_id, hard=True)
    assert await memory.attribute_usage("Lin is in Suzhou", found) == {"used": []}


@pytest.mark.parametrize("found", [[{"id": "x"}], ["x"], 7, {"results": [None]}])
async def test_credit_takes_what_search_returns_and_nothing_else(memory: AsyncMemory, found: object) -> None:
    with pytest.raises(InvalidInputError, match="what search returned"):
        await memory.attribute_usage("Lin is in Suzhou", found)  # type: ignore[arg-type]
