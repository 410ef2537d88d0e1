"""What something said later may have changed is in doubt, and not told as what holds; what warns of harm stays."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
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
    (
        "I work as a cook at the harbour school, 30 hours",
        "last day in that kitchen today, cried a bit. monday i start at the ferry office",
    ),
    ("I have a rowing machine in the garage", "sold the rowing machine on gumtree, garage is empty"),
    ("我跟周凯合租在沌口 一人一千二", "从沌口搬出来了 现在一个人住"),
    ("六月二号约了拔牙", "牙拔完了 肿得像馒头"),
)
"""What the bundled model finds; how much it misses is in `docs/reader.md`."""
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


HAD, SOLD = IN_PASSING[1]


class Person:
    """Somebody of whom nothing is known yet, who says things a day after each other."""

    numbers = count()

    def __init__(self, memory: Memory, clock: ManualClock) -> None:
        self.memory, self.clock, self.user = memory, clock, f"mia{next(self.numbers)}"

    def says(self, *messages: str, name: str = "Mia") -> list[dict[str, Any]]:
        for message in messages:
            self.clock.set(self.clock.now() + timedelta(days=1))
            self.memory.add([{"role": "user", "name": name, "content": message}], user_id=self.user)
        items: list[dict[str, Any]] = self.memory.get_all(user_id=self.user, limit=50)["results"]
        return [item for item in reversed(items) if "valid_to" not in item]


@pytest.fixture(scope="module")
def memory_and_clock() -> Iterator[tuple[Memory, ManualClock]]:
    clock = ManualClock(START)
    with Memory(components=build(load_settings({"store": "ephemeral"}), clock=clock)) as memory:
        yield memory, clock


@pytest.fixture
def mia(memory_and_clock: tuple[Memory, ManualClock]) -> Person:
    return Person(*memory_and_clock)


def is_in_doubt_or_over(known: list[dict[str, Any]], first: str) -> bool:
    return all(DOUBTED in item["tags"] for item in known if item["id"] == first)


@pytest.mark.parametrize(("before", "after"), IN_PASSING)
def test_what_is_changed_in_passing_is_in_doubt_or_over(mia: Person, before: str, after: str) -> None:
    [first] = mia.says(before)
    assert is_in_doubt_or_over(mia.says(after), first["id"])


@pytest.mark.parametrize(("before", "after"), APART)
def test_what_others_do_and_what_is_asked_or_supposed_puts_nothing_in_doubt(
    mia: Person, before: str, after: str
) -> None:
    [first] = mia.says(before)
    assert not is_in_doubt_or_over(mia.says(after), first["id"])


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(GRAVE), st.lists(st.sampled_from(ANYTHING), min_size=1, max_size=3))
def test_what_warns_of_harm_is_doubted_by_nothing_that_does_not_name_it(
    memory_and_clock: tuple[Memory, ManualClock], grave: str, later: list[str]
) -> None:
    mia = Person(*memory_and_clock)
    [first] = mia.says(grave)
    assert not is_in_doubt_or_over(mia.says(*later), first["id"])


def test_a_memory_in_doubt_stays_and_a_prompt_shows_what_was_said_instead(mia: Person) -> None:
    mia.says(HAD)
    [item, *_] = mia.says(SOLD)
    assert DOUBTED in item["tags"]
    context = mia.memory.get_context("what about the rowing machine?", user_id=mia.user)
    assert item["id"] not in {shown["id"] for shown in context["memories"]}
    assert "sold the rowing machine" in context["context"]


def test_the_doubt_is_gone_where_it_is_said_again(mia: Person) -> None:
    mia.says(HAD)
    [doubted, *_] = mia.says(SOLD)
    [again, *_] = mia.says(HAD)
    assert DOUBTED in doubted["tags"]
    assert (again["id"], DOUBTED in again["tags"]) == (doubted["id"], False)


def test_what_others_say_in_a_group_puts_nothing_of_mine_in_doubt(mia: Person) -> None:
    mia.says(HAD)
    items = mia.says(SOLD, name="Theo")
    assert [item["memory"] for item in items if DOUBTED in item["tags"]] == []
