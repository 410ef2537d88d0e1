"""A store with what a step of the upkeep needs, for its tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.memory.record import Kind, MemoryRecord, MemoryType, Role
from ebbing.domain.memory.scope import Scope
from ebbing.ports.models.chat_model import ChatModel
from ebbing.ports.models.embedder import Embedder
from ebbing.remember.facts.drafts import Draft
from ebbing.remember.vectors.embed_drafts import EmbedOptions, embed_drafts
from ebbing.testing.clock import ManualClock
from ebbing.testing.ids import SequentialIds
from ebbing.upkeep.merging.merge_duplicates import merge_repeats
from ebbing.upkeep.step import StepContext

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOW = START + timedelta(days=100)
DAY = timedelta(days=1)
ADA = Scope(user_id="ada")


class House:
    """A store with what a step needs."""

    def __init__(
        self,
        *,
        embedder: Embedder | None = None,
        policy: UpkeepPolicy | None = None,
        asking: ChatModel | None = None,
    ) -> None:
        self.store = SqliteMemoryStore.in_memory(clock=ManualClock())
        self.embedder = embedder
        self.ids = SequentialIds()
        self.deps = StepContext(self.store, embedder, self.ids, policy or UpkeepPolicy(), asking)
        self.store.use_model(embedder)

    async def said(self, text: str, *, day: int = 0, belongs_to: Scope = ADA, **fields: Any) -> MemoryRecord:
        """Stores a raw message of a user."""
        record = MemoryRecord(
            id=self.ids.new(),
            belongs_to=belongs_to,
            content=text,
            created_at=START + day * DAY,
            recorded_at=START + day * DAY,
            **{"role": Role.USER, "type": MemoryType.EPISODIC, **fields},
        )
        await self.store.write(
            belongs_to, await embed_drafts(EmbedOptions(self.embedder), [Draft(record, utterance=True)])
        )
        return record

    async def active(self, scope: Scope = ADA) -> list[MemoryRecord]:
        """What is there to be answered with, oldest first."""
        page = await self.store.page(scope, kinds=tuple(Kind), limit=1_000)
        return list(reversed(page.records))

    async def merge(self, *, now: datetime = NOW, dry_run: bool = False) -> dict[str, int]:
        report = await merge_repeats(self.deps, ADA, now=now, dry_run=dry_run)
        return report.counts
