"""Rates of requests that one process counts."""

from __future__ import annotations

import pytest

from ebbing.adapters.system.request_rates import InProcessRequestRates

pytestmark = pytest.mark.anyio


class Seconds:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_a_minutes_worth_passes_at_once_and_the_rest_steadily() -> None:
    seconds = Seconds()
    rates = InProcessRequestRates(6, seconds)
    assert [await rates.take("t", "ada") for _ in range(7)] == [0] * 6 + [10]
    assert await rates.take("t", "bob") == 0
    assert await rates.take("other", "ada") == 0
    seconds.now = 10.0
    assert [await rates.take("t", "ada") for _ in range(2)] == [0, 10]


async def test_no_limit_lets_everything_pass() -> None:
    rates = InProcessRequestRates(0, Seconds())
    assert {await rates.take("t", "ada") for _ in range(1_000)} == {0}


async def test_of_many_callers_those_with_full_buckets_are_forgotten() -> None:
    seconds = Seconds()
    rates = InProcessRequestRates(6, seconds)
    for number in range(10_000):
        await rates.take("t", str(number))
    seconds.now = 30.0
    assert [await rates.take("t", "ada") for _ in range(7)] == [0] * 6 + [10]
    await rates.take("t", "bob")
    assert [await rates.take("t", "ada"), len(rates._buckets)] == [10, 2]
