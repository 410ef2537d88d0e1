"""What something said later may have changed is in doubt, and not told as what holds; what warns of harm stays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbing.domain.memory.record import DOUBTED
from ebbing.sync import Memory
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings

START = datetime(2026, 1, 5, 10, tzinfo=UTC)
IN_PASSING = (
    ("I work at Siemens as a welder", "first day. office above a carpet shop"),
    ("I live in Leeds", "keys on the 22nd, can't wait to move out"),
    ("I'm single", "so Jo and I got engaged on the pier"),
    ("From now on, don't use bullet points", "you can use bullets again, I've mellowed"),
    ("From now on, don't use bullet points", "for recipes numbered steps, weights in grams at the top"),
    ("I have a rowing machine", "rowing machine's gone, sold it on gumtree"),
    ("我在西门子上班", "新公司第一天 电脑三点才装好"),
    ("我住在沌口", "搬完了 腰断了"),
    ("以后别发表情", "可以发个表情庆祝下"),
)
APART = (
    ("I work at Siemens as a welder", "my brother got laid off"),
    ("I live in Leeds", "my best friend just moved to Portland"),
    ("I live in Leeds", "if I moved out I would miss the park"),
    ("I live in Leeds", "did you know they moved the bus stop?"),
    ("I'm single", "my neighbour got divorced"),
    ("From now on, don't use bullet points", "you can use bullets for shopping lists, only shopping"),
    ("From now on, don't use bullet points", "just this once do me the shopping as a numbered list"),
    ("I'm from Kerala", "I haven't been back to Kerala since the wedding"),
    ("我住在沌口", "我闺蜜搬去青岛了"),
)
GRAVE = ("I'm allergic to peanuts", "I'm vegetarian", "I take insulin every evening", "我对青霉素过敏", "我有哮喘")
ANYTHING = (
    "first day at the new job, I quit the old one",
    "we moved house, keys and all",
    "I split up with Jo, it's over",
    "cancelled the gym, no longer going",
    "the doctor changed my appointment again",
    "you can use bullets again",
    "I've stopped reading the news",
    "换工作了 新公司第一天",
    "搬家了 以后不去那边了",
    "分手了 不再提了",
    "取消吧 不用了",
    "花生酱卖完了",
)


@contextmanager
def remembering() -> Iterator[tuple[Memory, ManualClock]]:
    clock = ManualClock(START)
    parts = build(load_settings({"store": "ephemeral", "embedder": "none", "reader": "off"}), clock=clock)
    with Memory(components=parts) as memory:
        yield memory, clock


def said(memory: Memory, clock: ManualClock, *messages: str) -> list[dict[str, Any]]:
    """Say the messages, a day after each other; return what is known of them."""
    for message in messages:
        clock.set(clock.now() + timedelta(days=1))
        memory.add(message, user_id="mia")
    items: list[dict[str, Any]] = memory.get_all(user_id="mia", limit=50)["results"]
    return [item for item in reversed(items) if "valid_to" not in item]


def is_in_doubt_or_over(known: list[dict[str, Any]], first: str) -> bool:
    return all(DOUBTED in item["tags"] for item in known if item["id"] == first)


@pytest.mark.parametrize(("before", "after"), IN_PASSING)
def test_what_is_changed_in_passing_is_in_doubt_or_over(before: str, after: str) -> None:
    with remembering() as (memory, clock):
        [first] = said(memory, clock, before)
        assert is_in_doubt_or_over(said(memory, clock, after), first["id"])


@pytest.mark.parametrize(("before", "after"), APART)
def test_what_others_do_and_what_is_asked_or_supposed_puts_nothing_in_doubt(before: str, after: str) -> None:
    with remembering() as (memory, clock):
        [first] = said(memory, clock, before)
        assert not is_in_doubt_or_over(said(memory, clock, after), first["id"])


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(GRAVE), st.lists(st.sampled_from(ANYTHING), min_size=1, max_size=3))
def test_what_warns_of_harm_is_doubted_by_nothing_that_does_not_name_it(grave: str, later: list[str]) -> None:
    with remembering() as (memory, clock):
        [first] = said(memory, clock, grave)
        assert not is_in_doubt_or_over(said(memory, clock, *later), first["id"])


def test_a_memory_in_doubt_stays_and_a_prompt_shows_what_was_said_instead() -> None:
    with remembering() as (memory, clock):
        said(memory, clock, "I have a rowing machine")
        [item, *_] = said(memory, clock, "rowing machine's gone, sold it on gumtree")
        assert DOUBTED in item["tags"]
        context = memory.get_context("what about the rowing machine?", user_id="mia")
    assert item["id"] not in {shown["id"] for shown in context["memories"]}
    assert "rowing machine's gone" in context["context"]


def test_the_doubt_is_gone_where_it_is_said_again() -> None:
    with remembering() as (memory, clock):
        said(memory, clock, "I have a rowing machine")
        [doubted, *_] = said(memory, clock, "rowing machine's gone, sold it on gumtree")
        [again, *_] = said(memory, clock, "I have a rowing machine")
    assert DOUBTED in doubted["tags"]
    assert (again["id"], DOUBTED in again["tags"]) == (doubted["id"], False)


def test_what_others_say_in_a_group_puts_nothing_of_mine_in_doubt() -> None:
    with remembering() as (memory, clock):
        clock.set(clock.now() + timedelta(days=1))
        memory.add([{"role": "user", "name": "Mia", "content": "I work at Siemens as a welder"}], user_id="mia")
        clock.set(clock.now() + timedelta(days=1))
        memory.add([{"role": "user", "name": "Theo", "content": "first day at the new job"}], user_id="mia")
        items = memory.get_all(user_id="mia", limit=9)["results"]
    assert items
    assert not any(DOUBTED in item["tags"] for item in items)
