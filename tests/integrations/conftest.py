"""What the tests of all doors share: a memory, and memories that fail in every way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ebbing import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory that finds words alone: fast, and the same on every machine."""
    with Memory(tmp_path / "data", embedder="none") as memory:
        yield memory


class FailingStore:
    """A memory server that is down (`error`), or hangs (`None`); it counts how often it was asked."""

    def __init__(self, error: Exception | None) -> None:
        self.error, self.calls = error, 0

    async def recall(self, *_: Any, **__: Any) -> list[Any]:
        return await self._fail()

    async def remember(self, *_: Any, **__: Any) -> str | None:
        return await self._fail()

    async def is_well(self) -> bool:
        return False

    async def aclose(self) -> None:
        """Nothing to close."""

    async def _fail(self) -> Any:
        self.calls += 1
        if self.error is not None:
            raise self.error
        await asyncio.sleep(3_600)


@pytest.fixture(params=[ConnectionError("down"), RuntimeError("nonsense"), None], ids=["down", "broken", "hung"])
def failing_store(request: pytest.FixtureRequest) -> FailingStore:
    return FailingStore(request.param)
