"""A log in RAM for tests of recall: what was said, by whom and when, as the searchable rows of one owner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.filters.query import Query
from ebbing.domain.memory.record import MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import entry_for, passage
from ebbing.index.record_row import row_for
from ebbing.index.row import Row
from ebbing.index.shard import Shard
from ebbing.language.text.analyzer import analyse, query_terms
from ebbing.recall.question import Question, parse_query
from ebbing.recall.ranking import RankedRow, rank
from ebbing.recall.recall_settings import RecallSettings
from ebbing.recall.scores import RowScores, score_rows
from ebbing.testing.models.embedder import FakeEmbedder

START = datetime(2024, 5, 1, 9, tzinfo=UTC)
EMBEDDER = FakeEmbedder()


@dataclass(frozen=True)
class Said:
    """One utterance; without a time it follows the one before by a minute."""

    text: str
    by: str | None = None
    role: Role = Role.USER
    run: str | None = None
    at: datetime | None = None
    embedded: bool = True
    utterance: bool = True
    answers: str = ""
    """The question that it answered, which is gone."""


def log(*said: Said | str, gone: Sequence[int] = ()) -> Shard:
    """The rows of what was said, in order; `gone` names the places of those that were deleted since."""
    shard = Shard(model_id=EMBEDDER.model_id, dim=EMBEDDER.dim)
    shard.upsert([row_of(one if isinstance(one, Said) else Said(one), at) for at, one in enumerate(said)])
    shard.mark_deleted([at + 1 for at in gone])
    return shard


def row_of(said: Said, at: int) -> Row:
    """The searchable row of what was said at a place of the log."""
    moment = said.at or START + timedelta(minutes=at)
    record = MemoryRecord(
        id=f"m{at}",
        belongs_to=Scope(user_id="ada", run_id=said.run),
        content=said.text,
        created_at=moment,
        recorded_at=moment,
        actor=said.by,
        role=said.role,
    )
    vector = EMBEDDER.embed([passage(record)])[0] if said.embedded else None
    analysis = replace(analyse(said.text, speaker=said.by, said_at=moment), question=query_terms(said.answers))
    return row_for(
        at + 1, record, entry=entry_for(analysis, vector=vector, model_id=EMBEDDER.model_id, utterance=said.utterance)
    )


def asked(text: str, *, top_k: int = 10, **more: Any) -> Query:
    """A question on the day after the log began."""
    return Query(text, top_k, more.pop("now", START + timedelta(days=1)), **more)


def read(shard: Shard, text: str, **more: Any) -> Question:
    """The question as recall reads it."""
    return parse_query(asked(text, **more), shard)


def scores(
    shard: Shard,
    question: Question,
    *,
    recall_settings: RecallSettings | None = None,
    vectors: bool = True,
    among: NDArray[np.bool_] | None = None,
) -> RowScores:
    """Every row scored, by default with the question's vector and over the living rows."""
    vector = EMBEDDER.embed([question.text])[0] if vectors else None
    mask = shard.alive if among is None else among
    return score_rows(
        shard,
        question,
        vector=vector,
        mask=mask,
        settings=recall_settings or RecallSettings(),
    )


def answers(
    shard: Shard, query: Query, *, recall_settings: RecallSettings | None = None, vectors: bool = True
) -> list[RankedRow]:
    """What a search over the living rows gives."""
    numbers = recall_settings or RecallSettings()
    question = parse_query(query, shard)
    return rank(
        shard,
        scores(shard, question, recall_settings=numbers, vectors=vectors),
        mask=shard.alive,
        query=query,
        question=question,
        calibration=EMBEDDER.calibration,
        settings=numbers,
    )
