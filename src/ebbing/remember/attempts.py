"""Writes that are tried again where somebody else changed in between what they were decided on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ebbing.domain.errors import ConflictError
from ebbing.remember.add_deps import MAX_ATTEMPTS

T = TypeVar("T")


async def until_unchanged(attempt: Callable[[], Awaitable[T]]) -> T:
    """Return what an attempt returns, which reads, decides and writes; it is made again after a `ConflictError`.

    Raises:
        ConflictError: somebody else wrote at every attempt.
    """
    for _ in range(1, MAX_ATTEMPTS):
        try:
            return await attempt()
        except ConflictError:
            continue
    return await attempt()
