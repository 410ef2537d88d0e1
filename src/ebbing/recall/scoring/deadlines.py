"""The routes that may be slow or fail, under one deadline: an answer without them is better than none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import anyio
import numpy as np
from numpy.typing import NDArray

from ebbing.domain.errors import EbbingError
from ebbing.ports.embedder import Embedder, InstantEmbedder, Vectors
from ebbing.ports.loop import on_a_loop
from ebbing.ports.reranker import Reranker

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Meaning:
    """The question's vector, or why there is none. Not frozen, like `Hit`, for speed."""

    vector: NDArray[np.float32] | None
    """Shape (dim,)."""
    failure: str | None = None
    """Why the route was dropped; holds no personal text."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """A reranker's scores, or why there are none."""

    scores: NDArray[np.float64] | None
    """Shape (candidates,)."""
    failure: str | None = None
    """Why the route was dropped; holds no personal text."""


async def gather_meaning(embedder: Embedder | None, text: str, *, seconds: float) -> Meaning:
    """The vector of a question. A late, failing or confused embedder costs the route, never the answer.

    What runs inside the process (keywords, rules, times, speakers, sessions) needs no such care: it takes microseconds
    and is worked out together in `score_rows`.
    """
    if embedder is None:
        return Meaning(None)
    try:
        vectors = _at_once(embedder, text)
        if vectors is None:
            await on_a_loop()
            # asyncio's own deadline: on this path of some hundred microseconds anyio's costs thirty, this one ten
            async with asyncio.timeout(seconds):
                vectors = await embedder.embed_queries([text])
        if vectors.shape == (1, embedder.dim) and isfinite((vector := vectors[0]).dot(vector)):
            return Meaning(vector)
        return _dropped("the embedder gave no usable vector")
    except TimeoutError:
        return _dropped(f"the embedder was not done within {1000 * seconds:.0f} ms")
    except EbbingError as error:
        return _dropped(str(error))
    except Exception as error:  # an embedder given in code may raise anything; the conversation goes on
        return _dropped(f"the embedder raised {type(error).__name__}")


def _at_once(embedder: Embedder | InstantEmbedder, text: str) -> Vectors | None:
    ask = getattr(embedder, "queries_at_once", None)
    found: Vectors | None = None if ask is None else ask([text])
    return found


async def gather_opinion(reranker: Reranker, query: str, *, texts: Sequence[str], seconds: float) -> Opinion:
    """What a reranker says of candidates. A late, failing or confused one costs its say, never the answer."""
    await on_a_loop()
    try:
        with anyio.fail_after(seconds):
            scores = np.asarray(await reranker.rerank(query, texts), dtype=np.float64)
    except TimeoutError:
        return _unheard(f"the reranker was not done within {1000 * seconds:.0f} ms")
    except EbbingError as error:
        return _unheard(str(error))
    except Exception as error:  # a reranker given in code may raise anything; the conversation goes on
        return _unheard(f"the reranker raised {type(error).__name__}")
    if scores.shape != (len(texts),) or not np.isfinite(scores).all():
        return _unheard("the reranker gave no finite score for each candidate")
    return Opinion(scores)


def _dropped(failure: str) -> Meaning:
    _log.warning("recall without vectors: %s", failure)
    return Meaning(None, failure)


def _unheard(failure: str) -> Opinion:
    _log.warning("recall without a second opinion: %s", failure)
    return Opinion(None, failure)
