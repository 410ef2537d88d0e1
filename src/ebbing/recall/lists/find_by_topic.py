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
from ebbing.language.signals.forget_requests import ForgetRequest, terms_of
from ebbing.language.signals.related_words import Related, related_to
from ebbing.language.text.text_compression import full_text
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.recall.question import embed_query
from ebbing.recall.search import SearchDeps

MAX_CANDIDATES: Final = 5_000
"""Candidates of one request."""
MAX_PERHAPS: Final = 10
"""Memories that come near in meaning alone."""
MIN_SIMILARITY: Final = 0.1
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
        return [match.record for match in self.candidates.values()]


async def find_about(deps: SearchDeps, scope: Scope, *, request: ForgetRequest, deleted: bool = False) -> TopicMatches:
    """What says one of the topics, in whatever wording it has or had, and what belongs to that.

    Superseded, expired and merged records count too, deleted ones only with `deleted`. A list of topics that is said
    nowhere as a whole counts as each of its parts.

    Raises:
        TooLargeError: more than 5,000 records.
    """
    records = [record async for record in _all(deps.store, scope, deleted=deleted)]
    earlier = await _earlier_wordings(deps.store, scope)
    matches = _saying(records, request, earlier=earlier)
    if not matches and request.parts:
        request = replace(request, topics=request.parts, parts=())
        matches = _saying(records, request, earlier=earlier)
    matches |= _tastes(records, request, earlier=earlier)
    by_id = {record.id: record for record in records}
    await _add_related(matches, by_id, store=deps.store, scope=scope)
    included = {
        memory_id: match for memory_id, match in matches.items() if not _is_excepted(full_text(match.record), request)
    }
    if len(included) > MAX_CANDIDATES:
        raise TooLargeError(f"more than {MAX_CANDIDATES} memories and messages are about this: name less at once")
    ordered = sorted(included.values(), key=lambda match: (match.record.created_at, match.record.id), reverse=True)
    about = TopicMatches(
        {match.record.id: match for match in ordered}, topics=tuple(topic.text for topic in request.topics)
    )
    rest = [record for record in records if record.id not in included and _fits(record, request)]
    about.perhaps = await _perhaps(deps, scope, request=request, rest=rest, earlier=earlier)
    return about


async def _perhaps(
    deps: SearchDeps,
    scope: Scope,
    *,
    request: ForgetRequest,
    rest: Sequence[MemoryRecord],
    earlier: dict[str, list[str]],
) -> list[TopicMatch]:
    """What is shown apart, to be chosen one by one."""
    separate = _other_mentions(rest, request, earlier=earlier)
    shown = {match.record.id for match in separate}
    left = [record for record in rest if record.id not in shown]
    return [*separate, *await _near(deps, scope, request=request, records=left)]


def why_about(text: str, request: ForgetRequest, *, related: Sequence[Related | None] = ()) -> str | None:
    """Why a text is about one of the topics; None if it is not, or says what is to stay."""
    terms = terms_of(text)
    if any(topic.is_said_in(terms) for topic in request.excepted):
        return None
    for topic in request.topics:
        if topic.is_said_in(terms):
            return f"it says “{topic.text}”"
    for group in related:
        word = group.word_in(text) if group else None
        if word is not None:
            return f"it says “{word}”, which has to do with it"
    return None


def fits_time(said_at: datetime | None, role: Role | None, *, request: ForgetRequest) -> bool:
    """Whether something was said at the time, and by whom, the request names."""
    if request.speaker is not None and role is not request.speaker:
        return False
    return not request.spans or (said_at is not None and any(start <= said_at < end for start, end in request.spans))


def related_groups(request: ForgetRequest) -> list[Related | None]:
    """The words that have to do with each of the topics."""
    return [related_to(topic.text) for topic in request.topics]


def _saying(
    records: Sequence[MemoryRecord], request: ForgetRequest, *, earlier: dict[str, list[str]]
) -> dict[str, TopicMatch]:
    related = related_groups(request)
    matches: dict[str, TopicMatch] = {}
    for record in records:
        if _fits(record, request) and (
            why := _why(record, request, related=related, earlier=earlier.get(record.id, ()))
        ):
            matches[record.id] = TopicMatch(record, why)
    return matches


def _tastes(
    records: Sequence[MemoryRecord], request: ForgetRequest, *, earlier: dict[str, list[str]]
) -> dict[str, TopicMatch]:
    """Where only what somebody likes and wants of a thing is meant: the memories of that, and their messages."""
    if not request.tastes:
        return {}
    saying = _saying(records, replace(request, topics=request.tastes, parts=()), earlier=earlier)
    matches = {name: match for name, match in saying.items() if is_taste(match.record)}
    words = {match.record.provenance.source_text or match.record.content for match in matches.values()}
    for record in records:
        if (
            record.kind is Kind.EPISODE
            and _fits(record, request)
            and any(match in full_text(record) for match in words)
        ):
            matches.setdefault(record.id, TopicMatch(record, "it is the message behind it"))
    return matches


def _other_mentions(
    records: Sequence[MemoryRecord], request: ForgetRequest, *, earlier: dict[str, list[str]]
) -> list[TopicMatch]:
    """What speaks of such a thing and tells no liking: shown apart, and chosen one by one."""
    if not request.tastes:
        return []
    saying = _saying(records, replace(request, topics=request.tastes, parts=()), earlier=earlier)
    return [replace(match, why=f"{match.why}, and tells no preference") for match in saying.values()][:MAX_PERHAPS]


def is_taste(record: MemoryRecord) -> bool:
    """Whether a memory tells what somebody likes, dislikes or wants."""
    return record.polarity != 0 or record.type in {MemoryType.PREFERENCE, MemoryType.CONSTRAINT}


def _why(
    record: MemoryRecord, request: ForgetRequest, *, related: Sequence[Related | None], earlier: Sequence[str]
) -> str | None:
    if not request.topics:
        return "it was said at that time"
    text = full_text(record)
    if why := why_about(text, request, related=related):
        return why
    if _is_excepted(text, request):
        return None
    if record.attribute and any(group and record.attribute in group.attributes for group in related):
        return f"it gives the {record.attribute}"
    elsewhere = {
        "it was read from words that say": [record.provenance.source_text or ""],
        "an earlier wording says": earlier,
        "it is tagged": [" ".join(record.tags)],
    }
    why = next((why for why, texts in elsewhere.items() if any(why_about(text, request) for text in texts)), None)
    return f"{why} “{_named(request)}”" if why else None


def _named(request: ForgetRequest) -> str:
    return "”, “".join(topic.text for topic in request.topics)


def _fits(record: MemoryRecord, request: ForgetRequest) -> bool:
    return fits_time(record.created_at, record.role, request=request)


def _is_excepted(text: str, request: ForgetRequest) -> bool:
    terms = terms_of(text) if request.excepted else frozenset()
    return any(topic.is_said_in(terms) for topic in request.excepted)


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


async def _add_related(
    matches: dict[str, TopicMatch], by_id: dict[str, MemoryRecord], *, store: MemoryStore, scope: Scope
) -> None:
    """Adds the messages behind what was found, and what was merged into it."""
    memories = [match.record for match in matches.values() if match.record.kind is Kind.MEMORY]
    sources = {name for record in memories for name in record.provenance.source_ids}
    for record in await store.from_sources(scope, sorted(sources)):
        if record.kind is Kind.EPISODE:
            matches.setdefault(record.id, TopicMatch(record, "it is the message behind it"))
    merged = list(memories)
    while merged:
        record = merged.pop()
        for memory_id in record.compression_sources:
            source = by_id.get(memory_id)
            if source is not None and source.superseded_by == record.id and source.id not in matches:
                matches[source.id] = TopicMatch(source, "it was merged into one of them")
                merged.append(source)


async def _near(
    deps: SearchDeps, scope: Scope, *, request: ForgetRequest, records: Sequence[MemoryRecord]
) -> list[TopicMatch]:
    """The records of these that come nearest to a topic in meaning."""
    embedder = deps.embedder
    if embedder is None or not records or not request.topics:
        return []
    shard = await deps.store.shard(scope)
    if not shard.size:
        return []
    row_of = {memory_id: row for row, memory_id in enumerate(shard.ids[: shard.size])}
    rows = np.array([row_of.get(record.id, -1) for record in records])
    nearness = np.zeros(len(records), dtype=np.float32)
    for topic in request.topics:
        embedding = await embed_query(embedder, topic.text, timeout_seconds=deps.settings.deadline_seconds)
        if embedding.vector is not None and len(embedding.vector) == shard.dim:
            cosines = shard.vectors[rows] @ embedding.vector
            usable = (rows >= 0) & shard.embedded[rows]
            nearness = np.maximum(nearness, np.where(usable, embedder.calibration.similarity(cosines), 0.0))
    best = np.argsort(-nearness, kind="stable")[:MAX_PERHAPS]
    return [
        TopicMatch(records[at], f"it may be about it: {nearness[at]:.0%} alike in meaning")
        for at in best.tolist()
        if nearness[at] >= MIN_SIMILARITY
    ]
