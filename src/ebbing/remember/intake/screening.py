"""What of a message may come in: without memories that were recalled, without secrets, and whose word it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ebbing.domain.errors import BlockedContentError
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.privacy.guarding.strip_recalled import strip_recalled
from ebbing.privacy.guarding.trust import TrustTier, instruction_shaped, tier_of
from ebbing.privacy.redaction.redact import redact
from ebbing.remember.intake.off_record import on_record
from ebbing.remember.intake.write_policy import WritePolicy

_LEAST = TrustTier.DOCUMENT


class ScreenedMessage(NamedTuple):
    """A message as it may be kept."""

    message: Message
    tier: TrustTier
    """Whose word it is."""
    held_back: str | None = None
    """Why it is kept for review and nothing is learnt from it: it speaks like an order to the model."""


def screen_messages(
    messages: Sequence[Message], policy: WritePolicy, *, trust: TrustTier | None = None, learning: bool = True
) -> list[ScreenedMessage]:
    """The messages that may be kept, in order; what holds nothing but recalled memories is left out, and what the
    person keeps off the record.

    With `trust`, nothing counts for more than that tier. Where nobody is `learning` from them, recalled memories stay
    in, and none is held back.

    Raises:
        BlockedContentError: the redaction policy blocks a message, and says that the call is to fail.
    """
    kept: list[ScreenedMessage] = []
    for message in on_record(messages, trust=trust).messages:
        text = strip_recalled(message.content) if learning else message.content
        redacted = redact(text, policy.redaction)
        if redacted.blocked and policy.on_blocked == "error":
            raise BlockedContentError("a message holds what may not be stored: take it out, or change the redaction")
        if redacted.blocked or not redacted.text.strip():
            continue
        tier = _tier(message.role, trust)
        held_back = instruction_shaped(text, spoken_by_user=tier is TrustTier.USER) if learning else None
        told = message if redacted.text == message.content else replace(message, content=redacted.text)
        kept.append(ScreenedMessage(told, tier, held_back))
    return kept


def _tier(role: Role, trust: TrustTier | None) -> TrustTier:
    own = tier_of(role) or _LEAST
    return own if trust is None else max(own, trust, key=list(TrustTier).index)
