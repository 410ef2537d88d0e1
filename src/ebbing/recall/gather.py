"""The routes that may be slow or fail, under one deadline: an answer without them is better than none."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import anyio
import numpy as np
from numpy.typing import NDArray

from ebbing.domain.errors import EbbingError
from ebbing.ports.embedder import Embedder

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The question's vector, or why there is none."""

    vector: NDArray[np.float32] | None
    """Shape (dim,)."""
    failure: str | None = None
    """Why the route was dropped; holds no personal text."""


async def gather_meaning(embedder: Embedder | None, text: str, *, seconds: float) -> Meaning:
    """The vector of a question. A late or failing embedder costs the route, never the answer.

    What runs inside the process (keywords, rules, times, speakers, sessions) needs no such care: it takes microseconds
    and is worked out together in `score_rows`.
    """
    if embedder is None:
        return Meaning(None)
    try:
        with anyio.fail_after(seconds):
            return Meaning((await embedder.embed_queries([text]))[0])
    except TimeoutError:
        return _dropped(f"the embedder was not done within {1000 * seconds:.0f} ms")
    except EbbingError as error:
        return _dropped(str(error))
    except Exception as error:  # an embedder given in code may raise anything; the conversation goes on
        return _dropped(f"the embedder raised {type(error).__name__}")


def _dropped(failure: str) -> Meaning:
    _log.warning("recall without vectors: %s", failure)
    return Meaning(None, failure)
