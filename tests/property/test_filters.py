"""Filters mean what the documentation says, whatever the record and the filter: compared with a plain reading of it."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbing.domain.filters.parser import parse_filter
from ebbing.domain.filters.tree import matches, predicate
from ebbing.domain.memory.record import Kind, Layer, MemoryRecord, MemoryType, Role
from ebbing.domain.memory.scope import Scope
from tests.examples import examples

EPOCH = datetime(2024, 5, 1, tzinfo=UTC)
WORDS = (
    "tea",
    "TEA",
    "ｔｅａ",
    "茶",
    "绿茶",
    "不喝茶",
    "Straße",
    "STRASSE",
    "",
    "2024-05-01",
    "2024-05-01T20:00:00+08:00",
)
NAMES = ("ada", "bob", "小明")
DAYS = tuple(EPOCH + timedelta(hours=12 * half) for half in range(-3, 4))

# ── the plain reading ────────────────────────────────────────────────────────────────────────────────────────────────


def said_by_hand(wanted: Mapping[str, Any], record: MemoryRecord) -> bool:
    """What docs/filters.md says, straight from the dict, with nothing in common with the product."""
    return all(holds_of(key, value, record=record) for key, value in wanted.items())


def holds_of(key: str, value: Any, *, record: MemoryRecord) -> bool:
    if key == "AND":
        return all(said_by_hand(part, record) for part in ([value] if isinstance(value, dict) else value))
    if key == "OR":
        return any(said_by_hand(part, record) for part in value)
    if key == "NOT":
        return not any(said_by_hand(part, record) for part in ([value] if isinstance(value, dict) else value))
    if key == "metadata":
        return all(compared(in_metadata(record, inner), given) for inner, given in value.items())
    if key in PLAIN:
        listed = isinstance(value, list) and key not in {"tags", "categories"}
        return compared(PLAIN[key](record), {"in": value} if listed else value, dated=key in DATED)
    return compared(in_metadata(record, key.removeprefix("metadata.")), value)


PLAIN: dict[str, Any] = {
    "id": lambda record: record.id,
    "memory_ids": lambda record: record.id,
    "user_id": lambda record: record.belongs_to.user_id,
    "userId": lambda record: record.belongs_to.user_id,
    "run_id": lambda record: record.belongs_to.run_id,
    "agentId": lambda record: record.belongs_to.agent_id,
    "actor": lambda record: record.actor,
    "memory": lambda record: record.content,
    "content": lambda record: record.content,
    "type": lambda record: record.type.value,
    "kind": lambda record: record.kind.value,
    "layer": lambda record: record.layer.value,
    "role": lambda record: record.role.value if record.role else None,
    "scope": lambda record: record.scope,
    "language": lambda record: record.language,
    "tags": lambda record: list(record.tags) or None,
    "categories": lambda record: list(record.tags) or None,
    "importance": lambda record: record.importance,
    "strength": lambda record: record.strength,
    "abstractionLevel": lambda record: record.abstraction_level,
    "created_at": lambda record: record.created_at,
    "updatedAt": lambda record: record.updated_at,
    "valid_to": lambda record: record.valid_to,
    "expiration_date": lambda record: record.expires_at,
}
DATED = {"created_at", "updatedAt", "valid_to", "expiration_date"}


def in_metadata(record: MemoryRecord, path: str) -> Any:
    if path in record.metadata:
        return record.metadata[path]
    first, _, rest = path.partition(".")
    inner = record.metadata.get(first)
    return inner.get(rest) if rest and isinstance(inner, dict) else None


def compared(value: Any, wanted: Any, *, dated: bool = False) -> bool:
    if wanted == "*":
        return value is not None
    if not isinstance(wanted, dict):
        wanted = {"eq": wanted}
    return all(OPERATIONS[name](value, to, dated) for name, to in wanted.items())


def kind_of(value: Any) -> str:
    for name, types in (("truth", bool), ("number", (int, float)), ("text", str), ("list", (list, tuple))):
        if isinstance(value, types):
            return name
    return type(value).__name__


def equal(value: Any, to: Any, dated: bool) -> bool:
    if value is None or to is None:
        return value is to
    if dated or isinstance(to, date):
        first, last = span(to)
        read = read_time(value)
        return read is not None and first <= read <= last
    if kind_of(value) != kind_of(to):
        return False
    if kind_of(value) == "list":
        return len(value) == len(to) and all(equal(one, other, False) for one, other in zip(value, to, strict=True))
    if kind_of(value) == "dict":
        return set(value) == set(to) and all(equal(value[key], to[key], False) for key in to)
    return bool(value == to)


def is_or_holds(value: Any, to: Any, dated: bool) -> bool:
    if kind_of(value) == "list" and to is not None and kind_of(to) != "list":
        return any(equal(one, to, dated) for one in value)
    return equal(value, to, dated)


def span(given: Any) -> tuple[datetime, datetime]:
    """First and last microsecond of what a filter calls a time."""
    if isinstance(given, int | float):
        return (at := datetime.fromtimestamp(given / 1000 if given > 1e11 else given, UTC)), at
    if isinstance(given, str) and len(given) == 10:
        given = date.fromisoformat(given)
    if isinstance(given, date) and not isinstance(given, datetime):
        start = datetime(given.year, given.month, given.day, tzinfo=UTC)
        return start, start + timedelta(days=1, microseconds=-1)
    at = datetime.fromisoformat(given) if isinstance(given, str) else given
    return (at, at)


def read_time(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value
    try:
        return span(value)[0] if isinstance(value, str) else None
    except ValueError:
        return None


def looks_dated(to: Any) -> bool:
    return isinstance(to, date) or (isinstance(to, str) and to[:4].isdigit() and to[4:5] == "-")


def ordered(value: Any, to: Any, dated: bool, *, name: str) -> bool:
    if dated or looks_dated(to):
        first, last = span(to)
        value, to = read_time(value), last if name in {"gt", "lte"} else first
        if value is None:
            return False
    elif kind_of(value) != kind_of(to):
        return False
    return bool({"gt": value > to, "gte": value >= to, "lt": value < to, "lte": value <= to}[name])


def light(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def holds(value: Any, to: Any, dated: bool) -> bool:
    if kind_of(value) == "text":
        return kind_of(to) == "text" and to in value
    return kind_of(value) == "list" and any(equal(one, to, False) for one in value)


def holds_lightly(value: Any, to: Any, dated: bool) -> bool:
    if kind_of(value) == "text":
        return light(to) in light(value)
    return kind_of(value) == "list" and any(kind_of(one) == "text" and light(one) == light(to) for one in value)


OPERATIONS: dict[str, Any] = {
    "eq": is_or_holds,
    "ne": lambda value, to, dated: not is_or_holds(value, to, dated),
    "in": lambda value, to, dated: any(is_or_holds(value, one, dated) for one in to),
    "nin": lambda value, to, dated: not any(is_or_holds(value, one, dated) for one in to),
    "contains": holds,
    "icontains": holds_lightly,
    **{
        name: (lambda value, to, dated, name=name: ordered(value, to, dated, name=name))
        for name in ("gt", "gte", "lt", "lte")
    },
}

# ── records and filters ──────────────────────────────────────────────────────────────────────────────────────────────

words = st.sampled_from(WORDS)
numbers = st.sampled_from([0, 1, 1.0, 2.5, -3, 0.7])
plain = st.none() | st.booleans() | numbers | words
lists = st.lists(plain, max_size=3)
json_values = plain | lists | st.dictionaries(st.sampled_from("ab"), plain | lists, max_size=2)
keys = st.sampled_from(["mood", "when", "心情", "a.b", "home"])
paths = keys | st.sampled_from(["home.a", "home.b", "mood.a", "nowhere", "a"])
days = st.sampled_from(DAYS)
shares = st.sampled_from([0.0, 0.3, 0.7, 1.0])

records = st.builds(
    MemoryRecord,
    id=st.sampled_from(["m1", "m2"]),
    belongs_to=st.builds(
        Scope,
        user_id=st.just("ada"),
        agent_id=st.none() | st.sampled_from(NAMES),
        run_id=st.none() | words.filter(bool),
    ),
    content=words,
    created_at=days,
    recorded_at=days,
    kind=st.sampled_from(Kind),
    type=st.sampled_from(MemoryType),
    layer=st.sampled_from(Layer),
    scope=st.sampled_from(["global", "session:1", "channel:茶"]),
    actor=st.none() | st.sampled_from(NAMES),
    role=st.none() | st.sampled_from(Role),
    tags=st.lists(words, max_size=2).map(tuple),
    metadata=st.dictionaries(keys, json_values, max_size=4),
    language=st.sampled_from(["zh", "en", "und"]),
    updated_at=st.none() | days,
    valid_to=st.none() | days,
    expires_at=st.none() | days,
    strength=shares,
    importance=shares,
    abstraction_level=st.integers(0, 2),
)

RECORD = MemoryRecord(id="m1", belongs_to=Scope(user_id="ada"), content="tea", created_at=EPOCH, recorded_at=EPOCH)


def dates() -> st.SearchStrategy[Any]:
    away = timezone(timedelta(hours=8))
    return st.one_of(
        days,
        days.map(lambda day: day.isoformat()),
        days.map(lambda day: day.astimezone(away).isoformat()),
        days.map(lambda day: day.date().isoformat()),
        days.map(lambda day: day.date()),
        days.map(lambda day: day.timestamp()),
        days.map(lambda day: int(day.timestamp() * 1000)),
    )


def comparisons(value: st.SearchStrategy[Any], *operators: str, parts: Any = words) -> st.SearchStrategy[Any]:
    """A bare value, or a dict of one or two operators."""
    optional = st.none() | value
    given = {
        **dict.fromkeys(("eq", "ne"), optional),
        **dict.fromkeys(("in", "nin"), st.lists(optional, max_size=3)),
        **dict.fromkeys(("gt", "gte", "lt", "lte"), value),
        "contains": parts,
        "icontains": words,
    }
    one = st.sampled_from(["eq", "ne", "in", "nin", *operators])
    pairs = one.flatmap(lambda name: given[name].map(lambda to: {name: to}))
    return st.one_of(optional, st.just("*"), pairs, st.tuples(pairs, pairs).map(lambda two: {**two[0], **two[1]}))


ORDER = ("gt", "gte", "lt", "lte")
PARTS = ("contains", "icontains")
texts = comparisons(words | st.sampled_from([*NAMES, "m1", "zh", "session:1"]), *PARTS)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("id", "memory_ids", "actor", "memory", "content", "scope", "language"), texts),
    **dict.fromkeys(("user_id", "userId", "run_id", "agentId"), texts),
    "type": comparisons(st.sampled_from(MemoryType).map(str)) | st.lists(st.sampled_from(MemoryType).map(str)),
    "kind": comparisons(st.sampled_from(Kind).map(str)),
    "layer": comparisons(st.sampled_from(Layer).map(str)),
    "role": comparisons(st.sampled_from(Role).map(str)),
    **dict.fromkeys(("tags", "categories"), comparisons(words | st.lists(words, max_size=2), *PARTS)),
    **dict.fromkeys(("importance", "strength", "abstractionLevel"), comparisons(numbers, *ORDER)),
    **dict.fromkeys(DATED, comparisons(dates(), *ORDER)),
}
of_fields = st.sampled_from(sorted(FIELDS)).flatmap(lambda name: FIELDS[name].map(lambda given: {name: given}))
scalars = words | numbers
free = st.one_of(
    comparisons(json_values.filter(lambda value: not isinstance(value, dict)), parts=st.booleans() | scalars),
    comparisons(scalars, *ORDER, *PARTS, parts=st.booleans() | scalars),
    comparisons(days | days.map(lambda day: day.date()), *ORDER),
)
of_metadata = st.one_of(
    st.tuples(paths.filter(lambda path: path != "a.b"), free).map(lambda pair: {pair[0]: pair[1]}),
    st.tuples(paths, free).map(lambda pair: {f"metadata.{pair[0]}": pair[1]}),
    st.dictionaries(paths, free, max_size=2).map(lambda inner: {"metadata": inner}),
)
leaves = of_fields | of_metadata
filters = st.recursive(
    st.just({}) | leaves | st.tuples(leaves, leaves).map(lambda two: {**two[0], **two[1]}),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["AND", "OR", "NOT"]), st.lists(inner, min_size=1, max_size=3)).map(
            lambda pair: {pair[0]: pair[1]}
        ),
        st.tuples(st.sampled_from(["AND", "NOT"]), inner).map(lambda pair: {pair[0]: pair[1]}),
        st.tuples(leaves, inner).map(lambda two: {**two[0], **two[1]}),
    ),
    max_leaves=6,
)


@given(filters, records)
def test_a_filter_means_what_its_words_say(wanted: dict[str, Any], record: MemoryRecord) -> None:
    assert matches(parse_filter(wanted), record) == said_by_hand(wanted, record)


@settings(max_examples=examples(300))
@given(leaves, records)
def test_a_single_comparison_means_what_its_words_say(wanted: dict[str, Any], record: MemoryRecord) -> None:
    assert matches(parse_filter(wanted), record) == said_by_hand(wanted, record)


@pytest.mark.parametrize("operator", ["eq", "ne", "in", "nin", *ORDER, *PARTS])
@given(data=st.data())
def test_an_operator_means_the_same_for_every_kind_of_value(operator: str, data: st.DataObject) -> None:
    value = data.draw(json_values, label="value")
    elements = value if isinstance(value, list) else []
    if isinstance(value, str):
        elements = [value.swapcase(), value[:1]]
    elif isinstance(value, int | float):
        elements = [bool(value), int(value)]
    near = st.sampled_from([value, *elements])
    to = {
        **dict.fromkeys(("eq", "ne"), near | json_values),
        **dict.fromkeys(("in", "nin"), st.lists(near | json_values, max_size=2)),
        **dict.fromkeys(ORDER, scalars | days),
        "contains": near.filter(lambda one: one is not None and not isinstance(one, list | dict)) | scalars,
        "icontains": near.filter(lambda one: isinstance(one, str)) | words,
    }[operator]
    wanted = {"metadata": {"mood": {operator: data.draw(to, label="wanted")}}}
    record = replace(RECORD, metadata={"mood": value})
    assert matches(parse_filter(wanted), record) == said_by_hand(wanted, record)


@pytest.mark.parametrize("operator", ["eq", "ne", *ORDER])
@given(day=days, to=dates(), in_metadata=st.booleans())
def test_times_are_compared_as_moments_however_they_are_written(
    operator: str, day: datetime, to: Any, in_metadata: bool
) -> None:
    record = replace(RECORD, created_at=day, metadata={"when": day.isoformat()})
    name = "when" if in_metadata and not isinstance(to, int | float | str) else "created_at"
    wanted = {name: {operator: to}}
    assert matches(parse_filter(wanted), record) == said_by_hand(wanted, record)


@given(leaves, records)
def test_not_turns_every_answer_round(wanted: dict[str, Any], record: MemoryRecord) -> None:
    assert matches(parse_filter({"NOT": wanted}), record) != matches(parse_filter(wanted), record)


@given(st.lists(filters, min_size=1, max_size=3), records)
def test_not_of_several_is_and_of_each_not(parts: list[dict[str, Any]], record: MemoryRecord) -> None:
    none = parse_filter({"NOT": parts})
    each = parse_filter({"AND": [{"NOT": [part]} for part in parts]})
    assert matches(none, record) == matches(each, record)


@given(paths, st.lists(plain, max_size=3), records)
def test_in_is_the_same_as_any_of_several_equalities(path: str, values: list[Any], record: MemoryRecord) -> None:
    among = parse_filter({f"metadata.{path}": {"in": values}})
    assert matches(among, record) == any(
        matches(parse_filter({f"metadata.{path}": {"eq": value}}), record) for value in values
    )


@given(filters, st.lists(records, max_size=4))
def test_a_filter_made_ready_once_says_the_same_of_many(wanted: dict[str, Any], many: list[MemoryRecord]) -> None:
    tree = parse_filter(wanted)
    ready = predicate(tree)
    assert [ready(record) for record in many] == [matches(tree, record) for record in many]
