"""A chat request as it came: what it holds is read, and only the messages that change are written anew."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

_DECODER: Final = json.JSONDecoder()
_BLANKS: Final = " \t\r\n"
Span = tuple[int, int]


@dataclass(frozen=True)
class ChatRequest:
    """The body of a request for a chat completion."""

    text: str
    fields: Mapping[str, Any]
    message_spans: Sequence[Span]
    """Where each message stands in the text."""

    @cached_property
    def messages(self) -> list[dict[str, Any]]:
        """The messages, in the order in which they were sent."""
        return [dict(message) for message in self.fields["messages"]]

    def texts_of(self, messages: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return these messages as text; one that is unchanged keeps the characters that it came with."""
        texts: list[str] = []
        earlier = 0
        for message in messages:
            place = next((at for at in range(earlier, len(self.messages)) if self.messages[at] == message), None)
            if place is None:
                texts.append(json.dumps(message))
            else:
                begin, end = self.message_spans[place]
                texts.append(self.text[begin:end])
                earlier = place + 1
        return texts

    def with_messages(self, texts: Sequence[str]) -> bytes:
        """Return the body with these messages in the place of its own; every other character stays."""
        begin, end = self.message_spans[0][0], self.message_spans[-1][1]
        if len(texts) != len(self.message_spans):
            return f"{self.text[:begin]}{','.join(texts)}{self.text[end:]}".encode()
        parts: list[str] = []
        at = 0
        for text, (begin, end) in zip(texts, self.message_spans, strict=True):
            parts += [self.text[at:begin], text]
            at = end
        return "".join((*parts, self.text[at:])).encode()


def parse_chat_request(body: bytes) -> ChatRequest | None:
    """Return the request; None for what is not one, which the endpoint may refuse in its own words."""
    try:
        text = body.decode()
        spans = _spans_of_messages(text)
        fields = json.loads(text)
    except (ValueError, RecursionError, IndexError):
        return None
    if spans is None or not isinstance(fields, dict):
        return None
    messages = fields.get("messages")
    if not isinstance(messages, list) or len(messages) != len(spans) or not messages:
        return None
    if not all(isinstance(message, dict) and isinstance(message.get("role"), str) for message in messages):
        return None
    return ChatRequest(text, fields, spans)


def _spans_of_messages(text: str) -> list[Span] | None:
    """Return where each element of `messages` stands; of several such keys the last counts, as for most parsers."""
    at = _skip_blanks(text, 0)
    if text[at] != "{":
        return None
    spans: list[Span] | None = None
    at = _skip_blanks(text, at + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        at = _skip_blanks(text, _skip_blanks(text, at) + 1)
        if name == "messages" and text[at] == "[":
            spans, at = _spans_of_elements(text, at)
        else:
            _, at = _DECODER.raw_decode(text, at)
        at = _skip_blanks(text, at)
        if text[at] == ",":
            at = _skip_blanks(text, at + 1)
    return spans


def _spans_of_elements(text: str, at: int) -> tuple[list[Span], int]:
    """Return where each element of the array that begins here stands, and where the array ends."""
    spans: list[Span] = []
    at = _skip_blanks(text, at + 1)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        spans.append((at, end))
        at = _skip_blanks(text, end)
        if text[at] == ",":
            at = _skip_blanks(text, at + 1)
    return spans, at + 1


def _skip_blanks(text: str, at: int) -> int:
    while text[at] in _BLANKS:
        at += 1
    return at
