"""A rule ends nothing that the change model reads as somebody else's, or as another matter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbing import Memory
from ebbing.memory import AsyncMemory
from ebbing.testing.models.change_model import FakeChangeModel
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings
from ebbing.wiring.components.models import reader_slot

users = count()

KNOWN_AND_OTHERS = (
    ("I'm allergic to eggs", "My {who} outgrew his egg allergy"),
    ("I'm on a keto diet", "My {who} gave up keto after two weeks, no discipline"),
    ("I work at Ocado as a software engineer", "My {who} left Ocado for Google, big send-off"),
)
WHO = ("gym buddy", "colleague", "neighbour", "flatmate's boyfriend", "old boss")


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory(components=build(load_settings({"store": "ephemeral"}))) as each:
        yield each


def current(memory: Memory, *messages: str) -> list[str]:
    user = f"u{next(users)}"
    for message in messages:
        memory.add(message, user_id=user)
    items: list[dict[str, Any]] = memory.get_all(user_id=user)["results"]
    return [item["memory"] for item in items if "valid_to" not in item]


@settings(deadline=None, max_examples=15)
@given(st.sampled_from(KNOWN_AND_OTHERS), st.sampled_from(WHO))
def test_what_somebody_else_left_behind_stays_with_me(memory: Memory, pair: tuple[str, str], who: str) -> None:
    known, other = pair
    [first] = current(memory, known)
    assert first in current(memory, known, other.format(who=who))


@pytest.mark.parametrize(
    ("known", "ends"),
    [
        ("I work at Ocado as a software engineer", "I left Ocado for Google"),
        ("我在腾讯工作", "我现在在阿里工作"),
        ("I have a dog called Max", "Max died last night"),
    ],
)
def test_what_i_say_of_myself_ends_it_as_before(memory: Memory, known: str, ends: str) -> None:
    [first] = current(memory, known)
    assert first not in current(memory, known, ends)


@pytest.mark.anyio
async def test_a_model_that_fails_lets_every_end_stand() -> None:
    model = FakeChangeModel(lambda _earlier, _later: 0.0, is_failing=True)
    components = build(load_settings({"store": "ephemeral"}), embedder=FakeEmbedder())
    slot = reader_slot(components.settings, components.embedder, change_model=model)
    async with AsyncMemory(components=replace(components, reader=slot)) as memory:
        await memory.add("I have a dog called Max", user_id="u")
        await memory.add("Max died last night", user_id="u")
        items = (await memory.get_all(user_id="u"))["results"]
        assert not [item for item in items if "called Max" in item["memory"] and "valid_to" not in item]
