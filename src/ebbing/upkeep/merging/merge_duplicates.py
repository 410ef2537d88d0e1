"""Merging what repeats: find → gather → word → write, each cluster in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final

import numpy as np
from anyio import to_thread
from numpy.typing import NDArray

from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import IndexEntry
from ebbing.index.near_rows import near_pairs, overlapping_pairs
from ebbing.index.shard import Shard
from ebbing.language.text.analyzer import TextFlag
from ebbing.ports.models.embedder import Calibration
from ebbing.ports.stores.memory_store import Change, Insert, MemoryStore, Revise
from ebbing.upkeep.merging.cluster import Cluster, Pair, clusters
from ebbing.upkeep.merging.index_entries import entries_of
from ebbing.upkeep.merging.merge_records import MergeResult, merge_cluster, retire_into
from ebbing.upkeep.merging.mergeable import blocks, mergeable_rows, statements_of
from ebbing.upkeep.merging.rewrite import reword_long
from ebbing.upkeep.step import PlannedChange, StepContext, StepReport

MARK: Final = "merged up to"
"""Under this name the store knows the last row that was compared with all others."""
SHARED_TERMS: Final = 0.5
"""Of two texts without vectors, share of the shorter one's terms that the other must hold to be compared."""
_AT_ONCE: Final = 500
"""Records read in one call."""
_WRITTEN: Final = 32
"""Clusters in one transaction at most: short ones keep others waiting no longer than a few milliseconds."""


async def merge_repeats(deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False) -> StepReport:
    """Lets one record tell what several say, as far as rows came since it last looked.

    Counts `merged` records, the `clusters` they were in, and `saved_bytes` of readable text.

    Raises:
        ConflictError: somebody else changed one of the records in between; what was merged by then stays.
        StoreError: the store could not do it.
    """
    report = StepReport("compress", {"merged": 0, "clusters": 0, "saved_bytes": 0})
    store = deps.store
    shard = await store.shard(scope)
    seen = await store.mark(scope, MARK)
    if shard.last_seq <= seen:
        return report
    calibration = deps.embedder.calibration if deps.embedder else None
    standing = mergeable_rows(shard, now=now)
    for rows in blocks(shard, standing):
        found_clusters = await _find_clusters(deps, shard, rows=rows, seen=seen, calibration=calibration, scope=scope)
        made = [_merged(cluster, deps, now=now) for cluster in found_clusters]
        if not dry_run:
            made = await reword_long(deps, made)
        for start in range(0, len(made), _WRITTEN):
            part = made[start : start + _WRITTEN]
            if not dry_run:
                await deps.breathe()
                await _write(deps, scope, made=part, shard=shard, now=now)
            for result in part:
                _report(report, result)
    if not dry_run:
        await store.set_mark(scope, MARK, value=shard.last_seq)
    return report


async def _find_clusters(
    deps: StepContext,
    shard: Shard,
    *,
    rows: NDArray[np.int64],
    seen: int,
    calibration: Calibration | None,
    scope: Scope,
) -> list[Cluster]:
    """The clusters among rows that could be merged, of which at least one row is new."""
    # What was made by merging was compared when it was made.
    fresh = (shard.seq[rows] > seen) & (shard.mentions[rows] == 1)
    if not fresh.any() or len(rows) < 2:
        return []
    look = partial(_near, shard, rows, fresh=fresh, calibration=calibration, policy=deps.policy)
    pairs, places = await to_thread.run_sync(look)
    records = await _read(deps.store, scope, ids=[shard.ids[row] for row in rows[places]])
    group = partial(_grouped, shard, records=records, rows=rows[places], pairs=pairs, policy=deps.policy)
    return await to_thread.run_sync(group)


_Near = dict[tuple[int, int], float]
"""Similarity of pairs of rows by the digests of their texts."""


def _near(
    shard: Shard,
    rows: NDArray[np.int64],
    *,
    fresh: NDArray[np.bool_],
    calibration: Calibration | None,
    policy: UpkeepPolicy,
) -> tuple[_Near, NDArray[np.int64]]:
    """Which texts are near each other, and the places of all rows that have one of these texts or an equal one."""
    digests, first, times = np.unique(shard.digest[rows], return_index=True, return_counts=True)
    code = np.searchsorted(digests, shard.digest[rows])
    is_fresh = np.bincount(code, weights=fresh) > 0
    distinct = rows[first]
    near: _Near = {}
    if calibration is not None:
        cosine = calibration.cosine(policy.merge_held_similarity)
        ones, others = near_pairs(shard, distinct, fresh=is_fresh, cosine=cosine)
        cosines = np.einsum("ij,ij->i", shard.vectors[distinct[ones]], shard.vectors[distinct[others]])
        near |= _by_digest(digests, ones, others=others, similarity=calibration.similarity(cosines))
    bare = ~shard.embedded[distinct]
    if bare.any():
        ones, others = overlapping_pairs(shard, distinct, fresh=is_fresh & bare, least=SHARED_TERMS)
        alike = np.full(len(ones), policy.merge_similarity, dtype=np.float32)
        near = _by_digest(digests, ones, others=others, similarity=alike) | near
    involved = {digest for pair in near for digest in pair}
    is_involved = np.isin(digests, list(involved)) | ((times > 1) & is_fresh)
    return near, np.flatnonzero(is_involved[code])


def _by_digest(
    digests: NDArray[np.int64],
    ones: NDArray[np.int64],
    *,
    others: NDArray[np.int64],
    similarity: NDArray[np.float32],
) -> _Near:
    pairs = zip(digests[ones].tolist(), digests[others].tolist(), strict=True)
    return dict(zip(pairs, similarity.tolist(), strict=True))


async def _read(store: MemoryStore, scope: Scope, *, ids: Sequence[str]) -> dict[str, MemoryRecord]:
    records: dict[str, MemoryRecord] = {}
    for start in range(0, len(ids), _AT_ONCE):
        records |= {record.id: record for record in await store.get(scope, ids[start : start + _AT_ONCE])}
    return records


def _grouped(
    shard: Shard,
    *,
    records: dict[str, MemoryRecord],
    rows: NDArray[np.int64],
    pairs: _Near,
    policy: UpkeepPolicy,
) -> list[Cluster]:
    numbered = ((row, records[shard.ids[row]]) for row in rows.tolist() if shard.ids[row] in records)
    statements = statements_of(numbered)
    places: dict[int, list[int]] = {}
    for place, statement in enumerate(statements):
        places.setdefault(int(shard.digest[statement.row]), []).append(place)
    near = [
        Pair(first_place, other, similarity)
        for (first, second), similarity in pairs.items()
        for first_place in places.get(first, ())
        for other in places.get(second, ())
    ]
    return clusters(statements, near, policy=policy)


def _merged(cluster: Cluster, deps: StepContext, *, now: datetime) -> MergeResult:
    records = [record for statement in cluster.members for record in statement.records]
    return merge_cluster(records, cluster.lead.records[-1], new_id=deps.ids.new(), now=now)


def _report(report: StepReport, made: MergeResult) -> None:
    report.counts["merged"] += len(made.behind)
    report.counts["clusters"] += 1
    report.counts["saved_bytes"] += made.saved_bytes
    since, until = made.record.first_said_at, made.record.created_at
    span = f"from {since:%Y-%m-%d} to {until:%Y-%m-%d}" if since and since.date() != until.date() else "on one day"
    why = f"one memory tells what was said {made.record.mentions} times, {span}"
    report.changes += [PlannedChange(source.id, "merge", why) for source in made.behind]


async def _write(deps: StepContext, scope: Scope, *, made: Sequence[MergeResult], shard: Shard, now: datetime) -> None:
    """The new and changed records with those that step behind them, in one transaction."""
    if not made:
        return
    changes: list[Change] = []
    for result, entry in zip(made, await _entries(deps, made, shard=shard), strict=True):
        reason = result.record.provenance.reason or ""
        if result.existing is None:
            changes.append(Insert(result.record, entry, reason=reason))
        else:
            event = Event.NONE if result.existing.content == result.record.content else Event.UPDATE
            changes.append(Revise(result.record, event, entry=entry, reason=reason))
        changes += [retire_into(other, result.record.id, now=now, reason=reason) for other in result.behind]
    await deps.store.write(scope, changes)


async def _entries(deps: StepContext, made: Sequence[MergeResult], *, shard: Shard) -> list[IndexEntry]:
    """A record has the vector of the one whose words it has, and is a message as it was said where that one is."""
    row_of = {memory_id: row for row, memory_id in enumerate(shard.ids[: shard.size])}
    vectors_at_hand: dict[int, NDArray[np.float32]] = {}
    utterances: set[int] = set()
    for place, result in enumerate(made):
        row = row_of[result.source.id]
        if shard.embedded[row] and result.record.content == result.source.content:
            vectors_at_hand[place] = shard.vectors[row]
        if shard.flags[row] & TextFlag.UTTERANCE:
            utterances.add(place)
    return await entries_of(
        deps, [result.record for result in made], vectors_at_hand=vectors_at_hand, utterances=utterances
    )
