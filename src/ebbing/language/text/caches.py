"""What is kept of texts in RAM to be quicker the next time, and how all of it is let go."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeAlias, TypeVar, cast
from weakref import WeakSet

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_More = ParamSpec("_More")
_Key = TypeVar("_Key")
_Kept = TypeVar("_Kept")
_OfText: TypeAlias = Callable[Concatenate[str, _More], _Result]
_CACHES: Final[WeakSet[Any]] = WeakSet()


LONGEST: Final = 2_000
"""Characters of the longest text that `kept_of_texts` remembers: with `most` it bounds the RAM."""


def kept(most: int) -> Callable[[Callable[_Given, _Result]], Callable[_Given, _Result]]:
    """Remembers the last `most` results of a function of somebody's words, until `let_go`."""

    def decorate(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
        remembering = lru_cache(maxsize=most)(function)
        _CACHES.add(remembering)
        return cast("Callable[_Given, _Result]", remembering)

    return decorate


def kept_of_texts(most: int) -> Callable[[_OfText[_More, _Result]], _OfText[_More, _Result]]:
    """As `kept`, for a function of a whole text (its first argument): a long one is worked out each time."""

    def decorate(function: _OfText[_More, _Result]) -> _OfText[_More, _Result]:
        remembering = kept(most)(function)

        @wraps(function)
        def of_text(text: str, *more: _More.args, **named: _More.kwargs) -> _Result:
            return (remembering if len(text) <= LONGEST else function)(text, *more, **named)

        return cast("_OfText[_More, _Result]", of_text)

    return decorate


class Keeping(dict[_Key, _Kept]):
    """As `kept`, for what has to be looked at before it is used: a dict of at most `most` things, until `let_go`."""

    __slots__ = ("__weakref__", "_most")
    __hash__ = object.__hash__  # type: ignore[assignment]  # it stands for itself among the caches

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        _CACHES.add(self)

    def keep(self, key: _Key, value: _Kept) -> _Kept:
        """Keeps it, in the place of all others where they are too many; returns it."""
        if len(self) >= self._most:
            self.clear()
        self[key] = value
        return value

    def cache_clear(self) -> None:
        """Forgets everything."""
        self.clear()


def let_go() -> None:
    """Forgets every word of anybody that this process keeps in this way; what is asked again is worked out again."""
    for remembering in list(_CACHES):
        remembering.cache_clear()
    re.purge()  # some patterns are made of words of a text
