"""What a model answered, read from the bytes as they go by."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

MAX_ANSWER_BYTES: Final = 8 * 2**20
"""Bytes of an answer, of a line of a stream or of its text, that are held at most; of a longer one nothing is kept."""
_THOUGHTS: Final = re.compile(r"\A(?:\s*<think>.*?(?:</think>|\Z)|(?:(?!<think>).)*?</think>)\s*", re.DOTALL)
"""Some templates open the thoughts themselves, so that only their end is sent; a short limit cuts off their end."""
_LINE_END: Final = re.compile(rb"[\r\n]+")
_LAST_EVENT: Final = b"[DONE]"


class AnswerReader:
    """Reads an answer while its pieces pass: of a stream line by line, so that its length does not matter."""

    def __init__(self) -> None:
        self._is_stream: bool | None = None
        """None until the first byte that is no blank."""
        self._parts: list[bytes] = []
        """What of a line, or of a whole answer, came so far."""
        self._parts_size = 0
        self._texts: list[str] = []
        self._text_size = 0
        self._is_too_long = False
        self._is_ended = False
        """A stream came to its last event, or said why it stops."""
        self._has_failed = False

    def feed(self, chunk: bytes) -> None:
        """Read the next piece."""
        if self._is_stream is None:
            chunk = chunk.lstrip()
            self._is_stream = None if not chunk else not chunk.startswith(b"{")
        if self._is_stream:
            first, *others = _LINE_END.split(chunk)
            self._add_part(first)
            for part in others:
                self._read_line()
                self._add_part(part)
        else:
            self._add_part(chunk)

    @property
    def text(self) -> str:
        """The text of the first choice; "" for none, such as a call of tools, and for what failed or broke off.

        What a model thought aloud before its answer is left out.
        """
        if self._is_too_long:
            return ""
        if self._is_stream:
            return "" if self._has_failed or not self._is_ended else without_thoughts("".join(self._texts))
        return without_thoughts("".join(_texts_of(_parsed(b"".join(self._parts)), "message")))

    @property
    def is_refusal(self) -> bool:
        """Whether the endpoint said that it failed, and said nothing else: some do so under status 200."""
        if self._is_stream:
            return self._has_failed and not self._texts
        return not self._is_too_long and _is_error(_parsed(b"".join(self._parts)))

    def _add_part(self, part: bytes) -> None:
        self._parts_size += len(part)
        if self._parts_size > MAX_ANSWER_BYTES:
            self._is_too_long = True
            self._parts.clear()
        elif part and not self._is_too_long:
            self._parts.append(part)

    def _read_line(self) -> None:
        line, self._parts, self._parts_size = b"".join(self._parts), [], 0
        if line.strip() == b"event: error":
            self._has_failed = True
        if not line.startswith(b"data:"):
            return
        data = line.removeprefix(b"data:").strip()
        event = None if data == _LAST_EVENT else _parsed(data)
        self._has_failed = self._has_failed or _is_error(event)
        self._is_ended = self._is_ended or data == _LAST_EVENT or _is_finished(event)
        for text in _texts_of(event, "delta"):
            self._text_size += len(text)
            if self._text_size > MAX_ANSWER_BYTES:
                self._is_too_long = True
                self._texts.clear()
            elif text and not self._is_too_long:
                self._texts.append(text)


def without_thoughts(text: str) -> str:
    """Return what a model said, without what it thought aloud before it."""
    return _THOUGHTS.sub("", text, count=1).strip()


def _is_error(event: Any) -> bool:
    return isinstance(event, Mapping) and (bool(event.get("error")) or event.get("object") == "error")


def _is_finished(event: Any) -> bool:
    return any(choice.get("finish_reason") for choice in _first_choices(event))


def _texts_of(event: Any, name: str) -> Iterator[str]:
    """Yield the texts of the first choice, which stand under this name."""
    for choice in _first_choices(event):
        yield _text_of(choice.get(name))


def _first_choices(event: Any) -> Iterator[Mapping[str, Any]]:
    choices = event.get("choices") if isinstance(event, Mapping) else None
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, Mapping) and not choice.get("index"):
            yield choice


def _text_of(message: Any) -> str:
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, list):
        return "".join(_text_of({"content": part.get("text")}) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
