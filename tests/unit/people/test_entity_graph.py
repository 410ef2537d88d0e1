"""The graph that memories make: entities, relations with their times, and what lies around somebody."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ebbing import Memory
from ebbing.domain.errors import InvalidInputError, MissingOwnerError
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings

START = datetime(2024, 5, 1, 9, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[Memory]:
    components = build(load_settings({"store": "ephemeral", "embedder": "none"}), clock=clock)
    with Memory(components=components) as opened:
        yield opened


def tell(memory: Memory, *texts: str) -> None:
    for text in texts:
        memory.add(text, user_id="u")


def edges(graph: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {(one["subject"], one["relation"], one["object"]) for one in graph["relations"]}


def the(graph: dict[str, Any], name: str) -> dict[str, Any]:
    [entity] = [one for one in graph["entities"] if one["name"] == name]
    return dict(entity)


def test_people_places_and_tastes_are_told_with_their_memories(memory: Memory) -> None:
    tell(memory, "My name is Sam", "I live in Berlin", "I love jazz", "I'm allergic to peanuts", "I work at Acme")
    graph = memory.graph(user_id="u")
    assert edges(graph) == {
        ("self", "home", "berlin"),
        ("self", "likes", "jazz"),
        ("self", "avoids", "peanuts"),
        ("self", "employer", "acme"),
    }
    assert {one["name"]: one["kind"] for one in graph["entities"]} == {
        "Sam": "person",
        "Berlin": "place",
        "jazz": "topic",
        "peanuts": "topic",
        "Acme": "organisation",
    }
    [memory_id] = the(graph, "Berlin")["memory_ids"]
    assert memory.get(memory_id, user_id="u")["memory"] == "User lives in Berlin"
    assert not graph["truncated"]


def test_a_relation_is_somebody_with_a_name(memory: Memory) -> None:
    tell(memory, "My sister is called Lily", "My sister works at Acme", "My sister loves jazz")
    graph = memory.graph(user_id="u")
    assert edges(graph) == {("self", "sister", "lily"), ("lily", "employer", "acme"), ("lily", "likes", "jazz")}
    assert the(graph, "Lily")["aliases"] == ["sister"]
    assert the(graph, "Lily")["kind"] == "person"


def test_two_sisters_are_not_taken_for_one(memory: Memory) -> None:
    tell(memory, "My sister Lily loves jazz", "My sister Anna loves rock", "My sister lives in Leeds")
    graph = memory.graph(user_id="u")
    assert {("lily", "likes", "jazz"), ("anna", "likes", "rock"), ("sister", "home", "leeds")} <= edges(graph)


def test_a_friend_and_a_cat_of_one_name_are_two(memory: Memory) -> None:
    tell(memory, "I have a cat named Tom", "My best friend Tom lives in Paris")
    graph = memory.graph(user_id="u")
    assert {one["kind"] for one in graph["entities"] if one["name"] == "Tom"} == {"pet", "person"}
    assert ("tom (person)", "home", "paris") in edges(graph)


def test_what_is_superseded_has_an_end_and_is_left_out_unless_asked_for(memory: Memory, clock: ManualClock) -> None:
    tell(memory, "I live in Berlin")
    moved = clock.advance(timedelta(days=9))
    tell(memory, "I moved to Paris")
    clock.advance(timedelta(days=1))
    assert edges(memory.graph(user_id="u")) == {("self", "home", "paris")}
    both = {one["object"]: one["until"] for one in memory.graph(user_id="u", include_ended=True)["relations"]}
    assert both == {"berlin": moved.isoformat(), "paris": None}
    before = memory.graph(user_id="u", as_of=(START + timedelta(days=1)).isoformat())
    assert edges(before) == {("self", "home", "berlin")}


def test_a_deleted_memory_is_gone_from_the_graph(memory: Memory) -> None:
    tell(memory, "I live in Berlin", "I love jazz")
    [item] = [one for one in memory.get_all(user_id="u")["results"] if "Berlin" in one["memory"]]
    memory.delete(item["id"], user_id="u")
    assert edges(memory.graph(user_id="u")) == {("self", "likes", "jazz")}
    memory.delete_all(user_id="u")
    assert memory.graph(user_id="u")["relations"] == []


def test_around_somebody_is_what_so_many_relations_lead_to(memory: Memory) -> None:
    tell(memory, "My sister is called Lily", "My sister works at Acme", "My brother is called Oscar", "I love jazz")
    assert edges(memory.graph(user_id="u", about="lily")) == {("self", "sister", "lily"), ("lily", "employer", "acme")}
    assert edges(memory.graph(user_id="u", about="sister")) == edges(memory.graph(user_id="u", about="Lily", hops=3))
    assert memory.graph(user_id="u", about="Acme", hops=0)["relations"] == []
    assert the(memory.graph(user_id="u", about="Acme", hops=0), "Acme")["kind"] == "organisation"
    assert memory.graph(user_id="u", about="nobody")["entities"] == []


def test_a_graph_is_told_in_chinese(memory: Memory) -> None:
    tell(memory, "我叫小雨", "我妹妹叫莉莉", "我妹妹在腾讯上班", "我喜欢爵士乐", "我海鲜过敏")
    graph = memory.graph(user_id="u")
    assert edges(graph) == {
        ("self", "妹妹", "莉莉"),
        ("莉莉", "employer", "腾讯"),
        ("self", "likes", "爵士乐"),
        ("self", "avoids", "海鲜"),
    }
    assert the(graph, "小雨")["id"] == "self"


def test_a_graph_can_be_drawn(memory: Memory) -> None:
    tell(memory, "I live in Berlin")
    memory.add('I love "quoted\\things"', user_id="u")
    dot = memory.graph_dot(user_id="u")
    assert dot.startswith("digraph memory {\n")
    assert '"self" -> "berlin" [label="home"];' in dot


def test_one_user_never_sees_the_graph_of_another(memory: Memory) -> None:
    tell(memory, "I live in Berlin")
    assert memory.graph(user_id="v")["relations"] == []
    assert memory.graph(agent_id="u")["relations"] == []


@pytest.mark.parametrize(
    "words",
    [{"hops": 6}, {"hops": True}, {"about": " "}, {"about": 5}, {"include_ended": "yes"}, {"as_of": "x"}],
)
def test_unusable_words_are_refused(memory: Memory, words: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        memory.graph(user_id="u", **words)
    with pytest.raises(MissingOwnerError):
        memory.graph()
