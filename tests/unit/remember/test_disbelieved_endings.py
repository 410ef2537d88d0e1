"""A rule ends nothing that the change model reads as somebody else's, or as another matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from ebbing import Memory
from ebbing.testing.models.change_model import FakeChangeModel
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings
from ebbing.wiring.components.models import reader_slot

users = count()

OTHERS = (
    ("I'm allergic to eggs", "My gym buddy outgrew his egg allergy"),
    ("I'm on a keto diet", "My gym buddy gave up keto after two weeks, no discipline"),
    ("I work at Ocado as a software engineer", "A colleague left Ocado for Google, big send-off"),
    ("我在学吉他", "吉他断了根弦，明天去换"),
)


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


@pytest.mark.parametrize(("known", "other"), OTHERS)
def test_what_somebody_else_left_behind_stays_with_me(memory: Memory, known: str, other: str) -> None:
    [first] = current(memory, known)
    assert first in current(memory, known, other)


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


def opened(believes: Callable[[str, str], float], **more: Any) -> tuple[Memory, FakeChangeModel]:
    model = FakeChangeModel(lambda _earlier, _later: 0.0, believes=believes, **more)
    components = build(load_settings({"store": "ephemeral"}), embedder=FakeEmbedder())
    slot = reader_slot(components.settings, components.embedder, change_model=model)
    return Memory(components=replace(components, reader=slot)), model


def nothing(_earlier: str, _later: str) -> float:
    return 0.0


@pytest.mark.parametrize(
    ("known", "ends"),
    [
        ("I'm on a keto diet", "I gave up keto, and I stopped the keto diet last week"),
        ("I'm vegan", "I'm not vegan anymore, I eat meat now"),
        ("I'm allergic to eggs", "I'm no longer allergic to eggs"),
        ("I have a dog called Max", "Max died last night"),
        ("我对花生过敏", "我对花生不过敏了"),
    ],
)
def test_no_fact_of_a_sentence_ends_what_is_not_believed(known: str, ends: str) -> None:
    memory, model = opened(nothing)
    with memory:
        [first] = current(memory, known)
        assert first in current(memory, known, ends)
        assert model.asked_of_endings


def test_what_is_not_believed_of_one_memory_still_ends_another() -> None:
    memory, model = opened(lambda earlier, _later: 0.0 if "diet" in earlier else 1.0)
    with memory:
        told = current(memory, "I have a dog called Max", "Max is on a diet", "Max died last night")
        assert not [text for text in told if "called Max" in text]
        assert {earlier for earlier, _ in model.asked_of_endings} == {"I have a dog called Max", "Max is on a diet"}
        assert "User's dog Max is on a diet" in told


def test_an_edited_message_and_what_was_put_right_by_hand_are_not_asked_about() -> None:
    memory, model = opened(nothing)
    with memory:
        memory.add([{"role": "user", "content": "I love coffee", "id": "m1"}], user_id="u")
        memory.add([{"role": "user", "content": "I hate coffee", "id": "m1"}], user_id="u")
        items = memory.get_all(user_id="u")["results"]
        assert ["hate" in item["memory"] or "dislike" in item["memory"] for item in items] == [True]
        [cat] = memory.add("I have a cat called Tom", user_id="v")["results"]
        memory.update(cat["id"], "User has a dog called Max")
        memory.add("Max died last night", user_id="v")
        assert not model.asked_of_endings


def test_a_model_that_fails_lets_every_end_stand() -> None:
    memory, _ = opened(nothing, is_failing=True)
    with memory:
        assert not [
            text for text in current(memory, "I have a dog called Max", "Max died last night") if "called" in text
        ]
