"""Whatever a model writes, reading it neither fails nor takes long."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.adapters.chat.json_answers import MAX_READ, found_in, without_thoughts

SCHEMA = {"type": "object", "properties": {"facts": {"type": "array"}}, "required": ["facts"]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
NEARLY_JSON = st.text(alphabet="{}[]\":,'\\ \nabfacts01-.é好`<>/think", max_size=200)


@given(NEARLY_JSON | st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    found = found_in(without_thoughts(text), SCHEMA)
    assert found is None or isinstance(found.value["facts"], list)


@given(
    st.lists(JSON, max_size=5), st.sampled_from(["{}", "```json\n{}\n```", "Sure:\n{}\nDone.", "<think>x</think>{}"])
)
def test_what_was_written_well_is_read_as_it_is(items: list[Any], around: str) -> None:
    text = around.replace("{}", json.dumps({"facts": items}), 1)
    found = found_in(without_thoughts(text), SCHEMA)
    assert found is not None
    assert json.dumps(found.value) == json.dumps({"facts": items})
    assert not found.cut


@given(st.lists(st.text(alphabet="ab {}[]\"'", max_size=12), min_size=1, max_size=6), st.data())
def test_a_cut_answer_keeps_what_is_whole(items: list[str], data: st.DataObject) -> None:
    whole = json.dumps({"facts": [{"text": item} for item in items]})
    cut = whole[: data.draw(st.integers(len('{"facts": ['), len(whole) - 3))]
    found = found_in(cut, SCHEMA)
    assert found is not None
    assert found.cut
    kept = found.value["facts"]
    assert kept == [{"text": item} for item in items[: len(kept)]]
    assert len(kept) >= cut.count("}, {")  # what stands before a further item is whole


@pytest.mark.parametrize(
    "text",
    [
        "[" * MAX_READ,
        '{"facts":' * 20_000,
        '{"facts": ["' + "a" * MAX_READ,
        '{"a": ' + "[" * 60 + "}" * 50_000,
        '"' * MAX_READ,
        "\\" * MAX_READ,
        '{"facts": [' + "'x', " * 15_000,
        "<think>" * 20_000,
        "</think>" * 20_000,
        '{"facts": [' + "1," * 30_000,
        '{"facts": [' + "{}," * 30_000,
        "{<think>" * 20_000,
        "{" + "\ud800" * 1_000,
        '{"facts": [' + "{'text': 'a', " * 3_000,
    ],
    ids=range(14),
)
def test_hostile_text_costs_less_than_a_second(text: str) -> None:
    began = time.thread_time()
    found_in(without_thoughts(text), SCHEMA)
    assert time.thread_time() - began < 1


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>a</think>b", "b"),
        ("a</think>b", "b"),
        ("<Thinking>a\n{}</Thinking>\n{1}", "{1}"),
        ("<think>a<think>b</think>c", "c"),
        ("<think>never ended", ""),
        ("a<think>never ended", "a"),
        ('{"facts": ["the tag <think> is odd"]}', '{"facts": ["the tag <think> is odd"]}'),
        ('{"facts": ["so does </think>"]}', '{"facts": ["so does </think>"]}'),
        ("plain", "plain"),
    ],
)
def test_thoughts_are_no_part_of_the_answer(text: str, answer: str) -> None:
    assert without_thoughts(text) == answer
