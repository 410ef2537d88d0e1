"""The way in: extract → relate → decide → embed → commit, in one transaction, with a reason for each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ebbing.domain.decision import Add, Decision
from ebbing.domain.events import Event
from ebbing.domain.message import Message
from ebbing.domain.record import Kind, MemoryRecord
from ebbing.domain.scope import Scope
from ebbing.ports.clock import Clock
from ebbing.ports.embedder import Embedder
from ebbing.ports.ids import Ids
from ebbing.ports.memory_store import Insert, MemoryStore
from ebbing.remember.decide import decide
from ebbing.remember.draft import fact_draft, message_drafts
from ebbing.remember.embed import embedded
from ebbing.remember.extract import extract


@dataclass(frozen=True, slots=True)
class Remembering:
    """What the way in works with."""

    store: MemoryStore
    embedder: Embedder | None
    clock: Clock
    ids: Ids


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one fact or raw message."""

    memory_id: str
    text: str
    event: Event
    reason: str | None = None
    record: MemoryRecord | None = None
    """The new record, where one was stored."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The answer of an add."""

    outcomes: tuple[Outcome, ...]
    episode_ids: tuple[str, ...] = ()


async def add_raw(
    using: Remembering, messages: Sequence[Message], *, scope: Scope, metadata: Mapping[str, Any]
) -> Remembered:
    """Stores every message as a memory of its own, as it was said.

    A message whose id the owner's run already holds is not stored again.
    """
    drafts = message_drafts(
        messages, scope=scope, metadata=metadata, kind=Kind.MEMORY, now=using.clock.now(), ids=using.ids
    )
    changes = await embedded(using.embedder, drafts)
    held = await using.store.write(scope, changes)
    return Remembered(tuple(map(_raw_outcome, changes, held)))


async def add_extracted(
    using: Remembering, messages: Sequence[Message], *, scope: Scope, metadata: Mapping[str, Any]
) -> Remembered:
    """Keeps the messages as episodes, and what they say that is worth keeping as memories."""
    now = using.clock.now()
    facts = extract(messages, now=now)
    decisions: list[Decision] = []
    if facts:
        shard = await using.store.shard(scope)
        decisions = decide(facts, shard, scope=scope, now=now)
    episodes = message_drafts(messages, scope=scope, metadata=metadata, kind=Kind.EPISODE, now=now, ids=using.ids)
    fresh = [
        fact_draft(decision, messages[decision.fact.source], scope=scope, metadata=metadata, now=now, ids=using.ids)
        for decision in decisions
        if isinstance(decision, Add)
    ]
    changes = await embedded(using.embedder, [*episodes, *fresh])
    held = await using.store.write(scope, changes)
    return Remembered(_outcomes(decisions, changes[len(episodes) :]), tuple(held[: len(episodes)]))


def _raw_outcome(change: Insert, held: str) -> Outcome:
    is_new = held == change.record.id
    reason = "stored as said" if is_new else "this message is already stored"
    return Outcome(
        held, change.record.content, Event.ADD if is_new else Event.NONE, reason, change.record if is_new else None
    )


def _outcomes(decisions: Sequence[Decision], inserts: Sequence[Insert]) -> tuple[Outcome, ...]:
    new = iter(inserts)
    outcomes: list[Outcome] = []
    for decision in decisions:
        if isinstance(decision, Add):
            record = next(new).record
            outcomes.append(Outcome(record.id, record.content, Event.ADD, decision.reason, record))
        else:
            outcomes.append(Outcome(decision.memory_id, decision.fact.text, Event.NONE, decision.reason))
    return tuple(outcomes)
