"""A summary of what happened: the sentences that stand for most of the others, with their days."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.record import Kind, Layer, MemoryRecord, MemoryType, Provenance, Role
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import KINDS, ROLES, TYPES, Shard
from ebbing.language.wording.paraphrase import Gist, gist_of
from ebbing.ports.stores.memory_store import Insert
from ebbing.privacy.guarding.quote import cut
from ebbing.upkeep.merging.index_entries import entries_of
from ebbing.upkeep.merging.merge_duplicates import merge_repeats
from ebbing.upkeep.merging.mergeable import may_be_merged, mergeable_rows, said_order
from ebbing.upkeep.merging.rewrite import Rewrite, ask_llm_to_rewrite
from ebbing.upkeep.step import PlannedChange, StepContext, StepReport

MARK: Final = "summed up to"
"""Under this name the store knows the last row that was there when it was last looked at."""
TAG: Final = "summary"
MAX_SUMMED: Final = 200
"""Memories in one summary."""
SENTENCES: Final = 4
"""In one extractive summary, at most."""
SENTENCE: Final = {"zh": 40, "en": 120}
"""Characters of each."""
WRITTEN: Final = {"zh": 160, "en": 600}
"""Characters of one that a language model wrote."""
LIKE_OTHERS: Final = 0.7
"""How much it counts that a sentence is like all others, against being unlike the chosen ones (MMR, Carbonell and
Goldstein 1998)."""


@dataclass(frozen=True, slots=True)
class _Period:
    """What one summary sums up."""

    records: tuple[MemoryRecord, ...]
    """In the order in which they were said."""
    chosen: tuple[MemoryRecord, ...]
    """Those that stand for the others, in the same order."""


async def summarise(deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False) -> StepReport:
    """Sums up what happened, once more than `summary_min_records` memories of it are in no summary.

    The memories stay as they are. Counts the summaries as `summarized`.

    Raises:
        StoreError: the store could not do it.
    """
    report = StepReport("summarise", {"summarized": 0})
    shard = await deps.store.shard(scope)
    if shard.last_seq <= await deps.store.mark(scope, MARK):
        return report
    periods = await _periods(deps, scope, shard=shard, now=now)
    for period in periods:
        report.counts["summarized"] += 1
        why = f"{len(period.records)} memories of what happened are summed up"
        report.changes.append(PlannedChange(period.chosen[0].id, "summarise", why))
        if not dry_run:
            await deps.breathe()
            record = await _record(deps, period, now=now)
            [entry] = await entries_of(deps, [record])
            await deps.store.write(scope, [Insert(record, entry, reason=why)])
    if not dry_run:
        await deps.store.set_mark(scope, MARK, value=shard.last_seq)
    return report


async def _periods(deps: StepContext, scope: Scope, *, shard: Shard, now: datetime) -> list[_Period]:
    rows = _eventful(shard, now=now)
    if len(rows) <= deps.policy.summary_min_records:
        return []
    row_of = {shard.ids[row]: row for row in rows.tolist()}
    made = await deps.store.telling(scope, list(row_of))
    summed = {name for record in made if TAG in record.tags for name in record.compression_sources}
    records = await deps.store.get(scope, [name for name in row_of if name not in summed])
    periods = []
    for part in _parts(records, more_than=deps.policy.summary_min_records):
        likeness = _likeness(shard, [row_of[record.id] for record in part])
        periods.append(_Period(tuple(part), _chosen(part, likeness)))
    return periods


def _eventful(shard: Shard, *, now: datetime) -> NDArray[np.int64]:
    """Rows of what happened, as people told it."""
    rows = mergeable_rows(shard, now=now)
    memory, episodic = shard.kind == KINDS.index(Kind.MEMORY), shard.type == TYPES.index(MemoryType.EPISODIC)
    eventful: NDArray[np.int64] = rows[(memory & episodic & (shard.role != ROLES.index(Role.ASSISTANT)))[rows]]
    return eventful


def _parts(records: Sequence[MemoryRecord], *, more_than: int) -> list[Sequence[MemoryRecord]]:
    """The memories that belong together, where they are enough, in parts of about one size, none too large."""
    apart: defaultdict[tuple[str | None, str, str | None], list[MemoryRecord]] = defaultdict(list)
    for record in sorted(records, key=said_order):
        if may_be_merged(record):
            apart[record.belongs_to.agent_id, record.scope, record.trust].append(record)
    parts: list[Sequence[MemoryRecord]] = []
    for group in apart.values():
        if len(group) > more_than:
            size = -(-len(group) // -(-len(group) // MAX_SUMMED))
            parts += [group[at : at + size] for at in range(0, len(group), size)]
    return parts


def _likeness(shard: Shard, rows: Sequence[int]) -> NDArray[np.float32]:
    """How like each other the rows are: by their vectors, or by the words they share where one has none."""
    if shard.embedded[rows].all():
        vectors = shard.vectors[rows]
        return vectors @ vectors.T
    terms = [frozenset(shard.postings.terms_of(row)["term"].tolist()) for row in rows]
    likeness = np.empty((len(terms), len(terms)), dtype=np.float32)
    for row, first in enumerate(terms):
        for column, other in enumerate(terms):
            likeness[row, column] = len(first & other) / max(1, len(first | other))
    return likeness


def _chosen(records: Sequence[MemoryRecord], likeness: NDArray[np.float32]) -> tuple[MemoryRecord, ...]:
    """The few that are most like all others and least like each other."""
    weights = np.array([memory.mentions for memory in records], dtype=np.float32)
    central = likeness @ weights / weights.sum()
    chosen: list[int] = []
    nearest = np.zeros(len(records), dtype=np.float32)
    while len(chosen) < min(SENTENCES, len(records)):
        worth = LIKE_OTHERS * central - (1 - LIKE_OTHERS) * nearest
        worth[chosen] = -np.inf
        chosen.append(int(worth.argmax()))
        nearest = np.maximum(nearest, likeness[chosen[-1]])
    return tuple(records[place] for place in sorted(chosen))


async def _record(deps: StepContext, period: _Period, *, now: datetime) -> MemoryRecord:
    records, chosen = period.records, period.chosen
    first, last = records[0], records[-1]
    language = Counter(memory.language for memory in records).most_common(1)[0][0]
    wording = await _from_model(deps, period, language=language) or Rewrite(_extract(chosen, language), None)
    actors = {memory.actor for memory in records}
    sources = dict.fromkeys(name for memory in chosen for name in memory.provenance.source_ids[:1])
    return MemoryRecord(
        id=deps.ids.new(),
        belongs_to=replace(last.belongs_to, run_id=None) if last.belongs_to.user_id else last.belongs_to,
        content=wording.text,
        created_at=last.created_at,
        utc_offset_minutes=last.utc_offset_minutes,
        first_said_at=first.first_said_at or first.created_at,
        recorded_at=now,
        type=MemoryType.SEMANTIC,
        layer=Layer.LONG_TERM,
        scope=last.scope,
        trust=last.trust,
        actor=actors.pop() if len(actors) == 1 else None,
        role=Role.USER,
        tags=(TAG,),
        language=language,
        importance=max(memory.importance for memory in chosen),
        confidence=min(memory.confidence for memory in chosen),
        provenance=Provenance(
            source_ids=tuple(sources), method="merge", rule=wording.rule, reason=f"sums up {len(records)} memories"
        ),
        is_compressed=True,
        compression_sources=tuple(memory.id for memory in records),
    )


def _extract(chosen: Sequence[MemoryRecord], language: str) -> str:
    length = SENTENCE.get(language, SENTENCE["en"])
    sentences = [f"{memory.said_at:%Y-%m-%d} {cut(memory.content, length).rstrip('。.；;')}" for memory in chosen]
    return ("；" if language == "zh" else "; ").join(sentences)


async def _from_model(deps: StepContext, period: _Period, *, language: str) -> Rewrite | None:
    if deps.asking is None:
        return None
    longest = WRITTEN.get(language, WRITTEN["en"])

    def fits(text: str, _: Sequence[Gist]) -> bool:
        return len(text) <= longest and len(gist_of(text).units) > 1

    return await ask_llm_to_rewrite(
        deps.asking,
        "review",
        notes=[{"date": f"{memory.said_at:%Y-%m-%d}", "text": memory.content} for memory in period.records],
        fits=fits,
        timeout_seconds=deps.policy.llm_timeout_seconds,
    )


# Few memories of many: what repeats is merged, and what happened is summed up.


async def compress(deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False) -> StepReport:
    """Merges, then sums up; counts `merged`, `clusters`, `saved_bytes` and `summarized`.

    Raises:
        ConflictError: somebody else changed one of the records in between; what was done by then stays.
        StoreError: the store could not do it.
    """
    merged = await merge_repeats(deps, scope, now=now, dry_run=dry_run)
    summed = await summarise(deps, scope, now=now, dry_run=dry_run)
    return StepReport("compress", merged.counts | summed.counts, merged.changes + summed.changes)
