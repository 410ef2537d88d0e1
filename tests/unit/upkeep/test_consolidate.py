"""What has earned it moves from the short to the long term."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ebbing.domain.forgetting.stages import MIN_IMPORTANCE
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Layer, MemoryType
from ebbing.ports.stores.memory_store import Revise
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.upkeep.fading.active_records import importances, load_active
from ebbing.upkeep.fading.consolidate import consolidate
from tests.unit.upkeep.house import ADA, NOW, START, House

pytestmark = pytest.mark.anyio

TEXTS = [f"My cousin number {at} lives in a house with {at} rooms near Leeds." for at in range(20)]


async def house(**fields: Any) -> House:
    made = House(embedder=FakeEmbedder(32))
    for at, text in enumerate([*TEXTS, "Hello!", "Thanks, that is kind of you!"]):
        await made.said(text, day=at % 3, layer=Layer.SHORT_TERM, importance=at / 22, **fields)
    return made


async def test_of_what_is_known_of_a_person_the_most_important_moves() -> None:
    there = await house(type=MemoryType.SEMANTIC)
    here = await load_active(there.store, ADA, now=NOW)
    weighed = importances(here, policy=there.deps.policy, calibration=FakeEmbedder.calibration, now=NOW)
    wanted = {one.id for one, share in zip(here.records, weighed, strict=True) if share >= MIN_IMPORTANCE}
    assert 0 < len(wanted) < len(TEXTS)
    report = await consolidate(there.deps, ADA, now=NOW)
    assert report.counts == {"consolidated": len(wanted)}
    assert {one.id for one in await there.active() if one.layer is Layer.LONG_TERM} == wanted
    assert (await consolidate(there.deps, ADA, now=NOW)).counts == {"consolidated": 0}


async def test_what_happened_moves_by_uses_alone_however_important() -> None:
    there = await house()
    [first, *_] = await there.active()
    used = replace(first, access_count=2, version=first.version + 1)
    assert (await consolidate(there.deps, ADA, now=NOW)).counts == {"consolidated": 0}
    await there.store.write(ADA, [Revise(used, Event.NONE)])
    assert (await consolidate(there.deps, ADA, now=NOW)).counts == {"consolidated": 1}


async def test_a_dry_run_names_them_and_moves_none() -> None:
    there = await house(type=MemoryType.FACT)
    report = await consolidate(there.deps, ADA, now=NOW, dry_run=True)
    assert len(report.changes) == len(TEXTS) + 2
    assert all(one.layer is Layer.SHORT_TERM for one in await there.active())
    assert (await consolidate(there.deps, ADA, now=START)).counts == {"consolidated": 0}
