"""What several unit tests open: a store in a file, the same file once more, and a whole memory without models."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ebbing import AsyncMemory
from ebbing.adapters.sqlite.store import SqliteMemoryStore
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings
from tests.unit.adapters.sqlite.stores import open_store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteMemoryStore]:
    opened = open_store(tmp_path)
    yield opened
    await opened.aclose()


@pytest.fixture
async def other(tmp_path: Path, store: SqliteMemoryStore) -> AsyncIterator[SqliteMemoryStore]:
    """A second handle on the same file, as another process would have one."""
    opened = open_store(tmp_path)
    yield opened
    await opened.aclose()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory(clock: ManualClock) -> AsyncMemory:
    return AsyncMemory(components=build(load_settings({"store": "ephemeral", "embedder": "none"}), clock=clock))
