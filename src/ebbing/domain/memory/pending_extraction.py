"""Ways of reading a conversation, and what could not be read yet: the messages are kept, the reading is tried again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

from ebbing.domain.memory.scope import Scope

EXTRACTION_JOB: Final = "extract"
"""Kind of the job that reads messages again."""


class WriteMode(StrEnum):
    """The mode of reading messages."""

    RULES = "rules"
    """By the rules of the language packs, without a model."""
    LLM = "llm"
    """By a model; the rules give it hints, and stand in for it where it fails."""
    SUMMARIZE = "summarize"
    """By a model: one sentence an exchange, if it is worth one."""
    STRUCTURED = "structured"
    """By a model: values of attributes, for the profile."""
    RAW = "raw"
    """Every message as it is."""
    STATEMENT = "statement"
    """What each message says as facts, and as it is where it says none; nothing where that is known and still holds."""


@dataclass(frozen=True, slots=True)
class ExtractionFailure:
    """A step that a model should have done and did not."""

    reason: str
    """Code of the error, such as `model_timeout`; no personal text."""
    messages: tuple[int, ...] = ()
    """Indices of the messages that were not read."""
    retry_after_seconds: float | None = None
    """How long the endpoint asked to be left alone."""


@dataclass(frozen=True, slots=True)
class PendingExtraction:
    """Messages that are kept as episodes and wait to be read."""

    scope: Scope
    episode_ids: tuple[str, ...]
    mode: WriteMode = WriteMode.LLM
    agent_facts: bool = False

    @property
    def key(self) -> str:
        """Equal for equal work, so that it is queued once."""
        return self.episode_ids[0] if self.episode_ids else ""

    def payload(self) -> dict[str, Any]:
        """Return the JSON values of a job: ids only, so that an erasure leaves no text in the queue."""
        return {
            "tenant": self.scope.tenant,
            "user_id": self.scope.user_id,
            "agent_id": self.scope.agent_id,
            "run_id": self.scope.run_id,
            "episode_ids": list(self.episode_ids),
            "mode": self.mode.value,
            "agent_facts": self.agent_facts,
        }

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> Self:
        """Return what `payload` made a job of.

        Raises:
            KeyError, ValueError: it is not such a payload.
        """
        scope = Scope(**{name: payload[name] for name in ("user_id", "agent_id", "run_id", "tenant")})
        ids = tuple(str(episode_id) for episode_id in payload["episode_ids"])
        return cls(scope, ids, WriteMode(payload["mode"]), agent_facts=bool(payload["agent_facts"]))
