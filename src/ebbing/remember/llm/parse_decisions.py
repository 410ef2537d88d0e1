"""A model's decisions, checked one by one against what was asked: what it says is a proposal, not an order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ebbing.domain.conflict.decision import Add, Decision, Fact, Keep, Supersede, Update
from ebbing.domain.memory.record import MemoryRecord, content_hash
from ebbing.language.text.analyzer import normalise, query_terms
from ebbing.language.text.numbers import figures
from ebbing.language.text.sentences import MAX_TEXT_LENGTH
from ebbing.privacy.guarding.trust import TrustTier, may_change, tier_of
from ebbing.remember.llm.parse_facts import one_line

_MIN_CONFIDENCE_LEAD: Final = 0.2
"""How much surer an older statement must be to end a newer one."""
_MIN_COMMON_SHARE: Final = 0.5
"""Part of a statement's terms that a fact must share to be the one it is about."""


@dataclass(frozen=True, slots=True)
class Case:
    """One fact before the model."""

    number: int
    fact: Fact
    related: tuple[MemoryRecord, ...]
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Proposal:
    """One action of the model's, with the memory that it names, if that was shown."""

    action: str
    memory: MemoryRecord | None
    text: str | None
    reason: str | None


def proposals(
    items: Sequence[Any], *, cases: Sequence[Case], memories: Sequence[MemoryRecord]
) -> Iterator[tuple[Case, Proposal]]:
    """Return the readable actions of an answer, in its order; `cases` and `memories` have the numbers that the model
    saw.

    Entries are as in `forms.DECISIONS`, or as mem0's users write them (`id`, `event`, `text`).
    """
    for item in items:
        case = _case(item, cases) if isinstance(item, Mapping) else None
        if case is not None:
            yield (
                case,
                Proposal(
                    str(item.get("action", item.get("event", ""))).strip().upper(),
                    _numbered(item.get("memory", item.get("id")), memories),
                    one_line(item.get("text"), MAX_TEXT_LENGTH),
                    one_line(item.get("reason"), 200),
                ),
            )


def decisions_of(case: Case, proposed: Sequence[Proposal], *, changed: set[str]) -> Decision | None:
    """Return the decision that a fact's actions come to; None if none of them holds.

    Of several the most careful counts: a better wording, else what is known already, else what is ended, else a new
    memory. `changed` are memories that other facts change: they are left alone, and those of this decision added.
    """
    open_to = [proposal for proposal in proposed if proposal.memory is None or proposal.memory.id not in changed]
    ended = [proposal for proposal in open_to if _ends(proposal, case)]
    closed = tuple(dict.fromkeys(proposal.memory.id for proposal in ended if proposal.memory is not None))
    for proposal in open_to:
        decision = _on_known(proposal, case, closed=closed)
        if decision is not None:
            changed.update(closed, (decision.memory_id,) if isinstance(decision, Update) else ())
            return decision
    if closed:
        changed.update(closed)
        reason = ended[0].reason or "the model finds that it contradicts this"
        return Supersede(case.fact, closed[0], reason, closes=closed[1:])
    for proposal in proposed:
        if proposal.action == "ADD":
            return Add(case.fact, proposal.reason or "the model finds nothing known that says this")
    return None


def _numbered(number: Any, memories: Sequence[MemoryRecord]) -> MemoryRecord | None:
    """Return the memory that was shown under a number; None for anything else."""
    text = str(number).strip()
    if isinstance(number, bool) or not (text.isascii() and text.isdecimal()) or len(text) > 6:
        return None
    return memories[int(text)] if int(text) < len(memories) else None


def _case(item: Mapping[str, Any], cases: Sequence[Case]) -> Case | None:
    """Return the fact that an entry is about: by its number, else by its words."""
    number = item.get("fact")
    if isinstance(number, int) and not isinstance(number, bool):
        return cases[number] if 0 <= number < len(cases) else None
    text = one_line(number, MAX_TEXT_LENGTH) or one_line(item.get("text"), MAX_TEXT_LENGTH)
    if text is None:
        return None
    terms = set(query_terms(text))

    def likeness(case: Case) -> float:
        if content_hash(case.fact.text) == content_hash(text):
            return 1.0
        own = set(query_terms(case.fact.text))
        return len(own & terms) / max(1, len(own))

    best = max(cases, key=likeness, default=None)
    return best if best is not None and likeness(best) >= _MIN_COMMON_SHARE else None


def _ends(proposal: Proposal, case: Case) -> bool:
    """Return whether an action rightly ends the memory that it names."""
    if proposal.memory is None or not _may_end(case, proposal.memory):
        return False
    return proposal.action == "DELETE" or (proposal.action == "UPDATE" and _opposed(case.fact, proposal.memory))


def _on_known(proposal: Proposal, case: Case, *, closed: tuple[str, ...]) -> Update | Keep | None:
    """Return a better wording of a memory, or nothing to do about it; None where the action says neither, or may not.

    A fact that plainly says something else than the memory is never taken for known: it would be lost.
    """
    memory, fact = proposal.memory, case.fact
    if memory is None or memory.id in closed or _opposed(fact, memory):
        return None
    if proposal.action == "UPDATE" and _may_end(case, memory):
        text = _merged(proposal.text, fact, memory=memory)
        if text is not None:
            reason = proposal.reason or "the model finds that it says more"
            return Update(fact, memory.id, text=text, reason=reason, closes=closed)
        return Keep(fact, memory.id, proposal.reason or "it says no more than what is known", closes=closed)
    if proposal.action == "NONE" and not _numbers(fact.text) - _numbers(memory.content):
        return Keep(fact, memory.id, proposal.reason or "the model finds it known already", closes=closed)
    return None


def _may_end(case: Case, memory: MemoryRecord) -> bool:
    """Return whether a fact may change or end a memory: by whose word both rest on, and by which was said later."""
    speaks = TrustTier.USER if case.fact.about == "user" else TrustTier.ASSISTANT
    trust = TrustTier(memory.trust) if memory.trust else (tier_of(memory.role) if memory.role else None)
    if trust is not None and not may_change(speaks, trust):
        return False
    return case.said_at >= memory.created_at or case.fact.confidence > memory.confidence + _MIN_CONFIDENCE_LEAD


def _opposed(fact: Fact, memory: MemoryRecord) -> bool:
    return fact.polarity * memory.polarity < 0


def _merged(text: str | None, fact: Fact, *, memory: MemoryRecord) -> str | None:
    """Return the wording of an update: the model's if it holds no number that neither had, else the fact's; None if the
    memory reads so already.
    """
    merged = text or fact.text
    if _numbers(merged) - _numbers(fact.text) - _numbers(memory.content):
        merged = fact.text
    return None if content_hash(merged) == memory.hash else merged


def _numbers(text: str) -> frozenset[str]:
    return figures(normalise(text))
