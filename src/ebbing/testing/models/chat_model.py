"""A language model in this process that says what it is told to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import anyio

from ebbing.domain.errors import ModelTimeoutError
from ebbing.ports.models.chat_model import Completion, Schema, Turn


class ScriptedChatModel:
    """Gives prepared answers, in order; the last one again and again.

    Args:
        answers: text is given as it is (and read as JSON where a schema asks for it), an exception is raised, any
            other value is the JSON answer.
        delay: seconds before each answer.

    `prompts` holds what it was asked, `schemas` the forms, `options` the rest.
    """

    model_id = "scripted"

    def __init__(self, *answers: Any, delay: float = 0.0) -> None:
        self._answers = answers or ({"facts": [], "decisions": []},)
        self._delay = delay
        self.prompts: list[list[Turn]] = []
        self.schemas: list[Schema | None] = []
        self.options: list[dict[str, Any]] = []
        self.truncated = False
        """Say that the answers were cut off."""

    async def complete(
        self,
        messages: Sequence[Turn],
        *,
        schema: Schema | None = None,
        max_tokens: int | None = None,
        temperature: float = 0.0,
        timeout_seconds: float | None = None,
    ) -> Completion:
        answer = self._answers[min(len(self.prompts), len(self._answers) - 1)]
        self.prompts.append([*messages])
        self.schemas.append(schema)
        self.options.append({"max_tokens": max_tokens, "temperature": temperature, "timeout_seconds": timeout_seconds})
        try:
            with anyio.fail_after(timeout_seconds):
                await anyio.sleep(self._delay)
        except TimeoutError:
            raise ModelTimeoutError("the scripted model took longer than it was given") from None
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        parsed = None if schema is None else json.loads(text)
        return Completion(text, parsed, model=self.model_id, truncated=self.truncated)

    async def aclose(self) -> None:
        """Nothing to close."""
