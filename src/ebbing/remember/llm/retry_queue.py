"""Messages that could not be read when they came: noted for later, and read again from the episodes that keep them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.pending_extraction import EXTRACTION_JOB, ExtractionFailure, PendingExtraction, WriteMode
from ebbing.domain.memory.record import MemoryRecord, Role
from ebbing.ports.job_queue import JobQueue
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.remember.llm.client import LlmOptions
from ebbing.remember.llm.extract import LlmExtraction
from ebbing.remember.llm.write_modes import Nominate, read_facts

MAX_ATTEMPTS = 10
"""With pauses that double from a minute to six hours this is about two days."""


@dataclass(frozen=True, slots=True)
class RetriedExtraction:
    """The facts of another attempt; `source` of a fact is an index into these messages."""

    messages: tuple[Message, ...]
    extraction: LlmExtraction
    episodes: tuple[MemoryRecord, ...] = ()
    """What keeps each of the messages."""


async def enqueue_retry(
    queue: JobQueue, unread: PendingExtraction, *, failed: ExtractionFailure, now: datetime
) -> int | None:
    """Queue messages to be read again and return the job's id; None if there are none.

    The job names the episodes and holds nothing of what was said.
    """
    if not unread.episode_ids:
        return None
    wait = timedelta(seconds=max(60.0, failed.retry_after_seconds or 0.0))
    return await queue.enqueue(
        EXTRACTION_JOB,
        unread.key,
        payload=unread.payload(),
        run_at=now + wait,
        max_attempts=MAX_ATTEMPTS,
        belongs_to=unread.scope,
    )


async def retry_extraction(
    store: MemoryStore, unread: PendingExtraction, *, nominate: Nominate, llm: LlmOptions | None, now: datetime
) -> RetriedExtraction:
    """Read kept messages again; those that were deleted meanwhile are left alone."""
    episodes = await store.get(unread.scope, unread.episode_ids)
    messages = tuple(map(_message, episodes))
    extraction = await read_facts(
        unread.mode if unread.mode is not WriteMode.RAW else WriteMode.RULES,
        messages,
        nominate=nominate,
        llm=llm,
        now=now,
        agent_facts=unread.agent_facts,
    )
    return RetriedExtraction(messages, extraction, tuple(episodes))


def pending_extraction_of(
    episodes: Sequence[tuple[int, str]], failed: ExtractionFailure, *, like: PendingExtraction
) -> PendingExtraction:
    """Return the work that is left after a failure.

    Args:
        episodes: index of the message and id of the episode that keeps it (a long message has several).
        like: scope, mode and subject of the work; its episodes are replaced.
    """
    ids = tuple(episode_id for number, episode_id in episodes if number in failed.messages)
    return PendingExtraction(like.scope, ids, like.mode, agent_facts=like.agent_facts)


def _message(record: MemoryRecord) -> Message:
    ids = record.provenance.source_ids
    return Message(
        record.content,
        record.role or Role.USER,
        name=record.actor,
        id=ids[-1] if ids else None,
        timestamp=record.said_at,
    )
