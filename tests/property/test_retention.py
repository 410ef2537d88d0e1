"""What the chance of being needed again promises, whatever the memory and whatever was learned."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.errors import ConfigurationError
from ebbing.domain.forgetting.usage_model import DEFAULT_USAGE_MODEL, UsageFeatures, UsageModel
from ebbing.upkeep.fading.usage_model import MIN_OUTCOMES, Outcome, fit

days = st.floats(0, 1e9)
footings = st.builds(
    UsageFeatures, idle_days=days, uses=st.integers(0, 10**9), importance=st.floats(0, 1), age_days=days
)
weights = st.floats(-15, 15)
models = st.builds(UsageModel, intercept=weights, idle=st.floats(-15, 0), uses=weights, importance=weights, age=weights)
falling = models.filter(lambda model: model.falls_with_time)


@given(models, footings)
def test_a_chance_is_a_probability_and_never_certain(model: UsageModel, footing: UsageFeatures) -> None:
    assert 0 < model.chance(footing) < 1


@given(falling, footings, days)
def test_a_memory_that_is_not_used_never_becomes_likelier(
    model: UsageModel, footing: UsageFeatures, more: float
) -> None:
    footing = replace(footing, age_days=max(footing.age_days, footing.idle_days))
    later = replace(footing, idle_days=footing.idle_days + more, age_days=footing.age_days + more)
    assert model.chance(later) <= model.chance(footing) + 1e-9


@given(footings, days)
def test_the_longer_ago_the_last_use_the_less_likely_the_next(footing: UsageFeatures, more: float) -> None:
    longer_ago = replace(footing, idle_days=footing.idle_days + more)
    assert DEFAULT_USAGE_MODEL.chance(longer_ago) <= DEFAULT_USAGE_MODEL.chance(footing)


@given(footings, st.integers(0, 10**6), st.floats(0, 1))
def test_what_was_used_more_or_matters_more_is_likelier(footing: UsageFeatures, uses: int, importance: float) -> None:
    chance = DEFAULT_USAGE_MODEL.chance(footing)
    assert DEFAULT_USAGE_MODEL.chance(replace(footing, uses=footing.uses + uses)) >= chance
    assert DEFAULT_USAGE_MODEL.chance(replace(footing, importance=max(footing.importance, importance))) >= chance


@given(
    st.lists(footings, min_size=MIN_OUTCOMES, max_size=MIN_OUTCOMES + 5),
    st.lists(footings, min_size=MIN_OUTCOMES),
    models,
)
def test_whatever_was_seen_what_is_learned_is_usable_the_same_each_time_and_falls_with_time(
    used: list[UsageFeatures], unused: list[UsageFeatures], before: UsageModel
) -> None:
    found = [Outcome("m", footing, was_used=True) for footing in used]
    found += [Outcome("m", footing, was_used=False) for footing in unused]
    model = fit(found, before=before)
    assert model is not None
    assert all(map(isfinite, model.coefficients))
    assert model.falls_with_time
    assert model == fit(found, before=before)


@pytest.mark.parametrize("weight", [-15.1, 15.1, float("nan"), float("inf")])
def test_coefficients_beyond_reason_are_refused(weight: float) -> None:
    with pytest.raises(ConfigurationError, match="retention: uses"):
        replace(DEFAULT_USAGE_MODEL, uses=weight)
