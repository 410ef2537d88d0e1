"""What is kept of texts in RAM to be quicker the next time, and how all of it is let go."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, ParamSpec, TypeVar, cast
from weakref import WeakSet

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_CACHES: Final[WeakSet[Any]] = WeakSet()


def kept(most: int) -> Callable[[Callable[_Given, _Result]], Callable[_Given, _Result]]:
    """Remembers the last `most` results of a function of somebody's words, until `let_go`."""

    def decorate(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
        remembering = lru_cache(maxsize=most)(function)
        _CACHES.add(remembering)
        return cast("Callable[_Given, _Result]", remembering)

    return decorate


def let_go() -> None:
    """Forgets every word of anybody that this process keeps in this way; what is asked again is worked out again."""
    for remembering in list(_CACHES):
        remembering.cache_clear()
    re.purge()  # some patterns are made of words of a text
