"""Owners above `EBBING_VECTOR_INDEX_FROM`: found by an index of vectors, with the answers that all rows would give."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from anyio import to_thread

from ebbing import AsyncMemory
from ebbing.domain.errors import ConfigurationError, VectorIndexError
from ebbing.domain.memory.scope import Scope
from ebbing.ports.memory_store import Insert
from ebbing.ports.vector_index import COMPLETE, VectorIndex, VectorRoom, follower_name
from ebbing.testing.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings
from tests.large_owner import ADA, TEXTS, fill, records

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(find_spec("usearch") is None, reason="usearch is not installed"),
]

QUESTIONS = [
    "which train goes to Harbin on the 117th day",
    "what did the gardener plant beside wall 23",
    "谁在第 90 天买了茶叶",
    "the recipe with plums number 400",
]


def opened(folder: Path, embedder: FakeEmbedder | None = None, **settings: Any) -> AsyncMemory:
    values = {"path": folder, "vector_index": "usearch", "vector_index_from": 1_000, **settings}
    return AsyncMemory(components=build(load_settings(values), embedder=embedder or FakeEmbedder(64)))


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[AsyncMemory]:
    async with opened(tmp_path) as memory:
        await fill(memory.components.store)
        assert await follower(memory).build(ADA.owner)
        yield memory


def follower(memory: AsyncMemory) -> Any:
    assert memory.components.vectors is not None
    return memory.components.vectors.follower


def index_of(memory: AsyncMemory) -> VectorIndex:
    assert memory.components.vectors is not None
    return memory.components.vectors.candidates.index


async def idle(memory: AsyncMemory) -> None:
    """Wait until the index is built."""
    thread = follower(memory)._thread
    if thread is not None:
        await to_thread.run_sync(thread.join, 30)


async def answers(memory: AsyncMemory, question: str) -> list[str]:
    return [item["memory"] for item in (await memory.search(question, user_id="ada", top_k=10))["results"]]


async def all_answers(memory: AsyncMemory, question: str) -> list[str]:
    """The answers where every row is scored."""
    parts = memory.components.vectors
    assert parts is not None
    parts.candidates.min_rows, usual = 10**9, parts.candidates.min_rows
    try:
        return await answers(memory, question)
    finally:
        parts.candidates.min_rows = usual


async def count(memory: AsyncMemory) -> int:
    standing = await memory.components.store.outbox.standing(name_of(memory), ADA.owner, limit=9)  # type: ignore[union-attr]
    assert standing is not None
    return await index_of(memory).count(VectorRoom("default", standing.partition, "fake-64", 64))


def name_of(memory: AsyncMemory) -> str:
    return follower_name(index_of(memory), "fake-64", dim=64)


async def test_a_large_owner_gets_the_answers_that_all_rows_would_give(memory: AsyncMemory) -> None:
    assert await count(memory) == len(TEXTS)
    shared = []
    for question in QUESTIONS:
        exact = await all_answers(memory, question)
        near = await answers(memory, question)
        assert near[0] == exact[0]
        shared.append(len(set(near) & set(exact)) / 10)
    assert np.mean(shared) >= 0.8


async def test_a_memory_is_found_by_the_search_after_it(memory: AsyncMemory) -> None:
    for text in ("the spare key hangs behind the blue clock", "备用钥匙挂在蓝色的钟后面"):
        await memory.add(text, user_id="ada", infer=False)
        assert (await answers(memory, text))[0] == text


async def test_the_index_follows_what_changed(memory: AsyncMemory) -> None:
    [gone] = (await memory.search(TEXTS[3], user_id="ada", top_k=1))["results"]
    await memory.delete(gone["id"], user_id="ada")
    added = await memory.add("a lighthouse keeper waved", user_id="ada", infer=False)
    assert added["results"]
    assert TEXTS[3] not in await answers(memory, TEXTS[3])
    assert await follower(memory).catch_up()
    assert await count(memory) == len(TEXTS)
    assert TEXTS[3] not in await answers(memory, TEXTS[3])
    assert (await answers(memory, "a lighthouse keeper waved"))[0] == "a lighthouse keeper waved"


async def test_an_erasure_reaches_the_index(memory: AsyncMemory, tmp_path: Path) -> None:
    [gone] = (await memory.search(TEXTS[5], user_id="ada", top_k=1))["results"]
    await memory.delete(gone["id"], user_id="ada", hard=True)
    assert await count(memory) == len(TEXTS) - 1
    await memory.delete_all(user_id="ada")
    assert not list((tmp_path / "vectors").rglob("*.usearch"))
    assert await answers(memory, QUESTIONS[0]) == []


async def test_a_small_owner_is_not_indexed_and_sees_nothing_of_a_large_one(memory: AsyncMemory) -> None:
    await memory.add(TEXTS[3], user_id="bob", infer=False)
    results = (await memory.search(TEXTS[3], user_id="bob"))["results"]
    assert [item["memory"] for item in results] == [TEXTS[3]]


async def test_a_narrow_question_is_answered_by_every_row(memory: AsyncMemory) -> None:
    await memory.add("the captain sleeps in cabin nine", user_id="ada", run_id="voyage", infer=False)
    found = await memory.search("a recipe with plums, number 3", user_id="ada", run_id="voyage")
    assert [item["memory"] for item in found["results"]] == ["the captain sleeps in cabin nine"]
    for filters in ({"created_at": {"lte": "2024-01-01T00:10:00+00:00"}}, {"role": {"eq": "user"}}):
        narrow = await memory.search("plums", user_id="ada", filters=filters, top_k=5)
        parts = memory.components.vectors
        assert parts is not None
        parts.candidates.min_rows, usual = 10**9, parts.candidates.min_rows
        exact = await memory.search("plums", user_id="ada", filters=filters, top_k=5)
        parts.candidates.min_rows = usual
        assert [item["id"] for item in narrow["results"]] == [item["id"] for item in exact["results"]]


async def test_a_question_about_a_time_finds_what_was_said_then(memory: AsyncMemory) -> None:
    question = "what was said on 2 January 2024?"
    assert (await answers(memory, question))[0] in (await all_answers(memory, question))[:3]


class BrokenIndex:
    """An index whose server is down."""

    name = "usearch"

    def __init__(self, error: Exception) -> None:
        self.error, self.calls = error, 0

    async def search(self, room: VectorRoom, vector: Any, *, limit: int) -> Any:
        self.calls += 1
        if isinstance(self.error, TimeoutError):
            await anyio.sleep(5)
        raise self.error

    async def delete(self, partition: str, seqs: Any = None) -> None:
        raise self.error


@pytest.mark.parametrize("error", [VectorIndexError("start it"), TimeoutError()], ids=["down", "slow"])
async def test_an_index_that_is_down_or_slow_costs_no_answer_and_is_left_alone(
    memory: AsyncMemory, *, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    parts = memory.components.vectors
    assert parts is not None
    exact, broken = await all_answers(memory, QUESTIONS[0]), BrokenIndex(error)
    parts.candidates.index = broken  # type: ignore[assignment]
    for _ in range(3):
        assert await answers(memory, QUESTIONS[0]) == exact
    assert broken.calls == 1
    assert "vector index failed" in caplog.text


async def test_an_erasure_says_what_an_index_that_is_down_still_holds(memory: AsyncMemory) -> None:
    [gone] = (await memory.search(TEXTS[5], user_id="ada", top_k=1))["results"]
    index, follower(memory)._index = index_of(memory), BrokenIndex(VectorIndexError("start it"))
    receipt = await memory.delete(gone["id"], user_id="ada", hard=True)
    assert not await memory._context.scrub()
    assert receipt is not None
    follower(memory)._index = index
    await memory.maintenance.run(user_id="bob")
    assert await count(memory) == len(TEXTS) - 1


@pytest.mark.skipif(find_spec("qdrant_client") is None, reason="qdrant-client is not installed")
async def test_the_doctor_says_whether_the_index_answers(tmp_path: Path) -> None:
    async with opened(tmp_path, vector_index="qdrant", vector_index_url="http://127.0.0.1:9") as memory:
        findings = (await memory.maintenance.diagnose())["findings"]
    [finding] = [finding for finding in findings if finding["part"] == "index"]
    assert finding["state"] == "attention"
    assert "check EBBING_VECTOR_INDEX_URL" in finding["detail"]


async def test_an_index_that_lost_rows_is_built_again(memory: AsyncMemory) -> None:
    exact = await all_answers(memory, QUESTIONS[0])
    await index_of(memory).clear()
    assert await answers(memory, QUESTIONS[0]) == exact
    await idle(memory)
    assert await memory.components.store.mark(ADA, name_of(memory)) == COMPLETE
    assert await count(memory) == len(TEXTS)


async def test_the_first_search_of_a_large_owner_has_the_index_built(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await fill(memory.components.store)
        exact = await answers(memory, QUESTIONS[1])
        await idle(memory)
        assert await count(memory) == len(TEXTS)
        assert (await answers(memory, QUESTIONS[1]))[0] == exact[0]


async def test_an_index_from_before_is_used_after_a_restart_and_lacks_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await fill(memory.components.store)
        assert await follower(memory).build(ADA.owner)
        await memory.add("the ferry leaves at noon", user_id="ada", infer=False)
    async with opened(tmp_path) as memory:
        await memory.search("warm", user_id="ada")
        assert (await answers(memory, "the ferry leaves at noon"))[0] == "the ferry leaves at noon"
        await idle(memory)
        assert await count(memory) == len(TEXTS) + 1


async def test_another_model_gets_an_index_of_its_own(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await fill(memory.components.store)
        assert await follower(memory).build(ADA.owner)
    embedder = FakeEmbedder(32)
    async with opened(tmp_path, embedder) as memory:
        store = memory.components.store
        await fill(store, Scope(user_id="bob"), embedder=embedder)
        assert await follower(memory).build(Scope(user_id="bob").owner)
        outbox = store.outbox
        assert outbox is not None
        assert await outbox.followers() == [follower_name(index_of(memory), "fake-32", dim=32)]
        [file] = (tmp_path / "vectors").rglob("*.usearch")
        assert file.parent.name.endswith("_32")


async def test_persons_who_are_merged_are_found_together(memory: AsyncMemory) -> None:
    store = memory.components.store
    bob = Scope(user_id="bob")
    await store.write(
        bob, [Insert(*pair) for pair in records(bob, ["the violin stands in the attic"], FakeEmbedder(64))]
    )
    await memory.identities.merge("ada", "bob")
    assert (await answers(memory, "the violin stands in the attic"))[0] == "the violin stands in the attic"
    assert await follower(memory).catch_up()
    assert await count(memory) == len(TEXTS) + 1


def kill_a_writer(folder: Path, seconds: float) -> None:
    """Have a process write and build, and kill it in the middle."""
    command = [sys.executable, "-m", "tests.large_owner", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        time.sleep(seconds)
        child.send_signal(signal.SIGKILL)


@pytest.mark.extended
async def test_a_relay_that_is_killed_again_and_again_loses_nothing(tmp_path: Path) -> None:
    rounds = int(os.environ.get("EBBING_TEST_KILLS", "6"))
    drawn = np.random.default_rng(11)
    async with opened(tmp_path) as memory:
        await fill(memory.components.store)
    for _ in range(rounds):
        await to_thread.run_sync(kill_a_writer, tmp_path, float(drawn.uniform(0.02, 0.6)))
    async with opened(tmp_path) as memory:
        store = memory.components.store
        store.use_model(FakeEmbedder(64))
        with anyio.fail_after(30):
            # The lease of the one who was killed is given back: nobody waits five minutes here.
            for job in await store.jobs.list(kind="vector_index"):
                await store.jobs.release(job)
            assert await follower(memory).build(ADA.owner)
        shard = await store.shard(ADA)
        assert await count(memory) == int(shard.embedded.sum())
        assert await store.verify() == []


async def test_a_store_in_ram_has_no_index() -> None:
    with pytest.raises(ConfigurationError, match="store on disk"):
        build(load_settings({"store": "ephemeral", "vector_index": "usearch"}))
