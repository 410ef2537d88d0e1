"""What is kept of texts in RAM to be quicker the next time, and how all of it is let go."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeAlias, TypeVar, cast
from weakref import WeakSet

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_More = ParamSpec("_More")
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_OfText: TypeAlias = Callable[Concatenate[str, _More], _Result]
_CACHES: Final[WeakSet[Any]] = WeakSet()


MAX_CACHED_TEXT_CHARS: Final = 2_000
"""Characters of the longest text that `bounded_text_cache` remembers: with `max_results` it bounds the RAM."""


def text_cache(max_results: int) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
    """Remember the last `max_results` results of a function of a person's words, until `clear_text_caches`."""

    def decorate(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        remembering = lru_cache(maxsize=max_results)(function)
        _CACHES.add(remembering)
        return cast("Callable[_Arguments, _Result]", remembering)

    return decorate


def bounded_text_cache(max_results: int) -> Callable[[_OfText[_More, _Result]], _OfText[_More, _Result]]:
    """Do as `text_cache`, for a function of a whole text (its first argument): a long one is worked out each time."""

    def decorate(function: _OfText[_More, _Result]) -> _OfText[_More, _Result]:
        remembering = text_cache(max_results)(function)

        @wraps(function)
        def of_text(text: str, *more: _More.args, **named: _More.kwargs) -> _Result:
            return (remembering if len(text) <= MAX_CACHED_TEXT_CHARS else function)(text, *more, **named)

        return cast("_OfText[_More, _Result]", of_text)

    return decorate


class BoundedCache(dict[_Key, _Value]):
    """A dict of at most `most` things, for what has to be looked at before it is used; emptied as a `text_cache` is."""

    __slots__ = ("__weakref__", "_most")
    __hash__ = object.__hash__  # type: ignore[assignment]  # it stands for itself among the caches

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        _CACHES.add(self)

    def keep(self, key: _Key, value: _Value) -> _Value:
        """Keeps it, in the place of all others where they are too many; returns it."""
        if len(self) >= self._most:
            self.clear()
        self[key] = value
        return value

    def cache_clear(self) -> None:
        """Forgets everything."""
        self.clear()


def clear_text_caches() -> None:
    """Forgets every word of anybody that this process keeps in this way; what is asked again is worked out again."""
    for remembering in list(_CACHES):
        remembering.cache_clear()
    re.purge()  # some patterns are made of words of a text
