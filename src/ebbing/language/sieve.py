"""Which of many patterns may be found in a text at all, told by pieces of a few characters that each of them needs.

A pattern for "moved|relocated to" finds nothing in a text that holds neither "mov" nor "rel". Most patterns are left
out by such pieces, a hundred of them by one look at those of the text, where asking each takes a microsecond. A pattern
whose needs cannot be told is always asked.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import reduce
from itertools import islice
from operator import add, or_
from typing import Final, TypeVar, overload

from ebbing.language.kept import kept_of_texts
from ebbing.language.needs import LONGEST_PIECE, Needs

T = TypeVar("T")
_ODD: Final = re.compile("[\u0130\u0131\u017f]")
"""Letters that a caseless pattern takes for an "i" or an "s", and that are another one in small letters."""
WARM: Final = 64
"""Texts that are asked about before the needs of the patterns are read, which takes longer than to ask a few, and by
which it is known what is rare."""


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
        if needing.unread:
            needing.read_one()
        bits = reduce(or_, map(needing.bits.__getitem__, needing.bits.keys() & held), needing.always)
        return _places(bits >> after + 1 << after + 1)

    def _warmed(self, held: AbstractSet[str]) -> _Needing | None:
        self._seen.update(held)
        self._asked += 1
        if self._asked >= WARM and self._patterns is not None:
            self._needing = _Needing(map(self._patterns, self._things), count=len(self), seen=self._seen)
            self._seen = Counter()
        return self._needing


class _Needing:
    """Which things may be found where a piece stands, a bit each.

    One thing is read with each text: all at once, they would keep one caller waiting for a tenth of a second.
    """

    __slots__ = ("_lock", "_needs", "_patterns", "always", "bits", "unread")

    def __init__(self, patterns: Iterator[Iterable[re.Pattern[str]]], *, count: int, seen: Mapping[str, int]) -> None:
        """`seen` tells in how many of the first texts a piece stood; short ones are likelier."""
        self.bits: dict[str, int] = {}
        self.always = (1 << count) - 1
        """Things that are asked about every text: what they need cannot be told, or was not read yet."""
        self.unread = count
        self._patterns = enumerate(patterns)
        self._needs = Needs(lambda piece: (seen.get(piece, 0) + 1 / len(piece)) / WARM)
        self._lock = threading.Lock()

    def read_one(self) -> None:
        """Finds out what one more thing needs, unless another thread is about it."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            for place, alternatives in islice(self._patterns, 1):
                found = list(map(self._needs.of, alternatives))
                if None not in found:
                    for piece in frozenset().union(*filter(None, found)):
                        self.bits[piece] = self.bits.get(piece, 0) | 1 << place
                    self.always &= ~(1 << place)
                self.unread -= 1
        finally:
            self._lock.release()


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
