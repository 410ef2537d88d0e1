"""What a model answered, read from the bytes that went by."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

MAX_ANSWER_BYTES: Final = 8 * 2**20
"""Bytes of an answer that are held to be read; of a longer one nothing is remembered."""
_THOUGHTS: Final = re.compile(r"\A(?:\s*<think>.*?(?:</think>|\Z)|(?:(?!<think>).)*?</think>)\s*", re.DOTALL)
"""Some templates open the thoughts themselves, so that only their end is sent; a short limit cuts off their end."""
_END_OF_STREAM: Final = re.compile(rb"(?:\A|\n)data: ?\[DONE\]\s*\Z")


def answer_text(body: bytes) -> str:
    """Return the text of the first choice; "" for none, such as a call of tools, or what cannot be read.

    What a model thought aloud before its answer is left out.
    """
    is_stream = not body.lstrip().startswith(b"{")
    choices = _stream_choices(body) if is_stream else _whole_choices(body)
    texts = [_text_of(choice.get("delta" if is_stream else "message")) for choice in choices if not choice.get("index")]
    return without_thoughts("".join(texts))


def without_thoughts(text: str) -> str:
    """Return what a model said, without what it thought aloud before it."""
    return _THOUGHTS.sub("", text, count=1).strip()


def is_ended(body: bytes) -> bool:
    """Return whether a stream came to its last event, after which many clients leave at once."""
    return _END_OF_STREAM.search(body[-64:]) is not None


def _whole_choices(body: bytes) -> Iterator[Mapping[str, Any]]:
    yield from _choices_of(_parsed(body))


def _stream_choices(body: bytes) -> Iterator[Mapping[str, Any]]:
    for line in body.splitlines():
        if line.startswith(b"data:"):
            yield from _choices_of(_parsed(line.removeprefix(b"data:")))


def _choices_of(answer: Any) -> Iterator[Mapping[str, Any]]:
    choices = answer.get("choices") if isinstance(answer, Mapping) else None
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, Mapping):
            yield choice


def _text_of(message: Any) -> str:
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, list):
        return "".join(_text_of({"content": part.get("text")}) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
