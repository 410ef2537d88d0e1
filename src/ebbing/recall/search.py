"""Search, step by step: load the owner's rows, parse, mask, embed, score, rank, load the records, answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from ebbing.domain.filters.query import Hit, Query
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import passage
from ebbing.index.near_rows import without_repeats
from ebbing.index.shard import Shard
from ebbing.ports.models.change_model import ChangeModel
from ebbing.ports.models.embedder import Embedder
from ebbing.ports.models.reader import Reader
from ebbing.ports.models.reranker import Reranker
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.recall.as_of import shard_as_of
from ebbing.recall.candidates import CandidateRows, is_enough
from ebbing.recall.model_scores import (
    SITTING,
    AnswerOptions,
    ReadRows,
    RerankOptions,
    may_lean,
    read_answers,
    reader_text,
    rerank,
    with_successor_first,
)
from ebbing.recall.question import QueryEmbedding, Question, embed_query, parse_query, with_entity_links
from ebbing.recall.ranking import RankedRow, rank
from ebbing.recall.recall_settings import RecallSettings
from ebbing.recall.rows import Mask, best_rows, expand, load_records, load_windows, visible_rows
from ebbing.recall.scores import RowScores, join_conversation, score_rows

Embeddings: TypeAlias = dict[str, QueryEmbedding]
"""What was embedded already, by the text."""


@dataclass(frozen=True, slots=True)
class SearchDeps:
    """The dependencies of a search."""

    store: MemoryStore
    embedder: Embedder | None
    settings: RecallSettings
    reranker: Reranker | None = None
    rerank_options: RerankOptions = field(default_factory=RerankOptions)
    reader: Reader | None = None
    """The trained model that judges answers, if there is one."""
    answer_options: AnswerOptions = field(default_factory=AnswerOptions)
    change_model: ChangeModel | None = None
    """The trained model that says what ended what was told before, if there is one for these vectors."""
    candidates: CandidateRows | None = None
    """What chooses the rows of large owners that are scored; None where every row is."""


@dataclass(slots=True)
class SearchResults:
    """The answer to a query."""

    hits: Sequence[Hit] = ()
    """Best first."""
    failed_retrievers: Mapping[str, str] = field(default_factory=dict)
    """The reason by the name of each retriever that failed or was late."""
    context_turns: Mapping[str, Sequence[MemoryRecord]] = field(default_factory=dict)
    """The turns before and after a memory, itself included, by its id, where `query.context_turns` asks for them."""
    owner_known: bool = True
    """False where nothing at all is stored of the owner: the name may be mistyped."""
    recall_id: str = ""
    """Names the answer, so that feedback on it counts once."""

    @property
    def records(self) -> list[MemoryRecord]:
        """The memories, best first."""
        return [hit.record for hit in self.hits]


async def search(deps: SearchDeps, scope: Scope, *, query: Query) -> SearchResults:
    """Return the memories and raw messages that answer the query, best first."""
    if query.as_of is None:
        shard = await deps.store.shard(scope)
    else:
        shard = await shard_as_of(deps.store, deps.embedder, scope=scope, moment=query.as_of)
    question, embeddings = parse_query(query, shard), Embeddings()
    shard, mask = await _choose_rows(deps, shard, scope=scope, query=query, question=question, embeddings=embeddings)
    mask = without_repeats(shard, mask)
    if not mask.any():
        return SearchResults()
    question, scores, failures = await _score(
        deps, shard, scope=scope, mask=mask, query=query, question=question, embeddings=embeddings
    )
    if deps.reranker is not None:
        scores, failure = await _rerank(deps, shard, scores=scores, scope=scope, mask=mask, query=query)
        failures |= {"rerank": failure} if failure else {}
    if deps.reader is not None and query.is_complete and not _names_a_time(shard, question, query=query):
        scores, failure = await _read_answers(deps, shard, scores=scores, scope=scope, mask=mask, query=query)
        failures |= {"reader": failure} if failure else {}
    ranked = rank(
        shard,
        scores,
        mask=mask,
        query=query,
        question=question,
        calibration=deps.embedder.calibration if deps.embedder is not None else None,
        settings=deps.settings,
    )
    records = await load_records(
        deps.store,
        shard,
        scope=scope,
        rows=[ranked_row.row for ranked_row in ranked],
        include_deleted=query.as_of is not None,
    )
    hits = _to_hits(shard, scores, ranked=ranked, records=records)
    context_turns: Mapping[str, Sequence[MemoryRecord]] = {}
    if query.context_turns and hits:
        context_turns = await _load_context(deps.store, shard, ranked=ranked, scope=scope, mask=mask, query=query)
    return SearchResults(hits, failures, context_turns)


def _names_a_time(shard: Shard, question: Question, *, query: Query) -> bool:
    """Return whether a date decides: the reader sees none, and would only disturb the order."""
    if question.times.spans or not query.conversation:
        return bool(question.times.spans)
    return bool(parse_query(replace(query, text=query.conversation), shard).times.spans)


async def _choose_rows(
    deps: SearchDeps, shard: Shard, *, scope: Scope, query: Query, question: Question, embeddings: Embeddings
) -> tuple[Shard, Mask]:
    """Return the rows that are scored, which of a large owner are few, and which of them the caller may get back."""
    candidates = deps.candidates
    if candidates is not None and candidates.is_meant(shard, query):
        for text in filter(None, (query.text, query.conversation)):
            embeddings[text] = await embed_query(deps.embedder, text, timeout_seconds=deps.settings.deadline_seconds)
        vectors = [embedding.vector for embedding in embeddings.values() if embedding.vector is not None]
        if vectors and all(len(vector) == shard.dim for vector in vectors):
            chosen = await candidates.choose(
                shard, scope, question=question, vectors=vectors, top_k=query.top_k, settings=deps.settings
            )
            mask = await visible_rows(deps.store, chosen, scope=scope, query=query)
            if chosen is shard or is_enough(chosen, mask, query=query):
                return chosen, mask
    return shard, await visible_rows(deps.store, shard, scope=scope, query=query)


async def _score(
    deps: SearchDeps,
    shard: Shard,
    *,
    scope: Scope,
    mask: Mask,
    query: Query,
    question: Question,
    embeddings: Embeddings,
) -> tuple[Question, RowScores, dict[str, str]]:
    """Return the question with what the rows know of it, the scores of all rows, and the retrievers that failed.

    A question that leans on its conversation is scored alone and with it.
    """
    settings = deps.settings
    if query.conversation:
        settings = replace(settings, other_language_weight=settings.leaning_other_language_weight)
    score = partial(_score_text, deps, shard, scope=scope, mask=mask, settings=settings, embeddings=embeddings)
    question, scores, failures = await score(query=query, question=question)
    if query.conversation:
        whole = replace(query, text=query.conversation)
        _, in_conversation, more_failures = await score(query=whole, question=parse_query(whole, shard))
        scores = join_conversation(shard, scores, conversation=in_conversation, mask=mask, settings=settings)
        failures |= more_failures
    return question, scores, failures


async def _score_text(
    deps: SearchDeps,
    shard: Shard,
    *,
    query: Query,
    question: Question,
    scope: Scope,
    mask: Mask,
    settings: RecallSettings,
    embeddings: Embeddings,
) -> tuple[Question, RowScores, dict[str, str]]:
    if settings.graph_bonus:
        question = await with_entity_links(
            deps.store,
            shard,
            scope=scope,
            question=question,
            mask=mask,
            include_deleted=query.as_of is not None,
        )
    embedding = embeddings.get(query.text)
    if embedding is None:
        embedding = await embed_query(deps.embedder, query.text, timeout_seconds=settings.deadline_seconds)
    scores = score_rows(shard, question, vector=embedding.vector, mask=mask, settings=settings)
    failures = {"semantic": embedding.failure} if embedding.failure else {}
    return question, scores, failures


async def _rerank(
    deps: SearchDeps, shard: Shard, *, scores: RowScores, scope: Scope, mask: Mask, query: Query
) -> tuple[RowScores, str | None]:
    """Return the scores with the reranker's share on top, and why it had none where it failed."""
    if deps.reranker is None:
        return scores, None
    options = deps.rerank_options
    best = best_rows(scores.total, mask, count=options.depth)
    rows, records = await _load_candidates(deps, shard, rows=best.tolist(), scope=scope, query=query)
    texts = [passage(record) for record in records]
    reranked = await rerank(deps.reranker, query.text, candidates=texts, scores=scores.total[rows], options=options)
    total = scores.total.copy()
    total[rows] = reranked.scores
    return replace(scores, total=total), reranked.failure


async def _read_answers(
    deps: SearchDeps, shard: Shard, *, scores: RowScores, scope: Scope, mask: Mask, query: Query
) -> tuple[RowScores, str | None]:
    """Return the scores with the reader's share on top and a successor first, and what failed of both."""
    if deps.reader is None:
        return scores, None
    options = deps.answer_options
    best = best_rows(scores.total, mask, count=options.depth)
    rows, records = await _load_candidates(deps, shard, rows=best.tolist(), scope=scope, query=query)
    texts = await _reader_texts(deps, shard, rows=rows, records=records, scope=scope, mask=mask, query=query)
    read = await read_answers(deps.reader, query, texts=texts, scores=scores.total[rows], options=options)
    if read.probabilities is None or read.log_odds is None:
        return scores, read.failure
    total, probability = scores.total.copy(), np.full(len(scores.total), np.nan)
    total[rows], probability[rows] = read.scores, read.probabilities
    failure = None
    if deps.change_model is not None:
        seen = ReadRows(query, shard, rows, records, read.probabilities, read.log_odds)
        total, failure = await with_successor_first(
            deps.change_model, seen, total=total, unread=scores.total, options=options
        )
    return replace(scores, total=total, answer_probability=probability, unread_total=scores.total), failure


async def _reader_texts(
    deps: SearchDeps,
    shard: Shard,
    *,
    rows: Sequence[int],
    records: Sequence[MemoryRecord],
    scope: Scope,
    mask: Mask,
    query: Query,
) -> list[str]:
    """Return the candidates as the reader sees them, short messages with the turn before them."""
    texts = [reader_text(record) for record in records]
    short = [place for place, record in enumerate(records) if may_lean(record)]
    windows = expand(shard, [rows[place] for place in short], before=1, after=0, mask=mask)
    includes_deleted = query.as_of is not None
    turns = await load_windows(deps.store, shard, scope=scope, windows=windows, include_deleted=includes_deleted)
    for place, window in zip(short, turns, strict=True):
        if len(window) == 2 and window[1].created_at - window[0].created_at <= SITTING:
            texts[place] = reader_text(records[place], window[0])
    return texts


async def _load_candidates(
    deps: SearchDeps, shard: Shard, *, rows: list[int], scope: Scope, query: Query
) -> tuple[list[int], list[MemoryRecord]]:
    """Return the rows whose record is still stored, and their records in the same order."""
    includes_deleted = query.as_of is not None
    records = await load_records(deps.store, shard, scope=scope, rows=rows, include_deleted=includes_deleted)
    ids = {record.id for record in records}
    return [row for row in rows if shard.id_of(row) in ids], records


def _to_hits(
    shard: Shard, scores: RowScores, *, ranked: Sequence[RankedRow], records: Sequence[MemoryRecord]
) -> list[Hit]:
    """Return a hit for each ranked row whose record is still stored."""
    by_id = {record.id: record for record in records}
    hits: list[Hit] = []
    for ranked_row in ranked:
        record = by_id.get(shard.id_of(ranked_row.row))
        if record is not None:
            hits.append(_to_hit(shard, scores, ranked=ranked_row, record=record))
    return hits


def _to_hit(shard: Shard, scores: RowScores, *, ranked: RankedRow, record: MemoryRecord) -> Hit:
    row = ranked.row
    points = {"semantic": scores.cosine, "keyword": scores.lexical, **scores.bonuses}
    if scores.answer_probability is not None:
        points["reader"] = np.nan_to_num(scores.answer_probability)
    rounded = {name: round(float(column[row]), 4) for name, column in points.items()}
    return Hit(
        record,
        ranked.score,
        ranked.total,
        duplicate_ids=tuple(shard.id_of(duplicate) for duplicate in ranked.duplicates),
        retriever_scores={name: value for name, value in rounded.items() if value},
        coverage=ranked.coverage,
        meaning=ranked.meaning,
        session=float(scores.session[row]),
    )


async def _load_context(
    store: MemoryStore, shard: Shard, *, ranked: Sequence[RankedRow], scope: Scope, mask: Mask, query: Query
) -> dict[str, list[MemoryRecord]]:
    """Return the turns before and after each row that has such, by the id of the row."""
    rows = [ranked_row.row for ranked_row in ranked]
    windows = expand(shard, rows, before=query.context_turns, after=query.context_turns, mask=mask)
    includes_deleted = query.as_of is not None
    turns = await load_windows(store, shard, scope=scope, windows=windows, include_deleted=includes_deleted)
    return {shard.id_of(row): window for row, window in zip(rows, turns, strict=True) if len(window) > 1}
