"""The reader in recall: it orders the best candidates, gives scores their meaning, and says when nothing answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from ebbing import AsyncMemory
from ebbing.testing.models.reader import FakeReader
from ebbing.wiring.build import build

pytestmark = pytest.mark.anyio

NOTES = ("the red bicycle stands in the cellar", "a red bicycle was in the film", "rain again")


def about_the_cellar(_question: str, memory: str) -> float:
    return 0.9 if "cellar" in memory else 0.02


@asynccontextmanager
async def memory_with(answer: Callable[[str, str], float], *, is_failing: bool = False) -> AsyncIterator[AsyncMemory]:
    reader = FakeReader(answer=answer, is_failing=is_failing)
    async with AsyncMemory(components=build(path=None, embedder="none", reader=reader)) as memory:
        for note in NOTES:
            await memory.add(note, user_id="ines", infer=False)
        yield memory


@pytest.fixture(autouse=True)
def _in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EBBING_STORE", "ephemeral")


async def test_the_memory_that_answers_comes_first() -> None:
    async with memory_with(lambda _question, text: 0.9 if "film" in text else 0.02) as memory:
        found = await memory.search("red bicycle", user_id="ines")
        assert "film" in found["results"][0]["memory"]


async def test_a_score_stands_for_the_probability_of_answering() -> None:
    async with memory_with(about_the_cellar) as memory:
        first, second, *_ = (await memory.search("red bicycle", user_id="ines"))["results"]
        assert first["score"] > 0.9
        assert second["score"] < 0.2


async def test_scores_fall_along_the_order_also_where_the_reader_prefers_a_later_row() -> None:
    async with memory_with(lambda _question, text: 0.2 + len(text) % 7 / 20) as memory:
        for number in range(1, 12):
            await memory.add("bicycle " * (number % 4) + "red " * number, user_id="ines", infer=False)
        results = (await memory.search("red bicycle", user_id="ines", top_k=10))["results"]
        scores = [result["score"] for result in results]
        assert len(set(scores)) > 1
        assert scores == sorted(scores, reverse=True)


async def test_an_answer_names_what_the_reader_said_of_it() -> None:
    async with memory_with(about_the_cellar) as memory:
        first, *_ = (await memory.search("red bicycle", user_id="ines", explain=True))["results"]
        assert first["retriever_scores"]["reader"] == 0.9
        assert "the reader thinks it likely that it answers (0.90)" in first["why"]


async def test_a_precise_search_is_silent_where_nothing_answers() -> None:
    async with memory_with(lambda _question, _memory: 0.04) as memory:
        assert (await memory.search("red bicycle", user_id="ines", precise=True))["results"] == []


async def test_a_precise_search_asks_the_reader_for_more_in_chinese() -> None:
    async with memory_with(lambda _question, _memory: 0.17) as memory:
        await memory.add("红色的自行车在地下室", user_id="ines", infer=False)
        assert (await memory.search("red bicycle", user_id="ines", precise=True))["results"]
        assert (await memory.search("红色的自行车在哪", user_id="ines", precise=True))["results"] == []


async def test_a_precise_search_gives_what_answers_alone() -> None:
    async with memory_with(about_the_cellar) as memory:
        (only,) = (await memory.search("red bicycle", user_id="ines", precise=True))["results"]
        assert "cellar" in only["memory"]


async def test_a_reader_that_fails_costs_its_say_and_no_answer() -> None:
    async with memory_with(about_the_cellar, is_failing=True) as memory:
        found = await memory.search("red bicycle", user_id="ines")
        assert len(found["results"]) >= 2
        assert "reader" in found["failed_retrievers"]


async def test_a_short_message_is_read_with_what_was_said_before_it() -> None:
    seen: list[str] = []

    def note(_question: str, text: str) -> float:
        seen.append(text)
        return 0.5

    talk = [
        {
            "role": "user",
            "name": "Ann",
            "content": "when does the bicycle shop open?",
            "timestamp": "2026-05-01T09:00:00+00:00",
        },
        {"role": "user", "name": "Tom", "content": "at ten", "timestamp": "2026-05-01T09:01:00+00:00"},
        {"role": "user", "name": "Tom", "content": "bicycle soon", "timestamp": "2026-05-02T09:01:00+00:00"},
        {"role": "user", "name": "Tom", "content": f"bicycle {'long ' * 20}", "timestamp": "2026-05-02T09:02:00+00:00"},
    ]
    async with memory_with(note) as memory:
        await memory.add(talk, user_id="tom", infer=True)
        await memory.search("at what hour does the bicycle shop open, at ten?", user_id="tom")
    assert "Tom: at ten (when does the bicycle shop open?)" in seen
    assert "Tom: bicycle soon" in seen, "what was said a day before is another talk"
    assert any(text.startswith("Tom: bicycle long") and "(" not in text for text in seen)


async def test_a_question_that_leans_is_read_with_what_its_speaker_said_before_it() -> None:
    reader = FakeReader(answer=lambda _question, text: 0.9 if "film" in text else 0.02)
    turns = [
        {"role": "user", "content": "we talked about that red bicycle"},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "where was it again?"},
    ]
    async with AsyncMemory(components=build(path=None, embedder="none", reader=reader)) as memory:
        for note in NOTES:
            await memory.add(note, user_id="ines", infer=False)
        answer = await memory.get_context(messages=turns, user_id="ines")
        await memory.search("where was the red bicycle?", user_id="ines")
    relevant = [item for item in answer["memories"] if item["group"] == "relevant"]
    assert "film" in max(relevant, key=lambda item: item["score"])["memory"]
    assert reader.before == ["we talked about that red bicycle", ""]
