"""The way out: understand → gather → fuse → rank → read the records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.query import Hit, Query
from ebbing.domain.record import Kind, MemoryRecord
from ebbing.domain.scope import Scope
from ebbing.index.neighbours import neighbours
from ebbing.index.shard import KINDS, Shard, micros
from ebbing.ports.embedder import Embedder
from ebbing.ports.memory_store import MemoryStore
from ebbing.recall.score import Scored, score_rows
from ebbing.recall.tuning import Tuning
from ebbing.recall.understand import understand


async def search(
    store: MemoryStore, embedder: Embedder | None, *, scope: Scope, query: Query, tuning: Tuning
) -> list[Hit]:
    """The memories and episodes that answer the query, best first."""
    shard = await store.shard(scope)
    among = admitted(shard, scope, query=query)
    if not among.any():
        return []
    vector = (await embedder.embed_queries([query.text]))[0] if embedder is not None else None
    question = understand(query, shard, tuning=tuning)
    scored = score_rows(shard, question, vector, among=among, near=neighbours(shard), tuning=tuning)
    rows = best_rows(scored.total, among, count=query.top_k)
    records = {record.id: record for record in await store.get(scope, [shard.ids[row] for row in rows])}
    return [
        _hit(records[shard.ids[row]], scored, row=row, embedder=embedder) for row in rows if shard.ids[row] in records
    ]


def admitted(shard: Shard, scope: Scope, *, query: Query) -> NDArray[np.bool_]:
    """Mask of the rows that the caller may get back: alive, current, not expired, within scope, of the asked kind."""
    now = micros(query.now)
    mask: NDArray[np.bool_] = shard.alive & (shard.valid_to > now) & (shard.expires > now)
    if scope.agent_id is not None:
        mask &= shard.agent == shard.agents.find(scope.agent_id)
    if scope.run_id is not None:
        mask &= shard.run == shard.runs.find(scope.run_id)
    if query.include != "all":
        wanted = Kind.MEMORY if query.include == "memories" else Kind.EPISODE
        mask &= shard.kind == KINDS.index(wanted)
    return mask


def best_rows(scores: NDArray[np.float64], among: NDArray[np.bool_], *, count: int) -> list[int]:
    """The `count` best rows of the mask, best first; equal scores keep the order of arrival."""
    rows = np.flatnonzero(among)
    if len(rows) > count:
        rows = rows[np.argpartition(-scores[rows], count - 1)[:count]]
    return [int(row) for row in rows[np.lexsort((rows, -scores[rows]))]]


def _hit(record: MemoryRecord, scored: Scored, *, row: int, embedder: Embedder | None) -> Hit:
    routes: dict[str, float] = {}
    if scored.dense[row]:
        routes["semantic"] = float(scored.dense[row])
    if scored.lexical[row]:
        routes["keyword"] = float(scored.lexical[row])
    cosine = np.array([scored.dense[row]], dtype=np.float32)
    meaning = float(embedder.calibration.similarity(cosine)[0]) if embedder is not None else 0.0
    words = float(scored.lexical[row] / (scored.lexical[row] + 8.0))
    return Hit(record, score=1 - (1 - meaning) * (1 - words), rank_score=float(scored.total[row]), routes=routes)
