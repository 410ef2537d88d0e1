"""A question for what is known under an attribute finds the facts that hold it, in either language."""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from ebbing import AsyncMemory
from ebbing.language.signals.asked_for import topic_of
from ebbing.recall.scores import lift
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings
from tests.unit.recall.conversation_log import START

pytestmark = pytest.mark.anyio

PEANUTS = "User is allergic to peanuts"
FISH = "User cannot eat fish"


@pytest.fixture
async def memory() -> AsyncIterator[AsyncMemory]:
    """Nobody of whom anything is known, without an embedder: words of the other language share nothing."""
    settings = load_settings({"store": "ephemeral", "embedder": "none"})
    opened = AsyncMemory(components=build(settings, embedder=None, clock=ManualClock(START)))
    yield opened
    await opened.close()


async def precise(memory: AsyncMemory, question: str) -> list[str]:
    return [item["memory"] for item in (await memory.search(question, user_id="ada", precise=True))["results"]]


@pytest.mark.parametrize("question", ["她不能吃什么？", "我不能吃什么", "她有什么忌口吗？", "What must she not eat?"])
async def test_what_somebody_must_not_eat_is_found_among_allergies_and_diets(
    memory: AsyncMemory, question: str
) -> None:
    await memory.add("I live in Leeds, and I'm allergic to peanuts. I can't eat fish.", user_id="ada")
    found = await precise(memory, question)
    assert {PEANUTS, FISH} <= set(found)
    assert "User lives in Leeds" not in found


async def test_a_question_for_allergies_leaves_out_what_is_only_not_eaten(memory: AsyncMemory) -> None:
    await memory.add("I'm allergic to peanuts. I can't eat fish.", user_id="ada")
    assert await precise(memory, "她对什么过敏？") == [PEANUTS]


@pytest.mark.parametrize("question", ["她不能吃什么？", "她对什么过敏？", "有什么忌口吗"])
async def test_a_question_for_an_attribute_that_nobody_knows_stays_unanswered(
    memory: AsyncMemory, question: str
) -> None:
    await memory.add("I live in Leeds. My sister is allergic to nuts. I work as a nurse.", user_id="ada")
    assert await precise(memory, question) == []


async def test_the_allergy_of_somebody_else_is_no_answer_about_the_person(memory: AsyncMemory) -> None:
    await memory.add("I'm allergic to peanuts. My sister is allergic to walnuts.", user_id="ada")
    assert await precise(memory, "我对什么过敏？") == [PEANUTS]


@given(
    st.sampled_from(["妹妹", "爸爸", "猫", "小雨", "同事"]),
    st.sampled_from(["{}不能吃什么？", "我{}对什么过敏", "{}有什么忌口"]),
)
def test_a_question_about_somebody_else_asks_for_nothing_of_the_person(who: str, form: str) -> None:
    assert topic_of(form.format("我")) or "我{" in form
    assert topic_of(form.format(who)) is None


@pytest.mark.parametrize(
    ("topic", "questions"),
    [
        ("allergy", ["Which medicine am I allergic to?", "我对哪种药过敏？"]),
        ("medicine", ["What medicine must I not take?", "我不能吃什么药？"]),
        ("name", ["What is my name?", "我叫什么名字？"]),
        ("birthday", ["When was I born?", "我的生日是几月几号？"]),
        ("age", ["How old am I?", "我今年多大了？"]),
        ("hometown", ["Where am I originally from?", "我老家在哪里？"]),
        ("home", ["Where do I live now?", "我住在哪个城市？"]),
        ("address", ["What's my address?", "我的地址是什么？"]),
        ("job", ["What do I do for a living?", "我是做什么工作的？"]),
        ("employer", ["Which company do I work for?", "我在哪里上班呢？"]),
        ("blood type", ["What's my blood type?", "我是什么血型？"]),
    ],
)
def test_a_question_of_no_doubt_names_the_attribute_it_asks_for(topic: str, questions: list[str]) -> None:
    assert [found and found.name for found in map(topic_of, questions)] == [topic] * len(questions)


@pytest.mark.parametrize(
    "question",
    [
        "What is my sister's job?",
        "Where does my brother live?",
        "我弟弟住哪里？",
        "Who do I live with?",
        "我朋友今年多大？",
    ],
)
def test_a_question_for_the_attribute_of_somebody_else_asks_for_none_of_the_person(question: str) -> None:
    assert topic_of(question) is None


@given(arrays(np.float64, 6, elements=st.floats(-50, 50)), st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5)))
def test_a_fact_that_answers_stands_level_with_the_best_however_far_scores_spread(
    total: NDArray[np.float64], facts: set[int], admitted: set[int]
) -> None:
    answering, mask = (np.isin(np.arange(6), sorted(rows)) for rows in (facts, admitted))
    lifted = total + lift(total, answering, mask=mask, min_points=0)
    assert (lifted[~answering] == total[~answering]).all()
    if (answering & mask).any():
        assert lifted[answering & mask].max() >= total[mask].max() - 1e-9


async def test_a_fact_that_answers_comes_before_a_crowd_of_rows_that_share_the_question(memory: AsyncMemory) -> None:
    await memory.add("I work as a nurse.", user_id="ada")
    crowd = [f"For a living I could do {thing}, what do I know" for thing in ("gardens", "maps", "films", "bread")]
    for text in crowd * 3:
        await memory.add(text, user_id="ada", infer=False)
    found = await memory.search("What do I do for a living?", user_id="ada", top_k=3)
    assert any("nurse" in item["memory"] for item in found["results"])
