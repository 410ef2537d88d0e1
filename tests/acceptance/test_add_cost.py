"""What it costs to remember a round of two messages, without vectors and without a model."""

from __future__ import annotations

import pytest

from evals.speed.rounds import rounds

ALLOWED_MS = 5.0
"""CPU of all threads. The aim is 3 on a quiet machine; a busy one takes up to twice that for the same work."""


@pytest.mark.slow
def test_remembering_a_round_costs_a_few_milliseconds_of_cpu() -> None:
    assert min(rounds()["p50_cpu_ms"] for _ in range(2)) <= ALLOWED_MS
