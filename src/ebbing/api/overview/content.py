"""What of an owner's memories there is, and how well it is kept."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, timedelta
from typing import Final

import numpy as np

from ebbing.api.calls.call_context import CallContext
from ebbing.api.overview.items import iso
from ebbing.domain.memory.record import NEEDS_REVIEW, QUARANTINED, Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import ALWAYS, KINDS, TYPES, Shard, micros, moment
from ebbing.language.text.analyzer import TextFlag
from ebbing.recall.rows import Mask, load_records, rows_in_scope
from ebbing.results import ContentAnswer, EndedDay, FacetsAnswer

MAX_TAGS_SHOWN: Final = 100
SAMPLES: Final = 20
"""Ids that are named of each kind of finding."""
ENDED_DAYS: Final = 30
_DAY_MICROS: Final = 86_400_000_000


async def facets_of(context: CallContext, scope: Scope) -> FacetsAnswer:
    """Return how many records there are of what; see `OverviewApi.facets`."""
    shard = await context.store.shard(scope, deleted=True)
    now = micros(context.clock.now())
    opened = shard.detached()
    opened.alive[:] = shard.deleted != ALWAYS
    every = rows_in_scope(opened, scope, kinds=tuple(Kind))
    memory = every & (shard.kind == KINDS.index(Kind.MEMORY))
    holds = (shard.valid_to > now) & (shard.expires > now)
    current = memory & shard.alive & holds
    records = await _records(context, scope, shard=shard, rows=current)
    tags = Counter(tag for record in records for tag in record.tags)
    created = shard.created[memory]
    return {
        "kinds": _counted(((kind, shard.kind == code) for code, kind in enumerate(KINDS)), within=every & shard.alive),
        "types": _counted(((type_, shard.type == code) for code, type_ in enumerate(TYPES)), within=current),
        "states": _counted(
            [("current", current), ("ended", shard.alive & ~holds), ("gone", ~shard.alive)],
            within=memory,
        ),
        "tags": dict(tags.most_common(MAX_TAGS_SHOWN)),
        "trust": dict(Counter(record.trust for record in records if record.trust is not None)),
        "first_at": iso(moment(int(created.min()))) if created.size else None,
        "last_at": iso(moment(int(created.max()))) if created.size else None,
    }


async def content_of(context: CallContext, scope: Scope) -> ContentAnswer:
    """Return how well what is kept is; see `OverviewApi.content`."""
    shard = await context.store.shard(scope)
    now = context.clock.now()
    holds = (shard.valid_to > micros(now)) & (shard.expires > micros(now))
    every = rows_in_scope(shard, scope, kinds=tuple(Kind)) & holds
    memory = every & (shard.kind == KINDS.index(Kind.MEMORY))
    records = await _records(context, scope, shard=shard, rows=every)
    memories = [record for record in records if record.kind is Kind.MEMORY]
    findings: dict[str, list[str]] = {
        "never_used": [record.id for record in memories if record.access_count == 0],
        "quarantined": [record.id for record in records if QUARANTINED in record.tags],
        "needs_review": [record.id for record in memories if NEEDS_REVIEW in record.tags],
        "questions": [shard.ids[row] for row in np.flatnonzero(memory & ((shard.flags & TextFlag.ASKING) != 0))],
        "repeated": _repeated(memories),
    }
    contradictions = _contradictions(memories)
    findings["contradictions"] = [memory_id for ids in contradictions for memory_id in ids]
    ended = shard.valid_to[rows_in_scope(shard, scope, kinds=(Kind.MEMORY,))]
    since = micros(now - timedelta(days=ENDED_DAYS))
    return {
        "memories": len(memories),
        "never_used": len(findings["never_used"]),
        "quarantined": len(findings["quarantined"]),
        "needs_review": len(findings["needs_review"]),
        "questions": len(findings["questions"]),
        "repeated": len(findings["repeated"]),
        "contradictions": len(contradictions),
        "ended_by_day": _ended_by_day(ended[(ended > since) & (ended <= micros(now))].tolist()),
        "samples": {name: ids[:SAMPLES] for name, ids in findings.items()},
    }


async def _records(context: CallContext, scope: Scope, *, shard: Shard, rows: Mask) -> Sequence[MemoryRecord]:
    return await load_records(context.store, shard, scope=scope, rows=np.flatnonzero(rows).tolist())


def _counted(columns: Iterable[tuple[str, Mask]], *, within: Mask) -> dict[str, int]:
    """Return how many rows each column marks, without those that mark none."""
    counts = {str(name): int((column & within).sum()) for name, column in columns}
    return {name: count for name, count in counts.items() if count}


def _repeated(records: Sequence[MemoryRecord]) -> list[str]:
    """Return the memories that say what an earlier one in the list says."""
    seen: set[str] = set()
    repeated: list[str] = []
    for record in records:
        if record.hash in seen:
            repeated.append(record.id)
        seen.add(record.hash)
    return repeated


def _contradictions(records: Sequence[MemoryRecord]) -> list[list[str]]:
    """Return the memories of each property that has more than one current value."""
    values: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for record in records:
        if record.attribute is not None and record.value is not None:
            values[record.attribute].setdefault(record.value.casefold(), record.id)
    return [[*by_value.values()] for by_value in values.values() if len(by_value) > 1]


def _ended_by_day(ends: Sequence[int]) -> list[EndedDay]:
    days = Counter(moment(end // _DAY_MICROS * _DAY_MICROS).astimezone(UTC).date().isoformat() for end in ends)
    return [{"day": day, "ended": days[day]} for day in sorted(days)]
