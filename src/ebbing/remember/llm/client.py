"""Calls of a language model within a time budget; the caller gets an answer or a reason."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import anyio

from ebbing.domain.errors import BadModelOutputError, EbbingError, ModelTimeoutError, ModelUnavailableError
from ebbing.domain.memory.pending_extraction import ExtractionFailure
from ebbing.ports.models.chat_model import ChatModel, Schema, Turn

TIMED_OUT: Final = ExtractionFailure("out_of_time")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """The model and its limits. Prompts that are set replace the built-in prompts."""

    model: ChatModel
    fact_prompt: str | None = None
    """For extraction. It should ask for `{"facts": [...]}`, with plain sentences or with objects like ours."""
    update_prompt: str | None = None
    """For decisions: what the actions mean. The form of the answer is added to it."""
    instructions: str | None = None
    """What the tenant asks of every extraction; added to the prompt."""
    timeout_seconds: float = 30.0
    """Of one call."""
    budget_seconds: float = 60.0
    """Of all calls of the steps that share it: what is not done by then is given back as failed."""
    chunk_tokens: int = 3_000
    """Estimated tokens of conversation that are shown at once: with prompt and answer it fits a context of 8,000."""
    max_tokens: int = 2_000
    """Of one answer."""


@dataclass(frozen=True, slots=True)
class LlmReply:
    """A usable answer."""

    value: dict[str, Any]
    truncated: bool = False
    """It was cut off: items are missing at the end of its list."""


class Budget:
    """Time that several calls share."""

    def __init__(self, seconds: float) -> None:
        self._until = anyio.current_time() + seconds

    @property
    def left(self) -> float:
        """Seconds left, at least 0."""
        return max(0.0, self._until - anyio.current_time())


async def ask_llm_for_json(
    llm: LlmOptions, messages: Sequence[Turn], *, schema: Schema, budget: Budget
) -> LlmReply | ExtractionFailure:
    """Return the model's answer as a JSON object of the schema's form, or the failure.

    Bounded by the call's time-out and the budget even if the model does not keep to the time that it is given.
    """
    limit = min(llm.timeout_seconds, budget.left)
    if limit <= 0:
        return TIMED_OUT
    try:
        with anyio.fail_after(limit + 1.0):
            answer = await llm.model.complete(messages, schema=schema, max_tokens=llm.max_tokens, timeout_seconds=limit)
        if not isinstance(answer.parsed, dict):
            raise BadModelOutputError("the model's adapter gave no JSON object")
        return LlmReply(answer.parsed, answer.truncated)
    except (EbbingError, OSError, TimeoutError) as error:
        failed = _failed(error)
        _log.warning("the language model did not answer: %s", failed.reason)
        return failed


def _failed(error: Exception) -> ExtractionFailure:
    wait = error.retry_after_seconds if isinstance(error, ModelUnavailableError) else None
    if isinstance(error, TimeoutError):
        return ExtractionFailure(ModelTimeoutError.code)
    return ExtractionFailure(
        error.code if isinstance(error, EbbingError) else ModelUnavailableError.code, retry_after_seconds=wait
    )
