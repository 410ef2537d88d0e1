"""What somebody answers is kept with what was asked: never alone, and never what a game, a quiz or a joke asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ebbing.language.text.quotation import is_answer, quoted_words
from ebbing.memory import AsyncMemory
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings
from tests.examples import examples

PLAIN: Final = (
    ("Are you allergic to anything?", "peanuts", "User is allergic to peanuts"),
    ("Where do you live?", "Leeds", "User lives in Leeds"),
    ("What do you do for work?", "plumber", "User works as a plumber"),
    ("What's your wife's name?", "Anna", "User's wife's name is Anna"),
    ("How many siblings do you have?", "three brothers", "User has three brothers"),
    ("你对什么过敏？", "花生", "用户对花生过敏"),
    ("你住在哪里？", "成都", "用户住在成都"),
    ("你吃辣吗？", "不吃", "用户不吃辣"),
    ("你老婆叫什么？", "李梅", "用户的老婆叫李梅"),
    ("你有孩子吗？", "一个女儿，六岁", "用户有一个女儿六岁"),
)
NEEDS_ITS_QUESTION: Final = (
    ("Which medicine do you take for it?", "levothyroxine, 75"),
    ("What size shoes do you take?", "EU 44, wide"),
    ("What are you training for?", "the leeds half in october"),
    ("你孩子多大了？", "老大7岁,老二刚满3岁"),
    ("你老板有什么爱好？", "钓鱼，还喜欢喝普洱"),
)
IN_JEST: Final = (
    ("Which company makes the Corolla?", "toyota"),
    ("What is the capital of Peru?", "Lima"),
    ("Where do you live?", "on the internet"),
    ("What's your name?", "guess"),
    ("《红楼梦》的作者是谁？", "曹雪芹"),
    ("你住在哪里？", "地球"),
)
GAMES: Final = (
    ("let's play D&D, you're my DM", "What is your name, traveller?", "Vex"),
    ("roleplay: you're a doctor, I'm a patient", "Do you have any allergies?", "penicillin"),
    ("我们玩跑团吧", "你叫什么名字？", "叶孤城"),
    ("你来当面试官，我来面试", "你住在哪里？", "深圳"),
)
FOR_ANOTHER: Final = (
    ("I'm filling in a passport form for my mum", "Date of birth?", "4 June 1951"),
    ("booking a check-up for my dad", "Any allergies?", "penicillin"),
    ("帮我爸订个体检", "有什么慢性病吗？", "高血压"),
    ("给我女儿填报名表", "对什么过敏？", "花生"),
)
SMALL_TALK: Final = [("what is 3 + 4?", "It is 7."), ("capital of Norway", "Oslo."), ("thanks", "You are welcome.")]
NOW: Final = datetime(2026, 11, 20, 12, tzinfo=UTC)

few = settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])


async def known_after(
    turns: Sequence[tuple[str, str]], *, at_once: bool, forgets: str | None = None, pause: timedelta = timedelta(0)
) -> list[str]:
    """Return what is known after a talk of user and assistant, turn by turn; `forgets` is the id of a message.

    Messages have the ids m0, m1 …; `pause` lies before the last turn.
    """
    clock = ManualClock(NOW)
    async with AsyncMemory(components=build(load_settings({"store": "ephemeral"}), clock=clock)) as memory:
        spoken = [
            {"role": role, "content": text}
            for turn in turns
            for role, text in zip(("user", "assistant"), turn, strict=True)
        ]
        messages = [{**message, "id": f"m{number}"} for number, message in enumerate(spoken)]
        calls = [messages] if at_once else [messages[place : place + 2] for place in range(0, len(messages), 2)]
        for number, call in enumerate(calls):
            clock.set(NOW + timedelta(minutes=number) + (pause if number == len(calls) - 1 else timedelta(0)))
            await memory.add(call, user_id="ada")
        if forgets is not None:
            await memory.delete(source_id=forgets, user_id="ada")
        return [item["memory"] for item in (await memory.get_all(user_id="ada"))["results"]]


def talk(question: str, answer: str, *, is_running: bool, first: str = "hi") -> list[tuple[str, str]]:
    """Return a talk in which the assistant asks and the user answers, perhaps after small talk."""
    return [*(SMALL_TALK if is_running else []), (first, question), (answer, "Noted.")]


@few
@given(st.sampled_from(PLAIN), st.booleans(), st.booleans())
@example(PLAIN[0], True, False)
@example(PLAIN[5], True, False)
def test_a_plain_answer_is_told_as_a_fact(told: tuple[str, str, str], is_running: bool, at_once: bool) -> None:
    question, answer, wanted = told
    known = asyncio.run(known_after(talk(question, answer, is_running=is_running), at_once=at_once))
    assert wanted in known


@few
@given(st.sampled_from(NEEDS_ITS_QUESTION), st.booleans(), st.booleans())
def test_what_no_rule_reads_is_quoted_with_its_question(told: tuple[str, str], is_running: bool, at_once: bool) -> None:
    question, answer = told
    known = asyncio.run(known_after(talk(question, answer, is_running=is_running), at_once=at_once))
    assert len(known) == 1
    assert is_answer(known[0])
    assert (quoted_words(known[0]) or "").startswith(f"{question} ")


@few
@given(st.sampled_from(IN_JEST), st.booleans(), st.booleans())
def test_a_quiz_and_a_joke_tell_nothing(told: tuple[str, str], is_running: bool, at_once: bool) -> None:
    assert asyncio.run(known_after(talk(*told, is_running=is_running), at_once=at_once)) == []


@few
@given(st.sampled_from(GAMES), st.booleans())
def test_what_is_said_in_a_game_tells_nothing_in_later_calls_either(told: tuple[str, str, str], at_once: bool) -> None:
    first, question, answer = told
    assert asyncio.run(known_after(talk(question, answer, is_running=False, first=first), at_once=at_once)) == []


@few
@given(st.sampled_from(FOR_ANOTHER), st.booleans(), st.booleans())
@example(FOR_ANOTHER[2], False, False)
def test_what_a_form_asks_for_somebody_else_is_not_the_speakers(
    told: tuple[str, str, str], is_running: bool, at_once: bool
) -> None:
    first, question, answer = told
    known = asyncio.run(known_after(talk(question, answer, is_running=is_running, first=first), at_once=at_once))
    assert not any(answer in memory for memory in known)


def test_a_question_of_the_day_before_is_not_answered_any_more() -> None:
    turns = talk("Where do you live?", "Leeds", is_running=False)
    assert "User lives in Leeds" not in asyncio.run(known_after(turns, at_once=False, pause=timedelta(days=1)))


@pytest.mark.parametrize(("question", "answer"), NEEDS_ITS_QUESTION[:1])
def test_an_answer_goes_with_the_message_that_asked(question: str, answer: str) -> None:
    turns = talk(question, answer, is_running=False)
    assert len(asyncio.run(known_after(turns, at_once=False))) == 1
    assert asyncio.run(known_after(turns, at_once=False, forgets="m1")) == []


@pytest.mark.anyio
async def test_a_question_of_another_agent_is_not_answered() -> None:
    async with AsyncMemory(components=build(load_settings({"store": "ephemeral"}))) as memory:
        asked = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Where do you live?"}]
        answer = [{"role": "user", "content": "Leeds"}, {"role": "assistant", "content": "Noted."}]
        await memory.add(asked, user_id="ada", agent_id="coach")
        await memory.add(answer, user_id="ada", agent_id="cook")
        assert (await memory.get_all(user_id="ada"))["results"] == []
