"""A message that takes a standing wish back becomes the wish that stands in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Kind, MemoryRecord, MemoryType, Role
from ebbing.index.shard import KINDS, TYPES, micros
from ebbing.language.signals.talk_signs import shows
from ebbing.language.signals.withdrawals import Withdrawal, withdrawals_in
from ebbing.language.text.detect_language import detect
from ebbing.language.text.quotation import quotation
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.remember.facts.drafts import DraftContext
from ebbing.remember.intake.screening import ScreenedMessage
from ebbing.remember.reconcile.candidates import owner_scope

_RULE_ID: Final = "withdrawal"
_MAX_WISHES: Final = 50
"""Wishes, the newest first, among which the one that is taken back is looked for."""
_MOST_ENDED: Final = 2
"""Wishes about one thing that a message ends which names the rule as such; more are left to a review."""
_CONFIDENCE: Final = 0.9
_WISH: Final = re.compile("'s rule: |要求[:：]")
_HEALTH: Final = frozenset({"health", "diet"})
"""What safety asks for is ended by no clause in passing."""
_USER: Final = {"en": "User", "zh": "用户"}


async def with_withdrawn_wishes(
    store: MemoryStore, facts: Sequence[Fact], *, screened: Sequence[ScreenedMessage], context: DraftContext
) -> tuple[Fact, ...]:
    """Return the facts; a message that takes back exactly one known wish names it (`instead_of`).

    Among several people a message may be meant for any of them: there no wish is taken back.
    """
    if len({message.name for message, _, held_back in screened if message.role is Role.USER}) > 1:
        return tuple(facts)
    changed = list(facts)
    wishes: list[MemoryRecord] | None = None
    for source, (message, _, held_back) in enumerate(screened):
        if message.role is not Role.USER or held_back is not None:
            continue
        for withdrawal in withdrawals_in(message.content):
            wishes = await _wishes(store, context) if wishes is None else wishes
            own = (wish for wish in wishes if wish.actor == message.name)
            ended = [wish for wish in own if withdrawal.ends(wish.content)]
            if 1 <= len(ended) <= (_MOST_ENDED if withdrawal.sign == 0 else 1):
                changed = _in_the_place_of(ended, withdrawal, source=source, message=message, facts=changed)
                break
    return tuple(changed)


async def _wishes(store: MemoryStore, context: DraftContext) -> list[MemoryRecord]:
    """Return the standing wishes that hold now, the newest first."""
    scope = owner_scope(context.scope)
    shard = await store.shard(scope)
    is_bound = np.isin(shard.type, [TYPES.index(MemoryType.PROCEDURAL), TYPES.index(MemoryType.CONSTRAINT)])
    is_memory = shard.alive & (shard.kind == KINDS.index(Kind.MEMORY))
    rows = np.flatnonzero(is_bound & is_memory & (shard.valid_to > micros(context.now)))
    newest = rows[np.argsort(-shard.created[rows], kind="stable")][:_MAX_WISHES]
    records = await store.get(scope, [shard.id_of(row) for row in newest.tolist()])
    return [record for record in records if record.role is Role.USER and _is_wish(record)]


def _is_wish(record: MemoryRecord) -> bool:
    """Return whether a memory asks something of the assistant, and is no need of the person's."""
    is_safe = _HEALTH.isdisjoint(record.tags) and not shows("grave", record.content)
    return is_safe and (record.type is MemoryType.PROCEDURAL or _WISH.search(record.content) is not None)


def _in_the_place_of(
    wishes: Sequence[MemoryRecord], withdrawal: Withdrawal, *, source: int, message: Message, facts: Sequence[Fact]
) -> list[Fact]:
    """Return the facts; what the message says stands in the place of the known wishes: as it is read, else quoted."""
    ended = tuple(wish.id for wish in wishes)
    own = next((fact for fact in facts if fact.source == source and _is_read_from(fact, withdrawal.clause)), None)
    if own is not None:
        return [replace(fact, instead_of=ended) if fact is own else fact for fact in facts]
    language = "zh" if detect(withdrawal.words) == "zh" else "en"
    words = Fact(
        text=quotation(withdrawal.words, message.name or _USER[language], language=language),
        type=MemoryType.PROCEDURAL,
        tags=("constraint",),
        importance=wishes[0].importance,
        confidence=_CONFIDENCE,
        source=source,
        source_text=withdrawal.words,
        rule=_RULE_ID,
        instead_of=ended,
    )
    return [*facts, words]


def _is_read_from(fact: Fact, clause: str) -> bool:
    words = fact.source_text or ""
    return clause in words or bool(words and words in clause)
