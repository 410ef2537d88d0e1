"""The way in: screen → extract → relate → decide → commit, in one transaction, with a reason for each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ebbing.domain.decision import Decision, Ignore, Keep, Update
from ebbing.domain.errors import ConflictError
from ebbing.domain.events import Event
from ebbing.domain.message import Message
from ebbing.domain.record import Kind, MemoryRecord
from ebbing.domain.scope import Scope
from ebbing.ports.clock import Clock
from ebbing.ports.embedder import Embedder
from ebbing.ports.ids import Ids
from ebbing.ports.memory_store import Change, Insert, MemoryStore
from ebbing.privacy.guard import TrustTier
from ebbing.remember.carry_out import carried_out
from ebbing.remember.decide import closed_by, decide
from ebbing.remember.draft import Drafting, fact_draft, message_drafts
from ebbing.remember.embed import embedded
from ebbing.remember.heard import Heard, heard_as
from ebbing.remember.policy import WritePolicy
from ebbing.remember.relate import reach, relate
from ebbing.remember.repeats import Before, told_before, withdrawn_episodes
from ebbing.remember.screen import screened
from ebbing.remember.telling import telling
from ebbing.remember.weigh import weighed
from ebbing.remember.worth import worth_keeping

ATTEMPTS: Final = 32
"""How often facts are related and decided anew when somebody else wrote in between."""


@dataclass(frozen=True, slots=True)
class Remembering:
    """What the way in works with."""

    store: MemoryStore
    embedder: Embedder | None
    clock: Clock
    ids: Ids
    policy: WritePolicy = field(default_factory=WritePolicy)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one fact or raw message."""

    memory_id: str | None
    """The memory that holds it; None if none does."""
    text: str
    event: Event
    reason: str | None = None
    record: MemoryRecord | None = None
    """The new record, where one was stored."""
    closed_ids: tuple[str, ...] = ()
    """Memories that are no longer true."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The answer of an add."""

    outcomes: tuple[Outcome, ...]
    episode_ids: tuple[str, ...] = ()


async def add_raw(
    using: Remembering,
    messages: Sequence[Message],
    *,
    scope: Scope,
    metadata: Mapping[str, Any],
    trust: TrustTier | None = None,
) -> Remembered:
    """Stores every message as a memory of its own, as it was said but for secrets.

    A message whose id the owner's run already holds is not stored again.
    """
    kept = screened(messages, using.policy, trust=trust, strip=False)
    drafting = Drafting(scope, metadata, now=using.clock.now(), ids=using.ids)
    changes = await embedded(using.embedder, message_drafts(kept, kind=Kind.MEMORY, drafting=drafting))
    held = await using.store.write(scope, changes)
    return Remembered(tuple(map(_raw_outcome, changes, held)))


async def add_extracted(
    using: Remembering,
    messages: Sequence[Message],
    *,
    scope: Scope,
    metadata: Mapping[str, Any],
    trust: TrustTier | None = None,
) -> Remembered:
    """Keeps the messages as episodes, and what they say that is worth keeping as memories.

    A message whose id is known changes nothing if its text is the same; if it was edited, what it led to follows.
    """
    drafting = Drafting(scope, metadata, now=using.clock.now(), ids=using.ids)
    kept = screened(messages, using.policy, trust=trust)
    before = await told_before(using.store, kept, scope=scope)
    facts = worth_keeping(kept, now=drafting.now, agent_facts=scope.agent_id is not None, known=before.repeated)
    drafts = [(fact, fact_draft(fact, kept[fact.source], drafting=drafting)) for fact in facts]
    drafts = await telling(using.store, drafts, drafting=drafting)
    episodes = message_drafts(kept, kind=Kind.EPISODE, drafting=drafting)
    inserts = await embedded(using.embedder, [*episodes, *(draft for _, draft in drafts)])
    heard = [heard_as(fact, insert) for (fact, _), insert in zip(drafts, inserts[len(episodes) :], strict=True)]
    outcomes, held = await _commit(using, heard, episodes=inserts[: len(episodes)], before=before, drafting=drafting)
    return Remembered((*map(_known_outcome, before.known), *outcomes), tuple(held[: len(episodes)]))


async def _commit(
    using: Remembering, heard: Sequence[Heard], *, episodes: Sequence[Insert], before: Before, drafting: Drafting
) -> tuple[list[Outcome], list[str]]:
    """Relates, decides and writes; again if somebody else wrote in between, since the decision might be another one."""
    store, scope, now = using.store, drafting.scope, drafting.now
    calibration = using.embedder.calibration if using.embedder else None
    for attempt in range(1, ATTEMPTS + 1):
        seen: int | None = None
        decisions: list[Decision] = []
        changes: list[Change] = [*withdrawn_episodes(before.episodes, now=now), *episodes]
        if heard or before.products:
            related = await relate(store, heard, scope=scope, now=now, calibration=calibration, always=before.products)
            seen = related.generation if attempt < ATTEMPTS else None
            heard = weighed(heard, related.candidates, formula=using.policy.importance, now=now)
            decisions = decide(heard, related.candidates, confidence_threshold=using.policy.confidence_threshold)
            decisions = [before.as_edit(decision) for decision in decisions]
            changes += carried_out(zip(heard, decisions, strict=True), around=related.all, now=now)
            changes += await before.withdrawn(store, decisions=decisions, scope=scope, now=now)
        try:
            held = await store.write(reach(scope), changes, seen=seen)
        except ConflictError:
            if attempt == ATTEMPTS:
                raise
            continue
        return list(map(_outcome, heard, decisions)), held[len(before.episodes) :]
    raise AssertionError("the loop returns or raises")


def _raw_outcome(change: Insert, held: str) -> Outcome:
    is_new = held == change.record.id
    reason = "stored as said" if is_new else "this message is already stored"
    return Outcome(
        held, change.record.content, Event.ADD if is_new else Event.NONE, reason, change.record if is_new else None
    )


def _known_outcome(record: MemoryRecord) -> Outcome:
    return Outcome(record.id, record.content, Event.NONE, "this message is already stored")


def _outcome(heard: Heard, decision: Decision) -> Outcome:
    text, reason, closed = heard.fact.text, decision.reason, closed_by(decision)
    match decision:
        case Ignore():
            return Outcome(None, text, Event.NONE, reason)
        case Keep(memory_id=memory_id):
            return Outcome(memory_id, text, Event.NONE, reason, closed_ids=closed)
        case Update(memory_id=memory_id):
            return Outcome(memory_id, text, Event.UPDATE, reason, closed_ids=closed)
        case _:
            return Outcome(heard.record.id, text, Event.ADD, reason, heard.record, closed_ids=closed)
