"""The way out: understand → gather → fuse → rank → read the records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.filters.query import KINDS_OF, Hit, Query, each_four_places
from ebbing.domain.filters.tree import EVERYTHING, asks_for_ends
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import passage
from ebbing.index.shard import NEVER, Shard, digest, micros
from ebbing.index.turn_neighbours import neighbours
from ebbing.ports.embedder import Embedder
from ebbing.ports.loop import on_a_loop
from ebbing.ports.memory_store import MemoryStore
from ebbing.ports.reranker import Reranker
from ebbing.recall.base.as_of import shard_as_of
from ebbing.recall.base.fusion import best_rows, is_empty
from ebbing.recall.base.recall_settings import RecallSettings
from ebbing.recall.base.row_filter import covered, fresh_records, narrowed
from ebbing.recall.query.entity_links import linked, saying
from ebbing.recall.query.parse_query import Question, understand
from ebbing.recall.ranking.neighbour_turns import expand, read_windows
from ebbing.recall.ranking.rank import Ranking, rank
from ebbing.recall.scoring.deadlines import gather_meaning
from ebbing.recall.scoring.rerank import Reranking, rerank
from ebbing.recall.scoring.score_rows import Scored, joined, score_rows


@dataclass(frozen=True, slots=True)
class Searching:
    """What the way out works with."""

    store: MemoryStore
    embedder: Embedder | None
    recall_settings: RecallSettings
    reranker: Reranker | None = None
    reranking: Reranking = field(default_factory=Reranking)


@dataclass(slots=True)
class Answer:
    """What came back, best first, as parallel lists. Not frozen, like `Hit`, for speed."""

    records: Sequence[MemoryRecord] = ()
    ranked: Ranking = field(default_factory=Ranking)
    retriever_scores: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Route to what it gave each; 0 where it gave nothing."""
    duplicate_ids: Sequence[tuple[str, ...]] = ()
    lent: Iterable[float] = ()
    """What the session of each lends it."""
    failed_retrievers: Mapping[str, str] = field(default_factory=dict)
    """Route to why it had no say, for the routes that failed or were late."""
    around: Mapping[str, Sequence[MemoryRecord]] = field(default_factory=dict)
    """Memory id to the turns around it in the order said, itself included, where `query.expand` asks for them."""
    owner_known: bool = True
    """False where nothing at all is stored of the owner: the name may be mistyped."""
    recall_id: str = ""
    """Names the answer, so that feedback on it counts once; of an answer that was given to somebody."""

    @property
    def hits(self) -> tuple[Hit, ...]:
        """Each memory with what speaks for it."""
        names, ranked = self.retriever_scores, self.ranked
        routes = [
            {name: value for name, value in zip(names, values, strict=True) if value}
            for values in zip(*map(each_four_places, names.values()), strict=True)
        ]
        told = (ranked.scores, ranked.fused, self.duplicate_ids, routes, ranked.coverage, ranked.meaning, self.lent)
        return tuple(map(Hit, self.records, *told))


async def search(using: Searching, scope: Scope, *, query: Query) -> Answer:
    """The memories and episodes that answer the query, best first."""
    shard = await _shard(using, scope, query=query)
    shard.questions += 1
    among = admitted(shard, scope, query=query)
    if query.filter is not EVERYTHING:
        among = await narrowed(using.store, shard, scope=scope, among=among, wanted=query.filter)
    if is_empty(among):
        return Answer()
    if query.conversation:
        weight = using.recall_settings.leaning_other_language_weight
        using = replace(using, recall_settings=replace(using.recall_settings, other_language_weight=weight))
    question, scored, dropped = await _scored(using, shard, scope=scope, among=among, query=query)
    if query.conversation:
        leaning = replace(query, text=query.conversation)
        _, in_conversation, failed = await _scored(using, shard, scope=scope, among=among, query=leaning)
        scored, dropped = (
            joined(shard, scored, conversation=in_conversation, among=among, recall_settings=using.recall_settings),
            dropped | failed,
        )
    if using.reranker is not None:
        scored, failure = await _second_opinion(using, shard, scope=scope, scored=scored, among=among, query=query)
        dropped |= {"rerank": failure} if failure else {}
    calibration = using.embedder.calibration if using.embedder is not None else None
    ranked = rank(
        shard,
        scored,
        among=among,
        query=query,
        question=question,
        calibration=calibration,
        recall_settings=using.recall_settings,
    )
    records = await fresh_records(using.store, shard, scope=scope, rows=ranked.rows, deleted=query.as_of is not None)
    if len(records) < len(ranked.rows):
        there = {record.id for record in records}
        ranked = ranked.only([shard.ids[row] in there for row in ranked.rows])
    around: Mapping[str, Sequence[MemoryRecord]] = {}
    if query.expand and ranked.rows:
        around = await _around(using.store, shard, scope=scope, rows=ranked.rows, among=among, query=query)
    found = _answer(shard, scored, ranked=ranked, records=records)
    found.failed_retrievers, found.around = dropped, around
    return found


async def _scored(
    using: Searching, shard: Shard, *, scope: Scope, among: NDArray[np.bool_], query: Query
) -> tuple[Question, Scored, dict[str, str]]:
    """The text of a query, read; every row against it; and why its vector has no say, where it has none."""
    meaning = await gather_meaning(using.embedder, query.text, seconds=using.recall_settings.deadline_seconds)
    question = understand(query, shard)
    if using.recall_settings.graph_bonus and (rows := saying(shard, question, among=among)):
        past = query.as_of is not None
        question = await linked(using.store, shard, scope=scope, question=question, rows=rows, past=past)
    scored = score_rows(
        shard,
        question,
        vector=meaning.vector,
        among=among,
        near=neighbours(shard),
        recall_settings=using.recall_settings,
    )
    return question, scored, {"semantic": meaning.failure} if meaning.failure else {}


async def _shard(using: Searching, scope: Scope, *, query: Query) -> Shard:
    if query.as_of is None:
        return await using.store.shard(scope)
    await on_a_loop()
    return await shard_as_of(using.store, using.embedder, scope=scope, moment=query.as_of)


async def _second_opinion(
    using: Searching, shard: Shard, *, scope: Scope, scored: Scored, among: NDArray[np.bool_], query: Query
) -> tuple[Scored, str | None]:
    """The scores with the reranker's share on top, and why it had none where it failed."""
    if using.reranker is None:
        return scored, None
    order = best_rows(scored.total, among, count=using.reranking.depth)
    past = query.as_of is not None
    records = await fresh_records(using.store, shard, scope=scope, rows=order.tolist(), deleted=past)
    text_of = {record.id: passage(record) for record in records}
    rows = np.array([row for row in order.tolist() if shard.ids[row] in text_of], dtype=np.int64)
    texts = [text_of[shard.ids[row]] for row in rows.tolist()]
    done = await rerank(using.reranker, query.text, candidates=texts, scores=scored.total[rows], how=using.reranking)
    total = scored.total.copy()
    total[rows] = done.scores
    return replace(scored, total=total), done.failure


async def _around(
    store: MemoryStore,
    shard: Shard,
    *,
    scope: Scope,
    rows: Sequence[int],
    among: NDArray[np.bool_],
    query: Query,
) -> dict[str, Sequence[MemoryRecord]]:
    windows = expand(shard, rows, before=query.expand, after=query.expand, among=among)
    read = await read_windows(store, shard, scope=scope, windows=windows, deleted=query.as_of is not None)
    return {shard.ids[row]: turns for row, turns in zip(rows, read, strict=True) if len(turns) > 1}


def admitted(shard: Shard, scope: Scope, *, query: Query) -> NDArray[np.bool_]:
    """Mask of the rows that the caller may get back: alive, within scope, of the asked kind, current and not expired.

    A filter that asks for an end decides itself about what is over, as in `listed`.
    """
    at = micros(query.as_of or query.now)
    mask = covered(shard, scope, kinds=KINDS_OF[query.include])
    if query.present:
        mask = mask & ~np.isin(shard.digest, [*map(digest, query.present)])
    if at < shard.kept("first end", lambda: _first_end(shard)) or asks_for_ends(query.filter):
        return mask
    return mask & (shard.valid_to > at) & (shard.expires > at)


def _first_end(shard: Shard) -> int:
    """Up to when no row is over or expired."""
    return int(min(shard.valid_to.min(initial=NEVER), shard.expires.min(initial=NEVER)))


def _answer(shard: Shard, scored: Scored, *, ranked: Ranking, records: Sequence[MemoryRecord]) -> Answer:
    rows = ranked.rows
    given = {"semantic": scored.dense, "keyword": scored.lexical, **scored.bonuses}
    routes = {name: [*map(column.item, rows)] for name, column in given.items()}
    lent = scored.session
    same: Sequence[tuple[str, ...]] = [()] * len(rows)
    if any(ranked.repeats):
        same = [tuple(map(shard.ids.__getitem__, repeats)) for repeats in ranked.repeats]
    each_lent = [lent] * len(rows) if isinstance(lent, float) else [*map(lent.item, rows)]
    return Answer(records, ranked, routes, same, each_lent)
