"""What the messages say that may be worth keeping, by the rules."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from ebbing.domain.decision import Fact
from ebbing.remember.extract import extract
from ebbing.remember.screen import Screened

_PLACEHOLDER: Final = re.compile(r"\[(?:REDACTED_[A-Z_]+|[A-Z_]+:[a-p]+)\]")


def worth_keeping(kept: Sequence[Screened], *, now: datetime, agent_facts: bool, known: Collection[int]) -> list[Fact]:
    """The facts that the rules read, without those of messages that are `known` or held back for review.

    A fact whose value was redacted says nothing, and is left out.
    """
    facts = extract([one.message for one in kept], now=now, agent_facts=agent_facts)
    return [
        fact
        for fact in facts
        if fact.source not in known and kept[fact.source].held_back is None and not _is_redacted(fact)
    ]


def _is_redacted(fact: Fact) -> bool:
    if fact.value is not None:
        return not _PLACEHOLDER.sub("", fact.value).strip(" ,.;:，。")
    return False
