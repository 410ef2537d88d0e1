"""The recall of a chat front-end, as its users meet it: what was said on one day is there when it is needed on another.

A: a clear question. B: a question that only its conversation explains. C: one that only a rewrite makes searchable.
In Chinese and in English, with a model-free embedder and with the one that ships.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ebbing.assistant import inject, rank_offers, tastes_of
from ebbing.domain.memory.scope import Scope
from ebbing.language.signals.preferences import mentions
from ebbing.sync import Memory
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.testing.models.rewriter import FakeQueryRewriter

DAY = timedelta(days=1)
START = datetime(2024, 5, 8, 20, tzinfo=UTC)


@dataclass(frozen=True)
class Script:
    """The same story in one language."""

    allergy: str
    sleepless: str
    others: tuple[str, ...]
    dinner: str
    dishes: tuple[str, ...]
    safe: str
    seafood: str
    slept: str
    context: tuple[str, str]
    different: str
    small_talk: tuple[str, str]
    rewritten: str


ZH = Script(
    allergy="我海鲜过敏，别推荐海鲜",
    sleepless="我昨晚失眠了，一直到三点才睡着",
    others=("我叫小雨，住在杭州", "我养了一只猫叫年糕", "我喜欢科幻电影", "下个月我要去西安旅游"),
    dinner="晚饭推荐什么？",
    dishes=("清蒸大闸蟹", "番茄炒蛋", "蒜蓉粉丝扇贝"),
    safe="番茄炒蛋",
    seafood="海鲜",
    slept="失眠",
    context=("我昨晚失眠了，现在好困", "辛苦了，今天早点休息吧。"),
    different="你今天有什么不一样？",
    small_talk=("嗯嗯", "怎么啦？"),
    rewritten="结合最近对话：用户昨晚失眠，询问今天状态有何变化",
)
EN = Script(
    allergy="I'm allergic to seafood, please don't recommend seafood",
    sleepless="I had insomnia last night and lay awake until three",
    others=("My name is Sam and I live in Berlin", "I have a cat called Mochi", "I love science fiction films"),
    dinner="What would you recommend for dinner?",
    dishes=("Steamed crab", "Tomato omelette", "Garlic prawns"),
    safe="Tomato omelette",
    seafood="seafood",
    slept="insomnia",
    context=("I had insomnia last night, I am so tired now", "Sorry to hear that, rest early today."),
    different="How are you different today?",
    small_talk=("Mhm", "What is it?"),
    rewritten="Given the recent conversation: the user had insomnia last night and asks how today is different",
)

Opened = Callable[[Script], Memory]


@pytest.fixture(params=["fake", pytest.param("e5", marks=pytest.mark.slow)])
def told(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    """A memory on the day after the story was told to it."""
    clock = ManualClock(START)
    memory = Memory(tmp_path, embedder=FakeEmbedder(384) if request.param == "fake" else "e5", clock=clock)

    def tell(script: Script) -> Memory:
        for text in (*script.others, script.allergy, script.sleepless):
            memory.add(text, user_id="sam", agent_id="alpha")
            clock.advance(timedelta(minutes=5))
        clock.advance(DAY)
        return memory

    with memory:
        yield tell


def turns(*texts: str) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in zip(["user", "assistant", "user"], texts, strict=False)]


def relevant(answer: dict[str, Any]) -> list[str]:
    return [item["memory"] for item in answer["memories"] if item["group"] == "relevant"]


@pytest.mark.parametrize("script", [ZH, EN], ids=["zh", "en"])
def test_a_clear_question_finds_the_allergy_and_seafood_is_not_recommended(told: Opened, script: Script) -> None:
    memory = told(script)
    answer = memory.get_context(messages=turns(script.dinner), user_id="sam", agent_id="alpha")
    assert answer["query_strategy"] == "question"
    assert any(script.seafood in text for text in relevant(answer))

    records = memory.get_all(user_id="sam", include="memories")["results"]
    assert any(script.seafood in item["memory"] for item in records)
    tastes = tastes_of(_records(memory))
    offered = rank_offers(script.dishes, tastes, text=str, score=lambda _: 0.5)
    assert [one.item for one in offered] == [script.safe]
    assert not any(mentions(one.item, script.seafood) for one in offered)


@pytest.mark.parametrize("script", [ZH, EN], ids=["zh", "en"])
def test_a_weak_question_is_understood_by_its_conversation(told: Opened, script: Script) -> None:
    memory = told(script)
    answer = memory.get_context(messages=turns(*script.context, script.different), user_id="sam", agent_id="alpha")
    assert answer["query_strategy"] == "conversation"
    found = {item["memory"]: item["score"] for item in answer["memories"] if item["group"] == "relevant"}
    slept = max(score for text, score in found.items() if script.slept in text)
    assert all(score < slept for text, score in found.items() if script.seafood in text)


@pytest.mark.parametrize("script", [ZH, EN], ids=["zh", "en"])
def test_a_weak_question_that_its_conversation_does_not_explain_is_rewritten(told: Opened, script: Script) -> None:
    memory = told(script)
    said = turns(*script.small_talk, script.different)
    without = memory.get_context(messages=said, user_id="sam", agent_id="alpha")
    assert without["query_strategy"] == "none"
    assert relevant(without) == []

    rewriter = FakeQueryRewriter(script.rewritten)
    names: Any = {"user_name": "Sam", "char_name": "Alpha"}
    answer = memory.get_context(messages=said, user_id="sam", agent_id="alpha", rewriter=rewriter, **names)
    assert answer["query_strategy"] == "rewrite"
    assert any(script.slept in text for text in relevant(answer))
    [asked] = rewriter.requests
    assert (asked.user_name, asked.char_name, asked.user_question) == ("Sam", "Alpha", script.different)
    assert asked.recent_conversation.splitlines() == [f"Sam: {script.small_talk[0]}", f"Alpha: {script.small_talk[1]}"]

    injected = inject([{"role": "system", "content": "You are Alpha."}, *said], answer["context"])
    assert injected[0]["content"].startswith("You are Alpha.\n\n<recalled-memory>")
    assert script.slept in injected[0]["content"]
    assert injected[1:] == said


@pytest.mark.parametrize("script", [ZH, EN], ids=["zh", "en"])
def test_another_character_knows_nothing_of_it(told: Opened, script: Script) -> None:
    memory = told(script)
    answer = memory.get_context(messages=turns(script.dinner), user_id="sam", agent_id="beta")
    assert (answer["context"], answer["memories"], answer["recent_topics"]) == ("", [], [])


def _records(memory: Memory) -> list[Any]:
    """The stored records themselves, as the pure functions take them."""
    store = memory.components.store
    return list(memory._run(lambda: store.page(Scope(user_id="sam"), limit=50)).records)
