"""The vector of a question, under a deadline: an answer without it is better than none."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.errors import EbbingError
from ebbing.ports.embedder import Embedder

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class QueryEmbedding:
    """The question's vector, or why there is none."""

    vector: NDArray[np.float32] | None
    """Shape (dim,)."""
    failure: str | None = None
    """Why there is no vector, where there should be one; holds no personal text."""


async def embed_query(embedder: Embedder | None, text: str, *, timeout_seconds: float) -> QueryEmbedding:
    """Return the vector of a question. A late, failing or confused embedder costs the vector, never the answer."""
    if embedder is None:
        return QueryEmbedding(None)
    try:
        async with asyncio.timeout(timeout_seconds):
            vectors = await embedder.embed_queries([text])
        is_usable = vectors.shape == (1, embedder.dim) and np.isfinite(vectors[0] @ vectors[0])
    except TimeoutError:
        return _failed(f"the embedder was not done within {1000 * timeout_seconds:.0f} ms")
    except EbbingError as error:
        return _failed(str(error))
    except Exception as error:  # an embedder given in code may raise anything; the conversation goes on
        return _failed(f"the embedder raised {type(error).__name__}")
    if not is_usable:
        return _failed("the embedder gave no usable vector")
    return QueryEmbedding(vectors[0])


def _failed(failure: str) -> QueryEmbedding:
    _log.warning("recall without vectors: %s", failure)
    return QueryEmbedding(None, failure)
