"""Every working memory keeps the contract of its port."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ebbing.adapters.system.working_memory import InProcessWorkingMemory
from ebbing.ports.clock import Clock
from ebbing.ports.working_memory import WorkingMemory
from ebbing.testing.working_memory_suite import WorkingMemorySuite


class TestInProcessWorkingMemory(WorkingMemorySuite):
    @asynccontextmanager
    async def open_working_memory(
        self, clock: Clock, *, most_sessions: int, most_tokens: int
    ) -> AsyncIterator[WorkingMemory]:
        yield InProcessWorkingMemory(clock, most_sessions=most_sessions, most_tokens=most_tokens)
