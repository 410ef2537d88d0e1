"""How the upkeep learns from an owner's log how likely a memory is needed again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

import pytest

from ebbing.domain.forgetting.usage_model import DEFAULT_USAGE_MODEL, UsageFeatures, UsageModel
from ebbing.domain.memory.feedback import Feedback, Signal
from ebbing.domain.memory.record import MemoryRecord
from ebbing.upkeep.fading.usage_model import MIN_OUTCOMES, Outcome, fit, learn, outcomes, usage_model_of
from tests.unit.upkeep.house import ADA, DAY, START, House

TRUE = UsageModel(intercept=-1.0, idle=-0.8, uses=1.5, importance=1.0, age=0.2)


def drawn(model: UsageModel, *, count: int, seed: int = 1) -> list[Outcome]:
    """Memories that are needed with the chances of a model."""
    rng = Random(seed)
    found = []
    for number in range(count):
        age = rng.uniform(0, 300)
        footing = UsageFeatures(rng.uniform(0, age), rng.choice([0, 0, 0, 1, 2, 5]), rng.random(), age)
        found.append(Outcome(str(number), footing, rng.random() < model.chance(footing)))
    return found


def mean_miss(model: UsageModel, found: Sequence[Outcome]) -> float:
    """How far the chances lie from those of the true model, on average."""
    return sum(abs(model.chance(one.footing) - TRUE.chance(one.footing)) for one in found) / len(found)


def test_what_is_fitted_comes_near_to_the_truth() -> None:
    model = fit(drawn(TRUE, count=20_000), before=DEFAULT_USAGE_MODEL)
    assert model is not None
    unseen = drawn(TRUE, count=2_000, seed=2)
    assert mean_miss(model, unseen) < 0.02 < mean_miss(DEFAULT_USAGE_MODEL, unseen)


def test_little_is_learned_from_little_and_the_surer_one_was_the_less() -> None:
    found = drawn(TRUE, count=200)
    loosely, firmly = (fit(found, before=DEFAULT_USAGE_MODEL, sureness=sureness) for sureness in (1.0, 1_000.0))
    assert loosely is not None
    assert firmly is not None
    assert abs(firmly.uses - DEFAULT_USAGE_MODEL.uses) < 0.1 < abs(loosely.uses - DEFAULT_USAGE_MODEL.uses)


@pytest.mark.parametrize("was_used", [True, False])
def test_outcomes_of_one_kind_teach_nothing(was_used: bool) -> None:
    assert (
        fit([replace(one, was_used=was_used) for one in drawn(TRUE, count=1_000)], before=DEFAULT_USAGE_MODEL) is None
    )


@pytest.mark.parametrize("rare", [True, False])
def test_too_few_outcomes_of_one_kind_teach_nothing_and_enough_do(rare: bool) -> None:
    others = [replace(one, was_used=not rare) for one in drawn(TRUE, count=500)]
    few = [replace(one, was_used=rare) for one in drawn(TRUE, count=MIN_OUTCOMES)]
    assert fit([*others, *few[1:]], before=DEFAULT_USAGE_MODEL) is None
    assert fit([*others, *few], before=DEFAULT_USAGE_MODEL) is not None
    assert fit([], before=DEFAULT_USAGE_MODEL) is None


def test_what_would_become_likelier_with_time_is_fitted_without_time() -> None:
    rising = UsageModel(intercept=-4.0, idle=1.0, uses=0.0, importance=0.0, age=0.0)
    model = fit(drawn(rising, count=3_000), before=DEFAULT_USAGE_MODEL)
    assert model is not None
    assert (model.idle, model.age) == (0.0, 0.0)


# ── the log ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def use(house: House, record: MemoryRecord, *, day: float, signal: Signal = Signal.USED) -> None:
    at = START + day * DAY
    await house.store.usage.tell(ADA, Feedback(record.id, signal, f"{at:%j %H}", at))


async def found_at(house: House, day: float, *, until: float) -> dict[str, Outcome]:
    found = await outcomes(house.store, ADA, at=START + day * DAY, until=START + until * DAY)
    return {one.memory_id: one for one in found}


@pytest.mark.anyio
async def test_a_memory_is_judged_as_it_stood_then_by_what_came_after() -> None:
    house = House()
    tea = await house.said("She drinks tea.", importance=0.7)
    cat = await house.said("Her cat is called Momo.", day=5)
    later = await house.said("She moved to Leeds.", day=20)
    for day in (4, 8, 15, 60):
        await use(house, tea, day=day)
    await use(house, cat, day=12, signal=Signal.IGNORED)
    found = await found_at(house, 10, until=40)
    assert found[tea.id] == Outcome(tea.id, UsageFeatures(2, 2, 0.7, 10), was_used=True)
    assert found[cat.id] == Outcome(cat.id, UsageFeatures(5, 0, 0.5, 5), was_used=False)
    assert later.id not in found
    assert not (await found_at(house, 16, until=46))[tea.id].was_used


@pytest.mark.anyio
async def test_used_and_praised_in_one_answer_is_one_use() -> None:
    house = House()
    tea = await house.said("She drinks tea.")
    await use(house, tea, day=3)
    await use(house, tea, day=3, signal=Signal.UP)
    assert (await found_at(house, 2, until=32))[tea.id].footing.uses == 0
    assert (await found_at(house, 10, until=40))[tea.id].footing.uses == 1


@pytest.mark.anyio
async def test_what_was_merged_since_was_of_use_if_that_was_which_tells_it() -> None:
    house = House()
    for day in (0, 1, 2):
        await house.said("She buys coffee at the corner shop every morning.", day=day)
    before = set(await found_at(house, 10, until=40))
    await house.merge(now=START + 11 * DAY)
    [merged] = await house.active()
    assert merged.id not in before
    await use(house, merged, day=12)
    after = await found_at(house, 10, until=40)
    assert set(after) == before
    assert all(one.was_used for one in after.values())


async def owner_who_needs_what_matters(house: House, *, last_day: int) -> None:
    """Of 120 memories those that matter are used again and again, up to a day."""
    for number in range(120):
        record = await house.said(f"Thing number {number} is on shelf {number + 7}.", importance=number / 120)
        if number >= 90:
            for day in range(5 + number % 7, last_day, 9):
                await use(house, record, day=day)


async def learned_on(house: House, day: int, *, dry_run: bool = False) -> int:
    now: datetime = START + timedelta(days=day)
    return (await learn(house.deps, ADA, now=now, dry_run=dry_run)).counts["learned"]


@pytest.mark.anyio
async def test_an_owners_own_log_is_learned_from_once_in_thirty_days() -> None:
    house = House()
    await owner_who_needs_what_matters(house, last_day=60)
    assert await usage_model_of(house.store, ADA) == DEFAULT_USAGE_MODEL
    assert await learned_on(house, 60, dry_run=True) == 1
    assert await usage_model_of(house.store, ADA) == DEFAULT_USAGE_MODEL
    assert await learned_on(house, 60) == 1
    learned = await usage_model_of(house.store, ADA)
    assert learned != DEFAULT_USAGE_MODEL
    assert [await learned_on(house, day) for day in (60, 61, 89)] == [0, 0, 0]
    assert await usage_model_of(house.store, ADA) == learned
    often, never = UsageFeatures(9, 5, 0.9, 60), UsageFeatures(60, 0, 0.3, 60)
    assert learned.chance(often) > 0.8
    assert learned.chance(never) < 0.1


@pytest.mark.anyio
async def test_without_any_feedback_what_is_usual_goes_on() -> None:
    house = House()
    await owner_who_needs_what_matters(house, last_day=0)
    assert await learned_on(house, 60) == 0
    assert await usage_model_of(house.store, ADA) == DEFAULT_USAGE_MODEL


@pytest.mark.anyio
async def test_what_is_kept_is_what_was_learned_to_a_hundredth() -> None:
    house = House()
    await owner_who_needs_what_matters(house, last_day=60)
    now = START + 60 * DAY
    expected = fit(await outcomes(house.store, ADA, at=now - 30 * DAY, until=now), before=DEFAULT_USAGE_MODEL)
    await learned_on(house, 60)
    kept = await usage_model_of(house.store, ADA)
    assert expected is not None
    assert kept.coefficients == pytest.approx(expected.coefficients, abs=0.005)
