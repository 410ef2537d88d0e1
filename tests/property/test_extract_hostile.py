"""No string breaks the extraction, or keeps it busy."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.remember.extraction.rule_extractor import extract
from tests.examples import examples

NOW = datetime(2026, 5, 6, 10, tzinfo=UTC)
PIECES = [
    *(
        "I",
        "my sister",
        "we",
        "am",
        "do not",
        "never",
        "really ",
        "like ",
        "live in ",
        "allergic to ",
        "and ",
        ", ",
        "because ",
    ),
    *(
        "我",
        "我妈妈",
        "不",
        "没有",
        "特别",
        "喜欢",
        "住在",
        "对",
        "过敏",
        "，",
        "。",
        "但是",
        "每天",
        "明天",
        "的",
        "了",
        "和",
    ),
    *(
        '"',
        "'",
        "“",
        "”",
        "```",
        "<memory>",
        "【记忆",
        "[shares",
        "(",
        ")",
        "\n",
        "\x00",
        "\ud800",
        "🙂",
        "?",
        "...",
        "？",
        " ",
    ),
]
REPEATED = [
    *(
        "I like " + "really " * 700,
        "I am " + "a " * 2000,
        "I " * 2000,
        "my " * 1300,
        "my sister's " * 330,
        "not " * 1000,
    ),
    *(
        "我" * 4000,
        "我很" * 2000,
        "不" * 4000,
        "我喜欢，" * 1000,
        "的" * 4000,
        "我对" * 2000,
        "每天" * 2000,
        "我妈妈的" * 1000,
    ),
    *(
        '"' * 4000,
        "'I' " * 1000,
        "“我" * 2000,
        "```" * 1300,
        "<memory>" * 500,
        "【记忆】\n- a\n" * 400,
        "[shares " * 500,
    ),
    *(
        " " * 4000,
        "," * 4000,
        "(" * 4000,
        "a" * 4000,
        "a." * 2000,
        "1" * 4000,
        "\n> " * 1300,
        "I am " + "x" * 390,
        "\u200d" * 4000,
    ),
    *(
        "I have " + "a b " * 98,
        "my " + "very " * 78 + "is",
        "I want to " + "go to " * 60,
        "on " * 130 + "I",
        "我" + "和" * 399,
    ),
    *(
        "I like " + "a, " * 120 + "and b",
        "我喜欢" + "一、" * 190,
        "我的" + "名字" * 190,
        "是的" * 190 + "我",
        "I am " + "not " * 98,
    ),
]


def seconds(text: str) -> float:
    """Processor time: a busy machine stretches the time on the clock, which is no fault of the extraction."""
    started = time.thread_time()
    extract([Message("Do you like it?", Role.ASSISTANT), Message(text)], now=NOW, agent_facts=True)
    return time.thread_time() - started


@pytest.fixture(scope="module", autouse=True)
def warmed_up() -> None:
    seconds("I like tea. 我明天去北京")


@pytest.mark.parametrize("text", REPEATED, ids=range(len(REPEATED)))
def test_repetition_is_read_within_a_second(text: str) -> None:
    assert seconds(text) < 1


@settings(max_examples=examples(300), suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(PIECES), max_size=120).map("".join))
def test_no_mixture_of_words_breaks_the_extraction(text: str) -> None:
    assert seconds(text) < 1


@settings(max_examples=examples(200), suppress_health_check=list(HealthCheck))
@given(st.text(max_size=600))
def test_no_text_breaks_the_extraction(text: str) -> None:
    assert seconds(text) < 1
