"""Questions made to stand alone by a language model."""

from __future__ import annotations

from typing import Final

from ebbing.language.text.detect_language import detect
from ebbing.ports.models.chat_model import ChatModel, Turn
from ebbing.ports.models.query_rewriter import RewriteRequest
from ebbing.prompts.library import prompt

_MAX_TOKENS: Final = 120
_QUOTES: Final = "\"'“”‘’「」『』`*_ "


class ChatQueryRewriter:
    """Shows a model the question in its conversation, and takes the first line of the answer.

    Errors are those of the `ChatModel`. Whoever calls bounds the time and judges the answer.
    """

    def __init__(self, model: ChatModel, *, timeout_seconds: float = 3.0) -> None:
        self._model = model
        self._timeout_seconds = timeout_seconds

    async def rewrite(self, request: RewriteRequest) -> str:
        instructions = prompt("rewrite", detect(request.user_question + request.recent_conversation))
        answer = await self._model.complete(
            [Turn("system", instructions.text), Turn("user", request.as_json())],
            max_tokens=_MAX_TOKENS,
            timeout_seconds=self._timeout_seconds,
        )
        line = next((line.strip() for line in answer.text.splitlines() if line.strip()), "")
        return line.strip(_QUOTES) if len(line) > 2 and line[0] in _QUOTES and line[-1] in _QUOTES else line
