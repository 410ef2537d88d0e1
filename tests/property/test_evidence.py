"""The evidence of every memory is a literal span of a message, however it was read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ebbing import AsyncMemory
from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.privacy.guarding.trust import TrustTier
from ebbing.remember.facts.evidence import literal_span, with_literal_evidence
from ebbing.remember.intake.screening import ScreenedMessage
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.chat_model import ScriptedChatModel
from ebbing.wiring.build import build, load_settings
from tests.examples import examples

QUESTIONS = (
    *("How many guests, and any allergies?", "Any allergies?", "What do you do?", "Do you have any pets?"),
    *("Where do you live, and how old are you?", "What is your name?", "Any food you avoid?", "Tell me more."),
    *(
        "请问几位用餐？有忌口或过敏吗？",
        "你对什么过敏吗？",
        "你叫什么名字？",
        "你住在哪里？",
        "有什么不吃的吗？",
        "嗯。",
    ),
)
ANSWERS = (
    *("12 kids", "peanuts", "a nurse", "Yes, two cats", "Boston, since 2019", "Sophie", "cooking", "no", "Yes."),
    *("四个人，都能吃", "青霉素，还有猫毛", "林小雨", "南京", "蘑菇，受不了那口感", "有的", "没有"),
    *(
        "I'm allergic to nuts. I  live there 😀 with my dog",
        "My name is “Max” (really).\nI like tea！",
        "我喜欢 喝茶～[图片]我住在上海",
    ),
    *("I have a son named Max", "not peanuts, walnuts", "actually Leeds", "不对，是南京", "my sister lives there"),
)
TURNS = st.tuples(st.sampled_from(QUESTIONS), st.sampled_from(ANSWERS) | st.text(max_size=20))
LIES = st.fixed_dictionaries(
    {
        "text": st.sampled_from(
            ("User is allergic to 12 kids", "User likes tea", "用户不吃四个人", "User lives in Boston")
        ),
        "quote": st.sampled_from(
            ("", "I am allergic to 12 kids", "I like tea", "我不吃四个人", "Boston", "cats and dogs")
        ),
        "message": st.integers(-1, 5),
        "category": st.sampled_from(("fact", "constraint", "preference")),
    }
)


async def _stored(turns: list[tuple[str, str]], **options: Any) -> tuple[list[str], list[dict[str, Any]]]:
    """The messages as they were stored, and the memories that were read from them."""
    values = {"store": "ephemeral", "embedder": "none", "write_mode": "llm" if options else "rules"}
    clock = ManualClock(datetime(2026, 5, 6, tzinfo=UTC))
    memory = AsyncMemory(components=build(load_settings(values), clock=clock, **options))
    memories: list[dict[str, Any]] = []
    try:
        for turn in turns:
            roles = zip(("assistant", "user"), turn, strict=True)
            said = [{"role": role, "content": text} for role, text in roles if text.replace("\x00", "").strip()]
            added = await memory.add(said, user_id="u", agent_id="a")
            memories += [item for item in added["results"] if "source_text" in item]
        page = await memory.get_all(user_id="u", agent_id="a", limit=1_000, include="episodes", superseded=True)
    finally:
        await memory.close()
    return [item["memory"] for item in page["results"]], memories


def _assert_literal(messages: list[str], memories: list[dict[str, Any]]) -> None:
    for item in memories:
        evidence = item["source_text"]
        assert evidence is None or any(evidence in message for message in messages), item


@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(st.lists(TURNS, min_size=1, max_size=4))
def test_evidence_that_the_rules_give_was_said_literally(turns: list[tuple[str, str]]) -> None:
    messages, memories = anyio.run(_stored, turns)
    assert all(item["source_text"] for item in memories)
    _assert_literal(messages, memories)


@settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(st.lists(TURNS, min_size=1, max_size=3), st.lists(LIES, max_size=4))
def test_a_model_that_lies_gives_no_evidence_that_was_never_said(
    turns: list[tuple[str, str]], lies: list[dict[str, Any]]
) -> None:
    model = ScriptedChatModel({"facts": lies, "decisions": []})
    _assert_literal(*anyio.run(partial(_stored, chat_model=model), turns))


@given(st.text(max_size=300), st.text(max_size=60))
def test_a_span_of_a_message_is_found_or_refused(message: str, evidence: str) -> None:
    span = literal_span(evidence, message)
    assert span is None or span in message


def test_a_fact_whose_evidence_was_never_said_is_refused() -> None:
    said = [ScreenedMessage(Message("12 kids", Role.USER), TrustTier.USER)]
    joined = Fact("User is allergic to 12 kids", source_text="I am allergic to 12 kids")
    assert with_literal_evidence([joined], said) == []
    assert with_literal_evidence([replace(joined, source_text="12 kids")], said)
