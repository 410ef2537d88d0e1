"""Which rows of a large owner are scored at all: the nearest by the vector index, and what else could answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import anyio
import numpy as np
from numpy.typing import NDArray

from ebbing.domain.errors import VectorIndexError
from ebbing.domain.filters.query import Query
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.chosen_rows import ChosenRows
from ebbing.index.near_rows import along
from ebbing.index.shard import Shard
from ebbing.language.text.analyzer import TextFlag
from ebbing.ports.indexes.vector_index import COMPLETE, VectorIndex, VectorRoom, Vectors, follower_name
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.ports.stores.outbox import Outbox
from ebbing.recall.bm25 import weigh
from ebbing.recall.question import Question
from ebbing.recall.recall_settings import RecallSettings
from ebbing.recall.rows import Mask, best_rows
from ebbing.recall.scores import is_about

NEAREST_ROWS: Final = 100
"""Rows that the index is asked for: ten times an answer, since int8 and graphs lose some."""
WORDED_ROWS: Final = 64
"""Rows that hold the question's rare words."""
MAX_POSTINGS: Final = 5_000
"""Postings of the question's words that are looked at, those of the rarest words first."""
RULE_ROWS: Final = 50
"""Newest standing instructions, and newest facts of the attribute that is asked for."""
MAX_SPAN_ROWS: Final = 20_000
"""Rows of the times that a question names, up to which they are compared."""
SAMPLED_ROWS: Final = 256
"""Rows spread over the owner, by which the scores of all others are estimated."""
MAX_ROWS_BEHIND: Final = 4_000
"""Changed rows that the index lacks, up to which they are compared one by one."""
FOLLOW_FROM: Final = 1_000
"""Changed rows from which on the index is brought up to date."""
MIN_VISIBLE: Final = 4
"""Times the length of the answer: where a filter lets so many of the chosen rows through, the best are among them."""
WHOLE_SHARE: Final = 0.9
"""Share of an owner's rows that an index has at least; one that has fewer lost some, and is built again."""
FOLLOW_SECONDS: Final = 60.0
"""How often it is brought up to date where less changed."""
DEADLINE_SECONDS: Final = 0.25
"""How long a search waits for the index."""
REST_SECONDS: Final = 5.0
"""How long an index that failed is left alone."""

Rows = NDArray[np.int64]
_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class CandidateRows:
    """Chooses the rows of large owners by an index of vectors; every row is scored where that is not possible."""

    index: VectorIndex
    outbox: Outbox
    store: MemoryStore
    min_rows: int
    """Owners with fewer rows are not indexed."""
    follow: Callable[[Owner], None]
    """Has the index built for an owner, and brought up to date, in the background."""
    _rests_until: float = field(default=0.0, init=False)
    _follows_at: float = field(default=0.0, init=False)

    def is_meant(self, shard: Shard, query: Query) -> bool:
        """Return whether the index may help with a question."""
        if shard.size < self.min_rows or shard.model_id is None or query.as_of is not None:
            return False
        return shard.embedded_count >= self.min_rows and anyio.current_time() >= self._rests_until

    async def choose(
        self,
        shard: Shard,
        scope: Scope,
        *,
        question: Question,
        vectors: Sequence[Vectors],
        top_k: int,
        settings: RecallSettings,
    ) -> Shard:
        """Return the rows of a shard that are worth scoring; the shard itself where the index cannot tell.

        A vector index that fails is left alone for some seconds.
        """
        count = max(NEAREST_ROWS, 8 * top_k)
        try:
            with anyio.fail_after(DEADLINE_SECONDS):
                near = await self._near_rows(shard, scope.owner, vectors=vectors, count=count)
        except (VectorIndexError, TimeoutError) as error:
            self._rests_until = anyio.current_time() + REST_SECONDS
            _log.warning(
                "every row is searched, since the vector index failed: %s", str(error) or "it did not answer in time"
            )
            return shard
        if near is None:
            return shard
        in_times = rows_of_times(shard, question, vector=vectors[0])
        if in_times is None:
            return shard
        others = (rows_by_rule(shard, question), worded_rows(shard, question, settings=settings), in_times)
        return chosen_rows(shard, np.unique(np.concatenate((near, *others))))

    async def _near_rows(self, shard: Shard, owner: Owner, *, vectors: Sequence[Vectors], count: int) -> Rows | None:
        """Return the rows nearest to each vector with those that the index lacks; None where it cannot tell."""
        name = follower_name(self.index, shard.model_id or "", dim=shard.dim)
        standing = await self.outbox.standing(name, owner, limit=MAX_ROWS_BEHIND)
        is_built = standing is not None and await self.store.mark(Scope.of(owner), name) == COMPLETE
        if standing is None or not is_built or standing.behind is None:
            self.follow(owner)
            return None
        now = anyio.current_time()
        if len(standing.behind) >= FOLLOW_FROM or (standing.behind and now >= self._follows_at):
            self._follows_at = now + FOLLOW_SECONDS
            self.follow(owner)
        room = VectorRoom(owner.tenant, standing.partition, shard.model_id or "", shard.dim)
        answers = [await self.index.search(room, vector, limit=count) for vector in vectors]
        if min(map(len, answers)) < count:  # the owner has many more rows
            if await self.index.count(room) < WHOLE_SHARE * shard.embedded_count:
                await self.store.set_mark(Scope.of(owner), name, value=0)
                self.follow(owner)
            return None
        return shard.rows_of([*np.concatenate(answers).tolist(), *standing.behind])


def rows_by_rule(shard: Shard, question: Question) -> Rows:
    """Return rows that count whatever their words: standing instructions, and what the question asks for."""
    rows = [_newest(shard, "instruction", value=True, values_from=partial(_instructions, shard))]
    if question.topic is not None:
        codes = [code for name, code in shard.attributes.items() if is_about(name, question.topic)]
        values_from = partial(_column, shard.attribute)
        rows += [_newest(shard, "attribute", value=code, values_from=values_from) for code in codes]
    rules, facts = rows[0], np.sort(np.concatenate((*rows[1:], rows[0][:0])))
    return np.concatenate((rules, facts[-RULE_ROWS:]))


def _newest(shard: Shard, name: str, *, value: object, values_from: Callable[[int], NDArray[Any]]) -> Rows:
    rows = shard.sorted_rows(name, values_from)
    return rows.newest(value, later=values_from(rows.count), count=RULE_ROWS)


def _instructions(shard: Shard, first: int) -> Mask:
    mask: Mask = (shard.flags[first:] & TextFlag.INSTRUCTION) != 0
    return mask


def _column(column: NDArray[Any], first: int) -> NDArray[Any]:
    return column[first:]


def worded_rows(shard: Shard, question: Question, *, settings: RecallSettings) -> Rows:
    """Return the best rows by the rarest words of a question."""
    terms = np.array(question.terms, dtype=np.uint64)
    counts = shard.document_count(terms)
    order = np.argsort(counts, kind="stable")
    is_looked_at = np.cumsum(counts[order]) <= MAX_POSTINGS
    rare = terms[order[is_looked_at & (counts[order] > 0)]]
    if not len(rare):
        return np.zeros(0, dtype=np.int64)
    matches = shard.postings.find(rare)
    _, points = weigh(shard, matches, terms=rare, settings=settings)
    rows, at = np.unique(matches.rows, return_inverse=True)
    total = np.bincount(at, weights=points, minlength=len(rows)).astype(np.float64)
    best = best_rows(total, shard.alive[rows], count=WORDED_ROWS)
    return np.asarray(rows[best], dtype=np.int64)


def rows_of_times(shard: Shard, question: Question, *, vector: Vectors) -> Rows | None:
    """Return the best rows of the times that a question names; None where these are too many to compare."""
    in_span = np.zeros(0, dtype=np.int64)
    for first, last in question.times.spans:
        by_time = shard.sorted_rows("created", partial(_column, shard.created))
        rows = by_time.between(first, last, later=shard.created[by_time.count :], limit=MAX_SPAN_ROWS)
        if rows is None:
            return None
        in_span = np.union1d(in_span, rows)
    if len(in_span) > MAX_SPAN_ROWS:
        return None
    if len(in_span) <= NEAREST_ROWS:
        return in_span
    cosines = along(shard.vectors[in_span], vector).astype(np.float64)
    return in_span[best_rows(cosines, shard.alive[in_span], count=NEAREST_ROWS)]


def chosen_rows(shard: Shard, rows: Rows) -> ChosenRows:
    """Return a shard of some rows, of the turns beside them, and of a sample that stands for all others."""
    turns = rows[(shard.flags[rows] & TextFlag.UTTERANCE) != 0]
    window = np.concatenate([rows, *(turns + step for step in (-2, -1, 1, 2))])
    window = window[(window >= 0) & (window < shard.size)]
    sample = np.linspace(0, shard.size - 1, SAMPLED_ROWS).astype(np.int64)
    together, first = np.unique(np.concatenate((window, sample)), return_index=True)
    is_sample = first >= len(window)
    sampled = int(np.count_nonzero(is_sample))
    share = (shard.size - len(together) + sampled) / max(sampled, 1)
    return ChosenRows(shard, together, stands_for=np.where(is_sample, share, 1.0))


def is_enough(shard: Shard, mask: Mask, *, query: Query) -> bool:
    """Return whether the chosen rows that a filter lets through can be an answer, or all rows have to be looked at."""
    is_chosen = shard.stands_for == 1.0
    return int(np.count_nonzero(mask & is_chosen)) >= MIN_VISIBLE * query.top_k
