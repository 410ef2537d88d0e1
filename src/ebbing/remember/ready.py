"""Gets the patterns of the way in ready, off the event loop: compiling them takes some tenths of a second, once."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

import anyio.to_thread

from ebbing.domain.message import Message
from ebbing.ports.loop import on_a_loop
from ebbing.privacy.guard import instruction_shaped
from ebbing.privacy.recalled import strip_recalled
from ebbing.privacy.redact import redact
from ebbing.remember.extract import extract

_SAMPLE: Final = "I moved to Leeds last May, mail me: a@b.example. 我喜欢茶，上周三搬到上海了。"
_DONE: Final[set[bool]] = set()


async def patterns_ready(*, reading: bool) -> None:
    """Returns when the patterns are compiled: those of redaction, and with `reading` those that read facts too."""
    if reading not in _DONE:
        await on_a_loop()
        await anyio.to_thread.run_sync(_compile, reading)


@lru_cache(maxsize=2)
def _compile(reading: bool) -> None:
    redact(strip_recalled(_SAMPLE))
    instruction_shaped(_SAMPLE)
    if reading:
        extract([Message(_SAMPLE)], now=datetime(2024, 1, 1, tzinfo=UTC))
    _DONE.add(reading)
