"""Nothing acknowledged is lost and nothing erased comes back, whatever two processes do, and when one is killed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ebbing import Memory
from tests.acceptance.two_processes import USERS, Pair

pytestmark = pytest.mark.extended

ROUNDS = int(os.environ.get("TWO_PROCESS_ROUNDS", "1000"))
KILLS = int(os.environ.get("KILL_ROUNDS", "60"))


"""By default fewer than `make test-rounds` asks for."""


def play(directory: Path, *, rounds: int, kill_every: int, seed: int) -> None:
    """Rounds of two processes, of which one is killed now and then, and then a third that looks."""
    with Pair(directory, seed) as pair:
        for number in range(1, rounds + 1):
            pair.round(kills=bool(kill_every) and number % kill_every == 0)
        print(dict(pair.counts))
    with Memory(path=directory, embedder="none") as memory:
        assert memory.maintenance.verify() == []
        for user in USERS:
            there = {line["id"] for line in memory.export(user_id=user, limit=1_000)["records"]}
            assert there <= set(pair.model[user])
            assert len(there) == min(1_000, len(pair.model[user]))


def test_two_processes_at_random_lose_nothing_and_bring_nothing_back(tmp_path: Path) -> None:
    play(tmp_path, rounds=60, kill_every=25, seed=1)


@pytest.mark.slow
def test_thousands_of_rounds_of_two_processes_lose_nothing_and_bring_nothing_back(tmp_path: Path) -> None:
    play(tmp_path, rounds=ROUNDS, kill_every=0, seed=2)


@pytest.mark.slow
def test_hundreds_of_kills_lose_nothing_and_bring_nothing_back(tmp_path: Path) -> None:
    play(tmp_path, rounds=3 * KILLS, kill_every=3, seed=3)
