"""Recalled memories go into the messages for a model, and nothing else changes."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest

from ebbing.assistant.inject import format_hits, inject, shorten_block
from ebbing.domain.filters.query import Hit
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.privacy.guarding.quote import CLOSE, block
from ebbing.recall.context.usage_policy import Policy

NOW = datetime(2024, 5, 1, tzinfo=UTC)
TEA, MILK = block(["User likes tea"]), block(["User likes milk"])
ASKS = {"role": "user", "content": "What should I drink?"}
RULES = {"role": "system", "content": "You are a waiter.", "name": "house"}


def hit(text: str, score: float = 0.9) -> Hit:
    return Hit(MemoryRecord(text, Scope(user_id="u"), text, NOW, NOW), score=score, rank_score=score)


def test_the_block_follows_what_the_first_system_message_says() -> None:
    messages = [ASKS, RULES, {"role": "system", "content": "Second."}, ASKS]
    before = deepcopy(messages)
    injected = inject(messages, TEA)
    assert injected[1] == {"role": "system", "content": f"You are a waiter.\n\n{TEA}", "name": "house"}
    assert [injected[0], *injected[2:]] == [messages[0], *messages[2:]]
    assert messages == before


def test_without_a_system_message_the_block_becomes_one_in_front() -> None:
    assert inject([ASKS], TEA) == [{"role": "system", "content": TEA}, ASKS]
    assert inject([], TEA) == [{"role": "system", "content": TEA}]


def test_a_developer_message_counts_as_a_system_message() -> None:
    [first, _] = inject([{"role": "developer", "content": "Be kind."}, ASKS], TEA)
    assert first == {"role": "developer", "content": f"Be kind.\n\n{TEA}"}


@pytest.mark.parametrize("messages", [[], [ASKS], [RULES, ASKS], [{"role": "system", "content": ""}, ASKS]])
def test_injecting_again_replaces_the_earlier_block(messages: list[dict[str, Any]]) -> None:
    once = inject(messages, TEA)
    assert inject(once, TEA) == once
    assert inject(once, MILK) == inject(messages, MILK)


def test_a_blank_context_takes_the_block_out_and_leaves_the_rest() -> None:
    assert inject(inject([RULES, ASKS], TEA), "") == [RULES, ASKS]
    assert inject(inject([ASKS], TEA), " \n") == [ASKS]
    assert inject([RULES, ASKS], "") == [RULES, ASKS]


def test_words_of_the_host_around_an_earlier_block_stay() -> None:
    spoken = {"role": "system", "content": f"Before.\n\n{TEA}\nAfter."}
    assert inject([spoken], MILK)[0]["content"] == f"Before.\nAfter.\n\n{MILK}"


def test_a_block_in_the_user_s_own_words_is_left_alone() -> None:
    pasted = {"role": "user", "content": TEA}
    assert inject([RULES, pasted], MILK)[1] == pasted


def test_content_in_parts_gets_one_part_more() -> None:
    parts = {"role": "system", "content": [{"type": "text", "text": "You are a waiter."}]}
    once = inject([parts, ASKS], TEA)
    assert once[0]["content"] == [{"type": "text", "text": "You are a waiter."}, {"type": "text", "text": TEA}]
    assert inject(once, MILK)[0]["content"][1:] == [{"type": "text", "text": MILK}]
    assert inject(once, "") == [parts, ASKS]


def test_a_block_that_is_too_long_loses_its_last_memories_whole() -> None:
    long = block([f"User likes number {n}" for n in range(60)], max_chars=4_000)
    [first] = inject([], long)
    assert 1_400 < len(first["content"]) <= 1_500
    assert first["content"].endswith(f"\n{CLOSE}")
    assert set(first["content"].splitlines()) <= set(long.splitlines())
    assert shorten_block(long, 50) == ""
    assert inject([ASKS], long, max_chars=50) == [ASKS]


def test_an_injection_lists_the_best_five_that_are_good_enough() -> None:
    hits = [hit(f"fact {n}") for n in range(9)]
    text = format_hits([hit("weak", 0.29), *hits])
    assert "Relevant long-term memory:\n" in text
    assert [line for line in text.splitlines() if line.startswith("- ")] == [f"- noted: “fact {n}”" for n in range(5)]
    assert "相关长期记忆：\n" in format_hits(hits, language="zh")
    assert format_hits([hit("weak", 0.1)]) == format_hits([]) == ""


def test_an_injection_stays_within_its_characters() -> None:
    hits = [hit("x" * 299 + str(n)) for n in range(5)]
    assert len(format_hits(hits)) <= 1_200
    assert len(format_hits(hits, policy=Policy(max_chars=800))) <= 800
