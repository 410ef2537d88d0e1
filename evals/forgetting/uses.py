"""Which memories were of use, month by month: what a probability of being needed again is fitted on and judged by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ebbing.domain.forgetting import idle_days
from ebbing.domain.record import Kind, MemoryRecord
from ebbing.domain.scope import Scope
from ebbing.memory import AsyncMemory
from evals.forgetting.lived import Standing


@dataclass
class Uses:
    """Collects, for one user."""

    _used: set[str] = field(default_factory=set)
    _before: Sequence[tuple[MemoryRecord, datetime]] = ()

    def note(self, memory_ids: Iterable[str]) -> None:
        """These were of use just now."""
        self._used.update(memory_ids)

    async def month_ends(self, memory: AsyncMemory, user: str, *, now: datetime) -> list[Standing]:
        """The memories as they stood a month ago, with what became of them since; then begins the next month."""
        standings = [
            Standing(
                idle_days(record, at),
                record.access_count,
                record.importance,
                (at - record.created_at).days,
                record.id in self._used,
            )
            for record, at in self._before
        ]
        self._used = set()
        self._before = [(record, now) for record in await current(memory, user)]
        return standings


async def current(memory: AsyncMemory, user: str) -> list[MemoryRecord]:
    """Every memory of a user that holds, without the messages that they were read from."""
    found: list[MemoryRecord] = []
    cursor: str | None = None
    while True:
        page = await memory.parts.store.page(Scope(user_id=user), kinds=(Kind.MEMORY,), limit=1_000, cursor=cursor)
        found += [record for record in page.records if record.valid_to is None]
        cursor = page.next_cursor
        if cursor is None:
            return found
