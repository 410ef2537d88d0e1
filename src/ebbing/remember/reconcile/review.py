"""Reviews: memories that may close others, and quarantined messages, which wait for a person's decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import NEEDS_REVIEW, QUARANTINED, Kind, MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.language.claims.claims import attribute_of
from ebbing.ports.stores.memory_store import Change, MemoryStore, Revise
from ebbing.remember.add import store_extraction
from ebbing.remember.add_deps import AddDeps
from ebbing.remember.add_report import MemoryOutcome
from ebbing.remember.extraction.extractor import extract_facts
from ebbing.remember.facts.drafts import DraftContext
from ebbing.remember.facts.new_fact import hints_from_record, trust_of
from ebbing.remember.intake.screening import ScreenedMessage
from ebbing.remember.put_back import is_current
from ebbing.remember.reconcile.known_messages import KnownMessages
from ebbing.remember.reconcile.rivals import rivals_of

_PAGE_SIZE: Final = 500
_REVIEWED: Final = "decided at a review"
REVIEW_TAGS: Final = frozenset({NEEDS_REVIEW, QUARANTINED})


@dataclass(frozen=True, slots=True)
class Review:
    """A memory or message that waits, and the memories that it would close."""

    record: MemoryRecord
    would_close: tuple[MemoryRecord, ...] = ()

    @property
    def is_quarantined(self) -> bool:
        """Whether it is held back because it speaks like an order to the assistant."""
        return QUARANTINED in self.record.tags


async def waiting_reviews(store: MemoryStore, scope: Scope, *, limit: int) -> list[Review]:
    """Return what waits within a scope, newest first, at most `limit`."""
    waiting: list[MemoryRecord] = []
    cursor = None
    while True:
        page = await store.page(scope, kinds=tuple(Kind), limit=_PAGE_SIZE, cursor=cursor)
        waiting += [record for record in page.records if not REVIEW_TAGS.isdisjoint(record.tags)]
        cursor = page.next_cursor
        if cursor is None or len(waiting) >= limit:
            return [await _review(store, record) for record in waiting[:limit]]


async def get_review(store: MemoryStore, record: MemoryRecord) -> Review:
    """Return the review of a record.

    Raises:
        InvalidInputError: it waits for none.
    """
    if REVIEW_TAGS.isdisjoint(record.tags) or record.deleted_at is not None:
        raise InvalidInputError("this memory waits for no review: `reviews.list` shows those that do")
    return await _review(store, record)


async def accept(deps: AddDeps, review: Review) -> tuple[list[str], Sequence[MemoryOutcome]]:
    """Close what the memory would close, or learn from the message; return the closed ids and what was learnt.

    Raises:
        ConflictError: the memory changed in between.
    """
    now, record = deps.clock.now(), review.record
    changes: list[Change] = [_reviewed(await _with_attribute(deps, review), now=now)]
    changes += [_closed(old, record, now=now) for old in review.would_close]
    await deps.store.write(record.belongs_to.whole, changes)
    closed = [old.id for old in review.would_close]
    if not review.is_quarantined or record.kind is not Kind.EPISODE:
        return closed, []
    return closed, await _learn_from_episode(deps, record, now=now)


async def keep(deps: AddDeps, review: Review) -> None:
    """Let the memory stand beside those that it would have closed.

    Raises:
        InvalidInputError: a message that is held back can only be accepted or dropped.
        ConflictError: the memory changed in between.
    """
    if review.is_quarantined:
        raise InvalidInputError("nothing is learnt from this message while it waits: accept it or drop it")
    await deps.store.write(review.record.belongs_to.whole, [_reviewed(review.record, now=deps.clock.now())])


async def _review(store: MemoryStore, record: MemoryRecord) -> Review:
    if NEEDS_REVIEW not in record.tags:
        return Review(record)
    related = await store.get(record.belongs_to.whole, record.related_ids)
    return Review(record, tuple(memory for memory in related if is_current(memory)))


def _reviewed(record: MemoryRecord, *, now: datetime) -> Revise:
    tags = tuple(tag for tag in record.tags if tag not in REVIEW_TAGS)
    return Revise(
        replace(record, version=record.version + 1, updated_at=now, tags=tags), Event.UPDATE, reason=_REVIEWED
    )


async def _with_attribute(deps: AddDeps, review: Review) -> MemoryRecord:
    """Return the memory with the attribute that it gives the value of, unless another memory gives one by now."""
    record = review.record
    if record.attribute is not None or record.kind is not Kind.MEMORY or record.is_verbatim:
        return record
    attribute, value = attribute_of(record.content, replace(hints_from_record(record), was_read=False))
    valued = replace(record, attribute=attribute, value=value if attribute else record.value)
    closing = [memory.id for memory in review.would_close]
    rivals = await rivals_of(deps.store, valued, scope=record.belongs_to, now=deps.clock.now(), without=closing)
    return record if rivals else valued


def _closed(old: MemoryRecord, winner: MemoryRecord, *, now: datetime) -> Revise:
    ends = min(max(winner.created_at, old.created_at), now)
    closed = replace(old, version=old.version + 1, valid_to=ends, superseded_by=winner.id)
    return Revise(closed, Event.SUPERSEDE, reason=_REVIEWED)


async def _learn_from_episode(deps: AddDeps, episode: MemoryRecord, *, now: datetime) -> Sequence[MemoryOutcome]:
    """Return what a message says, as if it had never been held back."""
    source_ids = episode.provenance.source_ids
    message = Message(
        episode.content,
        episode.role or Role.USER,
        id=source_ids[-1] if source_ids else None,
        name=episode.actor,
        timestamp=episode.said_at,
    )
    screened = [ScreenedMessage(message, trust_of(episode))]
    is_agent = episode.belongs_to.agent_id is not None
    extraction = await extract_facts(screened, mode=deps.mode, llm=deps.llm, now=now, agent_facts=is_agent)
    context = DraftContext(episode.belongs_to, episode.metadata, now=now, ids=deps.ids)
    known_messages = KnownMessages(evidence=(episode.id,))
    stored = await store_extraction(
        deps, extraction, screened=screened, episodes=(), known_messages=known_messages, context=context
    )
    return stored.outcomes
