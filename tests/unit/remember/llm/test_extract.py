"""Conversations read by a model: what it says well is kept, what it says badly loses nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.errors import BadModelOutputError, ModelRefusedError, ModelUnavailableError
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.pending_extraction import WriteMode
from ebbing.domain.memory.record import MemoryType, Role
from ebbing.remember.llm.client import LlmOptions
from ebbing.remember.llm.extract import LlmExtraction, extract_with_model
from ebbing.remember.llm.write_modes import read_facts
from ebbing.testing.models.chat_model import ScriptedChatModel

pytestmark = pytest.mark.anyio

NOW = datetime(2024, 5, 1, tzinfo=UTC)


def said(*texts: str) -> list[Message]:
    """Messages of the user and the assistant in turns."""
    return [Message(text, (Role.USER, Role.ASSISTANT)[at % 2], id=f"m{at}") for at, text in enumerate(texts)]


def fact(text: str, quote: str, message: int = 0, **more: Any) -> dict[str, Any]:
    """One entry of a model's answer."""
    return {"text": text, "category": "fact", "message": message, "quote": quote, "sure": True, **more}


async def read(model: ScriptedChatModel, messages: Sequence[Message], **options: Any) -> LlmExtraction:
    return await extract_with_model(LlmOptions(model), messages, now=NOW, **options)


def texts(extraction: LlmExtraction) -> list[str]:
    return [one.text for one in extraction.facts]


async def test_a_fact_knows_its_message_its_sentence_and_who_read_it() -> None:
    model = ScriptedChatModel({"facts": [fact("User often works overtime", "always at work", category="habit")]})
    [one] = (await read(model, said("Hi! I'm always at work. And you?"))).facts
    assert one.text == "User often works overtime"
    assert (one.source, one.source_text) == (0, "I'm always at work")
    assert (one.type, one.tags, one.method) == (MemoryType.FACT, ("fact", "habit"), "llm")
    assert one.rule == "scripted extract_user.en.1"
    assert 0.5 <= one.confidence <= 0.9


async def test_chinese_is_read_with_the_chinese_prompt() -> None:
    model = ScriptedChatModel(
        {"facts": [fact("用户不喜欢咖啡", "我不喜欢咖啡", category="dislike", attribute=None, value="咖啡")]}
    )
    [one] = (await read(model, said("我不喜欢咖啡"))).facts
    assert (one.polarity, one.object, one.tags) == (-1, "咖啡", ("preference", "dislike"))
    assert one.rule == "scripted extract_user.zh.1"
    assert "长期记忆" in model.prompts[0][0].content


async def test_user_facts_come_from_user_messages_and_agent_facts_from_the_agents() -> None:
    talk = said("My favourite film is Inception. Yours?", "Mine is The Dark Knight.")
    both = {
        "facts": [
            fact("User's favourite film is Inception", "favourite film is Inception"),
            fact("Assistant's favourite film is The Dark Knight", "Mine is The Dark Knight", message=1),
        ]
    }
    of_user = await read(ScriptedChatModel(both), talk)
    of_agent = await read(ScriptedChatModel(both), talk, about="agent")
    assert [(one.text, one.about, one.source) for one in of_user.facts] == [
        ("User's favourite film is Inception", "user", 0)
    ]
    assert [(one.about, one.source) for one in of_agent.facts] == [("agent", 1)]


async def test_what_system_and_tools_say_is_not_shown_to_the_model() -> None:
    model = ScriptedChatModel()
    talk = [Message("You are Nova", Role.SYSTEM), Message("SECRET", Role.TOOL), Message("I like tea", Role.USER)]
    await read(model, talk)
    assert "Nova" not in model.prompts[0][1].content
    assert "SECRET" not in model.prompts[0][1].content


async def test_nothing_is_asked_where_nobody_of_interest_speaks() -> None:
    model = ScriptedChatModel()
    assert await read(model, [Message("Welcome!", Role.ASSISTANT)]) == LlmExtraction()
    assert model.prompts == []


async def test_a_statement_that_no_message_says_is_left_out() -> None:
    model = ScriptedChatModel(
        {"facts": [fact("User owns a yacht", "my yacht in Monaco"), fact("User likes tea", "I like tea")]}
    )
    assert texts(await read(model, said("I like tea"))) == ["User likes tea"]


async def test_a_wrong_number_or_an_inexact_quote_is_traced_to_the_right_message() -> None:
    model = ScriptedChatModel(
        {
            "facts": [
                fact("User has a dog named Rex", "I have a dog, Rex", message=99),
                fact("User moved to Leeds", "moving over to Leeds last spring", message=0),
            ]
        }
    )
    found = await read(model, said("I have a dog: Rex!", "Nice.", "We moved to Leeds in spring."))
    assert [(one.source, one.text) for one in found.facts] == [
        (0, "User has a dog named Rex"),
        (2, "User moved to Leeds"),
    ]


@pytest.mark.parametrize(
    "bad",
    [
        None,
        7,
        [],
        {},
        {"text": None},
        {"text": "  "},
        {"text": "x" * 5_000, "quote": "I like tea"},
        {"text": "Does the user like tea?", "quote": "I like tea"},
        {"text": ["User likes tea"]},
    ],
)
async def test_a_bad_entry_never_loses_the_others(bad: Any) -> None:
    model = ScriptedChatModel({"facts": [bad, fact("User likes tea", "I like tea"), bad]})
    assert texts(await read(model, said("I like tea"))) == ["User likes tea"]


@pytest.mark.parametrize(
    "odd",
    [
        {"category": "nonsense"},
        {"category": ["fact"]},
        {"type": "preference", "category": None},
        {"confidence": 10**400},
        {"confidence": float("nan")},
        {"confidence": "high"},
        {"message": True},
        {"message": "0"},
        {"quote": 3},
        {"attribute": {"a": 1}, "value": 2},
        {"attribute": "home"},
        {"sure": "perhaps"},
    ],
)
async def test_odd_fields_do_not_spoil_an_entry(odd: dict[str, Any]) -> None:
    entry = fact("User likes tea", "I like tea") | odd
    model = ScriptedChatModel(json.dumps({"facts": [entry]}))
    [one] = (await read(model, said("I like tea"))).facts
    assert 0.5 <= one.confidence <= 0.9
    assert one.attribute is None


async def test_what_the_speaker_doubts_is_less_than_sure() -> None:
    model = ScriptedChatModel({"facts": [fact("User may move", "Maybe I'll move", sure=False)]})
    [one] = (await read(model, said("Maybe I'll move"))).facts
    assert one.hedged
    assert one.confidence < 0.7


async def test_a_date_in_a_fact_says_when_it_happens() -> None:
    model = ScriptedChatModel({"facts": [fact("User flies to Rome on 2024-05-02", "fly to Rome", category="plan")]})
    [one] = (await read(model, said("I fly to Rome tomorrow"))).facts
    assert one.happens_from == datetime(2024, 5, 2, tzinfo=UTC)
    assert one.happens_to == datetime(2024, 5, 3, tzinfo=UTC)
    assert one.type is MemoryType.EPISODIC


async def test_recalled_memories_in_a_message_are_not_shown_again() -> None:
    model = ScriptedChatModel()
    text = "Relevant long-term memory:\n- User is allergic to peanuts\n\nWhat shall I cook?"
    await read(model, said(text))
    shown = model.prompts[0][1].content
    assert "peanuts" not in shown
    assert "cook" in shown


async def test_what_the_rules_found_is_suggested_to_the_model() -> None:
    model = ScriptedChatModel()
    await read(model, said("I like tea"), hints=[Fact("User likes tea", source=0)])
    assert "User likes tea" in model.prompts[0][1].content


async def test_earlier_turns_are_context_and_no_source() -> None:
    model = ScriptedChatModel({"facts": [fact("User has a sister", "I have a sister")]})
    found = await read(model, said("Her name is Jesica"), before=said("I have a sister"))
    assert '"context": true' in model.prompts[0][1].content
    assert found.facts == ()


async def test_messages_that_were_read_before_are_context_too() -> None:
    model = ScriptedChatModel(
        {"facts": [fact("User has a sister", "I have a sister"), fact("Sister is Jesica", "Jesica", message=2)]}
    )
    found = await read(model, said("I have a sister", "Oh?", "Her name is Jesica"), known_places={0, 1})
    shown = model.prompts[0][1].content
    assert '{"context": true, "role": "user", "text": "I have a sister"}' in shown
    assert '"message": 2' in shown
    assert texts(found) == ["Sister is Jesica"]


async def test_a_blank_message_is_not_shown_and_keeps_the_others_numbers() -> None:
    model = ScriptedChatModel()
    await read(model, [Message(""), Message("I like tea")])
    assert '"message": 1' in model.prompts[0][1].content
    assert '"message": 0' not in model.prompts[0][1].content


async def test_a_long_conversation_is_read_in_chunks_that_know_what_came_before() -> None:
    talk = said(*(f"This is turn {at}. " + "Words and words. " * 60 for at in range(20)))
    model = ScriptedChatModel()
    await extract_with_model(LlmOptions(model, chunk_tokens=1_500), talk, now=NOW)
    assert len(model.prompts) > 3
    shown = [turns[1].content for turns in model.prompts]
    assert all(any(f'"message": {at}' in one for one in shown) for at in range(20))
    assert '"context": true' in shown[1]


async def test_a_cut_answer_is_asked_for_again_in_halves() -> None:
    talk = said("I like tea", "Good", "I like jam", "Fine")
    model = ScriptedChatModel({"facts": [fact("User likes tea", "I like tea")]})
    model.truncated = True
    found = await read(model, talk)
    assert texts(found) == ["User likes tea"]
    assert found.failed is not None  # no half was small enough for this model
    assert (found.failed.reason, found.failed.messages) == ("answer_cut", (0, 2))
    assert len(model.prompts) == 1 + 2 + 4 - 2  # halves of halves; two of the four hold the assistant's words alone


async def test_the_callers_own_prompt_takes_the_place_of_ours() -> None:
    model = ScriptedChatModel({"facts": ["Likes tea", "Is a pilot"]})
    asking = LlmOptions(model, fact_prompt="Only list hobbies, as {'facts': []}")
    found = await extract_with_model(asking, said("I like tea and fly planes"), now=NOW)
    assert model.prompts[0][0].content == "Only list hobbies, as {'facts': []}"
    assert texts(found) == ["Likes tea", "Is a pilot"]
    assert found.facts[0].rule is not None
    assert "custom" in found.facts[0].rule


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelUnavailableError("down", retry_after_seconds=90), "model_unavailable"),
        (ModelRefusedError("no"), "model_refused"),
        (BadModelOutputError("nonsense"), "bad_model_output"),
        (OSError("broken pipe"), "model_unavailable"),
        ({"answer": 1}, None),
    ],
)
async def test_a_failed_model_is_a_value_and_names_what_was_not_read(error: Any, reason: str | None) -> None:
    found = await read(ScriptedChatModel(error), said("I like tea", "Good", "I like jam"))
    assert found.facts == ()
    if reason is None:
        assert found.failed is None  # an answer without facts says that there are none
    else:
        assert found.failed is not None
        assert (found.failed.reason, found.failed.messages) == (reason, (0, 1, 2))


async def test_a_model_that_ignores_its_time_is_given_up() -> None:
    class Sleepy(ScriptedChatModel):
        async def complete(self, messages: Any, **options: Any) -> Any:
            await anyio.sleep(60)

    began = anyio.current_time()
    asking = LlmOptions(Sleepy(), timeout_seconds=0.05)
    found = await extract_with_model(asking, said("I like tea"), now=NOW)
    assert found.failed is not None
    assert found.failed.reason == "model_timeout"
    assert anyio.current_time() - began < 3


async def test_when_the_budget_is_used_up_the_rest_is_reported_unread() -> None:
    talk = said(*(f"Turn {at}. " + "Words and words. " * 60 for at in range(8)))
    model = ScriptedChatModel({"facts": []}, delay=0.2)
    asking = LlmOptions(model, budget_seconds=0.3, chunk_tokens=500)
    found = await extract_with_model(asking, talk, now=NOW)
    assert found.failed is not None
    assert set(found.failed.messages)
    assert len(model.prompts) <= 2


async def test_a_failed_chunk_leaves_what_the_others_say() -> None:
    talk = said("I like tea. " + "Words and words. " * 60, "Good", "I like jam. " + "Words and words. " * 60)
    model = ScriptedChatModel({"facts": [fact("User likes tea", "I like tea")]}, BadModelOutputError("nonsense"))
    found = await extract_with_model(LlmOptions(model, chunk_tokens=350), talk, now=NOW)
    assert texts(found) == ["User likes tea"]
    assert found.failed is not None
    assert 2 in found.failed.messages
    assert 0 not in found.failed.messages


# ── ways of writing ──────────────────────────────────────────────────────────────────────────────────────────────────


def rules(messages: Sequence[Message]) -> list[Fact]:
    """Stands for the rules: every message that says "I like" is a fact."""
    return [
        Fact(f"User likes {one.content[7:]}", source=at, rule="like")
        for at, one in enumerate(messages)
        if one.content.startswith("I like ")
    ]


async def modes(mode: WriteMode, model: ScriptedChatModel | None, *texts: str, **options: Any) -> LlmExtraction:
    asking = None if model is None else LlmOptions(model)
    return await read_facts(mode, said(*texts), nominate=rules, llm=asking, now=NOW, **options)


async def test_rules_ask_no_model() -> None:
    model = ScriptedChatModel()
    assert texts(await modes(WriteMode.RULES, model, "I like tea")) == ["User likes tea"]
    assert model.prompts == []


async def test_without_a_model_the_rules_read() -> None:
    assert texts(await modes(WriteMode.LLM, None, "I like tea")) == ["User likes tea"]


async def test_with_a_model_the_rules_only_suggest() -> None:
    model = ScriptedChatModel({"facts": []})
    assert await modes(WriteMode.LLM, model, "I like tea") == LlmExtraction()
    assert "User likes tea" in model.prompts[0][1].content


async def test_where_the_model_fails_the_rules_stand_in_and_the_failure_is_told() -> None:
    found = await modes(WriteMode.LLM, ScriptedChatModel(ModelUnavailableError("down")), "I like tea", "Ah")
    assert texts(found) == ["User likes tea"]
    assert found.facts[0].method == "rule"
    assert found.failed is not None
    assert found.failed.messages == (0, 1)


async def test_the_agent_is_read_beside_the_user_when_asked_to() -> None:
    model = ScriptedChatModel(
        {"facts": [fact("User likes tea", "I like tea")]},
        {"facts": [fact("Assistant speaks Latin", "I speak Latin", message=1)]},
    )
    found = await modes(WriteMode.LLM, model, "I like tea", "I speak Latin", agent_facts=True)
    assert [(one.text, one.about) for one in found.facts] == [
        ("User likes tea", "user"),
        ("Assistant speaks Latin", "agent"),
    ]


async def test_a_summary_is_one_sentence_if_it_is_worth_one() -> None:
    worth = {"should_remember": True, "summary": "用户喜欢坐火车出行", "category": "preference", "confidence": 0.95}
    [one] = (await modes(WriteMode.SUMMARIZE, ScriptedChatModel(worth), "我出门都喜欢坐火车")).facts
    assert (one.text, one.confidence, one.polarity) == ("用户喜欢坐火车出行", 0.9, 1)
    assert one.rule == "scripted summarize.zh.1"
    idle = {"should_remember": False, "summary": "", "category": "fact", "confidence": 0.1}
    assert await modes(WriteMode.SUMMARIZE, ScriptedChatModel(idle), "今天天气不错") == LlmExtraction()


async def test_structured_keeps_values_of_attributes_only() -> None:
    model = ScriptedChatModel(
        {
            "facts": [
                fact("User lives in Leeds", "I live in Leeds", attribute="home", value="Leeds"),
                fact("User likes rain", "I like rain", attribute=None, value=None),
            ]
        }
    )
    [one] = (await modes(WriteMode.STRUCTURED, model, "I live in Leeds and I like rain")).facts
    assert (one.attribute, one.value) == ("home", "Leeds")


async def test_raw_takes_every_message_as_it_is() -> None:
    found = await modes(WriteMode.RAW, None, "Hello", "Hi")
    assert [(one.text, one.source, one.method) for one in found.facts] == [("Hello", 0, "raw"), ("Hi", 1, "raw")]


async def test_messages_of_impossible_times_are_read_all_the_same() -> None:
    talk = [replace(said("I like tea on 2024-05-02")[0], timestamp=datetime(1, 1, 1, tzinfo=UTC))]
    model = ScriptedChatModel({"facts": [fact("User likes tea on 2024-05-02", "I like tea")]})
    assert len((await read(model, talk)).facts) == 1
