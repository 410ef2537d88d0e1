"""The answer of a write: what became of each fact or raw message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ebbing.domain.conflict.decision import Decision, Ignore, Keep, Update, closed_by
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import MemoryRecord
from ebbing.remember.facts.new_fact import NewFact
from ebbing.remember.intake.screening import OFF_RECORD

ALREADY_STORED = "this message is already stored"
HELD_BACK = "it reads like an order to a model: it is kept aside until the person reviews it"


class MemoryOutcome(NamedTuple):
    """The outcome of one fact or raw message."""

    memory_id: str | None
    """The memory that holds it; None if none does."""
    text: str
    event: Event
    reason: str | None = None
    record: MemoryRecord | None = None
    """The new record, where one was stored."""
    closed_ids: tuple[str, ...] = ()
    """Memories that are no longer true."""


class AddReport(NamedTuple):
    """The answer of an add."""

    outcomes: tuple[MemoryOutcome, ...]
    episode_ids: tuple[str, ...] = ()
    extraction_error: str | None = None
    """Why the language model could not read all of it, as a code; it will be read again."""
    vectors_pending: int = 0
    """Texts that are found by their words alone until their vectors are made."""

    def without(self, count: int) -> AddReport:
        """Return the same answer, with a result for each of `count` messages off the record."""
        return self._replace(outcomes=self.outcomes + count * (MemoryOutcome(None, "", Event.NONE, OFF_RECORD),))


def joined_report(reports: Sequence[AddReport]) -> AddReport:
    """Return one answer for a call that was carried out in several parts."""
    if len(reports) == 1:
        return reports[0]
    return AddReport(
        tuple(outcome for report in reports for outcome in report.outcomes),
        tuple(episode_id for report in reports for episode_id in report.episode_ids),
        next((report.extraction_error for report in reports if report.extraction_error), None),
        sum(report.vectors_pending for report in reports),
    )


def known_outcome(record: MemoryRecord) -> MemoryOutcome:
    """Return the outcome of a message that is stored already, as a memory that it led to."""
    return MemoryOutcome(record.id, record.content, Event.NONE, ALREADY_STORED)


def outcome_of(fact: NewFact, decision: Decision) -> MemoryOutcome:
    """Return what a decision makes of a fact."""
    text, reason, closed_ids = fact.fact.text, decision.reason, closed_by(decision)
    match decision:
        case Ignore():
            return MemoryOutcome(None, text, Event.NONE, reason)
        case Keep(memory_id=memory_id):
            return MemoryOutcome(memory_id, text, Event.NONE, reason, closed_ids=closed_ids)
        case Update(memory_id=memory_id):
            return MemoryOutcome(memory_id, text, Event.UPDATE, reason, closed_ids=closed_ids)
        case _:
            return MemoryOutcome(fact.record.id, text, Event.ADD, reason, fact.record, closed_ids=closed_ids)
