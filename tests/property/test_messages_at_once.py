"""What is known after a conversation does not depend on how many calls it was added in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ebbing import Memory
from ebbing.wiring.build import build, load_settings
from tests.examples import examples

SAID = st.sampled_from(
    [
        "I live in Porto.",
        "I moved to Lisbon.",
        "I like jazz.",
        "I don't like jazz.",
        "I'm allergic to peanuts.",
        "I work as a nurse.",
        "我住在杭州",
        "我搬到上海了",
        "我喜欢爬山",
        "我不喜欢爬山",
    ]
)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(components=build(load_settings({"store": "ephemeral", "embedder": "none"}))) as memory:
        yield memory


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(SAID, min_size=1, max_size=7), with_ids=st.booleans())
def test_one_call_and_many_calls_leave_the_same_memories(memory: Memory, said: list[str], with_ids: bool) -> None:
    messages = [
        {"role": "user", "content": text, **({"id": f"m{number}"} if with_ids else {})}
        for number, text in enumerate(said)
    ]
    known: list[list[str]] = []
    for calls in ([messages], [[message] for message in messages]):
        memory.delete_all(user_id="ada")
        for call in calls:
            memory.add(call, user_id="ada")
        known.append(sorted(item["memory"] for item in memory.get_all(user_id="ada")["results"]))
    assert known[0] == known[1]
