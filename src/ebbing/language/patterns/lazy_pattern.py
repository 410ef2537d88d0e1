"""Patterns that are compiled at their first use: of two thousand, a conversation needs a few hundred.

A pattern for either case is compiled for small letters, where it asks for nothing else: that is faster to search with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

T = TypeVar("T")
_CASE_SENSITIVE: Final = re.compile(r"(\(\?P[<=]\w+[>)]|\\.)|[A-Z]", re.DOTALL)
"""A letter that stands for itself, unlike those of a group's name or of an escape."""
_CLASS: Final = re.compile(r"(?<!\\)\[\^?(?:\\.|[^\]\\])*\]", re.DOTALL)
_RANGE: Final = re.compile(r"(?![0-9]-[0-9]|[a-z]-[a-z]|[\u2e80-\uffff]-[\u2e80-\uffff]|.-\]|[\[^]-).-.", re.DOTALL)
"""A range that may hold letters beside others."""
_CASED: Final = re.compile(r"\(\?-?[a-z]|[^\x00-\x7f\u2010-\u206f\u2e80-\uffff]")
"""What may tell large letters from small ones: flags, and other alphabets."""


class Late:
    """A pattern that is compiled, in either case, when it is first asked.

    Two threads that ask it first at the same time compile it both, and either result will do.
    """

    __slots__ = ("made", "plain", "text")
    made: re.Pattern[str]
    """The compiled pattern. Raises `re.error` where the text is none."""
    plain: re.Pattern[str] | None
    """What finds in a text put into small letters what `made` finds in the text. It is compiled in half the time, and
    found in a third: ask it first. None where there is none. Letters of `sieve.ODD` are beyond it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __getattr__(self, name: str) -> re.Pattern[str] | None:
        if name == "made":
            self.made = caseless(self.text)
            return self.made
        if name == "plain":
            self.plain = _plain(self.text)
            return self.plain
        raise AttributeError(name)


def _plain(text: str) -> re.Pattern[str] | None:
    small = _CASE_SENSITIVE.sub(lambda match: match[1] or match[0].lower(), text)
    if _CASED.search(small) or any(_RANGE.search(part) for part in _CLASS.findall(small)):
        return None
    return re.compile(small)


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


_CHINESE: Final = re.compile(r"(?<!\\)\[\^?(?:\\u4e00-\\u9fff|\u4e00-\u9fff|\u4e00-\u9fa5)\]")
"""A class of Chinese characters and of nothing else."""


def caseless(pattern: str) -> re.Pattern[str]:
    """The pattern, matching in either case.

    Chinese has none. Told so, `re` spares itself a look at the other case of each of 20,000 characters, a millisecond
    for every class of them.
    """
    return re.compile(_CHINESE.sub(r"(?-i:\g<0>)", pattern), re.IGNORECASE)
