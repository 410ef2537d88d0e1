"""The part of a long message that a fact was taken from, for a model that reads short texts."""

from __future__ import annotations

import re
from typing import Final

_WIDTH: Final = 240
"""A message up to this width is read whole. A Chinese character is three wide: it is about as many tokens."""
_GRAM: Final = 3
_MAX_READ: Final = 4_000
"""Characters at the head of a message: the rules read no more either."""
_SENTENCE: Final = re.compile(r"[^.!?;。！？；\n]+[.!?;。！？；\n]*")


def claim_excerpt(text: str, fact: str) -> str:
    """Return the message; of a long one the sentence that shares most with the fact, with as many around it as fit."""
    text = text[:_MAX_READ]
    parts = _SENTENCE.findall(text)
    if not parts or _width(text) <= _WIDTH:
        return text
    expected = _grams(fact)
    best = max(range(len(parts)), key=lambda place: len(expected & _grams(parts[place])))
    first = last = best
    while True:
        room = _WIDTH - _width("".join(parts[first : last + 1]))
        if first > 0 and _width(parts[first - 1]) <= room:
            first -= 1
        elif last + 1 < len(parts) and _width(parts[last + 1]) <= room:
            last += 1
        else:
            return "".join(parts[first : last + 1]).strip()


def _width(text: str) -> int:
    return sum(3 if character > "\u2e7f" else 1 for character in text)


def _grams(text: str) -> set[str]:
    small = text.casefold()
    return {small[place : place + 2 if small[place] > "\u2e7f" else place + _GRAM] for place in range(len(small))}
