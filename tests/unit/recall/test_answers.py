"""What a search gives: repeats told once, the later value first, a cut that fits, and an answer whatever fails."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any

import anyio
import numpy as np
import pytest

from ebbing import AsyncMemory
from ebbing.api.answers.items import hit_item
from ebbing.domain.errors import EmbeddingError
from ebbing.domain.filters.query import Hit
from ebbing.domain.memory.record import MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.ports.models.embedder import Embedder, Vectors
from ebbing.recall.recall_settings import RecallSettings
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.testing.models.reranker import FakeReranker
from ebbing.wiring.build import build, load_settings
from tests.unit.recall.conversation_log import START, Said, answers, asked, log

pytestmark = pytest.mark.anyio
Item = dict[str, Any]
Opened = Callable[..., AsyncMemory]


@pytest.fixture
async def opened() -> AsyncIterator[Opened]:
    """Opens memories in RAM and closes them after the test."""
    memories: list[AsyncMemory] = []

    def open_memory(embedder: Embedder | None = None, **more: Any) -> AsyncMemory:
        settings = load_settings({"store": "ephemeral", "embedder": "none", **more.pop("settings", {})})
        components = build(settings, embedder=embedder or FakeEmbedder(), clock=ManualClock(START), **more)
        memories.append(AsyncMemory(components=components))
        return memories[-1]

    yield open_memory
    for memory in memories:
        await memory.close()


async def told(memory: AsyncMemory, *texts: str, **more: Any) -> AsyncMemory:
    turns = [
        {"role": "user", "content": text, "timestamp": START + timedelta(minutes=at)} for at, text in enumerate(texts)
    ]
    await memory.add(turns, user_id="ada", infer=False, **more)
    return memory


async def texts(memory: AsyncMemory, question: str, **more: Any) -> list[str]:
    return [item["memory"] for item in (await memory.search(question, user_id="ada", **more))["results"]]


def test_repeats_are_told_once() -> None:
    shard = log("it rained", "my rent is 900 euros", "My rent is 900 euros.", "my rent is 950 euros", "the cat slept")
    for top_k in (2, 4, 2):
        found = answers(shard, asked("how much is my rent", top_k=top_k))
        assert [(answer.row, answer.duplicates) for answer in found[:2]] in (
            [(1, (2,)), (3, ())],
            [(3, ()), (1, (2,))],
            [(2, (1,)), (3, ())],
            [(3, ()), (2, (1,))],
        )


async def test_who_changes_an_answer_changes_no_other(opened: Opened) -> None:
    memory = await told(opened(), "I like tea", metadata={"from": "a chat"})
    [first] = (await memory.search("tea", user_id="ada"))["results"]
    first["tags"].append("spoiled")
    first["source_ids"].append("spoiled")
    first["retriever_scores"]["spoiled"] = 1.0
    first["metadata"]["from"] = "spoiled"
    first["memory"] = "spoiled"
    [second] = (await memory.search("tea", user_id="ada"))["results"]
    assert (second["memory"], second["tags"], second["metadata"]) == ("I like tea", [], {"from": "a chat"})
    assert "spoiled" not in (*second["source_ids"], *second["retriever_scores"])


async def test_an_answer_given_again_is_the_same(opened: Opened) -> None:
    memory = await told(opened(), "I like tea", "tea is what Lin likes", "it rained", metadata={"from": "a chat"})
    first, second = [await memory.search("tea", user_id="ada", top_k=2) for _ in range(2)]
    assert first.pop("recall_id") != second.pop("recall_id")
    assert first == second
    third = await memory.search("rain", user_id="ada", top_k=3)
    assert {item["memory"]: item["metadata"] for item in third["results"]}["it rained"] == {"from": "a chat"}


async def test_an_answer_shows_a_change_at_the_next_question(opened: Opened) -> None:
    memory = await told(opened(), "I like tea")
    [before] = (await memory.search("tea", user_id="ada"))["results"]
    await memory.update(before["id"], metadata={"seen": 1})
    [after] = (await memory.search("tea", user_id="ada"))["results"]
    assert (before["metadata"], after["metadata"]) == (None, {"seen": 1})


def test_numbers_of_an_answer_are_rounded_to_four_places() -> None:
    record = MemoryRecord("m", Scope(user_id="ada"), "I like tea", START, START)
    for number in (*np.random.default_rng(4).uniform(-30, 30, 500).tolist(), 0.0, 1.0, 0.5, 0.03125, 1e-9, 1e6 + 1 / 3):
        assert hit_item(Hit(record, number, 0.0))["score"] == round(number, 4)


async def test_the_points_of_every_route_are_told_to_four_places(opened: Opened) -> None:
    memory = await told(opened(), "I like tea", "tea is what Lin likes")
    found = (await memory.search("tea", user_id="ada", explain=True))["results"]
    points = [value for hit in found for value in hit["retriever_scores"].values()]
    assert len(points) >= 4
    assert points == [round(value, 4) for value in points]
    assert all(value for value in points)
    assert all(hit["score_details"].items() >= hit["retriever_scores"].items() for hit in found)


WEEK = ("it rained on Monday", "the cat slept", "my saxophone lesson was good", "we ate noodles", "the bus was late")


# ── repeats are told once ────────────────────────────────────────────────────────────────────────────────────────────


async def test_equal_texts_are_told_once_and_the_others_named_behind() -> None:
    found = answers(log("I like tea", "rain", "I like tea.", "I LIKE TEA"), asked("tea"))
    assert sorted((found[0].row, *found[0].duplicates)) == [0, 2, 3]
    assert len(found) == 2


async def test_the_same_words_of_two_people_are_two_statements() -> None:
    shard = log(Said("I am vegetarian", by="Ann"), Said("I am vegetarian", by="Bob"), "rain")
    assert {answer.row for answer in answers(shard, asked("Who is vegetarian?", top_k=2))} == {0, 1}


async def test_texts_that_differ_in_a_number_are_never_told_as_one() -> None:
    statements = [f"I run {kilometres} km every single morning before work" for kilometres in range(30)]
    found = answers(log(*statements), asked("How far do I run?", top_k=50))
    assert len(found) == 30
    assert not any(answer.duplicates for answer in found)


async def test_a_log_that_repeats_itself_tells_each_thing_once() -> None:
    wordings = [
        "my saxophone lesson is with Viktor",
        "my saxophone lesson is with Viktor, yes",
        "oh, my saxophone lesson",
    ]
    wordings += [f"my saxophone lesson is with Viktor {tail}" for tail in ("now", "ok", "haha", "right", "you know")]
    others = ["the cat slept all day", "rain over the harbour again", "noodles for lunch"]
    shard = log(*(text for text in wordings for _ in range(2)), *others)
    found = answers(shard, asked("Who is my saxophone lesson with?", top_k=4))
    assert len([answer for answer in found if answer.row < 2 * len(wordings)]) < 4
    assert found[0].duplicates


async def test_a_statement_that_fills_the_whole_depth_leaves_room_for_the_others() -> None:
    others = [
        f"I like {fruit}" for fruit in ("plums", "figs", "dates", "limes", "pears", "kiwis", "melons", "cherries")
    ]
    ranked = answers(log(*["I like tea"] * 200, *others), asked("what tea do I like?", top_k=6))
    assert len(ranked) == 6


async def test_a_log_without_repeats_keeps_wordings_that_are_merely_alike() -> None:
    alike = ("my saxophone lesson is with Viktor", "oh, my saxophone lesson is with Viktor, you know")
    found = answers(log(*alike, *WEEK), asked("Who is my saxophone lesson with?"))
    assert {answer.row for answer in found[:2]} == {0, 1}


async def test_what_is_told_once_leaves_room_for_other_answers(opened: Opened) -> None:
    memory = await told(opened(), *["my saxophone lesson"] * 8, "the saxophone teacher is Viktor", "rain")
    assert len(await texts(memory, "saxophone", top_k=2)) == 2


async def test_an_answer_names_its_repeats_by_their_ids(opened: Opened) -> None:
    memory = await told(opened(), "my saxophone lesson", "rain", "My saxophone lesson.")
    [best, *_] = (await memory.search("saxophone", user_id="ada", explain=True))["results"]
    kept = {
        item["id"] for item in (await memory.get_all(user_id="ada"))["results"] if "saxophone" in item["memory"].lower()
    }
    assert {best["id"], *best["duplicate_ids"]} == kept
    assert "it was said 2 times" in best["why"].lower()


# ── the later value first ────────────────────────────────────────────────────────────────────────────────────────────


RENT = (
    "the rent of my flat is 700 euros",
    "rain",
    "snow",
    "sun",
    "the rent of my flat is 850 euros from now on, sadly",
)


async def test_of_a_value_that_was_told_twice_the_later_telling_comes_first() -> None:
    shard = log(*RENT)
    assert answers(shard, asked("how much is the rent of my flat"))[0].row == 4
    assert (
        answers(shard, asked("how much is the rent of my flat"), recall_settings=RecallSettings(newer_depth=0))[0].row
        == 0
    )


async def test_a_value_told_by_somebody_else_updates_nothing() -> None:
    early = Said("the rent of my flat is 700 euros", role=Role.USER)
    late = Said("the rent of your flat was around 650 euros in my notes of old", role=Role.ASSISTANT)
    assert answers(log(early, "rain", late), asked("How much is the rent of my flat?"))[0].row == 0


async def test_a_question_that_asks_for_no_value_keeps_the_order() -> None:
    assert answers(log(*RENT), asked("tell me about the rent of my flat"))[0].row == 0


# ── how many, how good ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_top_k_and_threshold_hold_both(opened: Opened) -> None:
    memory = await told(opened(), *WEEK)
    everything = (await memory.search("saxophone lesson", user_id="ada", top_k=50))["results"]
    assert len(everything) == len(WEEK)
    assert len(await texts(memory, "saxophone lesson", top_k=2)) == 2
    edge = everything[1]["score"]
    above = (await memory.search("saxophone lesson", user_id="ada", threshold=edge, top_k=50))["results"]
    assert [item["id"] for item in above] == [item["id"] for item in everything if item["score"] >= edge]
    assert await texts(memory, "saxophone lesson", threshold=1.0) == []


async def test_scores_fall_from_answer_to_answer_and_lie_in_0_to_1(opened: Opened) -> None:
    memory = await told(opened(), *WEEK)
    for question in ("saxophone", "the weather", "数学", "?!"):
        points = [item["score"] for item in (await memory.search(question, user_id="ada"))["results"]]
        assert points == sorted(points, reverse=True)
        assert all(0 <= score <= 1 for score in points)


async def test_a_precise_question_with_one_answer_gets_one(opened: Opened) -> None:
    memory = await told(opened(), *WEEK)
    assert await texts(memory, "my saxophone lesson", precise=True) == ["my saxophone lesson was good"]


async def test_a_precise_question_without_an_answer_gets_none(opened: Opened) -> None:
    memory = await told(opened(), *WEEK)
    assert await texts(memory, "Zürich, Quantenphysik 我的护照", precise=True) == []


async def test_the_same_search_gives_the_same_answer_again_and_in_another_process_order(opened: Opened) -> None:
    one, two = await told(opened(), *WEEK * 30), await told(opened(), *WEEK * 30)
    asked_for = "the bus and my lesson"
    assert await texts(one, asked_for) == await texts(one, asked_for) == await texts(two, asked_for)


async def test_rows_that_score_the_same_come_in_the_order_in_which_they_were_stored(opened: Opened) -> None:
    memory = opened(
        settings={"embedder": "none"}, recall_settings=RecallSettings(session_prior=0, diary_session_prior=0)
    )
    await told(memory, *[f"filler {word}" for word in ("a1", "b2", "c3", "d4", "e5", "f6", "g7")])
    everything = await texts(memory, "unrelated", top_k=7)
    assert everything[:3] == await texts(memory, "unrelated", top_k=3)


# ── the turns around ─────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_turns_around_an_answer_come_on_request_in_the_order_said(opened: Opened) -> None:
    memory = await told(opened(), *WEEK, run_id="monday")
    [best, *_] = (await memory.search(WEEK[2], user_id="ada", context_turns=1))["results"]
    assert [item["memory"] for item in best["context"]] == [*WEEK[1:4]]
    assert "context" not in (await memory.search("saxophone", user_id="ada"))["results"][0]


async def test_the_turns_around_an_answer_from_the_past_are_those_of_then(opened: Opened) -> None:
    memory = await told(opened(), *WEEK, run_id="monday")
    [cat] = [item for item in (await memory.get_all(user_id="ada"))["results"] if "cat" in item["memory"]]
    memory.components.clock.advance(timedelta(hours=1))  # type: ignore[attr-defined]
    then = memory.components.clock.now()
    memory.components.clock.advance(timedelta(hours=1))  # type: ignore[attr-defined]
    await memory.update(cat["id"], "the dog slept")
    now, past = [
        (await memory.search(WEEK[2], user_id="ada", context_turns=1, **more))["results"][0]["context"][0]["memory"]
        for more in ({}, {"as_of": then})
    ]
    assert (now, past) == ("the dog slept", "the cat slept")


async def test_a_turn_that_was_deleted_since_is_around_an_answer_from_the_past(opened: Opened) -> None:
    memory = await told(opened(), *WEEK, run_id="monday")
    [cat] = [item for item in (await memory.get_all(user_id="ada"))["results"] if "cat" in item["memory"]]
    memory.components.clock.advance(timedelta(hours=1))  # type: ignore[attr-defined]
    then = memory.components.clock.now()
    memory.components.clock.advance(timedelta(hours=1))  # type: ignore[attr-defined]
    await memory.delete(cat["id"])
    [best, *_] = (await memory.search(WEEK[2], user_id="ada", context_turns=1, as_of=then))["results"]
    assert [item["memory"] for item in best["context"]] == [*WEEK[1:4]]


# ── an answer whatever fails ─────────────────────────────────────────────────────────────────────────────────────────


class Moody(FakeEmbedder):
    """Embeds what is stored, and does as it is told with questions."""

    def __init__(self, mood: Callable[[], Awaitable[Vectors]]) -> None:
        super().__init__()
        self._mood = mood

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._mood()


async def fails() -> Vectors:
    raise EmbeddingError("the embedding endpoint answered 503: try again later")


async def hangs() -> Vectors:
    await anyio.sleep_forever()
    raise AssertionError


async def breaks() -> Vectors:
    raise RuntimeError("personal text: my saxophone")


async def gives_nothing() -> Vectors:
    return np.zeros((0, 64), np.float32)


async def gives_no_number() -> Vectors:
    return np.full((1, 64), np.nan, np.float32)


async def gives_another_size() -> Vectors:
    return np.ones((1, 7), np.float32)


MOODS = {
    fails: "the embedding endpoint answered 503: try again later",
    hangs: "the embedder was not done within 50 ms",
    breaks: "the embedder raised RuntimeError",
    gives_nothing: "the embedder gave no usable vector",
    gives_no_number: "the embedder gave no usable vector",
    gives_another_size: "the embedder gave no usable vector",
}


@pytest.mark.parametrize("mood", MOODS, ids=lambda mood: mood.__name__)
async def test_without_the_questions_vector_words_still_find_the_answer(
    opened: Opened, mood: Callable[[], Awaitable[Vectors]], caplog: pytest.LogCaptureFixture
) -> None:
    memory = await told(opened(Moody(mood), recall_settings=RecallSettings(deadline_seconds=0.05)), *WEEK)
    began = time.perf_counter()
    found = await memory.search("saxophone lesson", user_id="ada")
    assert time.perf_counter() - began < 5
    assert found["results"][0]["memory"] == WEEK[2]
    assert found["results"][0]["score"] > 0.6
    assert all(0 <= item["score"] <= 1 for item in found["results"])
    assert found["failed_retrievers"] == {"semantic": MOODS[mood]}
    assert "saxophone" not in caplog.text


async def test_an_answer_that_lost_nothing_reports_nothing_dropped(opened: Opened) -> None:
    memory = await told(opened(), *WEEK)
    assert "failed_retrievers" not in await memory.search("saxophone", user_id="ada")


class Failing(FakeEmbedder):
    """Fails while it is told to."""

    failing = True

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self.failing:
            raise EmbeddingError("the embedding endpoint answered 503: try again later")
        return await super().embed_passages(texts)


async def test_what_was_stored_while_the_embedder_failed_is_found_by_its_words(opened: Opened) -> None:
    embedder = Failing()
    memory = await told(opened(embedder), WEEK[2])
    embedder.failing = False
    await told(memory, *(f"{text}, in week {number}" for number in range(20) for text in WEEK if text != WEEK[2]))
    [best] = (await memory.search("saxophone lesson", user_id="ada", top_k=1))["results"]
    assert best["memory"] == WEEK[2]
    assert best["score"] > 0.6


async def test_without_any_embedder_words_find_the_answer_and_nothing_counts_as_dropped(opened: Opened) -> None:
    components = build(load_settings({"store": "ephemeral", "embedder": "none"}), clock=ManualClock(START))
    async with AsyncMemory(components=components) as memory:
        found = await (await told(memory, *WEEK)).search("saxophone", user_id="ada")
    assert found["results"][0]["memory"] == WEEK[2]
    assert "failed_retrievers" not in found


# ── a second opinion ─────────────────────────────────────────────────────────────────────────────────────────────────


class Contrary(FakeReranker):
    """Prefers what holds a word of its own."""

    async def rerank(self, query: str, candidates: Sequence[str]) -> list[float]:
        return [float("noodles" in text) for text in candidates]


class Broken(FakeReranker):
    """Raises what no contract names."""

    async def rerank(self, query: str, candidates: Sequence[str]) -> list[float]:
        raise RuntimeError("personal text: my saxophone")


async def test_a_reranker_of_great_weight_turns_the_order_round_and_one_of_small_weight_does_not(
    opened: Opened,
) -> None:
    firsts = []
    for weight in (0.01, 10.0):
        memory = await told(opened(reranker=Contrary(), settings={"reranker_weight": weight}), *WEEK)
        firsts.append((await texts(memory, "saxophone"))[0])
    assert firsts == [WEEK[2], WEEK[3]]


@pytest.mark.parametrize(
    ("reranker", "why"),
    [
        (FakeReranker(failing=True), "the fake reranker was told to fail"),
        (FakeReranker(seconds=30), "the reranker was not done within 20 ms"),
        (Broken(), "the reranker raised RuntimeError"),
    ],
    ids=["fails", "hangs", "breaks"],
)
async def test_without_the_second_opinion_the_first_stands(opened: Opened, reranker: FakeReranker, why: str) -> None:
    memory = await told(opened(reranker=reranker, settings={"reranker_timeout_seconds": 0.02}), *WEEK)
    found = await memory.search("saxophone", user_id="ada")
    assert found["results"][0]["memory"] == WEEK[2]
    assert found["failed_retrievers"] == {"rerank": why}


async def test_a_reranker_reads_only_what_the_caller_may_get_back(opened: Opened) -> None:
    reranker = FakeReranker()
    memory = await told(opened(reranker=reranker), *WEEK)
    await memory.add("the saxophone of Bob", user_id="bob", infer=False)
    await memory.add("the saxophone of another run", user_id="ada", run_id="other", infer=False)
    await memory.search("saxophone", user_id="ada", filters={"run_id": "other"})
    await memory.search("saxophone", user_id="ada", filters={"role": "user"})
    assert all("Bob" not in text for _, candidates in reranker.calls for text in candidates)
    assert [len(candidates) for _, candidates in reranker.calls] == [6]


def test_the_tuning_that_is_shipped_gives_words_and_vectors_each_a_say() -> None:
    assert RecallSettings().lexical_weight > 0
    assert RecallSettings().dense_weight > 0
