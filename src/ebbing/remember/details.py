"""Half a sentence that is no fact of its own stays with the fact before it: 尤其是虾, 坚持三年了, 一喝就起疹子."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from ebbing.domain.decision import Fact
from ebbing.language.dates import absolute
from ebbing.language.rulebook import Pack
from ebbing.language.statement import Statement
from ebbing.remember.rules import cues_of, weigh

_LONGEST: Final = 12
"""Characters of a clause that is still a detail."""


def is_detail(statement: Statement, *, of: Statement, pack: Pack) -> bool:
    """Whether a statement that no rule reads goes on about the one before it, and is no passing mood or task."""
    if statement.adds:
        return True
    if not statement.carried or statement.hedged or statement.subject != of.subject:
        return False
    if len(statement.clause) > _LONGEST or pack.words["no_detail"].search(statement.clause):
        return False
    if not pack.weighing.passing.isdisjoint(cue.id for cue in cues_of(statement, pack)):
        return False
    return weigh(statement, pack, aside=True).score >= pack.weighing.detail


def with_detail(fact: Fact, of: Statement, *, detail: Statement, said_at: datetime) -> Fact:
    """The fact, which the statement `of` made, with what was said next, its dates made absolute.

    Only where its text is that statement retold; what says an end stays alone.
    """
    if of.ended or not fact.text.startswith((of.text, absolute(of.text, now=said_at))):
        return fact
    said = absolute(detail.text.removeprefix(detail.subject), now=said_at)
    return replace(fact, text=f"{fact.text}，{said}")
