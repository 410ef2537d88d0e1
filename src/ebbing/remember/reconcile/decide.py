"""What to do about each fact, given what is known around it: the deterministic decider.

A fact and a memory are compared by `conflict.compare`; here stands who wins. The newer one does, unless the older one
is surer by more than 0.2; what the user said is never changed by what a tool or a document says. A language model may
propose a decision: it counts where nothing here speaks against it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ebbing.domain.conflict.closing import (
    DOUBTED_HARM,
    DOUBTED_REST,
    DOUBTED_SUBJECT,
    MAX_CLOSED,
    doubt,
    holds_the_value,
)
from ebbing.domain.conflict.compare import Relation, Verdict, compare
from ebbing.domain.conflict.decision import (
    Add,
    AddClosed,
    AddForReview,
    Decision,
    Fact,
    Ignore,
    Keep,
    Supersede,
    Update,
    closed_by,
)
from ebbing.domain.memory.record import MemoryRecord
from ebbing.privacy.guarding.trust import may_change, may_create
from ebbing.remember.facts.new_fact import KnownMemory, NewFact, fact_as_known, trust_of, without_value

SURER: Final = 0.2
"""By how much more confidence something said earlier outweighs what was said later."""
_SAME_WORDS: Final = "already known in these words"
_PUT_RIGHT: Final = "it was put right"
_NOTHING_KNOWN: Final = "no related memory"


@dataclass(frozen=True, slots=True)
class LlmProposal:
    """What a language model would do."""

    decisions: Mapping[str, Decision] = field(default_factory=dict)
    """By the id of the memory that the fact would become."""
    versions: Mapping[str, int] = field(default_factory=dict)
    """Of the memories that it was shown: one that was changed since is not the one that it spoke of."""


def decide(
    heard: Sequence[NewFact],
    candidates: Sequence[Sequence[KnownMemory]],
    *,
    confidence_threshold: float,
    proposed: LlmProposal | None = None,
) -> list[Decision]:
    """Return one decision a fact, in order; a fact is compared with the facts before it as well.

    A sentence, with all its facts, that would end more than `MAX_CLOSED` memories ends none: it is put up for review.
    """
    held: frozenset[tuple[int, str]] = frozenset()
    while True:
        decisions = _decided_in_order(
            heard, candidates, confidence_threshold=confidence_threshold, proposed=proposed, held=held
        )
        ended: defaultdict[tuple[int, str], set[str]] = defaultdict(set)
        for one, decision in zip(heard, decisions, strict=True):
            ended[_sentence(one.fact)].update(closed_by(decision))
        too_many = {sentence for sentence, ids in ended.items() if len(ids) > MAX_CLOSED}
        if not too_many:
            return decisions
        held |= too_many


def _decided_in_order(
    heard: Sequence[NewFact],
    candidates: Sequence[Sequence[KnownMemory]],
    *,
    confidence_threshold: float,
    proposed: LlmProposal | None,
    held: frozenset[tuple[int, str]],
) -> list[Decision]:
    """The decisions, where the sentences that are `held` end nothing."""
    view = _View()
    decisions: list[Decision] = []
    for one, around in zip(heard, candidates, strict=True):
        known = view.around(around)
        decision = refused(one, confidence_threshold) or _agreed(one, proposed, own=_decided(one, known), around=known)
        if _sentence(one.fact) in held:
            decision = _without_closing(decision)
        decision = _as_the_only_value(decision, one, known=known)
        view.note(one, decision)
        decisions.append(decision)
    return decisions


def _sentence(fact: Fact) -> tuple[int, str]:
    """The message and the sentence of it that a fact was read from."""
    return fact.source, fact.source_text or fact.text


def _without_closing(decision: Decision) -> Decision:
    """The decision of a sentence that would end too much."""
    if not (ended := closed_by(decision)):
        return decision
    if isinstance(decision, Keep | Update):
        return replace(decision, closes=())
    return _for_review(decision.fact, ended, because=f"it would end more than {MAX_CLOSED} memories")


def _for_review(fact: Fact, memory_ids: tuple[str, ...], *, because: str) -> AddForReview | Ignore:
    """What becomes of a fact that may end memories: without one that it ends, a tentative one says nothing."""
    if fact.tentative:
        return Ignore(fact, f"nothing is ended: {because}")
    return AddForReview(fact, memory_ids, f"for review, nothing is ended: {because}")


def _as_the_only_value(decision: Decision, heard: NewFact, *, known: Sequence[KnownMemory]) -> Decision:
    """The decision, where an attribute that has one value at a time does not get a second one."""
    ended = closed_by(decision)
    rest = (one.claim for one in known if one.record.id not in ended)
    if isinstance(decision, Add | Supersede) and any(holds_the_value(heard.claim, claim) for claim in rest):
        return replace(decision, is_the_value=False)
    return decision


@dataclass(slots=True)
class _View:
    """What is known once the decisions so far are carried out."""

    new: dict[str, KnownMemory] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)

    def around(self, candidates: Sequence[KnownMemory]) -> list[KnownMemory]:
        stored = [one for one in candidates if one.record.id not in self.new]
        return [one for one in (*stored, *self.new.values()) if one.record.id not in self.closed]

    def note(self, heard: NewFact, decision: Decision) -> None:
        self.closed.update(closed_by(decision))
        if isinstance(decision, Add | Supersede | AddForReview):
            known = fact_as_known(heard)
            gives_it = not isinstance(decision, AddForReview) and decision.is_the_value
            self.new[heard.record.id] = known if gives_it else without_value(known)


def refused(heard: NewFact, confidence_threshold: float) -> Ignore | None:
    """Why a fact is not to be kept whatever is known; None if nothing is against it."""
    fact, tier = heard.fact, trust_of(heard.record)
    if fact.confidence < confidence_threshold:
        return Ignore(fact, f"not sure enough: confidence {fact.confidence:.2f} is under {confidence_threshold:.2f}")
    if not may_create(tier, fact.type):
        return Ignore(fact, f"source not trusted for this type: {tier.value}, {fact.type.value}")
    return None


def _decided(heard: NewFact, around: Sequence[KnownMemory]) -> Decision:
    fact = heard.fact
    words = heard.record.hash
    verdicts = [(one, _verdict(heard, one, words=words)) for one in around]
    known = _best(heard, verdicts)
    against, doubted = _apart(heard, _against(verdicts, guessing=known is None))
    stopped = _stopped(heard, [one.record for one, _ in against])
    if stopped is not None:
        return stopped
    closed = tuple(one.record.id for one, _ in against)
    if known is not None:
        one, verdict = known
        if verdict.relation is Relation.RICHER:
            return Update(fact, one.record.id, fact.text, verdict.reason, closes=closed)
        return Keep(fact, one.record.id, verdict.reason, closes=closed)
    if against:
        return Supersede(fact, closed[0], against[0][1].reason, closes=closed[1:])
    return _in_doubt(fact, doubted) or Add(fact, "no matching memory")


def _apart(
    heard: NewFact, against: Sequence[tuple[KnownMemory, Verdict]]
) -> tuple[list[tuple[KnownMemory, Verdict]], dict[str, str]]:
    """What a fact certainly ends, and the memories of which that is in doubt, with the doubt."""
    certain: list[tuple[KnownMemory, Verdict]] = []
    doubted: dict[str, str] = {}
    for one, verdict in against:
        why = None if verdict.reason == _PUT_RIGHT else doubt(heard.claim, one.claim)
        if why is None:
            certain.append((one, verdict))
        else:
            doubted[one.record.id] = why
    return certain, doubted


def _in_doubt(fact: Fact, doubted: Mapping[str, str]) -> AddForReview | Ignore | None:
    """What becomes of a fact that stands against what is known and may not end it."""
    if DOUBTED_SUBJECT in doubted.values():
        return Ignore(fact, DOUBTED_SUBJECT)
    for why in (DOUBTED_HARM, DOUBTED_REST):
        if ids := tuple(memory_id for memory_id, reason in doubted.items() if reason == why):
            return _for_review(fact, ids, because=why)
    return None


def _against(verdicts: Sequence[tuple[KnownMemory, Verdict]], *, guessing: bool) -> list[tuple[KnownMemory, Verdict]]:
    """The memories that a fact speaks against; what is only guessed counts where it can mean one memory alone."""
    against = [found for found in verdicts if found[1].relation is Relation.CONTRADICTS]
    sure = [found for found in against if not found[1].guess]
    return sure or (against if guessing and len(against) == 1 else [])


def _agreed(heard: NewFact, proposed: LlmProposal | None, *, own: Decision, around: Sequence[KnownMemory]) -> Decision:
    """The model's decision if it holds, else our own.

    What we would end is ended, and what may not end anything does not: a model can find more that is known, or no
    longer true, but cannot keep two values of what has one, nor drop what is new.
    """
    decision = proposed.decisions.get(heard.record.id) if proposed is not None else None
    if proposed is None or decision is None or isinstance(own, Ignore | AddClosed) or closed_by(own):
        return own
    if isinstance(own, Keep) and own.reason == _SAME_WORDS:
        return own
    named = {one.record.id: one for one in around if proposed.versions.get(one.record.id) == one.record.version}
    told = (decision.memory_id,) if isinstance(decision, Keep | Update) else ()
    ended = closed_by(decision)
    if not named.keys() >= {*told, *ended}:
        return own
    changed = ended + (told if isinstance(decision, Update) else ())
    if any(_may_not_change(named[one], heard) for one in changed):
        return own
    return decision


def _may_not_change(known: KnownMemory, heard: NewFact) -> bool:
    """Whether a memory stands whatever a model proposes to make of it."""
    if not may_change(trust_of(heard.record), trust_of(known.record)) or _outweighs(known.record, heard):
        return True
    return doubt(heard.claim, known.claim) is not None


def _stopped(heard: NewFact, against: Sequence[MemoryRecord]) -> Ignore | AddClosed | None:
    """What becomes of a fact that may not, or does not, end what it contradicts; None if nothing stands in its way."""
    fact = heard.fact
    if fact.tentative and not against:
        return Ignore(fact, _NOTHING_KNOWN)
    if any(not may_change(trust_of(heard.record), trust_of(record)) for record in against):
        return Ignore(fact, "it contradicts what somebody more trusted said")
    standing = [record for record in against if _outweighs(record, heard)]
    if not standing:
        return None
    if fact.tentative:
        return Ignore(fact, "something newer is known about this")
    newest = max(standing, key=lambda record: record.created_at)
    return AddClosed(fact, newest.id, "older than a contradicting memory")


def _verdict(heard: NewFact, other: KnownMemory, *, words: str) -> Verdict:
    if words == other.record.hash:
        return Verdict(Relation.SAME, _SAME_WORDS)
    if heard.fact.instead_of == other.record.id:
        return Verdict(Relation.CONTRADICTS, _PUT_RIGHT)
    return compare(heard.claim, other.claim, similarity=other.similarity)


def _outweighs(known: MemoryRecord, heard: NewFact) -> bool:
    """Whether a memory stands although something else is heard now: it was said later, and is not much less sure."""
    surer = round(heard.fact.confidence - known.confidence, 6) > SURER
    return known.created_at > heard.record.created_at and not surer


def _best(heard: NewFact, verdicts: Sequence[tuple[KnownMemory, Verdict]]) -> tuple[KnownMemory, Verdict] | None:
    """The memory that says the same; a richer fact rewords only what it may change and what was said before it."""
    same = [found for found in verdicts if found[1].relation is Relation.SAME]
    if same:
        return same[0]
    tier = trust_of(heard.record)
    richer = (
        (one, verdict)
        for one, verdict in verdicts
        if verdict.relation is Relation.RICHER and may_change(tier, trust_of(one.record))
    )
    return next(richer, None)
