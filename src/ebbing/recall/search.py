"""The way out: understand → gather → fuse → rank → read the records."""

from __future__ import annotations

from collections.abc import Mapping

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
from ebbing.recall.rank import Ranked, rank
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
    calibration = embedder.calibration if embedder is not None else None
    question = understand(query, shard, tuning=tuning)
    scored = score_rows(shard, question, vector, among=among, near=neighbours(shard), tuning=tuning)
    ranked = rank(shard, scored, among=among, query=query, question=question, calibration=calibration, tuning=tuning)
    found = await fresh_records(
        store, shard, scope=scope, rows=[best.row for best in ranked], deleted=query.as_of is not None
    )
    records = {record.id: record for record in found}
    return _hits(shard, scored, ranked=[best for best in ranked if shard.ids[best.row] in records], records=records)


def admitted(shard: Shard, scope: Scope, *, query: Query) -> NDArray[np.bool_]:
    """Mask of the rows that the caller may get back: alive, current, not expired, within scope, of the asked kind."""
    at = micros(query.as_of or query.now)
    return covered(shard, scope, kinds=KINDS_OF[query.include]) & (shard.valid_to > at) & (shard.expires > at)


def _hits(shard: Shard, scored: Scored, *, ranked: list[Ranked], records: Mapping[str, MemoryRecord]) -> list[Hit]:
    rows = [best.row for best in ranked]
    given = {"semantic": scored.dense, "keyword": scored.lexical, **scored.bonuses}
    routes = {name: points[rows].tolist() for name, points in given.items()}
    return [
        Hit(
            records[shard.ids[best.row]],
            score=best.score,
            rank_score=best.fused,
            repeat_ids=tuple(shard.ids[repeat] for repeat in best.repeats),
            routes={name: points[at] for name, points in routes.items() if points[at]},
            coverage=best.coverage,
            meaning=best.meaning,
        )
        for at, best in enumerate(ranked)
    ]
