"""The reader looks at the best candidates: how likely each answers, whatever its words and language."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import anyio
import numpy as np

from ebbing.domain.errors import EbbingError
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.index.index_entry import passage
from ebbing.language.text.text_compression import full_text
from ebbing.ports.reader import Reader
from ebbing.recall.base.fusion import Scores, zscore

_log = logging.getLogger(__name__)
_MIN_SHARE: Final = 1e-4
"""Keeps log-odds finite."""


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """The weight of the reader in an answer, and its limits."""

    depth: int = 10
    """How many of the best candidates it reads."""
    weight: float = 1.2
    """Points of the fused score that one standard deviation of its log-odds is worth."""
    timeout_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """Scores to order by, and what the reader said."""

    scores: Scores
    """Shape (candidates,): the fused scores with the reader's share on top."""
    probabilities: Scores | None
    """Shape (candidates,): how likely each answers; None when the reader had no say."""
    failure: str | None = None
    """Why it had no say; holds no personal text."""


async def read_answers(
    reader: Reader,
    question: str,
    *,
    records: Sequence[MemoryRecord],
    scores: Scores,
    options: AnswerOptions,
) -> AnswerScores:
    """Blend the reader's opinion into fused scores: score + weight · z(log-odds).

    A reader that fails, or is not done in time, changes nothing and is reported.

    Args:
        records: the candidates, best first.
        scores: their fused scores, shape (len(records),), in the same order.
    """
    texts = [passage(record) if record.kind is Kind.EPISODE else full_text(record) for record in records]
    try:
        with anyio.fail_after(options.timeout_seconds):
            probabilities = np.array(await reader.answers(question, texts), dtype=np.float64)
    except TimeoutError:
        return _failed(scores, f"the reader was not done within {1000 * options.timeout_seconds:.0f} ms")
    except EbbingError as error:
        return _failed(scores, str(error))
    shares = np.clip(probabilities, _MIN_SHARE, 1.0 - _MIN_SHARE)
    log_odds = np.log(shares / (1.0 - shares))
    return AnswerScores(scores + options.weight * zscore(log_odds, np.ones(len(texts), dtype=np.bool_)), probabilities)


def _failed(scores: Scores, failure: str) -> AnswerScores:
    _log.warning("recall without the reader: %s", failure)
    return AnswerScores(scores, None, failure)
