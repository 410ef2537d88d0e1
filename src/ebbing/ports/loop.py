"""Where a coroutine that was begun without an event loop goes on with one."""

from __future__ import annotations

from asyncio import _get_running_loop  # `get_running_loop` raises an error where there is none, which takes longer
from collections.abc import Generator
from typing import Final


class _LoopWanted:
    """What a coroutine yields to whoever drives it by hand; it is resumed on an event loop."""

    __slots__ = ()

    def __await__(self) -> Generator[_LoopWanted, None, None]:
        yield self


LOOP_WANTED: Final = _LoopWanted()


async def on_a_loop() -> None:
    """Await this before anything that needs an event loop on a way that a blocking caller begins without one.

    Changing threads and back takes longer than most searches, so a blocking search runs where it was called for as long
    as it waits for nothing. On a loop already, this does nothing.
    """
    if not is_on_a_loop():
        await LOOP_WANTED


def is_on_a_loop() -> bool:
    """Whether an event loop runs in this thread."""
    return _get_running_loop() is not None
