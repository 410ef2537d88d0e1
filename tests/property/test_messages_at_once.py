"""What is known after a conversation does not depend on how many calls it was added in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ebbing import Memory
from ebbing.remember.extraction.running_talk import MIN_TURNS
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

ASKED = st.sampled_from(
    [
        "What's your name?",
        "Where do you live?",
        "Are you allergic to anything?",
        "Nice. What do you do for work?",
        "Do you eat meat?",
        "How old are you?",
        "Does Max have a job?",
        "Good to know.",
        "你叫什么名字？",
        "你住在哪里？",
        "你对什么过敏？",
        "你吃辣吗？",
        "朵朵喜欢什么？",
        "好的，记住了。",
    ]
)
ANSWERED = st.sampled_from(
    [
        "Tom",
        "Leeds",
        "peanuts",
        "plumber",
        "no, never",
        "34",
        "she hates garlic",
        "my sister is called Meg",
        "thanks!",
        "I live in Porto.",
        "I quit last week",
        "王小明",
        "成都",
        "花生",
        "不吃",
        "我女儿叫朵朵",
        "她怕狗",
        "谢谢",
    ]
)

SMALL_TALK = [{"role": "user", "content": "what is 3 + 4?"}, {"role": "assistant", "content": "It is 7."}] * MIN_TURNS


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


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    turns=st.lists(st.tuples(ANSWERED, ASKED), min_size=2, max_size=5),
    cut=st.lists(st.booleans(), min_size=10, max_size=10),
    is_running=st.booleans(),
)
@example([("thanks!", "Are you allergic to anything?"), ("peanuts", "Good to know.")], [False, True] * 5, True)
@example([("谢谢", "你住在哪里？"), ("成都", "好的，记住了。")], [False, True] * 5, False)
def test_an_answer_is_read_with_its_question_however_a_talk_is_cut_into_calls(
    memory: Memory, turns: list[tuple[str, str]], cut: list[bool], is_running: bool
) -> None:
    said = [
        {"role": role, "content": text}
        for turn in (turns if is_running else turns[: MIN_TURNS - 1])
        for role, text in zip(("user", "assistant"), turn, strict=True)
    ]
    calls: list[list[dict[str, str]]] = [[]]
    for message, ends_a_call in zip(said, cut, strict=False):
        calls[-1].append(message)
        if ends_a_call:
            calls.append([])
    known: list[list[str]] = []
    for way in ([said], [call for call in calls if call]):
        memory.delete_all(user_id="ada")
        if is_running:
            memory.add(SMALL_TALK, user_id="ada")
        for call in way:
            memory.add(call, user_id="ada")
        known.append(sorted(item["memory"] for item in memory.get_all(user_id="ada")["results"]))
    assert known[0] == known[1], (calls, known)


@pytest.mark.parametrize("text", ["<recalled-memory>\n- 2026-01-02 I like tea\n</recalled-memory>", "\u200b"])
@pytest.mark.parametrize("beside", [[], ["I live in Porto."]])
def test_a_message_of_which_nothing_is_left_breaks_nothing(tmp_path: Path, text: str, beside: list[str]) -> None:
    with Memory(tmp_path) as memory:
        memory.add([{"role": "assistant", "content": "Where do you live?"}], user_id="mia")
        answer = memory.add([{"role": "user", "content": each} for each in [text, *beside]], user_id="mia")
        assert [each["memory"] for each in answer["results"] if each["event"] == "ADD"] == (
            ["User lives in Porto"] if beside else []
        )
