"""Filters: what each word means, and what is refused with which hint."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from ebbing.domain.errors import InvalidInputError, MissingOwnerError, TooLargeError
from ebbing.domain.filters.parser import MAX_DEPTH, MAX_TESTS, MAX_VALUES, parse_filter
from ebbing.domain.filters.tree import EVERYTHING, matches
from ebbing.domain.memory.record import MemoryRecord, MemoryType, Role
from ebbing.domain.memory.scope import Scope
from ebbing.validation import scoped

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
RECORD = MemoryRecord(
    id="m1",
    belongs_to=Scope(user_id="ada", agent_id="guide"),
    content="在杭州喝龙井 Tea",
    created_at=NOON,
    recorded_at=NOON,
    type=MemoryType.PREFERENCE,
    scope="session:7",
    actor="小明",
    role=Role.USER,
    tags=("饮料", "Tea"),
    metadata={
        "mood": "calm",
        "cups": 2,
        "sweet": False,
        "note": None,
        "days": ["mon", 2],
        "home": {"city": "杭州", "floor": 3},
        "a.b": "dotted",
        "when": "2024-05-01T09:00:00+08:00",
        "type": "recipe",
    },
    importance=0.7,
)

HOLDS: list[dict[str, Any]] = [
    {},
    {"type": "preference", "mood": "calm"},
    {"agentId": "guide", "actor": "小明", "role": "user", "scope": "session:7"},
    {"memory_ids": ["m0", "m1"]},
    {"type": ["fact", "preference"]},
    {"user_id": " ada "},
    {"cups": 2.0},
    {"cups": {"gt": 1, "lte": 2}},
    {"sweet": False},
    {"tags": "Tea"},
    {"tags": ["饮料", "Tea"]},
    {"tags": {"in": ["Tea", "x"]}},
    {"tags": {"icontains": "ＴＥＡ"}},
    {"days": {"contains": 2}},
    {"days": ["mon", 2]},
    {"memory": {"contains": "龙井"}},
    {"text": {"icontains": "ｔｅａ"}},
    {"metadata": {"home.city": "杭州", "home.floor": {"gte": 3}}},
    {"metadata.home": {"eq": {"city": "杭州", "floor": 3}}},
    {"metadata": {"a.b": "dotted"}},
    {"metadata.type": "recipe"},
    {"mood": "*", "agent_id": "*"},
    {"note": None, "nowhere": None},
    {"nowhere": {"ne": "x"}},
    {"nowhere": {"nin": ["x"]}},
    {"run_id": {"in": [None, "r1"]}},
    {"created_at": {"gte": "2024-05-01", "lte": "2024-05-01"}},
    {"created_at": "2024-05-01"},
    {"created_at": {"gt": NOON.timestamp() - 1, "lt": (NOON.timestamp() + 1) * 1000}},
    {"when": {"lt": "2024-05-01T02:00:00Z"}},
    {"when": datetime(2024, 5, 1, 1, tzinfo=UTC)},
    {"importance": {"gte": 0.7}},
    {"OR": [{"mood": "glad"}, {"AND": [{"cups": 2}, {"NOT": {"sweet": True}}]}]},
    {"NOT": [{"mood": "glad"}, {"cups": 3}]},
    {"mood": {"gt": "bold"}},
]

FAILS: list[dict[str, Any]] = [
    {"user_id": "bob"},
    {"AND": [{"mood": "calm"}, {"mood": "glad"}]},
    {"run_id": "*"},
    {"note": "*"},
    {"nowhere": "x"},
    {"nowhere": {"in": ["x"]}},
    {"nowhere": {"contains": "x"}},
    {"nowhere": {"gt": 1}},
    {"mood": {"ne": "calm"}},
    {"mood": {"contains": "CALM"}},
    {"mood": {"gt": 1}},
    {"cups": "2"},
    {"sweet": 0},
    {"cups": {"gt": 2}},
    {"cups": {"contains": 2}},
    {"tags": ["Tea", "饮料"]},
    {"tags": {"contains": "Te"}},
    {"days": {"gt": 1}},
    {"days": {"in": []}},
    {"created_at": {"gt": "2024-05-01"}},
    {"created_at": {"lt": "2024-05-01"}},
    {"updated_at": {"lt": "2030-01-01"}},
    {"mood": {"lt": "2030-01-01"}},
    {"NOT": [{"mood": "glad"}, {"cups": 2}]},
    {"mood": {"eq": "*"}},
]


@pytest.mark.parametrize("wanted", HOLDS, ids=str)
def test_a_filter_that_describes_the_record_matches(wanted: dict[str, Any]) -> None:
    assert matches(parse_filter(wanted), RECORD)


@pytest.mark.parametrize("wanted", FAILS, ids=str)
def test_a_filter_that_describes_another_record_does_not(wanted: dict[str, Any]) -> None:
    assert not matches(parse_filter(wanted), RECORD)


def test_a_record_without_tags_has_none() -> None:
    bare = replace(RECORD, tags=())
    assert not matches(parse_filter({"tags": "*"}), bare)
    assert matches(parse_filter({"tags": None}), bare)


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        ({"type": "recipe"}, "one of episodic, semantic, .*metadata.type"),
        ({"age": {"gtt": 3}}, "'metadata.age' has an unknown operator; allowed are .* gt, gte"),
        ({"age": {"*": True}}, "unknown operator"),
        ({"age": {}}, "empty dict"),
        ({"user_id": {"gt": "a"}}, "'user_id' has an unknown operator; allowed are .* icontains"),
        ({"and": [{"a": 1}]}, "AND, OR and NOT"),
        ({"$or": [{"a": 1}]}, "AND, OR and NOT"),
        ({"OR": {"a": 1}}, "OR takes a list"),
        ({"OR": []}, "at least one"),
        ({"AND": ["x"]}, "must be dicts"),
        ({"metadata": "calm"}, "metadata takes a dict"),
        ({"metadata": {"AND": [{"a": 1}]}}, "outside of metadata"),
        ({"": 1}, "non-empty string"),
        ({7: 1}, "non-empty string"),
        ({"created_at": "yesterday"}, "ISO 8601"),
        ({"created_at": {"contains": "2024"}}, "unknown operator"),
        ({"importance": "high"}, "finite numbers"),
        ({"importance": True}, "finite numbers"),
        ({"age": float("nan")}, "JSON values"),
        ({"age": ...}, "JSON values"),
        ({"age": {"gt": None}}, "needs a value"),
        ({"age": {"gt": [1]}}, "JSON values"),
        ({"age": {"in": 3}}, "takes a list"),
        ({"mood": {"in": "calm"}}, "takes a list"),
        ({"mood": {"contains": ["calm"]}}, "one text, number"),
        ({"mood": {"icontains": 3}}, "text"),
        ({"user_id": 7}, "text"),
        (["mood"], "must be dicts"),
    ],
    ids=str,
)
def test_what_the_grammar_does_not_know_is_refused_with_a_hint(wanted: Any, hint: str) -> None:
    with pytest.raises(InvalidInputError, match=hint):
        parse_filter(wanted)


def test_a_refusal_never_holds_the_value() -> None:
    for wanted in ({"type": "my secret"}, {"created_at": "my secret"}, {"importance": "my secret"}):
        with pytest.raises(InvalidInputError) as refused:
            parse_filter(wanted)
        assert "secret" not in str(refused.value)


def nested(depth: int) -> dict[str, Any]:
    return {"NOT": nested(depth - 1)} if depth else {"a": 1}


@pytest.mark.parametrize(
    "wanted",
    [
        nested(MAX_DEPTH + 1),
        nested(500),
        {f"k{number}": 1 for number in range(MAX_TESTS + 1)},
        {"a": {"in": [*range(MAX_VALUES + 1)]}},
        {"a": "x" * 4_001},
        {"a" * 257: 1},
        {"a": {"eq": [[[[[[[[[[1]]]]]]]]]]}},
    ],
    ids=range(7),
)
def test_a_filter_beyond_its_bounds_is_refused(wanted: dict[str, Any]) -> None:
    with pytest.raises(TooLargeError):
        parse_filter(wanted)


def test_a_filter_within_its_bounds_is_read() -> None:
    assert matches(parse_filter(nested(MAX_DEPTH)), RECORD) is False
    parse_filter({f"k{number}": 1 for number in range(MAX_TESTS)})


@pytest.mark.parametrize(
    "filters",
    [
        {"user_id": "ada"},
        {"userId": " ada "},
        {"user_id": {"eq": "ada"}},
        {"AND": [{"user_id": "ada"}]},
        {"AND": [{"AND": [{"user_id": "ada"}]}, {}]},
    ],
    ids=str,
)
def test_ids_that_a_filter_demands_say_whose_memory_is_meant(filters: dict[str, Any]) -> None:
    assert scoped(filters, tenant="t") == (Scope(user_id="ada", tenant="t"), EVERYTHING)
    assert scoped(filters, tenant="t", user_id="ada") == (Scope(user_id="ada", tenant="t"), EVERYTHING)


@pytest.mark.parametrize(
    "filters",
    [
        {"user_id": "*"},
        {"user_id": None},
        {"user_id": ["ada", "bob"]},
        {"user_id": {"ne": "ada"}},
        {"OR": [{"user_id": "ada"}, {"user_id": "bob"}]},
        {"NOT": [{"user_id": "ada"}]},
        {"metadata": {"user_id": "ada"}},
        {"mood": "calm"},
        {},
    ],
    ids=str,
)
def test_a_filter_that_names_nobody_opens_nothing(filters: dict[str, Any]) -> None:
    with pytest.raises(MissingOwnerError):
        scoped(filters, tenant="t")


def test_a_filter_can_narrow_but_never_widen() -> None:
    with pytest.raises(InvalidInputError, match="user_id differs"):
        scoped({"user_id": "bob"}, tenant="t", user_id="ada")
    for filters in ({"AND": [{"user_id": "ada"}, {"user_id": "bob"}]}, {"OR": [{"user_id": "bob"}]}):
        scope, rest = scoped(filters, tenant="t", **({} if "AND" in filters else {"user_id": "ada"}))
        assert scope.owner.name == "ada"
        assert not matches(rest, RECORD)


def test_an_id_narrows_the_scope_and_the_rest_stays_a_filter() -> None:
    scope, rest = scoped({"run_id": "r1", "mood": "calm"}, tenant="t", user_id="ada")
    assert scope == Scope(user_id="ada", run_id="r1", tenant="t")
    assert rest == parse_filter({"mood": "calm"})
