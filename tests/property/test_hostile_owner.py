"""Whatever one owner sends, by whatever way in, is taken or refused with a typed error, and holds up nobody else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ebbing import Memory
from ebbing.domain.errors import EbbingError, TooLargeError
from ebbing.domain.nesting import MAX_DEPTH, MAX_VALUES, check_nesting
from tests.examples import examples

OTHERS = ("bea", "cal")
DEEP = st.sampled_from([1, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 200, 985, 990, 995, 3_000])


def nested(depth: int, *, as_list: bool) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if as_list else {"a": value}
    return value


_TEXT = st.text(st.characters(), max_size=40) | st.sampled_from(
    ["", "\0", "\ud800", "a" * 70_000, "我" * 300, "../x", "%"]
)
_SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | _TEXT | st.just(10**4_000) | st.just(float("nan"))
_VALUE = st.recursive(
    _SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3)
) | st.builds(nested, DEEP, as_list=st.booleans())
_METADATA = st.dictionaries(_TEXT, _VALUE, max_size=3) | _VALUE


def ways_in(memory: Memory, value: Any, text: Any) -> Iterator[Callable[[], object]]:
    """Every call that takes something of any form from outside."""
    mine = {"user_id": "mallory"}
    yield lambda: memory.add(text, **mine, infer=False, metadata=value)
    yield lambda: memory.add("I like tea", **mine, metadata=value)
    yield lambda: memory.add([{"role": "user", "content": "tea", "name": text, "id": text}], **mine, infer=False)
    yield lambda: memory.add("tea", user_id=text, infer=False)
    yield lambda: memory.add("tea", **mine, run_id=text, agent_id=text, infer=False, tags=value)
    yield lambda: memory.add("tea", **mine, infer=False, filters=value)
    yield lambda: memory.enqueue_add("tea", **mine, metadata=value)
    yield lambda: memory.search("tea", **mine, filters=value)
    yield lambda: memory.get_all(**mine, filters=value)
    yield lambda: memory.update(memory.get_all(**mine)["results"][0]["id"], **mine, metadata=value)
    yield lambda: memory.feedback(memory.get_all(**mine)["results"][0]["id"], "POSITIVE", reason=text)
    yield lambda: memory.profiles.import_(value, **mine)
    yield lambda: memory.profiles.set_defaults(value)
    yield lambda: memory.import_([{**memory.export(**mine)["records"][0], "metadata": value, "id": text}], **mine)
    yield lambda: memory.import_([value])


def check_others(memory: Memory) -> None:
    """The calls of everybody else go on."""
    for user in OTHERS:
        memory.add("I like rain", user_id=user, infer=False)
        assert memory.search("rain", user_id=user)["results"]
        memory.delete_all(user_id=user)
    assert memory.maintenance.verify() == []


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory(path=tmp_path_factory.mktemp("hostile"), embedder="none") as opened:
        opened.add("I like tea", user_id="mallory", infer=False)
        yield opened


@settings(max_examples=examples(12), suppress_health_check=list(HealthCheck))
@given(value=_METADATA, text=_TEXT)
def test_whatever_one_owner_sends_the_calls_of_others_go_on(memory: Memory, value: Any, text: str) -> None:
    for call in ways_in(memory, value, text):
        with suppress(EbbingError, KeyError):
            call()
    check_others(memory)


def test_what_one_owner_could_store_holds_up_no_new_process(tmp_path: Path) -> None:
    for depth in (MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 900, 985, 990):
        with Memory(path=tmp_path, embedder="none") as memory:
            memory.add("I like tea", user_id="mallory", infer=False)
            for call in ways_in(memory, nested(depth, as_list=False), "tea"):
                with suppress(EbbingError):
                    call()
        with Memory(path=tmp_path, embedder="none") as memory:
            check_others(memory)
            memory.delete_all(user_id="mallory")


@given(depth=st.integers(0, 5_000), as_list=st.booleans())
def test_a_value_is_refused_exactly_from_the_bound_on(depth: int, as_list: bool) -> None:
    value = nested(depth, as_list=as_list)
    if depth <= MAX_DEPTH:
        check_nesting(value, "metadata")
    else:
        with pytest.raises(TooLargeError, match=f"metadata is nested more than {MAX_DEPTH}"):
            check_nesting(value, "metadata")


def test_a_value_that_holds_itself_or_too_many_others_is_refused_at_once() -> None:
    itself: list[Any] = []
    itself.append(itself)
    doubled: Any = 1
    for _ in range(MAX_DEPTH - 1):
        doubled = [doubled, doubled]
    for value in (itself, doubled, [1] * (MAX_VALUES + 1)):
        with pytest.raises(TooLargeError):
            check_nesting(value, "metadata")
