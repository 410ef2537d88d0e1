"""A text as patterns should see it: narrow digits and letters, plain dashes and spaces, nothing invisible."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

HIDDEN: Final = "\x00"
"""Stands in a folded text only where something was hidden."""

_NARROW: Final = {0xFF01 + at: 0x21 + at for at in range(94) if chr(0x21 + at).isalnum() or chr(0x21 + at) in "@.+-_/"}
_DIGIT_ZEROS: Final = (0x0660, 0x06F0, 0x0966, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6)
"""Where other scripts' and mathematical digits begin."""
_PLAIN: Final[Mapping[int, int]] = MappingProxyType(
    _NARROW
    | {zero + digit: 0x30 + digit for zero in _DIGIT_ZEROS for digit in range(10)}
    | dict.fromkeys((*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63), ord("-"))
    | dict.fromkeys((0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), ord(" "))
    | {0: 0xFFFD}
)
_ODD_BELOW_ASTRAL: Final = "".join(re.escape(chr(code)) for code in _PLAIN if code <= 0xFFFF)
_ODD: Final = re.compile(f"[{_ODD_BELOW_ASTRAL}\U0001d7ce-\U0001d7ff]")
"""The mathematical digits as a range: one by one they would make the class ten times slower."""
INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
"""Characters that take no room: soft hyphens, zero-width spaces and joiners, marks of direction, tags."""


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text that knows where its characters stood."""

    text: str
    positions: Sequence[int] | None = None
    """Position of each character in the original; None if nothing was taken out."""

    def original(self, begin: int, end: int) -> tuple[int, int]:
        """The part of the original behind `text[begin:end]`, which must not be empty."""
        return (begin, end) if self.positions is None else (self.positions[begin], self.positions[end - 1] + 1)


def fold(text: str) -> Folded:
    """The text for patterns to look at. Only invisible characters change its length."""
    if text.isascii():
        return Folded(text.replace(HIDDEN, "\ufffd"))
    places = None
    if INVISIBLE.search(text):
        gone = {match.start() for match in INVISIBLE.finditer(text)}
        places = [at for at in range(len(text)) if at not in gone]
        text = INVISIBLE.sub("", text)
    return Folded(text.translate(_PLAIN) if _ODD.search(text) else text, places)
