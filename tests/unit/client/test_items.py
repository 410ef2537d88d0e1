"""Reading the answers of memory servers that call things differently."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.client.items import MemoryItem, id_of, items_of

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = (
    "memories",
    "data",
    "results",
    "items",
    "id",
    "_id",
    "text",
    "content",
    "memory",
    "score",
    "tags",
    "created_at",
)


@pytest.mark.parametrize("under", ["memories", "data", "results", "items"])
@pytest.mark.parametrize("name", ["text", "content", "memory"])
@pytest.mark.parametrize("key", ["id", "memory_id", "_id"])
def test_a_memory_is_read_whatever_its_fields_are_called(under: str, name: str, key: str) -> None:
    [item] = items_of({under: [{key: "m1", name: "likes tea", "similarity": "0.7"}]})
    assert (item.id, item.text, item.score) == ("m1", "likes tea", 0.7)


def test_a_bare_list_and_a_list_inside_an_object_inside_an_object_are_read() -> None:
    assert [item.text for item in items_of([{"memory": "a"}, {"memory": "b"}])] == ["a", "b"]
    assert [item.text for item in items_of({"data": {"results": [{"memory": "c"}]}})] == ["c"]


def test_tags_and_times_come_in_their_usual_forms() -> None:
    raw = {"text": "喜欢茶", "tags": "preference", "createdAt": "2024-05-01T08:00:00Z"}
    [item] = items_of([raw])
    assert item == MemoryItem("喜欢茶", "喜欢茶", 0.0, ("preference",), datetime(2024, 5, 1, 8, tzinfo=UTC), raw)
    assert items_of([{"text": "a", "timestamp": 0}])[0].created_at == datetime(1970, 1, 1, tzinfo=UTC)
    assert items_of([{"text": "a", "created_at": "yesterday"}])[0].created_at is None


@pytest.mark.parametrize(
    "answer", [None, 3, "text", [], {}, {"results": None}, {"results": "x"}, [1, None, "x", {"id": 1}, {"text": " "}]]
)
def test_what_holds_no_memory_gives_none(answer: object) -> None:
    assert items_of(answer) == []


@given(st.dictionaries(st.sampled_from(NAMES), json_values) | json_values)
def test_no_answer_breaks_the_reading(answer: object) -> None:
    for item in items_of(answer):
        assert item.text.strip()
        assert item.score == item.score
    assert id_of(answer) is None or isinstance(id_of(answer), str)


def test_the_id_of_what_was_stored_is_found() -> None:
    assert id_of({"id": "a"}) == id_of({"data": {"id": "a"}}) == id_of({"results": [{"id": "a"}, {"id": "b"}]}) == "a"
    assert id_of({"results": [{"id": None}, {"memory_id": 7}]}) == "7"
    assert id_of({"results": []}) is id_of([]) is id_of(None) is None
