"""Which of many patterns may be found in a text at all, told by pieces of it that each of them needs.

A pattern for "moved|relocated to" finds nothing in a text that holds neither "mov" nor "rel". By one look at the pieces
of a text most patterns are left out: they are not asked, and many never compiled. What a pattern needs is known
beforehand (`packs/needs.txt`, made by `scripts/build_needs.py`); one that is not listed there is always asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from operator import add
from typing import Final, Generic, TypeVar, overload

from ebbing.language.patterns.lazy_pattern import Late

T = TypeVar("T")
SIZES: Final[Mapping[str, tuple[int, ...]]] = {"en": (3,), "zh": (1, 2)}
"""Characters of the pieces by which the patterns of a language are sorted."""
ODD: Final = re.compile("[\u0130\u0131\u017f]")
"""Letters that a caseless pattern takes for an "i" or an "s", and that are another one in small letters."""


class Sieve(Sequence[T], Generic[T]):
    """Things in order, each with a pattern or several: `places` says which may be found in a text."""

    __slots__ = ("_always", "_language", "_needing", "_pairs", "_things")

    def __init__(self, things: Iterable[T], patterns: Callable[[T], Iterable[Late]], *, language: str) -> None:
        """`patterns` gives those of a thing, of the pack of a `language`."""
        self._things = tuple(things)
        self._pairs = tuple((thing, pattern) for thing in self._things for pattern in patterns(thing))
        self._language = language
        self._always: frozenset[int] = frozenset()
        self._needing: dict[str, list[int]] | None = None

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

    @property
    def pairs(self) -> Sequence[tuple[T, Late]]:
        """Each thing with each of its patterns, in order."""
        return self._pairs

    def found_in(self, *texts: str, from_start: bool = False) -> Iterator[tuple[T, Late]]:
        """The things with those of their patterns that are found in one of the texts, in order.

        With `from_start` only where a text begins.
        """
        return (self._pairs[place] for place in self.places_in(*texts, from_start=from_start))

    def places_in(self, *texts: str, from_start: bool = False, after: int = -1) -> Iterator[int]:
        """Where these stand among the pairs, behind a place."""
        small = () if any(map(_is_odd, texts)) else tuple(map(str.lower, texts))
        for place in self.places(" ".join(texts)):
            if place <= after:
                continue
            late = self._pairs[place][1]
            pattern, text_searched = (late.plain, small) if small and late.plain is not None else (late.made, texts)
            if any(map(pattern.match if from_start else pattern.search, text_searched)):
                yield place

    def places(self, text: str) -> Sequence[int]:
        """Where these stand among the pairs."""
        needing = self._needing
        if needing is None:
            needing = self._sorted()
        pieces = _pieces(text, self._language)
        if pieces is None:
            return range(len(self._pairs))
        places = set(self._always)
        for piece in needing.keys() & pieces:
            places.update(needing[piece])
        return sorted(places)

    def _sorted(self) -> dict[str, list[int]]:
        needing: dict[str, list[int]] = {}
        always = []
        for place, (_, pattern) in enumerate(self._pairs):
            needs = needs_of(pattern.text, self._language)
            if needs is None:
                always.append(place)
            for piece in needs or ():
                needing.setdefault(piece, []).append(place)
        self._always = frozenset(always)
        self._needing = needing
        return needing


def _pieces(text: str, language: str) -> AbstractSet[str] | None:
    """The pieces of a text, in small letters; None where it has letters that are of two natures."""
    if _is_odd(text):
        return None
    small = text.lower()
    if language == "zh":
        return {*small, *map(add, small, small[1:])}
    return set(map(add, map(add, small, small[1:]), small[2:]))


def _is_odd(text: str) -> bool:
    return not text.isascii() and ODD.search(text) is not None


def needs_of(pattern: str, language: str) -> Sequence[str] | None:
    """Pieces of which one stands, in small letters, in whatever a pattern is found in; None where none are known."""
    needs = _needs().get(name_of(pattern, language))
    if needs is None:
        return None
    sizes = SIZES[language]
    return [part[at : at + size] for size, part in zip(sizes, needs, strict=True) for at in range(0, len(part), size)]


def name_of(pattern: str, language: str) -> str:
    """Under which name the needs of a pattern are listed: another wording needs something else."""
    return blake2b(f"{language} {pattern}".encode(), digest_size=6).hexdigest()


@lru_cache(maxsize=1)
def _needs() -> Mapping[str, Sequence[str]]:
    """By the name of a pattern, its pieces put together, those of each size apart."""
    listed = (files("ebbing.language") / "packs" / "needs.txt").read_text("utf-8").split("\n")
    rows = (line.split("\t") for line in listed if line and not line.startswith("#"))
    return {name: parts for name, *parts in rows}
