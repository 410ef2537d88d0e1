"""A message whose statement is over stands behind what took its place, for the question that it no longer answers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from ebbing import Memory
from ebbing.ports.models.embedder import Embedder
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
LOG = (
    "I'm vegetarian and can't have gluten (coeliac).",
    "I work at St. Mary's hospital as a nurse",
    "我住在北京，喜欢滑雪",
    "my cat Biscuit is sick",
    "I work at Bradford Royal now, lovely team",
    "我搬到上海了，天气很潮",
    "I don't eat vegetarian any more, so I'm back on meat",
)


@pytest.fixture(scope="module", params=["with vectors", "by words alone"])
def embedder(request: pytest.FixtureRequest) -> Embedder | None:
    if request.param == "by words alone":
        return None
    loaded: Embedder = pytest.importorskip("ebbing.adapters.embedders.e5").E5Embedder.load(threads=1)
    return loaded


@pytest.fixture(scope="module")
def memory(embedder: Embedder | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    settings = load_settings({"path": tmp_path_factory.mktemp("store"), "embedder": "none"})
    clock = ManualClock(START)
    with Memory(components=build(settings, embedder=embedder, clock=clock)) as opened:
        for text in LOG:
            opened.add(text, user_id="ann")
            clock.advance(timedelta(days=1))
        yield opened


def messages(memory: Memory, question: str, **more: object) -> list[str]:
    found = memory.search(question, user_id="ann", include="episodes", top_k=5, **more)["results"]
    return [item["memory"] for item in found]


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("am I vegetarian?", LOG[0], LOG[6]),
        ("where do I work", LOG[1], LOG[4]),
        ("我住在哪", LOG[2], LOG[5]),
        ("我在北京住吗", LOG[2], LOG[5]),
    ],
)
def test_what_holds_comes_before_the_message_that_no_longer_does(
    memory: Memory, question: str, older: str, newer: str
) -> None:
    found = messages(memory, question)
    assert found.index(newer) + 1 == found.index(older)


@pytest.mark.parametrize(
    ("question", "first"),
    [("can I eat bread with gluten", LOG[0]), ("我喜欢滑雪吗", LOG[2]), ("is Biscuit the cat sick", LOG[3])],
)
def test_what_else_a_message_says_is_found_as_before(memory: Memory, question: str, first: str) -> None:
    assert messages(memory, question)[0] == first


def test_at_a_time_when_it_held_the_message_comes_first(memory: Memory) -> None:
    found = messages(memory, "where do I work", as_of=START + timedelta(days=2))
    assert found[0] == LOG[1]
