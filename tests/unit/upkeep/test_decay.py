"""What fades goes from stage to stage, and comes back on request."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ebbing import AsyncMemory
from ebbing.domain.errors import ConflictError
from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.memory.record import MemoryRecord, Stage
from ebbing.domain.memory.scope import Scope
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.upkeep.fading.active_records import importances
from ebbing.upkeep.fading.decay import decay
from ebbing.wiring.build import build, load_settings
from tests.unit.upkeep.house import NOW, START, House

pytestmark = pytest.mark.anyio

ADA = Scope(user_id="ada")
SAID = "I moved from Leeds to the town of Whitby in May, and I do not like the wind there."
TALK = [
    *("Hey, how are you? Nice to see you again!", SAID, "The weather is really nice today, is it not?"),
    "My sister Ann works as a nurse at the hospital in Denver, and she has two cats.",
    *("We talked about the film for a while, and then we went home.", "Thanks, that is kind of you!"),
]


def opened(clock: ManualClock, **settings: Any) -> AsyncMemory:
    chosen = load_settings({"store": "ephemeral", **settings})
    return AsyncMemory(components=build(chosen, clock=clock, embedder=FakeEmbedder(32)))


async def records(memory: AsyncMemory) -> dict[str, MemoryRecord]:
    page = await memory.components.store.page(ADA, limit=100, deleted=True)
    return {record.id: record for record in page.records}


async def talked(memory: AsyncMemory) -> dict[str, str]:
    texts = {}
    for text in TALK:
        [told] = (await memory.add(text, user_id="ada", infer=False))["results"]
        texts[told["id"]] = text
    return texts


async def test_where_room_is_short_texts_are_shortened_and_come_back_whole() -> None:
    clock = ManualClock()
    memory = opened(clock, owner_text_limit_bytes=120)
    texts = await talked(memory)
    clock.advance(timedelta(days=1))
    told = await memory.maintenance.apply_forgetting(user_id="ada")
    assert told["decayed"] > 0
    found = await records(memory)
    left = [record for record in found.values() if record.deleted_at is None]
    assert sum(len(record.content.encode()) for record in left) <= 120
    assert left
    assert {record.stage for record in left} <= {Stage.FULL, Stage.SHORTENED}
    assert await memory.components.store.verify() == []
    for memory_id, record in found.items():
        if record.stage is not Stage.FULL:
            assert (await memory.restore(memory_id))["memory"] == texts[memory_id]
    assert {record.stage for record in (await records(memory)).values()} == {Stage.FULL}
    assert await memory.components.store.verify() == []


async def test_a_second_run_at_the_same_time_finds_nothing_to_do() -> None:
    clock = ManualClock()
    memory = opened(clock, owner_text_limit_bytes=120)
    await talked(memory)
    clock.advance(timedelta(days=1))
    await memory.maintenance.apply_forgetting(user_id="ada")
    before = await records(memory)
    assert (await memory.maintenance.apply_forgetting(user_id="ada"))["decayed"] == 0
    assert await records(memory) == before


async def test_memories_are_weighed_against_each_other_once_a_day_whoever_asks() -> None:
    there = House(policy=UpkeepPolicy(owner_text_limit_bytes=120))
    for number, text in enumerate(TALK):
        await there.said(text, day=number)
    assert (await decay(there.deps, ADA, now=NOW, dry_run=True)).counts["decayed"] > 0
    assert (await decay(there.deps, ADA, now=NOW)).counts["decayed"] > 0
    before = await there.active()
    await there.said("The weather was really nice on that day as well, was it not?", day=90)
    for _ in range(2):
        assert (await decay(there.deps, ADA, now=NOW + timedelta(hours=1))).counts == {}
    assert (await there.active())[:-1] == before
    assert (await decay(there.deps, ADA, now=NOW + timedelta(days=400))).counts["processed"] > 0
    assert (await decay(there.deps, ADA, now=NOW + timedelta(days=2))).counts["processed"] > 0


@pytest.mark.parametrize(
    ("capacity", "days", "weighed", "fades"),
    [(9_999, 20, 0, False), (9_999, 60, 1, False), (9_999, 400, 1, True), (120, 20, 1, True), (0, 400, 1, True)],
)
async def test_memories_are_weighed_where_time_or_room_may_let_one_fade(
    capacity: int, days: int, weighed: int, *, fades: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, times = House(policy=UpkeepPolicy(owner_text_limit_bytes=capacity)), []

    def counting(*given: Any, **named: Any) -> Any:
        times.append(1)
        return importances(*given, **named)

    monkeypatch.setattr("ebbing.upkeep.fading.decay.importances", counting)
    for text in TALK:
        await there.said(text)
    report = await decay(there.deps, ADA, now=START + timedelta(days=days))
    assert len(times) == weighed
    assert bool(report.counts["decayed"]) == fades
    assert report.counts["processed"] == len(TALK)


async def test_what_was_cut_short_goes_on_on_the_same_day() -> None:
    there = House(policy=UpkeepPolicy(owner_text_limit_bytes=120))
    for number, text in enumerate(TALK):
        await there.said(text, day=number)
    write = there.store.write

    async def torn(*_: Any, **__: Any) -> list[str]:
        raise ConflictError("somebody wrote")

    there.store.write = torn  # type: ignore[method-assign]
    with pytest.raises(ConflictError):
        await decay(there.deps, ADA, now=NOW)
    there.store.write = write  # type: ignore[method-assign]
    assert (await decay(there.deps, ADA, now=NOW)).counts["decayed"] > 0


async def test_a_dry_run_tells_and_changes_nothing() -> None:
    clock = ManualClock()
    memory = opened(clock, owner_text_limit_bytes=120)
    await talked(memory)
    before = await records(memory)
    told = await memory.maintenance.apply_forgetting(user_id="ada", dry_run=True)
    assert told["decayed"] == len(told["changes"]) > 0
    assert all(change["reason"] for change in told["changes"])
    assert await records(memory) == before


async def test_what_nobody_needs_goes_by_stages_is_not_found_and_is_erased_in_the_end() -> None:
    clock = ManualClock()
    memory = opened(clock, owner_text_limit_bytes=0)
    await talked(memory)
    seen: set[Stage] = set()
    while found := await records(memory):
        seen |= {record.stage for record in found.values()}
        packed = {memory_id for memory_id, record in found.items() if record.stage is Stage.ARCHIVED}
        hits = (await memory.search("Leeds Whitby wind", user_id="ada"))["results"]
        assert packed.isdisjoint(hit["id"] for hit in hits)
        clock.advance(timedelta(days=25))
        await memory.maintenance.apply_forgetting(user_id="ada")
        assert clock.now() - ManualClock().now() < timedelta(days=40_000)
    assert seen == set(Stage)


async def test_who_somebody_is_and_what_harms_them_is_never_shortened() -> None:
    clock = ManualClock()
    memory = opened(clock, owner_text_limit_bytes=40)
    await memory.add("My name is Ada. I am allergic to peanuts.", user_id="ada")
    await talked(memory)
    clock.advance(timedelta(days=3_000))
    await memory.maintenance.apply_forgetting(user_id="ada")
    kept = [record for record in (await records(memory)).values() if record.stage is Stage.FULL]
    assert any("Ada" in record.content for record in kept)
    assert any("peanuts" in record.content for record in kept)


async def test_what_ran_out_is_deleted_comes_back_and_is_erased_after_the_grace_period() -> None:
    clock = ManualClock()
    memory = opened(clock, expire_by_type=True, owner_text_limit_bytes=0)
    [first, *_] = await talked(memory)
    await memory.maintenance.apply_forgetting(user_id="ada")
    clock.advance(timedelta(days=91))
    assert (await memory.search("Leeds", user_id="ada"))["results"] == []
    assert (await memory.maintenance.apply_forgetting(user_id="ada"))["expired"] == len(TALK)
    assert (await memory.restore(first))["id"] == first
    clock.advance(timedelta(days=31))
    assert (await memory.maintenance.apply_forgetting(user_id="ada"))["purged"] == len(TALK) - 1
    assert list(await records(memory)) == [first]
