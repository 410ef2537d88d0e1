"""What is made when it is first asked for: of two thousand patterns, a conversation needs a few hundred."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from ebbing.language.caseless import caseless

T = TypeVar("T")


class Late:
    """A pattern that is compiled when it is first asked: in either case, or with `small` for a text in small letters.

    Two threads that ask it first at the same time compile it both, and either result will do.
    """

    __slots__ = ("made", "small", "text")
    made: re.Pattern[str]
    """The compiled pattern. Raises `re.error` where the text is none."""

    def __init__(self, text: str, *, small: bool = False) -> None:
        self.text = text
        self.small = small

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name != "made":
            raise AttributeError(name)
        self.made = re.compile(self.text) if self.small else caseless(self.text)
        return self.made


class Lazily(Mapping[str, T]):
    """A mapping whose values are made when first asked for."""

    def __init__(self, names: Iterable[str], make: Callable[[str], T]) -> None:
        self._names = dict.fromkeys(names)
        self._make = make
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        try:
            return self._made[name]
        except KeyError:
            if name not in self._names:
                raise
        return self._made.setdefault(name, self._make(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
