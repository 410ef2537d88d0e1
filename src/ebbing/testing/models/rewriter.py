"""A rewriter of questions without a model."""

from __future__ import annotations

import anyio

from ebbing.domain.errors import EbbingError
from ebbing.ports.models.query_rewriter import RewriteRequest


class FakeQueryRewriter:
    """Gives a prepared answer, after a delay or with a failure if asked to; without one, names the last turn.

    Args:
        answer: what comes back; None puts the question behind the last turn of the conversation.
        delay: seconds until it does.
        failure: raised instead.

    `requests` holds what it was asked, in order.
    """

    def __init__(
        self, answer: str | None = None, *, delay: float = 0.0, failure: EbbingError | OSError | None = None
    ) -> None:
        self._answer = answer
        self._delay = delay
        self._failure = failure
        self.requests: list[RewriteRequest] = []

    async def rewrite(self, request: RewriteRequest) -> str:
        self.requests.append(request)
        await anyio.sleep(self._delay)
        if self._failure is not None:
            raise self._failure
        if self._answer is not None:
            return self._answer
        last_line = request.recent_conversation.rpartition("\n")[2].partition(": ")[2]
        return f"{last_line} {request.user_question}".strip()
