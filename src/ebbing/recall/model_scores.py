"""A reranker, a reader and a change model look at the best candidates."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import anyio
import numpy as np
from numpy.typing import NDArray

from ebbing.domain.errors import EbbingError
from ebbing.domain.filters.query import Query
from ebbing.domain.memory.record import Kind, MemoryRecord, Role
from ebbing.index.index_entry import passage, spoken
from ebbing.index.shard import Shard, micros
from ebbing.language.text.analyzer import AskedTime, asked_time
from ebbing.language.text.text_compression import full_text
from ebbing.language.text.token_count import estimate_tokens
from ebbing.ports.models.change_model import ChangeModel, EarlierAndLater
from ebbing.ports.models.reader import Reader
from ebbing.ports.models.reranker import Reranker
from ebbing.privacy.guarding.trust import may_change, trust_in
from ebbing.recall.ranking import answers_by_what_stands
from ebbing.recall.rows import Scores, zscore

# A reranker reads the best candidates; its opinion is added to their scores, never in their place.

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RerankOptions:
    """The weight of a reranker, and its limits."""

    weight: float = 0.8
    """Points of the fused score that one standard deviation of the reranker's scores is worth."""
    depth: int = 50
    """How many of the best candidates it reads."""
    timeout_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class RerankScores:
    """Scores to order by, and what the reranker said."""

    scores: Scores
    """Shape (candidates,): the fused scores, those of the first `depth` with the reranker's share on top."""
    opinion: NDArray[np.float64] | None
    """The reranker's own scores of the first `depth`; None when it had no say."""
    failure: str | None = None
    """Why it had no say, where it should have had one; holds no personal text."""


async def rerank(
    reranker: Reranker, query: str, *, candidates: Sequence[str], scores: Scores, options: RerankOptions
) -> RerankScores:
    """Blend a reranker's opinion into fused scores: score + weight · z(opinion) over the first `options.depth`.

    A reranker that fails, or is not done in time, changes nothing and is reported. Whoever is below the depth keeps
    its score and its place: order only what was read.

    Args:
        candidates: texts, best first, each with its speaker (`index_entry.passage`; worth 1 point of R@10); only the
            first `options.depth` are needed.
        scores: their fused scores, shape (at least len(candidates),), in the same order.
    """
    texts = candidates[: options.depth]
    if len(texts) < 2 or options.weight == 0:
        return RerankScores(scores, None)
    try:
        with anyio.fail_after(options.timeout_seconds):
            opinion = np.asarray(await reranker.rerank(query, texts), dtype=np.float64)
    except TimeoutError:
        return _failed(scores, f"the reranker was not done within {1000 * options.timeout_seconds:.0f} ms")
    except EbbingError as error:
        return _failed(scores, str(error))
    except Exception as error:  # a reranker given in code may raise anything; the conversation goes on
        return _failed(scores, f"the reranker raised {type(error).__name__}")
    if opinion.shape != (len(texts),) or not np.isfinite(opinion).all():
        return _failed(scores, "the reranker gave no finite score for each candidate")
    blended = scores.astype(np.float64)
    blended[: len(texts)] += options.weight * zscore(opinion, np.ones(len(texts), dtype=np.bool_))
    return RerankScores(blended, opinion)


def _failed(scores: Scores, failure: str) -> RerankScores:
    _log.warning("recall without a reranker: %s", failure)
    return RerankScores(scores, None, failure)


# The reader looks at the best candidates: how likely each answers, whatever its words and language.

_MIN_SHARE: Final = 1e-4
"""Keeps log-odds finite."""


SHORT: Final = 16
"""Estimated tokens up to which a message may be the answer to what was said before it."""
SITTING: Final = timedelta(hours=1)
"""What is said after so long a silence answers nothing before it."""
_BEFORE_CHARS: Final = {True: 80, False: 40}
"""Characters of that, in ASCII and otherwise."""


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """The weight of the reader in an answer, and its limits."""

    depth: int = 10
    """How many of the best candidates it reads."""
    weight: float = 1.2
    """Points of the fused score that one unit of its log-odds is worth."""
    timeout_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """Scores to order by, and what the reader said."""

    scores: Scores
    """Shape (candidates,): the fused scores with the reader's share on top."""
    probabilities: Scores | None
    """Shape (candidates,): how likely each answers; None when the reader had no say."""
    log_odds: Scores | None = None
    """The same as log-odds, finite."""
    failure: str | None = None
    """Why it had no say; holds no personal text."""


async def read_answers(
    reader: Reader, query: Query, *, texts: Sequence[str], scores: Scores, options: AnswerOptions
) -> AnswerScores:
    """Blend the reader's opinion into fused scores: score + weight · (log-odds − their mean).

    Where the reader sees no difference, the order stays; where it is sure, it decides. A reader that fails, or is not
    done in time, changes nothing and is reported.

    Args:
        query: a question that leans on its conversation is read behind it.
        texts: the candidates as the reader sees them (`reader_text`), best first.
        scores: their fused scores, shape (len(texts),), in the same order.
    """
    before = query.conversation.removesuffix(query.text).rstrip()
    try:
        with anyio.fail_after(options.timeout_seconds):
            answers = await reader.answers(query.text, texts, before=before)
            probabilities = np.array(answers, dtype=np.float64)
    except TimeoutError:
        return _unread_scores(scores, f"the reader was not done within {1000 * options.timeout_seconds:.0f} ms")
    except EbbingError as error:
        return _unread_scores(scores, str(error))
    shares = np.clip(probabilities, _MIN_SHARE, 1.0 - _MIN_SHARE)
    log_odds = np.log(shares / (1.0 - shares))
    return AnswerScores(scores + options.weight * (log_odds - log_odds.mean()), probabilities, log_odds)


def reader_text(record: MemoryRecord, before: MemoryRecord | None = None) -> str:
    """Return a candidate as the reader sees it: a memory alone, a short message with what was said before it."""
    if record.kind is not Kind.EPISODE:
        return full_text(record)
    return in_talk(passage(record), before.content if before is not None else "")


def may_lean(record: MemoryRecord) -> bool:
    """Return whether a candidate is a message so short that it may answer what was said before it."""
    return record.kind is Kind.EPISODE and estimate_tokens(passage(record)) <= SHORT


def in_talk(text: str, before: str) -> str:
    """Return a text, with the end of what was said before it in brackets where it is short: it may be an answer."""
    if not before or estimate_tokens(text) > SHORT:
        return text
    return f"{text} ({before[-_BEFORE_CHARS[before.isascii()] :]})"


def _unread_scores(scores: Scores, failure: str) -> AnswerScores:
    _log.warning("recall without the reader: %s", failure)
    return AnswerScores(scores, None, failure=failure)


# The change model looks at the best answer: its successor, which ended it, stands before it.

_FROM_ANSWER: Final = 0.2
"""Probability of answering that the best row must have, for a successor to be looked for …"""
_LEAST_ANSWER: Final = 0.1
"""… and that a successor must have …"""
_LESS_LIKELY: Final = 1.5
"""… with log-odds so much lower at most: it has to answer the question too."""
_LEAST_CHANGE: Final = {AskedTime.PRESENT: 0.35, AskedTime.OPEN: 0.65}
"""Probability, by the change model, that a successor ended the row before it. Who asks for what was wants none."""
_MAX_TOKENS: Final = 75
"""Estimated tokens of either, where the question does not ask for the present: long messages tell many things."""
_CHANGES: Final = 2
"""Changes of one thing that are followed: wednesdays, thursdays, fridays."""
_AHEAD: Final = 1e-6
"""Points by which a successor stands before what it ended."""


@dataclass(frozen=True, slots=True)
class ReadRows:
    """Rows of a shard that the reader read."""

    query: Query
    shard: Shard
    rows: Sequence[int]
    records: Sequence[MemoryRecord]
    """The record of each."""
    answers: Scores
    """How likely each answers, shape (len(rows),)."""
    log_odds: Scores
    """The same as log-odds."""

    def are_short(self, *places: int) -> bool:
        """Return whether each of the rows tells little more than one thing."""
        return all(estimate_tokens(_words_of(self.records[place])) <= _MAX_TOKENS for place in places)

    def after(self, place: int) -> list[int]:
        """Return the places of what the same person said later, and answers nearly as well."""
        is_near = self.log_odds >= self.log_odds[place] - _LESS_LIKELY
        is_near &= self.answers >= _LEAST_ANSWER
        is_near &= self.shard.embedded[self.rows]
        first = self.records[place]
        later: list[int] = []
        for other in np.flatnonzero(is_near).tolist():
            record = self.records[other]
            is_same = record.actor == first.actor and Role.ASSISTANT not in {first.role, record.role}
            is_trusted = may_change(trust_in(record), trust_in(first))
            if is_same and is_trusted and record.created_at > first.created_at:
                later.append(other)
        return later


async def with_successor_first(
    model: ChangeModel,
    read: ReadRows,
    *,
    total: Scores,
    unread: Scores,
    options: AnswerOptions,
) -> tuple[Scores, str | None]:
    """Return the totals with the successor of the best row before it, change after change.

    "ramipril 2.5 mg" and "the ramipril's 7.5 now" answer one question in the same words, and
    the present state is asked for. Nobody's words end another's. A model that fails, or is not done
    in time, changes nothing, and the reason is returned.

    Args:
        read: only these rows are looked at.
        total: shape (size of the shard,).
        unread: the same before the reader's share.
    """
    if not read.rows:
        return total, None
    before, total = total, total.copy()
    place = int(np.argmax(total[read.rows]))
    try:
        with anyio.fail_after(options.timeout_seconds):
            for _ in range(_CHANGES):
                if read.answers[place] < _FROM_ANSWER:
                    break
                later = await _successor(model, read, place=place, unread=unread)
                if later is None:
                    break
                total[read.rows[later]] = total[read.rows[place]] + _AHEAD
                place = later
        return total, None
    except TimeoutError:
        failure = f"the change model was not done within {1000 * options.timeout_seconds:.0f} ms"
    except EbbingError as error:
        failure = str(error)
    except Exception as error:  # a runtime raises errors of its own; the answer goes on
        failure = f"the change model raised {type(error).__name__}"
    _log.warning("recall without the change model: %s", failure)
    return before, failure


async def _successor(
    model: ChangeModel,
    read: ReadRows,
    *,
    place: int,
    unread: Scores,
) -> int | None:
    """Return the place of the latest row that ended the one at a place; None if nothing did."""
    row, query, shard = read.rows[place], read.query, read.shard
    wanted_time = asked_time(query.text)
    if wanted_time not in _LEAST_CHANGE or not shard.embedded[row]:
        return None
    moment = micros(query.as_of or query.now)
    if answers_by_what_stands(shard, unread, row=row, moment=moment):
        return None
    later = read.after(place)
    if wanted_time is AskedTime.OPEN:
        later = [other for other in later if read.are_short(place, other)]
    pairs: list[EarlierAndLater] = []
    for other in later:
        pair = EarlierAndLater(
            earlier=_words_of(read.records[place]),
            later=_words_of(read.records[other]),
            before="",
            earlier_vector=shard.vectors[row],
            later_vector=shard.vectors[read.rows[other]],
        )
        pairs.append(pair)
    changes = await model.changes(pairs) if pairs else []
    ends: list[int] = []
    for other, share in zip(later, changes, strict=True):
        if share >= _LEAST_CHANGE[wanted_time]:
            ends.append(other)
    return max(ends, key=lambda other: read.records[other].created_at, default=None)


def _words_of(record: MemoryRecord) -> str:
    """Return the words of a message, or those of a memory's source, with their speaker."""
    words = record.content
    if record.kind is not Kind.EPISODE:
        words = record.provenance.source_text or words
    return spoken(record, words)
