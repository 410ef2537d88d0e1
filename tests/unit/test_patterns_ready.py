"""The patterns of the way in."""

from __future__ import annotations

import anyio
import pytest

from ebbing.remember import ready

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
            group.start_soon(lambda: ready.patterns_ready(reading=False))
    assert len(compiled) == 1
