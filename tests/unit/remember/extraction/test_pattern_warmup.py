"""The patterns of the way in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import anyio
import pytest

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.remember.extraction import pattern_warmup as ready

pytestmark = pytest.mark.anyio


async def test_callers_that_come_together_compile_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def redact(text: str) -> str:
        compiled.append(text)
        return text

    monkeypatch.setattr(ready, "_DONE", set())
    monkeypatch.setattr(ready, "redact", redact)
    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(lambda: ready.warm_up_patterns(reading=False))
    assert len(compiled) == 1


async def test_only_what_reads_the_languages_of_the_texts_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def extract(messages: Sequence[Message], *, now: datetime) -> list[Fact]:
        read.extend(message.content for message in messages)
        return []

    monkeypatch.setattr(ready, "_DONE", set())
    monkeypatch.setattr(ready, "extract", extract)
    await ready.warm_up_patterns(["I own a kite."], reading=False)
    assert read == []
    await ready.warm_up_patterns(["I own a kite.", "12:30", "さようなら"], reading=True)
    assert read == [ready.SAMPLES["en"]]
    for _ in range(2):
        await ready.warm_up_patterns(["I own a kite.", "我有一只风筝"], reading=True)
    assert read == [ready.SAMPLES["en"], ready.SAMPLES["zh"]]
