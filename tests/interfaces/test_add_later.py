"""An add that is accepted now and done by a worker: nothing accepted is lost, nothing is done twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbing.domain.errors import BlockedContentError, InvalidInputError, JobNotFoundError, StoreError
from ebbing.memory import AsyncMemory
from ebbing.sync import Memory
from ebbing.wiring.build import build, load_settings

pytestmark = pytest.mark.anyio


async def test_what_was_accepted_is_remembered_by_whoever_works(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        accepted = await memory.enqueue_add("I live in Leeds.", user_id="emma", tags=["place"], metadata={"chat": 7})
        assert (await memory.jobs.get(accepted["job_id"]))["result"] is None
        assert (await memory.get_all(user_id="emma"))["results"] == []
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        assert (await memory.jobs.run_worker(until_idle=True))["done"] >= 1
        job = await memory.jobs.get(accepted["job_id"])
        assert (job["state"], job["result"]["results"][0]["event"]) == ("done", "ADD")
        [item] = (await memory.get_all(user_id="emma"))["results"]
        assert "place" in item["tags"]
        assert item["metadata"] == {"chat": 7}


async def test_it_counts_from_when_it_was_accepted(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        await memory.enqueue_add("green tea", user_id="emma", infer=False)
        accepted_at = memory.components.clock.now()
        await memory.jobs.run_worker(until_idle=True)
        [item] = (await memory.get_all(user_id="emma"))["results"]
        assert item["created_at"] <= accepted_at.isoformat()


async def test_what_may_not_be_stored_is_not_kept_until_then_either(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        await memory.enqueue_add("Write to emma@example.org about tea", user_id="emma")
        [waiting] = await memory.components.store.requests.to_do()
        assert "REDACTED_EMAIL" in str(waiting.body)
        assert "emma@example.org" not in str(waiting.body)
        jobs = await memory.jobs.list()
        assert "tea" not in str(jobs)
    blocked = load_settings({"path": tmp_path, "embedder": "none", "redaction": {"email": "block"}})
    async with AsyncMemory(components=build(blocked)) as memory:
        with pytest.raises(BlockedContentError):
            await memory.enqueue_add("Write to emma@example.org", user_id="emma")


async def test_an_add_that_cannot_be_done_is_refused_at_once(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        for wrong in ({"mode": "llm"}, {"user_id": None}, {"metadata": {"x": object()}}, {"tags": "tea"}):
            with pytest.raises(InvalidInputError):
                await memory.enqueue_add("tea", **{"user_id": "emma", **wrong})
        assert await memory.components.store.requests.to_do() == []


async def test_a_job_that_was_never_queued_is_queued_by_the_next_worker(tmp_path: Path) -> None:
    """The process died between keeping the words and queueing the job."""
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        accepted = await memory.enqueue_add("green tea", user_id="emma", infer=False)
        [job] = await memory.components.store.jobs.list(kind="add")
        assert job.id == accepted["job_id"]
        await memory.components.store.jobs.forget_tenant("default")
        await memory.jobs.run_worker(until_idle=True)
        assert len((await memory.get_all(user_id="emma"))["results"]) == 1


async def test_done_again_it_stores_nothing_twice(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        await memory.enqueue_add(["I live in Leeds.", "I like tea."], user_id="emma")
        [request] = await memory.components.store.requests.to_do()
        await memory.jobs.run_worker(until_idle=True)
        before = await memory.maintenance.stats()
        await memory.components.store.requests.drop(request)
        await memory.components.store.requests.begin(request)  # as if the worker had died before it noted the answer
        await memory.components.store.jobs.forget_tenant("default")
        await memory.jobs.run_worker(until_idle=True)
        assert await memory.components.store.requests.to_do() == []
        after = await memory.maintenance.stats()
        assert (after["memories"], after["episodes"]) == (before["memories"], before["episodes"])


async def test_erasing_the_owner_takes_it_along_and_the_tenant_of_another_never_sees_it(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        accepted = await memory.enqueue_add("green tea", user_id="emma")
        with pytest.raises(JobNotFoundError):
            await memory.for_tenant("acme").jobs.get(accepted["job_id"])
        await memory.delete_all(user_id="emma")
        await memory.jobs.run_worker(until_idle=True)
        assert (await memory.get_all(user_id="emma", include="all"))["results"] == []


async def test_it_is_done_in_the_tenant_that_accepted_it(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        acme = memory.for_tenant("acme")
        await acme.enqueue_add("green tea", user_id="emma", infer=False)
        await memory.jobs.run_worker(until_idle=True)
        assert len((await acme.get_all(user_id="emma"))["results"]) == 1
        assert (await memory.get_all(user_id="emma"))["results"] == []


async def test_a_blocking_memory_accepts_as_well(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        accepted = memory.enqueue_add("green tea", user_id="emma", infer=False)
        memory.jobs.run_worker(until_idle=True)
        assert memory.jobs.get(accepted["job_id"])["result"]["results"][0]["memory"] == "green tea"


async def test_a_store_that_fails_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        accepted = await memory.enqueue_add("green tea", user_id="emma", infer=False)
        with monkeypatch.context() as broken:

            async def write(*args: object, **options: object) -> list[str]:
                raise StoreError("the disk is full")

            broken.setattr(memory.components.store, "write", write)
            await memory.jobs.run_worker(until_idle=True)
        job = await memory.jobs.get(accepted["job_id"])
        assert (job["state"], job["last_error"], job["result"]) == ("waiting", "store", None)
