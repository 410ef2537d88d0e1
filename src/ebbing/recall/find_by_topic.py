"""Everything that is kept about a topic: for whoever wants it forgotten, so nothing that says it may be missed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

import numpy as np

from ebbing.domain.errors import TooLargeError
from ebbing.domain.memory.record import Kind, MemoryRecord, MemoryType, Role
from ebbing.domain.memory.scope import Scope
from ebbing.language.signals.forget_requests import Asked, terms_of
from ebbing.language.signals.related_words import Related, related_to
from ebbing.language.text.text_compression import full_text
from ebbing.ports.memory_store import MemoryStore
from ebbing.recall.query.embed_query import embed_query
from ebbing.recall.search import SearchDeps

MOST: Final = 5_000
"""Candidates of one request."""
PERHAPS: Final = 10
"""Memories that come near in meaning alone."""
NEAR: Final = 0.1
"""Least calibrated similarity of these, in [0, 1]. A short topic and a statement about it that does not name it have
little more in common for a small embedder than two unrelated texts: so these are shown apart, and chosen one by one."""
_PAGE: Final = 500
_BEGINNING: Final = datetime(1, 1, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TopicMatch:
    """One record, and why it was found: a sentence."""

    record: MemoryRecord
    why: str


@dataclass(slots=True)
class TopicMatches:
    """What was found."""

    candidates: dict[str, TopicMatch] = field(default_factory=dict)
    """By id, in the order of their days, the newest first."""
    perhaps: list[TopicMatch] = field(default_factory=list)
    """Near in meaning only, the nearest first."""
    topics: tuple[str, ...] = ()
    """What was looked for, as it was read."""

    @property
    def most_wanted(self) -> list[MemoryRecord]:
        """The records of the candidates."""
        return [found.record for found in self.candidates.values()]


async def find_about(deps: SearchDeps, scope: Scope, *, asked: Asked, deleted: bool = False) -> TopicMatches:
    """What says one of the topics, in whatever wording it has or had, and what belongs to that.

    Superseded, expired and merged records count too, deleted ones only with `deleted`. A list of topics that is said
    nowhere as a whole counts as each of its parts.

    Raises:
        TooLargeError: more than 5,000 records.
    """
    records = [record async for record in _all(deps.store, scope, deleted=deleted)]
    earlier = await _earlier_wordings(deps.store, scope)
    found = _saying(records, asked, earlier=earlier)
    if not found and asked.parts:
        asked = replace(asked, topics=asked.parts, parts=())
        found = _saying(records, asked, earlier=earlier)
    found |= _tastes(records, asked, earlier=earlier)
    by_id = {record.id: record for record in records}
    await _with_what_belongs(found, by_id, store=deps.store, scope=scope)
    kept = {memory_id: one for memory_id, one in found.items() if not _is_excepted(full_text(one.record), asked)}
    if len(kept) > MOST:
        raise TooLargeError(f"more than {MOST} memories and messages are about this: name less at once")
    ordered = sorted(kept.values(), key=lambda one: (one.record.created_at, one.record.id), reverse=True)
    about = TopicMatches({one.record.id: one for one in ordered}, topics=tuple(topic.text for topic in asked.topics))
    rest = [record for record in records if record.id not in kept and _fits(record, asked)]
    about.perhaps = await _perhaps(deps, scope, asked=asked, rest=rest, earlier=earlier)
    return about


async def _perhaps(
    deps: SearchDeps, scope: Scope, *, asked: Asked, rest: Sequence[MemoryRecord], earlier: dict[str, list[str]]
) -> list[TopicMatch]:
    """What is shown apart, to be chosen one by one."""
    beside = _beside_tastes(rest, asked, earlier=earlier)
    shown = {one.record.id for one in beside}
    left = [record for record in rest if record.id not in shown]
    return [*beside, *await _near(deps, scope, asked=asked, records=left)]


def why_about(text: str, asked: Asked, *, related: Sequence[Related | None] = ()) -> str | None:
    """Why a text is about one of the topics; None if it is not, or says what is to stay."""
    terms = terms_of(text)
    if any(one.is_said_in(terms) for one in asked.excepted):
        return None
    for topic in asked.topics:
        if topic.is_said_in(terms):
            return f"it says “{topic.text}”"
    for group in related:
        word = group.word_in(text) if group else None
        if word is not None:
            return f"it says “{word}”, which has to do with it"
    return None


def fits_time(said_at: datetime | None, role: Role | None, *, asked: Asked) -> bool:
    """Whether something was said at the time, and by whom, the request names."""
    if asked.speaker is not None and role is not asked.speaker:
        return False
    return not asked.spans or (said_at is not None and any(start <= said_at < end for start, end in asked.spans))


def related_groups(asked: Asked) -> list[Related | None]:
    """The words that have to do with each of the topics."""
    return [related_to(topic.text) for topic in asked.topics]


def _saying(records: Sequence[MemoryRecord], asked: Asked, *, earlier: dict[str, list[str]]) -> dict[str, TopicMatch]:
    related = related_groups(asked)
    found: dict[str, TopicMatch] = {}
    for record in records:
        if _fits(record, asked) and (why := _why(record, asked, related=related, earlier=earlier.get(record.id, ()))):
            found[record.id] = TopicMatch(record, why)
    return found


def _tastes(records: Sequence[MemoryRecord], asked: Asked, *, earlier: dict[str, list[str]]) -> dict[str, TopicMatch]:
    """Where only what somebody likes and wants of a thing is meant: the memories of that, and their messages."""
    if not asked.tastes:
        return {}
    saying = _saying(records, replace(asked, topics=asked.tastes, parts=()), earlier=earlier)
    found = {name: one for name, one in saying.items() if is_taste(one.record)}
    words = {one.record.provenance.source_text or one.record.content for one in found.values()}
    for record in records:
        if record.kind is Kind.EPISODE and _fits(record, asked) and any(one in full_text(record) for one in words):
            found.setdefault(record.id, TopicMatch(record, "it is the message behind it"))
    return found


def _beside_tastes(records: Sequence[MemoryRecord], asked: Asked, *, earlier: dict[str, list[str]]) -> list[TopicMatch]:
    """What speaks of such a thing and tells no liking: shown apart, and chosen one by one."""
    if not asked.tastes:
        return []
    saying = _saying(records, replace(asked, topics=asked.tastes, parts=()), earlier=earlier)
    return [replace(one, why=f"{one.why}, and tells no preference") for one in saying.values()][:PERHAPS]


def is_taste(record: MemoryRecord) -> bool:
    """Whether a memory tells what somebody likes, dislikes or wants."""
    return record.polarity != 0 or record.type in {MemoryType.PREFERENCE, MemoryType.CONSTRAINT}


def _why(
    record: MemoryRecord, asked: Asked, *, related: Sequence[Related | None], earlier: Sequence[str]
) -> str | None:
    if not asked.topics:
        return "it was said at that time"
    text = full_text(record)
    if why := why_about(text, asked, related=related):
        return why
    if _is_excepted(text, asked):
        return None
    if record.attribute and any(group and record.attribute in group.attributes for group in related):
        return f"it gives the {record.attribute}"
    elsewhere = {
        "it was read from words that say": [record.provenance.source_text or ""],
        "an earlier wording says": earlier,
        "it is tagged": [" ".join(record.tags)],
    }
    why = next((why for why, texts in elsewhere.items() if any(why_about(text, asked) for text in texts)), None)
    return f"{why} “{_named(asked)}”" if why else None


def _named(asked: Asked) -> str:
    return "”, “".join(topic.text for topic in asked.topics)


def _fits(record: MemoryRecord, asked: Asked) -> bool:
    return fits_time(record.created_at, record.role, asked=asked)


def _is_excepted(text: str, asked: Asked) -> bool:
    terms = terms_of(text) if asked.excepted else frozenset()
    return any(one.is_said_in(terms) for one in asked.excepted)


async def _all(store: MemoryStore, scope: Scope, *, deleted: bool) -> AsyncIterator[MemoryRecord]:
    """Everything of the scope, page by page, so that nobody else waits for long."""
    cursor = None
    while True:
        page = await store.page(scope, kinds=tuple(Kind), limit=_PAGE, cursor=cursor, deleted=True)
        for record in page.records:
            if deleted or record.deleted_at is None:
                yield record
        cursor = page.next_cursor
        if cursor is None:
            return


async def _earlier_wordings(store: MemoryStore, scope: Scope) -> dict[str, list[str]]:
    """What memories said before they were reworded."""
    wordings: dict[str, list[str]] = {}
    for entry in await store.histories(scope, changed_after=_BEGINNING):
        if entry.old_memory is not None:
            wordings.setdefault(entry.memory_id, []).append(entry.old_memory)
    return wordings


async def _with_what_belongs(
    found: dict[str, TopicMatch], by_id: dict[str, MemoryRecord], *, store: MemoryStore, scope: Scope
) -> None:
    """Adds the messages behind what was found, and what was merged into it."""
    memories = [one.record for one in found.values() if one.record.kind is Kind.MEMORY]
    sources = {name for record in memories for name in record.provenance.source_ids}
    for record in await store.from_sources(scope, sorted(sources)):
        if record.kind is Kind.EPISODE:
            found.setdefault(record.id, TopicMatch(record, "it is the message behind it"))
    merged = list(memories)
    while merged:
        record = merged.pop()
        for memory_id in record.compression_sources:
            source = by_id.get(memory_id)
            if source is not None and source.superseded_by == record.id and source.id not in found:
                found[source.id] = TopicMatch(source, "it was merged into one of them")
                merged.append(source)


async def _near(deps: SearchDeps, scope: Scope, *, asked: Asked, records: Sequence[MemoryRecord]) -> list[TopicMatch]:
    """The records of these that come nearest to a topic in meaning."""
    embedder = deps.embedder
    if embedder is None or not records or not asked.topics:
        return []
    shard = await deps.store.shard(scope)
    if not shard.size:
        return []
    row_of = {memory_id: row for row, memory_id in enumerate(shard.ids[: shard.size])}
    rows = np.array([row_of.get(record.id, -1) for record in records])
    nearness = np.zeros(len(records), dtype=np.float32)
    for topic in asked.topics:
        embedding = await embed_query(embedder, topic.text, timeout_seconds=deps.settings.deadline_seconds)
        if embedding.vector is not None and len(embedding.vector) == shard.dim:
            cosines = shard.vectors[rows] @ embedding.vector
            usable = (rows >= 0) & shard.embedded[rows]
            nearness = np.maximum(nearness, np.where(usable, embedder.calibration.similarity(cosines), 0.0))
    best = np.argsort(-nearness, kind="stable")[:PERHAPS]
    return [
        TopicMatch(records[at], f"it may be about it: {nearness[at]:.0%} alike in meaning")
        for at in best.tolist()
        if nearness[at] >= NEAR
    ]
