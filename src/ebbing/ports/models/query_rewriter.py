"""What turns a question that leans on its conversation into one that stands alone."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """What a rewriter is given."""

    user_name: str
    """Who asks."""
    char_name: str
    """Who is asked: the assistant or character."""
    user_question: str
    recent_conversation: str
    """The turns before the question, one a line, as "name: text"; at most 1,200 characters."""

    def as_json(self) -> str:
        """The request as a JSON object with these four keys: what a language model is shown."""
        return json.dumps(asdict(self), ensure_ascii=False)


class QueryRewriter(Protocol):
    """Rewrites a question into one plain, self-contained search query.

    The answer is a single line that names what the question is about, in its language: no explanation, no quotation
    marks, no markdown, no JSON. Whoever calls checks that, and bounds the time (2 to 3 seconds): an answer that is
    late or of another form is not used. The call is cancelled when its time is over.

    Raises:
        EbbingError: the model or its endpoint failed; an adapter turns its driver's errors into one.
    """

    async def rewrite(self, request: RewriteRequest) -> str: ...
