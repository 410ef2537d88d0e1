"""A chat request is read without changing a character of it, and an answer is read as it went by."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.assistant.inject import inject, inject_behind_question
from ebbing.interfaces.http.chat_proxy.answer_text import AnswerReader
from ebbing.interfaces.http.chat_proxy.chat_request import parse_chat_request
from ebbing.interfaces.http.chat_proxy.conversation import turns_of
from ebbing.privacy.guarding.quote import block

TEA = block(["User likes tea"])
TEXTS = st.text(max_size=20)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
CONTENTS = (
    TEXTS | st.none() | st.lists(st.dictionaries(st.sampled_from(["type", "text", "image_url"]), TEXTS), max_size=3)
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant", "tool"]), "content": CONTENTS},
        optional={"name": TEXTS, "tool_calls": VALUES},
    ),
    min_size=1,
    max_size=6,
)
SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t: ")])


@given(
    messages=MESSAGES, fields=st.dictionaries(TEXTS, VALUES, max_size=3), separators=SEPARATORS, is_ascii=st.booleans()
)
def test_what_is_not_changed_keeps_every_character(
    messages: list[dict[str, Any]], fields: dict[str, Any], separators: tuple[str, str], is_ascii: bool
) -> None:
    whole = {**fields, "messages": messages, "stream": True}
    body = json.dumps(whole, separators=separators, ensure_ascii=is_ascii).encode()
    request = parse_chat_request(body)
    assert request is not None
    assert request.with_messages(request.texts_of(request.messages)) == body

    changed = inject_behind_question(inject(request.messages, TEA), TEA)
    sent = json.loads(request.with_messages(request.texts_of(changed)))
    assert sent["messages"] == json.loads(json.dumps(changed))
    assert {**sent, "messages": None} == {**json.loads(body), "messages": None}


def test_of_two_lists_of_messages_the_last_one_counts() -> None:
    request = parse_chat_request(b'{"messages": [{"a": 1}], "messages": [{"role": "user", "content": "x"}]}')
    assert request is not None
    assert request.messages == [{"role": "user", "content": "x"}]
    assert request.with_messages(['{"b": 2}']) == b'{"messages": [{"a": 1}], "messages": [{"b": 2}]}'


@pytest.mark.parametrize(
    "body", ["", "[", "{", "{}", '{"messages": []}', '{"messages": ["x"]}', "[" * 100_000, "\ufeff{}"]
)
def test_what_is_no_chat_is_none(body: str) -> None:
    assert parse_chat_request(body.encode()) is None


def stream(*deltas: Any) -> bytes:
    lines = (json.dumps({"choices": [{"index": 0, "delta": delta}]}) for delta in deltas)
    return b"".join(f"data: {line}\r\n\r\n".encode() for line in lines) + b"data: [DONE]\n\n"


@pytest.mark.parametrize("size", [1, 7, 10**9])
@pytest.mark.parametrize(
    ("body", "text"),
    [
        (stream({"role": "assistant"}, {"content": "你"}, {"content": "好"}, {"tool_calls": []}), "你好"),
        (b'{"choices": [{"message": {"content": "one"}}, {"index": 1, "message": {"content": "two"}}]}', "one"),
        (b' {"choices": [{"message": {"content": [{"type": "text", "text": "in parts"}]}}]}', "in parts"),
        (b'{"choices": [{"message": {"content": "<think>\\nhm</think>\\n\\nyes"}}]}', "yes"),
        (stream({"content": "<think>hm"}, {"content": "</think>yes"}), "yes"),
        (b'{"choices": [{"message": {"content": null}}]}', ""),
        (b'{"error": {"message": "no"}}', ""),
        (b'data: {"choices": 1}\n\ndata: {"choices": [7, {"delta": 3}]}\n\ndata: broken', ""),
        (b"\xff\xfe", ""),
        (b"", ""),
    ],
)
def test_an_answer_is_read_whole_or_as_a_stream(body: bytes, text: str, size: int) -> None:
    reader = AnswerReader()
    for at in range(0, len(body), size):
        reader.feed(body[at : at + size])
    assert reader.text == text


@pytest.mark.parametrize(
    "body",
    [
        stream({"content": "I was"}).removesuffix(b"data: [DONE]\n\n"),
        stream({"content": "I was"}).replace(b"data: [DONE]", b'data: {"error": {"message": "no"}}\n\ndata: [DONE]'),
        stream({"content": "I was"}).replace(b"data: [DONE]", b'event: error\ndata: {"message": "no"}\n\ndata: [DONE]'),
        stream({"content": "I was"}).replace(
            b"data: [DONE]", b'data: {"object": "error", "code": 400}\n\ndata: [DONE]'
        ),
        b'{"choices": [{"message": {"content": "I w',
    ],
    ids=["no end", "error", "event", "object", "cut"],
)
def test_an_answer_that_failed_has_no_text(body: bytes) -> None:
    reader = AnswerReader()
    reader.feed(body)
    assert reader.text == ""
    assert not reader.is_refusal


def test_a_reason_to_stop_ends_a_stream_too() -> None:
    reader = AnswerReader()
    reader.feed(b'data: {"choices": [{"delta": {"content": "Yes."}, "finish_reason": "stop"}]}\n\n')
    assert reader.text == "Yes."


def test_an_id_stays_the_same_when_the_conversation_goes_on() -> None:
    first = [{"role": "user", "content": "ok"}, {"role": "assistant", "content": "Fine."}]
    more = [*first, {"role": "user", "content": "ok"}, {"role": "assistant", "content": "Good."}]
    ids = [turn.id for turn in turns_of(more)]
    assert [turn.id for turn in turns_of(first)] == ids[:2]
    assert len(set(ids)) == 4
    again = turns_of([*first[:1], {"role": "assistant", "content": "Another answer."}])
    assert [turn.id for turn in again] == ids[:2]
