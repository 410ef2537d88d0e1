"""A memory without models, in which little is told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from ebbing import Memory
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings


@pytest.fixture
def memory() -> Iterator[Memory]:
    settings = load_settings({"store": "ephemeral", "embedder": "none"})
    with Memory(components=build(settings, clock=ManualClock(datetime(2026, 3, 2, 9, tzinfo=UTC)))) as opened:
        yield opened
