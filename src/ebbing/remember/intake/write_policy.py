"""The policy of writing: what may be stored, and with which confidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ebbing.privacy.redaction.redact import DEFAULT, RedactionPolicy


@dataclass(frozen=True, slots=True)
class WritePolicy:
    """The choices of whoever runs the memory."""

    redaction: RedactionPolicy = DEFAULT
    on_blocked: Literal["error", "drop"] = "error"
    """What becomes of a message that the redaction policy blocks: the call is refused, or the message left out."""
    confidence_threshold: float = 0.7
    """A fact of less confidence is not stored."""
    strict_embeddings: bool = False
    """What cannot be embedded is refused, instead of stored and embedded later."""
    embedding_seconds: float = 30.0
    """How long the embedder may take for some 16,000 characters."""
    importance: Literal["measured", "formula-v1"] = "measured"
    """Which of the formulas of `domain.forgetting.importance` weighs a new memory."""
