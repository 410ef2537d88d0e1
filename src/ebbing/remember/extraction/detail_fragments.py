"""Half a sentence that is no fact of its own stays with the fact before it: 尤其是虾, "lessons are on Tuesdays"."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.record import MemoryType
from ebbing.language.dates.resolve import absolute
from ebbing.language.patterns.rule_pack import Pack
from ebbing.language.text.statement import Statement
from ebbing.remember.extraction.rule_matching import cues_of, weigh

_LONGEST: Final = 12
"""Characters of a clause that is still a detail."""
_JOINTS: Final = {"en": ", ", "zh": "，"}


def with_detail(
    fact: Fact, of: Statement, *, detail: Statement, own: Fact | None, pack: Pack, said_at: datetime
) -> Fact | None:
    """A fact that the statement `of` made, with what was said next, its dates made absolute; None where that is apart.

    `own` is the fact that the detail would be by itself: what was only weighed joins a fact of its type, and a plain
    one any. Only what is its statement retold is gone on with; what says an end stays alone.
    """
    apart = (
        not _goes_on(detail, of=of, pack=pack)
        if own is None
        else not _joins(own, fact, detail=detail, of=of, pack=pack)
    )
    told = fact.text.startswith((of.text, absolute(of.text, now=said_at))) or fact.text.endswith(of.text)
    if apart or of.ended or not told:
        return None
    said = absolute(detail.text.removeprefix(detail.subject), now=said_at)
    return replace(fact, text=f"{fact.text}{_JOINTS[pack.language]}{said}")


def _goes_on(detail: Statement, *, of: Statement, pack: Pack) -> bool:
    """Whether what no rule reads is still about the same, and no passing mood or task."""
    if detail.adds:
        return True
    if of.who == "order":
        goes_on = pack.words.get("order_goes_on")
        return goes_on is not None and len(detail.clause) <= _LONGEST and goes_on.match(detail.clause) is not None
    if not _is_carried(detail, of=of, pack=pack):
        return False
    if not pack.weighing.passing.isdisjoint(cue.id for cue in cues_of(detail, pack)):
        return False
    return weigh(detail, pack, aside=True).score >= pack.weighing.detail


def _joins(own: Fact, fact: Fact, *, detail: Statement, of: Statement, pack: Pack) -> bool:
    """Whether a fact that was only weighed is better told with the one before it."""
    if own.type not in {fact.type, MemoryType.FACT} or not _is_carried(detail, of=of, pack=pack):
        return False
    return any(rule.id == own.rule for rule in pack.weighing.rules[detail.who])


def _is_carried(detail: Statement, *, of: Statement, pack: Pack) -> bool:
    """Whether it has no subject of its own, and is neither long nor doubted, a task or a mood."""
    if not detail.carried or detail.subject != of.subject or detail.hedged or len(detail.clause) > _LONGEST:
        return False
    apart = pack.words.get("no_detail")
    return apart is not None and apart.search(detail.clause) is None
