"""The way out: understand → gather → fuse → rank → read the records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.query import KINDS_OF, Hit, Query
from ebbing.domain.record import MemoryRecord
from ebbing.domain.scope import Scope
from ebbing.index.neighbours import neighbours
from ebbing.index.shard import Shard, micros
from ebbing.ports.embedder import Embedder
from ebbing.ports.memory_store import MemoryStore
from ebbing.recall.narrow import covered, fresh_records, narrowed
from ebbing.recall.past import shard_as_of
from ebbing.recall.score import Scored, score_rows
from ebbing.recall.tuning import Tuning
from ebbing.recall.understand import understand


async def search(
    store: MemoryStore, embedder: Embedder | None, *, scope: Scope, query: Query, tuning: Tuning
) -> list[Hit]:
    """The memories and episodes that answer the query, best first."""
    if query.as_of is None:
        shard = await store.shard(scope)
    else:
        shard = await shard_as_of(store, embedder, scope=scope, moment=query.as_of)
    among = admitted(shard, scope, query=query)
    among = await narrowed(store, shard, scope=scope, among=among, wanted=query.filter)
    if not among.any():
        return []
    vector = (await embedder.embed_queries([query.text]))[0] if embedder is not None else None
    question = understand(query, shard, tuning=tuning)
    scored = score_rows(shard, question, vector, among=among, near=neighbours(shard), tuning=tuning)
    scores = relevance(scored, embedder)
    rows = best_rows(scored.total, among & (scores >= query.min_score), count=query.top_k)
    found = await fresh_records(store, shard, scope=scope, rows=rows, deleted=query.as_of is not None)
    records = {record.id: record for record in found}
    return [
        _hit(records[shard.ids[row]], scored, row=row, score=float(scores[row]))
        for row in rows
        if shard.ids[row] in records
    ]


def admitted(shard: Shard, scope: Scope, *, query: Query) -> NDArray[np.bool_]:
    """Mask of the rows that the caller may get back: alive, current, not expired, within scope, of the asked kind."""
    at = micros(query.as_of or query.now)
    return covered(shard, scope, KINDS_OF[query.include]) & (shard.valid_to > at) & (shard.expires > at)


def relevance(scored: Scored, embedder: Embedder | None) -> NDArray[np.float64]:
    """The calibrated score of every row, in [0, 1]: what it means and what it says speak for it independently."""
    words = scored.lexical / (scored.lexical + 8.0)
    if embedder is None:
        return words
    meaning = embedder.calibration.similarity(scored.dense.astype(np.float32))
    return 1 - (1 - meaning.astype(np.float64)) * (1 - words)


def best_rows(scores: NDArray[np.float64], among: NDArray[np.bool_], *, count: int) -> list[int]:
    """The `count` best rows of the mask, best first; equal scores keep the order of arrival."""
    rows = np.flatnonzero(among)
    if len(rows) > count:
        rows = rows[np.argpartition(-scores[rows], count - 1)[:count]]
    return [int(row) for row in rows[np.lexsort((rows, -scores[rows]))]]


def _hit(record: MemoryRecord, scored: Scored, *, row: int, score: float) -> Hit:
    routes: dict[str, float] = {}
    if scored.dense[row]:
        routes["semantic"] = float(scored.dense[row])
    if scored.lexical[row]:
        routes["keyword"] = float(scored.lexical[row])
    return Hit(record, score=score, rank_score=float(scored.total[row]), routes=routes)
