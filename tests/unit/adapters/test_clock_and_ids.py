"""What tells the time and names memories, for real and for tests."""

from __future__ import annotations

import os
import threading
import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from ebbing.adapters.system.machine import SystemClock, TimeOrderedIds
from ebbing.testing.clock import ManualClock
from ebbing.testing.ids import SequentialIds


def test_the_system_clock_tells_the_time_in_utc() -> None:
    before = datetime.now(UTC)
    now = SystemClock().now()
    assert before <= now <= datetime.now(UTC)
    assert now.tzinfo is UTC


def test_a_manual_clock_moves_only_when_it_is_moved() -> None:
    clock = ManualClock(datetime(2024, 2, 28, tzinfo=UTC))
    assert clock.now() == clock.now()
    assert clock.advance(timedelta(days=1)) == clock.now() == datetime(2024, 2, 29, tzinfo=UTC)
    clock.set(datetime(2020, 1, 1, tzinfo=UTC))
    assert clock.now().year == 2020


def test_an_id_is_a_uuid_of_version_seven_that_holds_the_time() -> None:
    before = time.time_ns() // 1_000_000
    name = UUID(TimeOrderedIds().new())
    assert (name.version, name.variant) == (7, "specified in RFC 4122")
    assert before <= name.int >> 80 <= time.time_ns() // 1_000_000


def test_ids_rise_within_a_process() -> None:
    ids = TimeOrderedIds()
    made = [ids.new() for _ in range(5_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_ids_of_threads_at_once_are_all_different() -> None:
    ids, made = TimeOrderedIds(), list[str]()
    threads = [threading.Thread(target=lambda: made.extend([ids.new() for _ in range(500)])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 2_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_make_its_parents_ids() -> None:
    ids, made, count = TimeOrderedIds(), list[str](), 200
    ids.new()  # what is drawn beforehand must not be given out on both sides
    for _ in range(5):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.write(writing, " ".join(ids.new() for _ in range(count)).encode())
            os._exit(0)
        made += [ids.new() for _ in range(count)]
        os.waitpid(child, 0)
        made += os.read(reading, 50 * count).decode().split()
        os.close(reading)
        os.close(writing)
    assert len(set(made)) == len(made) == 2 * 5 * count


def test_sequential_ids_can_be_foreseen() -> None:
    ids = SequentialIds()
    assert [ids.new(), ids.new()] == [f"00000000-0000-7000-8000-{number:012}" for number in (1, 2)]
