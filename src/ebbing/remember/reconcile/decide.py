"""What to do about each fact, given what is known around it: the deterministic decider.

A fact and a memory are compared by `domain.conflict`; here stands who wins. The newer one does, unless the older one
is surer by more than 0.2; what the user said is never changed by what a tool or a document says. A language model may
propose a decision: it counts where nothing here speaks against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ebbing.domain.conflict.compare import Relation, Verdict, compare
from ebbing.domain.conflict.decision import Add, AddClosed, Decision, Ignore, Keep, Supersede, Update
from ebbing.domain.memory.record import MemoryRecord
from ebbing.privacy.trust import may_change, may_create
from ebbing.remember.facts.new_fact import Candidate, Heard, as_candidate, trust_of

SURER: Final = 0.2
"""By how much more confidence something said earlier outweighs what was said later."""
_SAME_WORDS: Final = "already known in these words"
_PUT_RIGHT: Final = "it was put right"


@dataclass(frozen=True, slots=True)
class Proposed:
    """What a language model would do."""

    decisions: Mapping[str, Decision] = field(default_factory=dict)
    """By the id of the memory that the fact would become."""
    versions: Mapping[str, int] = field(default_factory=dict)
    """Of the memories that it was shown: one that was changed since is not the one that it spoke of."""


def decide(
    heard: Sequence[Heard],
    candidates: Sequence[Sequence[Candidate]],
    *,
    confidence_threshold: float,
    proposed: Proposed | None = None,
) -> list[Decision]:
    """One decision a fact, in order; a fact is compared with the facts before it as well."""
    view = _View()
    decisions: list[Decision] = []
    for one, around in zip(heard, candidates, strict=True):
        known = view.around(around)
        decision = refused(one, confidence_threshold) or _agreed(one, proposed, own=_decided(one, known), around=known)
        view.note(one, decision)
        decisions.append(decision)
    return decisions


@dataclass(slots=True)
class _View:
    """What is known once the decisions so far are carried out."""

    new: dict[str, Candidate] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)

    def around(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        stored = [one for one in candidates if one.record.id not in self.new]
        return [one for one in (*stored, *self.new.values()) if one.record.id not in self.closed]

    def note(self, heard: Heard, decision: Decision) -> None:
        self.closed.update(closed_by(decision))
        if isinstance(decision, Add | Supersede):
            self.new[heard.record.id] = as_candidate(heard)


def closed_by(decision: Decision) -> tuple[str, ...]:
    """The memories that a decision ends."""
    if isinstance(decision, Supersede):
        return (decision.memory_id, *decision.closes)
    return decision.closes if isinstance(decision, Keep | Update) else ()


def changed_by(decision: Decision) -> tuple[str, ...]:
    """The known memories that a decision changes."""
    told = (decision.memory_id,) if isinstance(decision, Keep | Update) else ()
    return told + closed_by(decision)


def refused(heard: Heard, confidence_threshold: float) -> Ignore | None:
    """Why a fact is not to be kept whatever is known; None if nothing is against it."""
    fact, tier = heard.fact, trust_of(heard.record)
    if fact.confidence < confidence_threshold:
        return Ignore(fact, f"not sure enough: confidence {fact.confidence:.2f} is under {confidence_threshold:.2f}")
    if not may_create(tier, fact.type):
        return Ignore(fact, f"the word of a {tier.value} is not enough for a {fact.type.value}")
    return None


def _decided(heard: Heard, around: Sequence[Candidate]) -> Decision:
    fact = heard.fact
    words = heard.record.hash
    verdicts = [(one.record, _verdict(heard, one, words=words)) for one in around]
    known = _best(heard, verdicts)
    against = _against(verdicts, guessing=known is None)
    stopped = _stopped(heard, [record for record, _ in against])
    if stopped is not None:
        return stopped
    closed = tuple(record.id for record, _ in against)
    if known is not None:
        record, verdict = known
        if verdict.relation is Relation.RICHER:
            return Update(fact, record.id, fact.text, verdict.reason, closes=closed)
        return Keep(fact, record.id, verdict.reason, closes=closed)
    if against:
        return Supersede(fact, closed[0], against[0][1].reason, closes=closed[1:])
    return Add(fact, "nothing known says this")


def _against(verdicts: Sequence[tuple[MemoryRecord, Verdict]], *, guessing: bool) -> list[tuple[MemoryRecord, Verdict]]:
    """The memories that a fact speaks against; what is only guessed counts where it can mean one memory alone."""
    against = [found for found in verdicts if found[1].relation is Relation.CONTRADICTS]
    sure = [found for found in against if not found[1].guess]
    return sure or (against if guessing and len(against) == 1 else [])


def _agreed(heard: Heard, proposed: Proposed | None, *, own: Decision, around: Sequence[Candidate]) -> Decision:
    """The model's decision if it holds, else our own.

    What we would end is ended, and what may not end anything does not: a model can find more that is known, or no
    longer true, but cannot keep two values of what has one, nor drop what is new.
    """
    decision = proposed.decisions.get(heard.record.id) if proposed is not None else None
    if proposed is None or decision is None or isinstance(own, Ignore | AddClosed) or closed_by(own):
        return own
    if isinstance(own, Keep) and own.reason == _SAME_WORDS:
        return own
    named = {one.record.id: one.record for one in around if proposed.versions.get(one.record.id) == one.record.version}
    told = (decision.memory_id,) if isinstance(decision, Keep | Update) else ()
    ended = closed_by(decision)
    if not named.keys() >= {*told, *ended}:
        return own
    changed = ended + (told if isinstance(decision, Update) else ())
    tier = trust_of(heard.record)
    if any(not may_change(tier, trust_of(named[one])) or _outweighs(named[one], heard) for one in changed):
        return own
    return decision


def _stopped(heard: Heard, against: Sequence[MemoryRecord]) -> Ignore | AddClosed | None:
    """What becomes of a fact that may not, or does not, end what it contradicts; None if nothing stands in its way."""
    fact = heard.fact
    if fact.tentative and not against:
        return Ignore(fact, "nothing known is about this")
    if any(not may_change(trust_of(heard.record), trust_of(record)) for record in against):
        return Ignore(fact, "it contradicts what somebody more trusted said")
    standing = [record for record in against if _outweighs(record, heard)]
    if not standing:
        return None
    if fact.tentative:
        return Ignore(fact, "something newer is known about this")
    newest = max(standing, key=lambda record: record.created_at)
    return AddClosed(fact, newest.id, "it was said before something newer that contradicts it")


def _verdict(heard: Heard, other: Candidate, *, words: str) -> Verdict:
    if words == other.record.hash:
        return Verdict(Relation.SAME, _SAME_WORDS)
    if heard.fact.instead_of == other.record.id:
        return Verdict(Relation.CONTRADICTS, _PUT_RIGHT)
    return compare(heard.claim, other.claim, similarity=other.similarity)


def _outweighs(known: MemoryRecord, heard: Heard) -> bool:
    """Whether a memory stands although something else is heard now: it was said later, and is not much less sure."""
    surer = round(heard.fact.confidence - known.confidence, 6) > SURER
    return known.created_at > heard.record.created_at and not surer


def _best(heard: Heard, verdicts: Sequence[tuple[MemoryRecord, Verdict]]) -> tuple[MemoryRecord, Verdict] | None:
    """The memory that says the same; a richer fact rewords only what it may change and what was said before it."""
    same = [found for found in verdicts if found[1].relation is Relation.SAME]
    if same:
        return same[0]
    tier = trust_of(heard.record)
    richer = (
        (record, verdict)
        for record, verdict in verdicts
        if verdict.relation is Relation.RICHER and may_change(tier, trust_of(record))
    )
    return next(richer, None)
