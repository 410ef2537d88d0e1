"""The worker and its jobs through the façade: it does what is due, tells of it, and is out of the way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ebbing import Memory
from ebbing.domain.errors import InvalidInputError, JobNotFoundError, ModelUnavailableError
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import MemoryEvent
from ebbing.ports.job_queue import NewJob
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.chat_model import ScriptedChatModel
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.upkeep.worker.stop_signal import Stop


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder=FakeEmbedder(), clock=ManualClock(datetime(2026, 1, 1, 12, tzinfo=UTC))) as memory:
        yield memory


def queued(memory: Memory, *jobs: NewJob) -> None:
    memory._run(lambda: memory.components.store.jobs.enqueue_all(jobs))


def test_a_worker_does_the_daily_round_of_everybody_and_those_who_listen_hear_of_it(memory: Memory) -> None:
    heard: list[MemoryEvent] = []
    memory.subscribe("schedule.daily", heard.append)
    for user in ("ada", "bob"):
        memory.add("I live in Leeds.", user_id=user)
    steps: list[dict[str, Any]] = []
    done = memory.jobs.run_worker(until_idle=True, on_progress=steps.append)
    assert done["failed"] == done["given_back"] == 0
    assert [one.scope for one in heard] == [Scope("ada"), Scope("bob")]
    assert [step["done"] for step in steps] == [1, 2, 3, 4, 5, 6, 7]
    assert (done["done"], done["waiting"]) == (7, 0)
    assert memory.jobs.list(kind="daily")["counts"]["daily"] == {"done": 3}
    assert memory.jobs.run_worker(until_idle=True)["done"] == 0


def test_a_worker_in_one_thread_is_stopped_from_another_and_serves_calls_meanwhile(memory: Memory) -> None:
    memory.add("I live in Leeds.", user_id="ada")
    stop = Stop()
    worker = threading.Thread(target=lambda: memory.jobs.run_worker(stop=stop))
    worker.start()
    assert memory.search("Where does Ada live?", user_id="ada")["results"]
    stop.set()
    worker.join(10)
    assert not worker.is_alive()


def test_what_a_model_could_not_read_is_read_by_the_worker_when_the_model_is_back(tmp_path: Path) -> None:
    clock = ManualClock()
    fact = {"text": "User lives in Leeds", "category": "fact", "message": 0, "quote": "my taxes in Leeds", "sure": True}
    model = ScriptedChatModel(ModelUnavailableError("down"), {"facts": [fact]})
    with Memory(tmp_path, embedder=FakeEmbedder(), clock=clock, chat_model=model) as memory:
        memory.add("As of last week I pay my taxes in Leeds.", user_id="ada")
        assert memory.maintenance.stats()["pending_extractions"] == {"waiting": 1, "given_up": 0}
        memory.jobs.run_worker(until_idle=True)  # it is not due yet
        assert memory.maintenance.stats()["pending_extractions"] == {"waiting": 1, "given_up": 0}
        clock.advance(timedelta(minutes=2))
        assert memory.jobs.run_worker(until_idle=True)["failed"] == 0
        assert memory.maintenance.stats()["pending_extractions"] == {"waiting": 0, "given_up": 0}
        assert "User lives in Leeds" in {item["memory"] for item in memory.get_all(user_id="ada")["results"]}


def test_jobs_are_listed_shown_and_tried_again_within_their_tenant_only(memory: Memory) -> None:
    queued(
        memory,
        NewJob("daily", "x", belongs_to=Scope("ada"), max_attempts=1),
        NewJob("daily", "y", belongs_to=Scope("eve", tenant="acme")),
    )
    [job] = memory.jobs.list()["jobs"]
    assert (job["kind"], job["state"], job["user_id"]) == ("daily", "waiting", "ada")
    assert memory.jobs.get(job["id"]) == job
    with pytest.raises(InvalidInputError, match="is waiting"):
        memory.jobs.retry(job["id"])
    for strange in (job["id"] + 1, 10**30, "1", True):
        with pytest.raises(JobNotFoundError):
            memory.jobs.get(strange)
    assert memory.jobs.list(state="dead")["jobs"] == []


@pytest.mark.parametrize("bad", [{"state": "lost"}, {"limit": 0}])
def test_a_list_of_jobs_that_is_not_put_right_is_refused(memory: Memory, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        memory.jobs.list(**bad)


def test_a_job_that_was_given_up_can_be_tried_again(memory: Memory) -> None:
    queued(memory, NewJob("daily", "x", belongs_to=Scope("ada"), max_attempts=1))
    queue = memory.components.store.jobs

    async def given_up() -> None:
        job = await queue.claim(["daily"], lease=timedelta(minutes=1))
        assert job is not None
        await queue.fail(job, "store", retry_after=timedelta(0))

    memory._run(given_up)
    [dead] = memory.jobs.list(state="dead")["jobs"]
    assert memory.jobs.retry(dead["id"])["state"] == "waiting"
    assert memory.jobs.run_worker(until_idle=True)["failed"] == 0
    assert memory.jobs.get(dead["id"])["state"] == "done"


def test_the_doctor_tells_whether_a_worker_comes_round_and_what_it_gave_up(memory: Memory) -> None:
    def upkeep() -> tuple[str, str]:
        [finding] = [one for one in memory.maintenance.diagnose()["findings"] if one["part"] == "upkeep"]
        return finding["state"], finding["detail"]

    clock = memory.components.clock
    assert isinstance(clock, ManualClock)
    assert upkeep() == ("off", "no worker has come round yet")
    memory.add("I live in Leeds.", user_id="ada")
    memory.jobs.run_worker(until_idle=True)
    assert upkeep() == ("on", "last daily round on 2026-01-01 12:00 UTC")
    clock.advance(timedelta(days=3))
    assert upkeep() == ("attention", "last daily round on 2026-01-01 12:00 UTC: is `ebbing worker` running?")
    queued(memory, NewJob("strange", "x", max_attempts=1))
    queue = memory.components.store.jobs

    async def given_up() -> None:
        job = await queue.claim(["strange"], lease=timedelta(minutes=1))
        assert job is not None
        await queue.fail(job, "store", retry_after=timedelta(0))

    memory._run(given_up)
    assert upkeep()[1].endswith("1 jobs were given up (ebbing jobs list --state dead)")
