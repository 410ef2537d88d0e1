"""What the messages say, read by the rules or by a language model that the rules give hints to."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.pending_extraction import Failed, WriteMode
from ebbing.domain.memory.record import QUARANTINED, Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.memory_store import MemoryStore
from ebbing.remember.extraction.keep_filter import filter_statements, is_redacted
from ebbing.remember.intake.screening import ScreenedMessage
from ebbing.remember.llm.client import Budget, LlmOptions
from ebbing.remember.llm.write_modes import read_facts

_EARLIER: Final = 4
"""Messages of the same conversation that are looked at as what was said before."""
_POINTS_BACK: Final = re.compile(
    r"(?i)\W*(?:(?:and|also|oh|well|so|but),? )*(?:he|she|it|they|his|her|its|their)(?:'s|\b)|\W*[他她它]"
)
"""A message that begins with somebody who was spoken of before."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was read, and who may be asked what it changes."""

    facts: tuple[Fact, ...]
    failed: Failed | None = None
    """Some messages could not be read by the model: they are to be read again."""
    asking: LlmOptions | None = None
    """The model with the time that is left of the call; None where it was not asked, or failed."""


async def extract_facts(
    kept: Sequence[ScreenedMessage],
    *,
    mode: WriteMode,
    asking: LlmOptions | None,
    now: datetime,
    agent_facts: bool,
    known: Collection[int] = (),
    before: Sequence[Message] = (),
) -> Extraction:
    """The facts of the messages that are not `known`; of those that are held back for review, nothing.

    Never raises a `ModelError`. `before` are earlier turns of the same conversation.
    """
    if asking is None or mode is WriteMode.RULES:
        return Extraction(tuple(filter_statements(kept, now=now, agent_facts=agent_facts, known=known)))
    budget = Budget(asking.budget_seconds)
    found = await read_facts(
        mode,
        [one.message if one.held_back is None else replace(one.message, content="") for one in kept],
        nominate=lambda _: filter_statements(kept, now=now, agent_facts=agent_facts, known=known),
        asking=asking,
        now=now,
        agent_facts=agent_facts,
        before=before,
        known=known,
    )
    facts = tuple(fact for fact in found.facts if not is_redacted(fact))
    left = None if found.failed is not None else replace(asking, budget_seconds=budget.left)
    return Extraction(facts, found.failed, left)


async def with_certain_subjects(
    read: Extraction,
    kept: Sequence[ScreenedMessage],
    *,
    store: MemoryStore,
    scope: Scope,
    now: datetime,
    agent_facts: bool,
) -> Extraction:
    """What was read; where a first message left its subject out, read again with what was said before it.

    A subject that was left out must be the speaker's there too, and "she" is whom the messages before spoke of.
    Only there the store is asked: most messages say of whom they speak.
    """
    points_back = bool(kept) and _POINTS_BACK.match(kept[0].message.content) is not None
    if not points_back and not any(fact.understood and fact.source == 0 for fact in read.facts):
        return read
    page = await store.page(scope, kinds=(Kind.EPISODE,), limit=_EARLIER)
    earlier = _messages(page.records)
    if not earlier:
        return read
    again = filter_statements(kept, now=now, agent_facts=agent_facts, known=(), earlier=earlier)
    if points_back:
        sources = {fact.source for fact in read.facts} | {0}
        return replace(read, facts=tuple(fact for fact in again if fact.source in sources))
    texts = {fact.text for fact in again if fact.source == 0}
    return replace(read, facts=tuple(fact for fact in read.facts if fact.source != 0 or fact.text in texts))


async def previous_messages(store: MemoryStore, scope: Scope) -> list[Message]:
    """The last messages of a conversation that is named by its run, oldest first; none of those held for review."""
    if scope.run_id is None:
        return []
    page = await store.page(scope, kinds=(Kind.EPISODE,), limit=_EARLIER)
    return _messages(page.records)


def _messages(newest_first: Sequence[MemoryRecord]) -> list[Message]:
    """What was said, oldest first, without what is held for review."""
    return [
        Message(one.content, one.role, name=one.actor, timestamp=one.created_at)
        for one in reversed(newest_first)
        if one.role is not None and QUARANTINED not in one.tags
    ]
