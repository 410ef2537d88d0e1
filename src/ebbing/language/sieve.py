"""Which of many patterns may be found in a text at all, told by pieces of a few characters that each of them needs.

A pattern for "moved|relocated to" finds nothing in a text that holds neither "mov" nor "rel". Most patterns are left
out by such pieces, a hundred of them by one look at those of the text, where asking each takes a microsecond. A pattern
whose needs cannot be told is always asked.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import reduce
from operator import add, or_
from typing import Final, NamedTuple, TypeVar, overload

from ebbing.language.kept import kept_of_texts
from ebbing.language.needs import LONGEST_PIECE, Needs

T = TypeVar("T")
_ODD: Final = re.compile("[\u0130\u0131\u017f]")
"""Letters that a caseless pattern takes for an "i" or an "s", and that are another one in small letters."""
WARM: Final = 64
"""Texts that are asked about before the needs of the patterns are worked out, which takes longer than to ask a few, and
by which it is known what is rare."""


class Sieve(Sequence[T]):
    """Things in order, each with a pattern or several: `left` gives those that may be found in a text."""

    __slots__ = ("_asked", "_needing", "_patterns", "_seen", "_things")

    def __init__(
        self, things: Iterable[T] = (), patterns: Callable[[T], Iterable[re.Pattern[str]]] | None = None
    ) -> None:
        """`patterns` names those of a thing: it may be found where one of them is."""
        self._things = tuple(things)
        self._patterns = patterns
        self._asked, self._seen = 0, Counter[str]()
        self._needing: _Needing | None = None

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        return self._things[place]

    def __len__(self) -> int:
        return len(self._things)

    def __iter__(self) -> Iterator[T]:
        return iter(self._things)

    def left(self, text: str) -> Iterator[T]:
        """The things that may be found in a text, in order."""
        return map(self._things.__getitem__, self.places(text))

    def places(self, text: str, *, after: int = -1) -> Iterator[int]:
        """Where they stand, behind a place."""
        held = pieces(text)
        needing = None if held is None else self._needing or self._warmed(held)
        if needing is None or held is None:
            return iter(range(after + 1, len(self._things)))
        bits = reduce(or_, map(needing.bits.__getitem__, needing.bits.keys() & held), needing.always)
        return _places(bits >> after + 1 << after + 1)

    def _warmed(self, held: AbstractSet[str]) -> _Needing | None:
        self._seen.update(held)
        self._asked += 1
        if self._asked >= WARM and self._patterns is not None:
            self._needing = _needing(list(map(self._patterns, self._things)), self._seen)
            self._seen = Counter()
        return self._needing


class _Needing(NamedTuple):
    """Which things may be found where a piece stands, a bit each, and which are always asked."""

    bits: dict[str, int]
    always: int


def _needing(patterns: Sequence[Iterable[re.Pattern[str]]], seen: Mapping[str, int]) -> _Needing:
    """What each thing needs. `seen` tells in how many of the first texts a piece stood; short ones are likelier."""
    needs = Needs(lambda piece: (seen.get(piece, 0) + 1 / len(piece)) / WARM)
    always, bits = 0, defaultdict[str, int](int)
    for place, alternatives in enumerate(patterns):
        found = list(map(needs.of, alternatives))
        always |= (None in found) << place
        for piece in frozenset().union(*(() if None in found else filter(None, found))):
            bits[piece] |= 1 << place
    return _Needing(dict(bits), always)


def _places(bits: int) -> Iterator[int]:
    while bits:
        last = bits & -bits
        yield last.bit_length() - 1
        bits ^= last


@kept_of_texts(8)
def pieces(text: str) -> AbstractSet[str] | None:
    """Every piece of a text, in small letters; None where it has letters that are of two natures."""
    if not text.isascii() and _ODD.search(text):
        return None
    small = text.lower()
    found, longer = set(small), list(small)
    for at in range(1, LONGEST_PIECE):
        longer = [*map(add, longer, small[at:])]
        found.update(longer)
    return found
