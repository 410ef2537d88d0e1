"""What an assistant should know before it answers: who the person is, what bears on the question, what is new."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.filters.query import Hit, Query
from ebbing.domain.memory.profile import Portrait
from ebbing.domain.memory.record import Kind, MemoryRecord, Role, content_hash
from ebbing.domain.memory.risk import is_risky, risk_of
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import KINDS, Shard, micros
from ebbing.language.text.analyzer import query_terms
from ebbing.language.wording.topics import topics
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.recall.context.context_turns import SearchableRows, with_turns
from ebbing.recall.context.doubted_hits import with_newer
from ebbing.recall.context.query_fallback import (
    ConversationQuery,
    FallbackOptions,
    FallbackResult,
    QueryStrategy,
    SearchFn,
    search_with_fallback,
)
from ebbing.recall.context.render import GROUPS, Group, Rendered, Style, distinct, is_told_by, render
from ebbing.recall.context.usage_policy import is_usable
from ebbing.recall.rows import visible_rows

RECENT: Final = timedelta(days=7)
"""How far before the newest memory what counts as recent goes back."""
MAX_RECENT: Final = 30
_READ_ENDED: Final = 60

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Context:
    """What was put together for one answer."""

    rendered: Rendered
    rung: QueryStrategy
    """Which step of the ladder the relevant memories come from."""
    hits: Mapping[str, Hit]
    """The relevant memories that stand in the block, by id."""
    answering_hits: Mapping[str, Hit]
    """Those of them that speak to the question themselves, and do not only belong to one that does."""
    risks: Mapping[str, float]
    """Risk in [0, 1] of using each of them."""
    profile_summary: str
    recent_topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a block is, and what it holds."""

    max_tokens: int
    groups: Collection[Group] = GROUPS
    without: Collection[str] = ()
    """Ids of memories that the prompt shows already."""

    def select(
        self, groups: Mapping[Group, Sequence[MemoryRecord]], *, already_shown: Sequence[MemoryRecord] = ()
    ) -> dict[Group, list[MemoryRecord]]:
        """Return what the block may hold. A message gives way to the memories read from it, also to those of another
        block.

        Args:
            already_shown: the memories `without` which the block is made.
        """
        selected: dict[Group, list[MemoryRecord]] = {}
        for group, records in distinct(groups).items():
            if group in self.groups:
                left = (record for record in records if record.id not in self.without)
                selected[group] = [record for record in left if not is_told_by(record, already_shown)]
        return selected


async def context(
    store: MemoryStore,
    look: SearchFn,
    *,
    scope: Scope,
    profile: Portrait,
    talk: ConversationQuery | None,
    query: Query,
    options: FallbackOptions,
    shape: Shape,
) -> Context:
    """The profile, the memories that bear on the question, and the newest ones, as a block of this shape.

    Without a question the block holds profile and recent memories. Of `query`, "now" and the filter count. What safety
    asks for (an allergy) has its place in the block before anything else.
    """
    now = query.now
    scope_records = await _read_scope(store, scope, query=query, options=options)
    result = FallbackResult((), QueryStrategy.NONE, "")
    if talk is not None:
        look = with_newer(look, store, scope=scope, searchable=scope_records.searchable)
        result = await search_with_fallback(talk, look, options=options)
    hits = await _with_turns(store, result.hits, scope=scope, searchable=scope_records.searchable, options=options)
    shown = [entry for entry in profile.entries if entry.name in profile.records]
    profile_records = [profile.records[entry.name] for entry in shown]
    needed = {profile.records[entry.name].id for entry in shown if entry.safety}
    groups: dict[Group, Sequence[MemoryRecord]] = {
        "relevant": [hit.record for hit in hits],
        "profile": profile_records,
        "recent": [record for record in scope_records.recent if record.kind is Kind.MEMORY],
    }
    language = talk.language if talk is not None else _language_of([*profile_records, *scope_records.recent])
    style = Style(
        language,
        now,
        scope_records.replacing,
        needed,
        zone=query.timezone,
        default_zone=query.default_timezone,
        terms=() if talk is None else query_terms(talk.question),
    )
    already_shown = await store.get(scope, list(shape.without)) if shape.without else []
    selected = shape.select(groups, already_shown=already_shown)
    rendered = render(selected, style=style, max_tokens=shape.max_tokens)
    shown_hits = _hits_of(rendered.shown["relevant"], hits)
    return Context(
        rendered=rendered,
        rung=result.rung,
        hits=shown_hits,
        answering_hits=_hits_of(rendered.shown["relevant"], result.hits),
        risks=_risks(shown_hits, now),
        profile_summary=profile.summaries.get(language, ""),
        recent_topics=tuple(topics([record.content for record in scope_records.recent])),
    )


async def _with_turns(
    store: MemoryStore, hits: Sequence[Hit], *, scope: Scope, searchable: SearchableRows, options: FallbackOptions
) -> list[Hit]:
    """Return the hits with the turns that belong to them and may be used here, at most as many as may be found."""
    if not hits or not options.with_turns:
        return [*hits]
    turns = await with_turns(store, hits, scope=scope, searchable=searchable)
    usable = [hit for hit in turns if is_usable(hit.record, session=options.session, channel=options.channel)]
    return usable[: len(hits) + options.policy.top_k]


def _hits_of(shown: Sequence[MemoryRecord], hits: Sequence[Hit]) -> dict[str, Hit]:
    """The hit behind each memory, by the memory's id: itself, or the message that it was read from."""
    by_id = {hit.record.id: hit for hit in hits}
    by_words = {hit.record.hash: hit for hit in hits}
    hits_by_record: dict[str, Hit] = {}
    for record in shown:
        hit = by_id.get(record.id) or by_words.get(content_hash(record.provenance.source_text or record.content))
        if hit is not None:
            hits_by_record[record.id] = replace(hit, record=record)
    return hits_by_record


@dataclass(frozen=True, slots=True)
class _ScopeRecords:
    searchable: SearchableRows
    recent: list[MemoryRecord]
    """The newest first; the person's own messages too."""
    replacing: Collection[str]


async def _read_scope(store: MemoryStore, scope: Scope, *, query: Query, options: FallbackOptions) -> _ScopeRecords:
    """What is known without a question: picked in the owner's rows, read in one call."""
    shard = await store.shard(scope)
    mask = await visible_rows(store, shard, scope=scope, query=query)
    memory = shard.kind == KINDS.index(Kind.MEMORY)
    recent = _first(mask & _recent(shard, mask), shard.created, count=MAX_RECENT)
    ended = _first(shard.alive & memory & (shard.valid_to <= micros(query.now)), shard.valid_to, count=_READ_ENDED)
    ids = dict.fromkeys(shard.ids[row] for row in (*recent, *ended))
    by_id = {record.id: record for record in await store.get(scope, list(ids))}

    def read(rows: Sequence[int]) -> list[MemoryRecord]:
        records = (by_id[shard.ids[row]] for row in rows if shard.ids[row] in by_id)
        return [record for record in records if is_usable(record, session=options.session, channel=options.channel)]

    return _ScopeRecords(
        searchable=SearchableRows(shard, mask, options.calibration),
        recent=[record for record in read(recent) if record.role is not Role.ASSISTANT],
        replacing={record.superseded_by for record in read(ended) if record.superseded_by is not None},
    )


def _recent(shard: Shard, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    newest = int(shard.created[mask].max(initial=0))
    late: NDArray[np.bool_] = shard.created >= newest - int(RECENT.total_seconds() * 1e6)
    return late


def _first(mask: NDArray[np.bool_], *by: NDArray[np.generic], count: int) -> list[int]:
    """The `count` rows of the mask with the largest values, by the first array, then by the next."""
    rows = np.flatnonzero(mask)
    order = np.lexsort([rows, *(values[rows] for values in reversed(by))])
    return [int(row) for row in rows[order[::-1]][:count]]


def _language_of(records: Sequence[MemoryRecord]) -> str:
    chinese = sum(record.language == "zh" for record in records)
    return "zh" if chinese > len(records) - chinese else "en"


def _risks(hits: Mapping[str, Hit], now: datetime) -> dict[str, float]:
    risks = {memory_id: risk_of(hit.record, hit.score, now=now) for memory_id, hit in hits.items()}
    for memory_id, risk in risks.items():
        if is_risky(risk):
            _log.warning("a risky memory was recalled: %s, risk %.1f", memory_id, risk)
    return risks
