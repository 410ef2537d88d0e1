"""What a pattern cannot do without: pieces of which one stands in whatever it is found in."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final, NamedTuple

LONGEST_PIECE: Final = 3
_MOST: Final = 64
"""Wordings of a stretch of a pattern that are told apart."""
_USUAL: Final = 1.0
"""Pieces that so many stand in a usual text keep no pattern from being asked."""
_LENGTH: Final = 50
"""Characters of a usual text."""
_OFTEN: Final = {letter: share for letters, share in {
    " ": 0.18, "e": 0.1, "tao": 0.07, "insrh": 0.055, "dl": 0.035, "cumwfgypb": 0.02, "vk": 0.01, "jxqz": 0.002,
    "的了我是不一有": 0.02,
}.items() for letter in letters}  # fmt: skip
_ELSE: Final = 0.005

Wordings = frozenset[str]


class _Read(NamedTuple):
    """A part of a pattern."""

    all: Wordings | None = None
    """All that it can be found as, if these are few."""
    needs: Wordings | None = None
    """Else pieces of which one stands in whatever it is found in, if any are known."""


_NOTHING: Final = _Read(frozenset({""}))
_ANYTHING: Final = _Read()


def needs(pattern: re.Pattern[str]) -> Wordings | None:
    """Pieces in small letters of which one stands in each text, put into small letters, in which a pattern is found.

    None where none are known. It does not hold for a text with letters that a caseless pattern takes for another one
    than they are in small letters (see `sieve`).
    """
    return _needs(_sequence(parser.parse(pattern.pattern, pattern.flags)))


def _needs(read: _Read) -> Wordings | None:
    return read.needs if read.all is None else _of_all(read.all)


def _sequence(parts: Iterable[tuple[Any, Any]]) -> _Read:
    """Parts that follow each other: all of them are needed, so the best needs of any of them will do."""
    stretch = _NOTHING.all or frozenset()
    found: list[Wordings | None] = []
    whole = True
    for kind, given in parts:
        part = _read(kind, given)
        if part.all is not None and len(stretch) * len(part.all) <= _MOST:
            stretch = frozenset([before + after for before in stretch for after in part.all])
            continue
        whole = False
        found += (part.needs, _of_all(stretch))
        stretch = part.all or _NOTHING.all or frozenset()
    return _Read(stretch) if whole else _Read(None, _best([*found, _of_all(stretch)]))


def _read(kind: Any, given: Any) -> _Read:
    if kind is op.LITERAL:
        return _character(given)
    if kind is op.IN:
        return _class(given)
    if kind is op.BRANCH:
        return _either([_sequence(branch) for branch in given[1]])
    if kind is op.SUBPATTERN:
        return _sequence(given[-1])
    if kind is op.ATOMIC_GROUP:
        return _sequence(given)
    if kind in {op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT}:
        least, most, part = given
        return _repeated(_sequence(part), least, once=most == 1)
    return _NOTHING if kind in {op.AT, op.ASSERT, op.ASSERT_NOT} else _ANYTHING


def _character(code: int) -> _Read:
    """A letter that is no other one in either case: of the Latin script without accents, or of one without case."""
    letter = chr(code)
    small = letter.lower()
    known = letter.isascii() or small == letter.upper()
    return _Read(frozenset({small})) if known else _ANYTHING


def _class(members: Sequence[tuple[Any, Any]]) -> _Read:
    codes: list[int] = []
    for kind, given in members:
        if kind is op.LITERAL:
            codes.append(given)
        elif kind is op.RANGE and given[1] - given[0] < _MOST:
            codes += range(given[0], given[1] + 1)
        else:
            return _ANYTHING
    return _either([_character(code) for code in codes])


def _either(parts: Sequence[_Read]) -> _Read:
    every = [part.all for part in parts if part.all is not None]
    whole = frozenset().union(*every)
    if len(every) == len(parts) and len(whole) <= _MOST:
        return _Read(whole)
    known = list(filter(None, map(_needs, parts)))
    return _Read(None, frozenset().union(*known)) if len(known) == len(parts) else _ANYTHING


def _repeated(read: _Read, least: int, *, once: bool) -> _Read:
    if once:
        return read if least else _Read(read.all and read.all | {""})
    return _Read(None, _needs(read)) if least else _ANYTHING


def _of_all(wordings: Wordings) -> Wordings | None:
    """For each wording its rarest piece."""
    return None if "" in wordings else frozenset(map(_rarest, wordings))


def _rarest(text: str) -> str:
    if len(text) <= LONGEST_PIECE:
        return text
    return min((text[at : at + LONGEST_PIECE] for at in range(len(text) - LONGEST_PIECE + 1)), key=_share)


def _best(found: Iterable[Wordings | None]) -> Wordings | None:
    """Those that the fewest texts hold, unless even these stand in most."""
    rated = [(sum(map(_share, one)), place, one) for place, one in enumerate(found) if one is not None]
    rating, _, best = min(rated, default=(math.inf, 0, None))
    return best if rating <= _USUAL else None


def _share(piece: str) -> float:
    """How often a piece stands in a usual text, were its letters thrown together."""
    return _LENGTH * math.prod([_OFTEN.get(letter, _ELSE) for letter in piece])
