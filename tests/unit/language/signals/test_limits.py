"""Numbers that bound what somebody wants are read, and no others."""

from __future__ import annotations

import pytest

from ebbing.language.signals.limits import limit_pack, read_limits, strictest

EXAMPLES = limit_pack()["examples"]


@pytest.mark.parametrize(
    ("name", "statement", "value"),
    [(name, *example) for name, examples in EXAMPLES.items() if name != "none" for example in examples],
)
def test_a_limit_is_read_in_its_unit(name: str, statement: str, value: float) -> None:
    assert [(limit.name, limit.value) for limit in read_limits([statement])] == [(name, pytest.approx(value, abs=1e-3))]


@pytest.mark.parametrize("statement", EXAMPLES["none"])
def test_a_number_that_bounds_nothing_is_no_limit(statement: str) -> None:
    assert read_limits([statement]) == []


def test_the_strictest_value_of_a_limit_counts() -> None:
    limits = read_limits(["films under 2 hours", "videos under 20 minutes", "预算不超过100元"])
    assert strictest(limits) == {"max_duration": 20, "max_price": 100}
    assert limits[1].statement == "videos under 20 minutes"
