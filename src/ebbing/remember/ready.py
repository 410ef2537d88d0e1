"""Gets the usual patterns of the way in ready, off the event loop: compiling them takes half a second of CPU, once."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Final

import anyio.to_thread

from ebbing.domain.message import Message
from ebbing.language.claims import claim_of
from ebbing.ports.loop import on_a_loop
from ebbing.privacy.guard import instruction_shaped
from ebbing.privacy.recalled import strip_recalled
from ebbing.privacy.redact import redact
from ebbing.remember.extract import extract
from ebbing.remember.heard import told_by

_SAMPLE: Final = "I moved to Leeds last May, mail me: a@b.example. 我喜欢茶，上周三搬到上海了。"
_DONE: Final[set[bool]] = set()
_LOCK: Final = threading.Lock()


async def patterns_ready(*, reading: bool) -> None:
    """Returns when the patterns are compiled: those of redaction, and with `reading` those that read facts too."""
    if reading not in _DONE:
        await on_a_loop()
        await anyio.to_thread.run_sync(_compile, reading)


def _compile(reading: bool) -> None:
    with _LOCK:  # callers that come together wait for one of them: each for itself, they would be in each other's way
        if reading in _DONE:
            return
        redact(strip_recalled(_SAMPLE))
        instruction_shaped(_SAMPLE)
        if reading:
            for fact in extract([Message(_SAMPLE)], now=datetime(2024, 1, 1, tzinfo=UTC)):
                claim_of(fact.text, told_by(fact, None))
        _DONE.add(reading)
