"""A store in two languages: what is said in the other one can share no words with the question, and is found."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing import AsyncMemory
from ebbing.ports.models.embedder import Vectors
from ebbing.recall.recall_settings import RecallSettings
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings
from tests.unit.recall.conversation_log import START, answers, asked, log

pytestmark = pytest.mark.anyio

CONCEPTS = (
    ("peanut", "花生", "坚果"),
    ("Leeds", "利兹", "住"),
    ("cello", "大提琴", "乐器"),
    ("brother", "弟弟"),
    ("passport", "护照"),
    ("Thursday", "周四"),
)
CHINESE = ("我弟弟在学做面包", "我的护照明年到期", "我周四去上陶艺课", "我不知道晚上该做什么")
ENGLISH = ("I am allergic to peanuts.", "I moved to Leeds in March.", "I practise the cello at night.")


class Concepts(FakeEmbedder):
    """Knows a few things under their names in both languages; all else is far from them."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = 0.4 * super().embed(texts)
        for row, text in enumerate(texts):
            for place, names in enumerate(CONCEPTS):
                vectors[row, place] += any(name in text for name in names)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-9), dtype=np.float32)


@pytest.fixture
async def memory() -> AsyncIterator[AsyncMemory]:
    """A person who says some things in Chinese and others in English."""
    settings = load_settings({"store": "ephemeral", "embedder": "none"})
    memory = AsyncMemory(components=build(settings, embedder=Concepts(), clock=ManualClock(START)))
    for text in (*CHINESE, *ENGLISH):
        await memory.add(text, user_id="ada", infer=False)
    yield memory
    await memory.close()


async def found(memory: AsyncMemory, question: str, **how: Any) -> list[str]:
    return [item["memory"] for item in (await memory.search(question, user_id="ada", **how))["results"]]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("我不能吃什么坚果？", ENGLISH[0]),
        ("我晚上在家做什么乐器练习？", ENGLISH[2]),
        ("When does my passport end?", CHINESE[1]),
    ],
)
async def test_the_answer_in_the_other_language_stands_above_rows_that_share_a_character(
    memory: AsyncMemory, question: str, answer: str
) -> None:
    assert (await found(memory, question))[0] == answer


@pytest.mark.parametrize(("question", "answer"), [("我不能吃什么坚果？", ENGLISH[0]), ("Which passport?", CHINESE[1])])
async def test_a_precise_question_finds_its_answer_across_languages(
    memory: AsyncMemory, question: str, answer: str
) -> None:
    assert await found(memory, question, precise=True) == [answer]


@pytest.mark.parametrize("question", ["做人的道理呢", "明天有雨么", "Who won the match?"])
async def test_a_precise_question_about_nothing_known_gets_nothing_for_one_shared_character(
    memory: AsyncMemory, question: str
) -> None:
    assert await found(memory, question, precise=True) == []


chinese = st.text(st.sampled_from("我你在吃住学做花生茶课家雨山水"), min_size=1, max_size=12)
english = st.lists(st.sampled_from("tea rain home cello paint nuts walk".split()), min_size=1, max_size=6).map(" ".join)


@given(
    st.one_of(
        st.tuples(st.lists(chinese, min_size=1, max_size=9), chinese),
        st.tuples(st.lists(english, min_size=1, max_size=9), english),
    )
)
def test_a_store_of_the_question_s_language_is_ranked_as_if_there_were_no_other(said: tuple[list[str], str]) -> None:
    texts, question = said
    with_weight, without = (
        answers(log(*texts), asked(question), recall_settings=RecallSettings(other_language_weight=weight))
        for weight in (9.0, 0.0)
    )
    assert with_weight == without
