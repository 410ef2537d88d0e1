"""How likely a memory is needed again is told of each, and learned from what its owner uses."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ebbing import Memory
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings

START = datetime(2026, 1, 1, tzinfo=UTC)


class Diary:
    """A memory on disk and the clock that it goes by."""

    def __init__(self, folder: Path) -> None:
        self._settings = load_settings({"path": folder, "owner_text_limit_bytes": 0, "summary_min_records": 1_000})
        self.clock = ManualClock(START)
        self.memory = self._opened()

    def _opened(self) -> Memory:
        return Memory(components=build(self._settings, embedder="none", clock=self.clock))

    def reopen(self) -> None:
        self.memory.close()
        self.memory = self._opened()

    def retention(self, memory_id: str) -> dict[str, Any]:
        told: dict[str, Any] = self.memory.explain(memory_id)["usage_probability"]
        return told

    def chance(self, memory_id: str) -> float:
        return float(self.retention(memory_id)["probability"])


@pytest.fixture
def diary(tmp_path: Path) -> Iterator[Diary]:
    made = Diary(tmp_path / "store")
    yield made
    made.memory.close()


def noted(diary: Diary, count: int) -> list[str]:
    texts = [f"Locker {number} holds parcel {number * 7 + 3}." for number in range(count)]
    return [diary.memory.add(text, user_id="emma", infer=False)["results"][0]["id"] for text in texts]


def test_the_chance_falls_while_nobody_asks_and_rises_with_a_use(diary: Diary) -> None:
    [first] = noted(diary, 1)
    fresh = diary.chance(first)
    diary.clock.set(START + timedelta(days=20))
    later = diary.chance(first)
    diary.memory.feedback(first, "used")
    used = diary.retention(first)
    assert 0 < later < fresh < used["probability"] < 1
    assert (used["horizon_days"], used["is_learned"]) == (30, False)
    assert used["features"] == {"idle_days": 0.0, "uses": 1, "importance": 0.5, "age_days": 20.0}


def test_what_is_deleted_is_told_no_chance(diary: Diary) -> None:
    [first] = noted(diary, 1)
    diary.memory.delete(first)
    assert diary.memory.explain(first)["usage_probability"] is None


def test_the_upkeep_learns_how_much_this_owner_uses_and_keeps_it(diary: Diary) -> None:
    ids = noted(diary, 60)
    diary.memory.maintenance.run()
    for day in range(1, 60):
        diary.clock.set(START + timedelta(days=day))
        for memory_id in ids[:30]:
            if day % 10 == 0:
                diary.memory.feedback(memory_id, "used")
    usual = diary.chance(ids[0])
    shown = diary.memory.maintenance.run(dry_run=True)["steps"]["retention"]
    assert shown == {"outcomes": 60, "learned": 1}
    assert not diary.retention(ids[0])["is_learned"]
    assert diary.memory.maintenance.run()["steps"]["retention"] == shown
    assert diary.memory.maintenance.run()["steps"]["retention"] == {"outcomes": 0, "learned": 0}
    diary.reopen()
    assert diary.retention(ids[0])["is_learned"]
    assert usual < 0.5 < 0.8 < diary.chance(ids[0])
    assert diary.chance(ids[59]) < 0.2


def test_a_dry_run_names_the_chance_of_what_would_fade_and_no_curve_as_a_share(diary: Diary) -> None:
    noted(diary, 3)
    changes = diary.memory.maintenance.apply_forgetting(
        user_id="emma", now=START + timedelta(days=3_000), dry_run=True
    )["changes"]
    assert changes
    for change in changes:
        assert "the chance that it is needed within 30 days is" in change["reason"]
        assert "remembered" not in change["reason"]


def test_what_was_learned_goes_with_the_owner(diary: Diary) -> None:
    test_the_upkeep_learns_how_much_this_owner_uses_and_keeps_it(diary)
    diary.memory.delete_all(user_id="emma")
    [again] = noted(diary, 1)
    assert not diary.retention(again)["is_learned"]
