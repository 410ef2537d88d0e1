"""What the extraction tests share: a fixed moment, and facts from plain strings."""

from __future__ import annotations

from datetime import UTC, datetime

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.remember.extraction.rule_extractor import extract

NOW = datetime(2026, 5, 6, 10, tzinfo=UTC)
"""A Wednesday."""


def heard(text: str, *, asked: str | None = None, name: str | None = None) -> list[Fact]:
    """The facts of one user message, after a question of the assistant where one is given."""
    before = [Message(asked, Role.ASSISTANT)] if asked else []
    return extract([*before, Message(text, name=name)], now=NOW)


def only(text: str, *, asked: str | None = None, name: str | None = None) -> Fact:
    """The one fact of a message."""
    facts = heard(text, asked=asked, name=name)
    assert len(facts) == 1, [fact.text for fact in facts]
    return facts[0]
