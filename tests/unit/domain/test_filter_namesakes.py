"""A metadata key that is called like a field of ours: a filter by it is answered, or refused with where to look."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing import AsyncMemory
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.filters.parser import parse_filter
from ebbing.domain.filters.tree import including_namesakes
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings
from tests.unit.recall.conversation_log import START

pytestmark = pytest.mark.anyio

METADATA: dict[str, Any] = {
    "id": "order-7",
    "tags": ["blue"],
    "categories": ["garden"],
    "language": "tlh",
    "text": "a label",
    "timestamp": "2001-02-03",
    "importance": 7,
}


@pytest.fixture
async def memory() -> AsyncIterator[AsyncMemory]:
    """One text with metadata keys that are called like fields, and one without any."""
    settings = load_settings({"store": "ephemeral", "embedder": "none"})
    opened = AsyncMemory(components=build(settings, embedder=None, clock=ManualClock(START)))
    await opened.add("The red bicycle", user_id="ada", infer=False, metadata=METADATA)
    await opened.add("The green bicycle", user_id="ada", infer=False)
    yield opened
    await opened.close()


async def found(memory: AsyncMemory, wanted: dict[str, Any]) -> list[str]:
    results = (await memory.search("bicycle", user_id="ada", filters=wanted))["results"]
    listed = (await memory.get_all(user_id="ada", filters=wanted, include="all"))["results"]
    texts = sorted(item["memory"] for item in results)
    assert texts == sorted(item["memory"] for item in listed)
    return texts


@pytest.mark.parametrize(
    "wanted",
    [
        *({name: value[0] if isinstance(value, list) else value} for name, value in METADATA.items()),
        {"tags": {"in": ["blue", "other"]}},
        {"tags": {"contains": "blue"}},
        {"importance": {"gt": 5}},
        {"OR": [{"tags": "blue"}, {"mood": "calm"}]},
        {"tags": "blue", "categories": "garden"},
    ],
)
async def test_a_filter_that_no_field_matches_is_answered_by_metadata_of_its_name(
    memory: AsyncMemory, wanted: dict[str, Any]
) -> None:
    assert await found(memory, wanted) == ["The red bicycle"]


@pytest.mark.parametrize(
    "wanted", [{"tags": None}, {"tags": {"ne": "blue"}}, {"tags": {"nin": ["blue"]}}, {"NOT": [{"tags": "blue"}]}]
)
async def test_what_a_filter_rules_out_is_ruled_out_of_the_metadata_as_well(
    memory: AsyncMemory, wanted: dict[str, Any]
) -> None:
    assert await found(memory, wanted) == ["The green bicycle"]


async def test_where_a_field_matches_the_metadata_of_its_name_widens_nothing(memory: AsyncMemory) -> None:
    await memory.add("The old bicycle", user_id="ada", infer=False, metadata={"language": "en"})
    await memory.add("自行车 bicycle 是红色的", user_id="ada", infer=False, metadata={"language": "zz"})
    assert await found(memory, {"language": "zh"}) == ["自行车 bicycle 是红色的"]


@pytest.mark.parametrize(
    ("wanted", "name"),
    [({"importance": "high"}, "importance"), ({"tags": 5}, "tags"), ({"timestamp": "whenever"}, "timestamp")],
)
def test_a_value_that_no_such_field_can_have_is_refused_with_the_name_of_the_metadata(
    wanted: dict[str, Any], name: str
) -> None:
    with pytest.raises(InvalidInputError, match=rf"metadata\.{name}"):
        parse_filter(wanted)


@given(st.sampled_from(sorted(METADATA)), st.sampled_from(["eq", "in", "ne", "nin"]))
def test_no_comparison_by_a_shared_name_forgets_the_metadata(name: str, op: str) -> None:
    value = "2001-02-03" if name == "timestamp" else 7 if name == "importance" else "x"
    wanted = parse_filter({name: {op: [value] if "in" in op else value}})
    named = f"metadata.{name}"
    assert named in repr(wanted) or named in repr(including_namesakes(wanted))
