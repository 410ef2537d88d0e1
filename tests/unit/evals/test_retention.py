"""The yardstick of the chance that a memory is needed again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from ebbing.domain.forgetting.usage_model import UsageFeatures, UsageModel
from ebbing.upkeep.fading.usage_model import Outcome
from evals.datasets import Dataset, Item, Question
from evals.forgetting.lives import lives_of
from evals.retention.replay import life_judged, year_user
from evals.retention.score import FITTED, scored, unseen_ratio
from evals.retention.watch import Judged, Said
from evals.year.talk import START

DAY = timedelta(days=1)
TRUE = UsageModel(intercept=-2.0, idle=-0.8, uses=1.5, importance=1.0, age=0.0)


def person(seed: int, *, model: UsageModel = TRUE) -> list[Judged]:
    """Somebody whose memories are needed by a model, and to whom both curves and what was learned say one half."""
    rng, judged = Random(seed), []
    for number in range(400):
        age = rng.uniform(0, 300)
        footing = UsageFeatures(rng.uniform(0, age), rng.choice([0, 0, 1, 5]), rng.random(), age)
        outcome = Outcome(str(number), footing, rng.random() < model.chance(footing))
        judged.append(Judged(Said(0.5, 0.5, 0.5), outcome))
    return judged


def test_a_fit_beats_the_constant_where_there_is_something_to_know_and_only_there() -> None:
    known = [person(seed) for seed in range(10)]
    ratio = unseen_ratio(known)
    assert ratio is not None
    assert ratio < -0.1
    chance = UsageModel(intercept=-2.0, idle=0.0, uses=0.0, importance=0.0, age=0.0)
    nothing = unseen_ratio([person(seed, model=chance) for seed in range(10)])
    assert nothing is not None
    assert abs(nothing) < 0.02


def test_nobody_is_judged_by_what_was_fitted_on_them() -> None:
    users = [person(seed) for seed in range(4)]
    figures = scored(users, seed=3)
    mixed = list(range(4))
    Random(3).shuffle(mixed)
    other = [[] if number in mixed[2:] else users[number] for number in range(4)]
    assert figures["users"] == (2, 2)
    assert figures["outcomes"][0] == sum(map(len, other))
    users[mixed[2]] = [replace(one, outcome=replace(one.outcome, was_used=True)) for one in users[mixed[2]]]
    changed = scored(users, seed=3)
    assert changed["fitted"] == figures["fitted"]
    assert changed["told"][FITTED]["log loss"] > figures["told"][FITTED]["log loss"]


def test_half_for_half_has_the_log_loss_of_a_coin() -> None:
    told = scored([person(1), person(2)], seed=1)["told"]
    assert told["power-law curve"]["log loss"] == pytest.approx(0.6931, abs=1e-4)
    assert told["power-law curve"]["Brier"] == pytest.approx(0.25)
    assert told["constant"]["ratio"] == 0.0


def test_without_enough_to_fit_on_there_is_no_ratio() -> None:
    assert unseen_ratio([person(1)[:30], person(2)[:30]]) is None
    assert unseen_ratio([[], person(2)]) is None


@pytest.mark.extended
def test_a_few_weeks_of_the_year_are_watched_through_the_store() -> None:
    judged = asyncio.run(year_user(1, days=62, seed=1, embedder="none"))
    assert len(judged) > 100
    assert 0 < sum(one.outcome.was_used for one in judged) < len(judged) / 4
    assert all(0 <= value <= 1 for one in judged for value in (one.said.exponential, one.said.power, one.said.learned))


def test_the_questions_of_a_set_are_uses_before_and_outcomes_after() -> None:
    items = tuple(
        Item(id=f"m{number}", user="u", session=f"s{number}", text=f"Crate {number} is red.", at=START + number * DAY)
        for number in range(15)
    )
    asked = tuple(
        Question(f"q{number}", "u", "What is red?", "single", (frozenset({f"m{number % 10}"}),)) for number in range(40)
    )
    [life] = lives_of(Dataset("locomo", "a set", items, asked), ["u"], answers=dict.fromkeys((q.id for q in asked), ""))
    judged = asyncio.run(life_judged(life))
    before, after = sum(one.outcome.footing.uses for one in judged), sum(one.outcome.was_used for one in judged)
    assert len(judged) == 15
    assert 10 < before < 30
    assert 5 <= after <= 10
    assert sum(one.outcome.footing.uses == 0 for one in judged) >= 5
