"""The form in which the reader sees two texts: `<s> query: before </s> first </s></s> second </s>`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from ebbing.adapters.embedders.e5_tokenizer import BEGIN, END

Encode = Callable[[str], Sequence[int]]
"""Token ids of a clean text, without marks."""

FIRST_TOKENS: Final = 72
"""Of a longer message or question, its beginning and its end."""
BEFORE_TOKENS: Final = 28
"""The end of the turn before it."""
SECOND_TOKENS: Final = 56
"""The beginning of a memory."""


class Task(IntEnum):
    """What the reader is asked; each has segments of its own."""

    CLAIM = 0
    CHANGE = 1
    ANSWER = 2


class ReaderInput(NamedTuple):
    """Tokens of a pair."""

    ids: list[int]
    first_length: int
    """Tokens up to the end of the first text, marks included."""


def reader_input(encode: Encode, texts: tuple[str, str, str]) -> ReaderInput:
    """Return the tokens of a pair.

    Args:
        encode: the tokenizer.
        texts: what was said before (may be empty), the first text, the second text.
    """
    before, first, second = texts
    earlier = list(encode(before))[-BEFORE_TOKENS:] if before else []
    middle = list(encode(first))
    if len(middle) > FIRST_TOKENS:
        middle = middle[: FIRST_TOKENS // 2] + middle[-FIRST_TOKENS // 2 :]
    left = [BEGIN, *encode("query:"), *earlier, *([END] if earlier else []), *middle, END]
    return ReaderInput([*left, END, *list(encode(second))[:SECOND_TOKENS], END], len(left))
