"""Owners above `EBBING_VECTOR_INDEX_FROM`: found by an index of vectors, with the answers that all rows would give."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
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
from ebbing.ports.indexes.vector_index import COMPLETE, VectorIndex, VectorRoom, follower_name
from ebbing.ports.job_queue import NewJob
from ebbing.ports.stores.memory_store import Insert
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings
from tests.large_owner import ADA, TEXTS, fill, records
from tests.servers import ADDRESSES, emptied, needs

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


STORES = ("sqlite", *(pytest.param(name, marks=needs(name)) for name in ADDRESSES))
Place = dict[str, Any]
"""The settings of a store, and of the index beside it."""


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    store = {"path": tmp_path} if request.param == "sqlite" else {"store": emptied(request.param)}
    return {**store, "vector_index": "usearch", "vector_index_path": tmp_path / "vectors", "vector_index_from": 1_000}


def opened(place: Place, embedder: FakeEmbedder | None = None, **settings: Any) -> AsyncMemory:
    components = build(load_settings({**place, **settings}), embedder=embedder or FakeEmbedder(64))
    return AsyncMemory(components=components)


@pytest.fixture
async def memory(place: Place) -> AsyncIterator[AsyncMemory]:
    async with opened(place) as memory:
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

    def __init__(self, error: Exception, *, name: str) -> None:
        self.error, self.name, self.calls = error, name, 0

    async def search(self, room: VectorRoom, vector: Any, *, limit: int) -> Any:
        self.calls += 1
        if isinstance(self.error, TimeoutError):
            await anyio.sleep(5)
        raise self.error

    async def delete(self, partition: str, seqs: Any = None) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "why"),
    [(VectorIndexError("start it"), "start it"), (TimeoutError(), "it did not answer in time")],
    ids=["down", "slow"],
)
async def test_an_index_that_is_down_or_slow_costs_no_answer_and_is_left_alone(
    memory: AsyncMemory, *, error: Exception, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    parts = memory.components.vectors
    assert parts is not None
    exact, broken = await all_answers(memory, QUESTIONS[0]), BrokenIndex(error, name=index_of(memory).name)
    parts.candidates.index = broken  # type: ignore[assignment]
    for _ in range(3):
        assert await answers(memory, QUESTIONS[0]) == exact
    assert broken.calls == 1
    assert f"vector index failed: {why}" in caplog.text


async def test_an_erasure_says_what_an_index_that_is_down_still_holds(memory: AsyncMemory) -> None:
    [gone] = (await memory.search(TEXTS[5], user_id="ada", top_k=1))["results"]
    index = index_of(memory)
    follower(memory)._index = BrokenIndex(VectorIndexError("start it"), name=index.name)
    receipt = await memory.delete(gone["id"], user_id="ada", hard=True)
    assert not await memory._context.scrub()
    assert receipt is not None
    follower(memory)._index = index
    await memory.maintenance.run(user_id="bob")
    assert await count(memory) == len(TEXTS) - 1


@pytest.mark.skipif(find_spec("qdrant_client") is None, reason="qdrant-client is not installed")
async def test_the_doctor_says_whether_the_index_answers(place: Place) -> None:
    async with opened(place, vector_index="qdrant", vector_index_url="http://127.0.0.1:9") as memory:
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


async def test_whoever_builds_for_long_keeps_the_right_to_change_the_index(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ebbing.upkeep.repair.vector_follower.LEASE", timedelta(seconds=0.6))
    async with opened(place) as memory:
        await fill(memory.components.store)
        queue, index, claimed = memory.components.store.jobs, index_of(memory), []
        save = index.save

        async def save_slowly(*, is_complete: bool = True) -> None:
            await anyio.sleep(1.5)
            claimed.append(await queue.claim(["vector_index"], lease=timedelta(seconds=1)))
            await save(is_complete=is_complete)

        monkeypatch.setattr(index, "save", save_slowly)
        assert await follower(memory).build(ADA.owner)
        assert claimed == [None]
        assert await count(memory) == len(TEXTS)


async def test_the_first_search_of_a_large_owner_has_the_index_built(place: Place) -> None:
    async with opened(place) as memory:
        await fill(memory.components.store)
        exact = await answers(memory, QUESTIONS[1])
        await idle(memory)
        assert await count(memory) == len(TEXTS)
        assert (await answers(memory, QUESTIONS[1]))[0] == exact[0]


async def test_an_index_from_before_is_used_after_a_restart_and_lacks_nothing(place: Place) -> None:
    async with opened(place) as memory:
        await fill(memory.components.store)
        assert await follower(memory).build(ADA.owner)
        await memory.add("the ferry leaves at noon", user_id="ada", infer=False)
    async with opened(place) as memory:
        await memory.search("warm", user_id="ada")
        assert (await answers(memory, "the ferry leaves at noon"))[0] == "the ferry leaves at noon"
        await idle(memory)
        assert await count(memory) == len(TEXTS) + 1


async def test_another_model_gets_an_index_of_its_own(place: Place, tmp_path: Path) -> None:
    async with opened(place) as memory:
        await fill(memory.components.store)
        assert await follower(memory).build(ADA.owner)
    embedder = FakeEmbedder(32)
    async with opened(place, embedder) as memory:
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


@pytest.fixture
def shared_place(place: Place) -> Place:
    """A store that several machines may have, and the settings of the first."""
    if "store" not in place:
        pytest.skip("one machine alone has an embedded store")
    return place


@asynccontextmanager
async def replicas(place: Place, **settings: Any) -> AsyncIterator[tuple[AsyncMemory, AsyncMemory]]:
    """Two services at the same store, in which a large owner is."""
    async with opened(place) as one, opened(place, **settings) as other:
        await fill(one.components.store)
        other.components.store.use_model(FakeEmbedder(64))
        yield one, other


async def test_replicas_share_an_index_and_one_at_a_time_changes_it(shared_place: Place) -> None:
    async with replicas(shared_place) as (one, other):
        assert index_of(one).name == index_of(other).name
        async with follower(one)._lease():
            assert not await follower(other).build(ADA.owner)
        assert await follower(other).build(ADA.owner)
        for writer, reader, text in ((one, other, "the ferry leaves at noon"), (other, one, "the ferry was late")):
            await writer.add(text, user_id="ada", infer=False)
            assert (await answers(reader, text))[0] == text
            assert await follower(writer).catch_up()
            assert (await answers(reader, text))[0] == text
        assert await count(one) == await count(other) == len(TEXTS) + 2
        assert await one.components.store.outbox.followers() == [name_of(one)]  # type: ignore[union-attr]


async def test_each_machine_may_have_a_file_of_its_own(shared_place: Place, tmp_path: Path) -> None:
    async with replicas(shared_place, vector_index_path=tmp_path / "elsewhere") as (one, other):
        assert await follower(one).build(ADA.owner)
        assert await follower(other).build(ADA.owner)
        assert await count(one) == await count(other) == len(TEXTS)
        await one.add("the ferry leaves at noon", user_id="ada", infer=False)
        assert await follower(one).catch_up()
        assert [await count(one), await count(other)] == [len(TEXTS) + 1, len(TEXTS)]
        for memory in (one, other):
            assert (await answers(memory, "the ferry leaves at noon"))[0] == "the ferry leaves at noon"
        assert await follower(other).catch_up()
        assert await count(other) == len(TEXTS) + 1
    async with opened(shared_place) as again:
        assert name_of(again) == name_of(one)


async def test_no_changes_are_kept_for_a_machine_that_is_gone(
    shared_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ebbing.upkeep.repair.vector_follower.MOST_BEHIND", 5)
    async with replicas(shared_place, vector_index_path=tmp_path / "elsewhere") as (one, gone):
        outbox = one.components.store.outbox
        assert outbox is not None
        for memory in (one, gone):
            assert await follower(memory).build(ADA.owner)
        for number in range(6):
            await one.add(f"the ferry leaves at {number}", user_id="ada", infer=False)
            assert name_of(gone) in await outbox.followers()
            assert await follower(one).build(ADA.owner)
        assert await outbox.followers() == [name_of(one)]
        assert (await answers(gone, "the ferry leaves at 5"))[0] == "the ferry leaves at 5"
        await idle(gone)
        assert await count(gone) == len(TEXTS) + 6


async def test_a_file_beside_a_server_needs_a_directory(shared_place: Place, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="set EBBING_VECTOR_INDEX_PATH"):
        build(load_settings({**shared_place, "vector_index_path": None}), embedder=FakeEmbedder(64))
    with pytest.raises(ConfigurationError, match="can be written"):
        build(load_settings({**shared_place, "vector_index_path": tmp_path / "file"}), embedder=FakeEmbedder(64))


async def test_the_right_to_change_a_former_index_is_none(memory: AsyncMemory) -> None:
    queue = memory.components.store.jobs
    await queue.enqueue_all([NewJob("vector_index", "milvus", once=True)])
    async with follower(memory)._lease() as job, follower(memory)._lease() as second:
        assert job.key == "usearch"
        assert second is None


async def test_a_store_in_ram_has_no_index() -> None:
    with pytest.raises(ConfigurationError, match="not in RAM"):
        build(load_settings({"store": "ephemeral", "vector_index": "usearch"}))
