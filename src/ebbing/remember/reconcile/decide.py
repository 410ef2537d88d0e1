"""The decision about each fact, by rules alone, given its candidates.

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
    changed_by,
    closed_by,
)
from ebbing.domain.memory.record import MemoryRecord
from ebbing.privacy.guarding.trust import may_change, may_create
from ebbing.remember.facts.new_fact import KnownMemory, NewFact, fact_as_known, trust_of, without_value

MIN_CONFIDENCE_LEAD: Final = 0.2
"""By how much more confidence something said earlier outweighs what was said later."""
_SAME_WORDS: Final = "already known in these words"
_PUT_RIGHT: Final = "it was put right"
_TOO_MANY: Final = f"it would end more than {MAX_CLOSED} memories"
_DISBELIEVED: Final = "its words speak of something else"
_NOTHING_KNOWN: Final = "no related memory"


@dataclass(frozen=True, slots=True)
class LlmProposal:
    """The decisions that a language model proposes."""

    decisions: Mapping[str, Decision] = field(default_factory=dict)
    """By the id of the memory that the fact would become."""
    versions: Mapping[str, int] = field(default_factory=dict)
    """Of the memories that it was shown: one that was changed since is not the one that it spoke of."""


def decide(
    facts: Sequence[NewFact],
    candidates: Sequence[Sequence[KnownMemory]],
    *,
    confidence_threshold: float,
    proposal: LlmProposal | None = None,
    disbelieved: frozenset[tuple[int, str]] = frozenset(),
) -> list[Decision]:
    """Return one decision a fact, in order; a fact is compared with the facts before it as well.

    A sentence, with all its facts, that would end more than `MAX_CLOSED` memories ends none: it is put up for review.

    Args:
        facts: what was read.
        candidates: the known memories that may have to do with each fact.
        confidence_threshold: of a fact that is kept.
        proposal: what a language model proposes.
        disbelieved: the place of a fact and the id of a memory that it does not end, whatever the rules say.
    """
    kept_open: frozenset[tuple[int, str]] = frozenset()
    while True:
        decisions = _decided_in_order(
            facts,
            candidates,
            confidence_threshold=confidence_threshold,
            proposal=proposal,
            kept_open=kept_open,
            disbelieved=disbelieved,
        )
        ended: defaultdict[tuple[int, str], set[str]] = defaultdict(set)
        for fact, decision in zip(facts, decisions, strict=True):
            ended[_sentence(fact.fact)].update(closed_by(decision))
        too_many = {sentence for sentence, ids in ended.items() if len(ids) > MAX_CLOSED}
        if not too_many:
            return decisions
        kept_open |= too_many


def _decided_in_order(
    facts: Sequence[NewFact],
    candidates: Sequence[Sequence[KnownMemory]],
    *,
    confidence_threshold: float,
    proposal: LlmProposal | None,
    kept_open: frozenset[tuple[int, str]],
    disbelieved: frozenset[tuple[int, str]],
) -> list[Decision]:
    """Return the decisions, where the sentences that are `kept_open` end nothing."""
    view = _View()
    decisions: list[Decision] = []
    for place, (fact, memories) in enumerate(zip(facts, candidates, strict=True)):
        current = view.current(memories)
        decision = refusal_of(fact, confidence_threshold) or _agreed(
            fact, proposal, own=_decided(fact, current), memories=current
        )
        if _sentence(fact.fact) in kept_open:
            decision = _without_closing(decision, because=_TOO_MANY)
        if disbelieved:
            decision = _without(decision, [memory_id for number, memory_id in disbelieved if number == place])
        decision = _as_the_only_value(decision, fact, memories=current)
        view.note(fact, decision)
        decisions.append(decision)
    return decisions


def _sentence(fact: Fact) -> tuple[int, str]:
    """Return the message and the sentence of it that a fact was read from."""
    return fact.source, fact.source_text or fact.text


def _without_closing(decision: Decision, *, because: str) -> Decision:
    """Return the decision of a sentence that ends nothing."""
    if not (ended := closed_by(decision)):
        return decision
    if isinstance(decision, Keep | Update):
        return replace(decision, closes=())
    return _for_review(decision.fact, ended, because=because)


def _without(decision: Decision, memory_ids: Sequence[str]) -> Decision:
    """Return the decision without what it does not end; for review where it would have ended nothing else."""
    ended = closed_by(decision)
    rest = tuple(memory_id for memory_id in ended if memory_id not in memory_ids)
    if not rest:
        return _without_closing(decision, because=_DISBELIEVED)
    if rest == ended:
        return decision
    if isinstance(decision, Supersede):
        return replace(decision, memory_id=rest[0], closes=rest[1:])
    return replace(decision, closes=rest) if isinstance(decision, Keep | Update) else decision


def _for_review(fact: Fact, memory_ids: tuple[str, ...], *, because: str) -> AddForReview | Ignore:
    """Return what becomes of a fact that may end memories: without one that it ends, a tentative one says nothing."""
    if fact.tentative:
        return Ignore(fact, f"nothing is ended: {because}")
    return AddForReview(fact, memory_ids, f"for review, nothing is ended: {because}")


def _as_the_only_value(decision: Decision, fact: NewFact, *, memories: Sequence[KnownMemory]) -> Decision:
    """Return the decision, where an attribute that has one value at a time does not get a second one."""
    ended = closed_by(decision)
    rest = (memory.claim for memory in memories if memory.record.id not in ended)
    if isinstance(decision, Add | Supersede) and any(holds_the_value(fact.claim, claim) for claim in rest):
        return replace(decision, is_the_value=False)
    return decision


@dataclass(slots=True)
class _View:
    """The known memories as the decisions so far leave them."""

    new: dict[str, KnownMemory] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)

    def current(self, candidates: Sequence[KnownMemory]) -> list[KnownMemory]:
        stored = [memory for memory in candidates if memory.record.id not in self.new]
        return [memory for memory in (*stored, *self.new.values()) if memory.record.id not in self.closed]

    def note(self, fact: NewFact, decision: Decision) -> None:
        self.closed.update(closed_by(decision))
        if isinstance(decision, Add | Supersede | AddForReview):
            memory = fact_as_known(fact)
            gives_it = not isinstance(decision, AddForReview) and decision.is_the_value
            self.new[fact.record.id] = memory if gives_it else without_value(memory)


def refusal_of(new_fact: NewFact, confidence_threshold: float) -> Ignore | None:
    """Why a fact is not to be kept whatever is known; None if nothing is against it."""
    fact, tier = new_fact.fact, trust_of(new_fact.record)
    if fact.confidence < confidence_threshold:
        return Ignore(fact, f"not sure enough: confidence {fact.confidence:.2f} is under {confidence_threshold:.2f}")
    if not may_create(tier, fact.type):
        return Ignore(fact, f"source not trusted for this type: {tier.value}, {fact.type.value}")
    return None


def _decided(new_fact: NewFact, memories: Sequence[KnownMemory]) -> Decision:
    fact = new_fact.fact
    words = new_fact.record.hash
    verdicts = [(memory, _verdict(new_fact, memory, words=words)) for memory in memories]
    same = _best(new_fact, verdicts)
    against, doubted = _apart(new_fact, _against(verdicts, guessing=same is None))
    stopped = _stopped(new_fact, [memory.record for memory, _ in against])
    if stopped is not None:
        return stopped
    closed = tuple(memory.record.id for memory, _ in against)
    if same is not None:
        memory, verdict = same
        if verdict.relation is Relation.RICHER:
            return Update(fact, memory.record.id, fact.text, verdict.reason, closes=closed)
        return Keep(fact, memory.record.id, verdict.reason, closes=closed)
    if against:
        return Supersede(fact, closed[0], against[0][1].reason, closes=closed[1:])
    return _in_doubt(fact, doubted) or Add(fact, "no matching memory")


def _apart(
    fact: NewFact, against: Sequence[tuple[KnownMemory, Verdict]]
) -> tuple[list[tuple[KnownMemory, Verdict]], dict[str, str]]:
    """Return what a fact certainly ends, and the memories of which that is in doubt, with the doubt."""
    certain: list[tuple[KnownMemory, Verdict]] = []
    doubted: dict[str, str] = {}
    for memory, verdict in against:
        why = None if verdict.reason == _PUT_RIGHT else doubt(fact.claim, memory.claim)
        if why is None:
            certain.append((memory, verdict))
        else:
            doubted[memory.record.id] = why
    return certain, doubted


def _in_doubt(fact: Fact, doubted: Mapping[str, str]) -> AddForReview | Ignore | None:
    """Return what becomes of a fact that stands against what is known and may not end it."""
    if DOUBTED_SUBJECT in doubted.values():
        return Ignore(fact, DOUBTED_SUBJECT)
    for why in (DOUBTED_HARM, DOUBTED_REST):
        if ids := tuple(memory_id for memory_id, reason in doubted.items() if reason == why):
            return _for_review(fact, ids, because=why)
    return None


def _against(verdicts: Sequence[tuple[KnownMemory, Verdict]], *, guessing: bool) -> list[tuple[KnownMemory, Verdict]]:
    """Return the memories that a fact speaks against; a guess counts only where it can mean one memory alone."""
    against = [pair for pair in verdicts if pair[1].relation is Relation.CONTRADICTS]
    sure = [pair for pair in against if not pair[1].guess]
    return sure or (against if guessing and len(against) == 1 else [])


def _agreed(fact: NewFact, proposal: LlmProposal | None, *, own: Decision, memories: Sequence[KnownMemory]) -> Decision:
    """Return the model's decision if it holds, else our own.

    What we would end is ended, and what may not end anything does not: a model can find more that is known, or no
    longer true, but cannot keep two values of what has one, nor drop what is new.
    """
    decision = proposal.decisions.get(fact.record.id) if proposal is not None else None
    if proposal is None or decision is None or isinstance(own, Ignore | AddClosed) or closed_by(own):
        return own
    if isinstance(own, Keep) and own.reason == _SAME_WORDS:
        return own
    unchanged: dict[str, KnownMemory] = {}
    for memory in memories:
        if proposal.versions.get(memory.record.id) == memory.record.version:
            unchanged[memory.record.id] = memory
    named_ids = changed_by(decision)
    if not unchanged.keys() >= {*named_ids}:
        return own
    reworded_ids = closed_by(decision) if isinstance(decision, Keep) else named_ids
    if any(_may_not_change(unchanged[memory_id], fact) for memory_id in reworded_ids):
        return own
    return decision


def _may_not_change(memory: KnownMemory, fact: NewFact) -> bool:
    """Return whether a memory stands whatever a model proposes to make of it."""
    if not may_change(trust_of(fact.record), trust_of(memory.record)) or _outweighs(memory.record, fact):
        return True
    return doubt(fact.claim, memory.claim) is not None


def _stopped(new_fact: NewFact, against: Sequence[MemoryRecord]) -> Ignore | AddClosed | None:
    """Return what becomes of a fact that may not, or does not, end what it contradicts; None if nothing stands in its
    way.
    """
    fact = new_fact.fact
    if fact.tentative and not against:
        return Ignore(fact, _NOTHING_KNOWN)
    if any(not may_change(trust_of(new_fact.record), trust_of(record)) for record in against):
        return Ignore(fact, "it contradicts what somebody more trusted said")
    standing = [record for record in against if _outweighs(record, new_fact)]
    if not standing:
        return None
    if fact.tentative:
        return Ignore(fact, "something newer is known about this")
    newest = max(standing, key=lambda record: record.created_at)
    return AddClosed(fact, newest.id, "older than a contradicting memory")


def _verdict(fact: NewFact, other: KnownMemory, *, words: str) -> Verdict:
    if words == other.record.hash:
        return Verdict(Relation.SAME, _SAME_WORDS)
    if other.record.id in fact.fact.instead_of:
        return Verdict(Relation.CONTRADICTS, _PUT_RIGHT)
    return compare(fact.claim, other.claim, similarity=other.similarity)


def _outweighs(memory: MemoryRecord, fact: NewFact) -> bool:
    """Return whether a memory stands although something else is heard now: it was said later, and is not much less
    sure.
    """
    surer = round(fact.fact.confidence - memory.confidence, 6) > MIN_CONFIDENCE_LEAD
    return memory.created_at > fact.record.created_at and not surer


def _best(fact: NewFact, verdicts: Sequence[tuple[KnownMemory, Verdict]]) -> tuple[KnownMemory, Verdict] | None:
    """Return the memory that says the same; a richer fact rewords only what it may change and what was said before
    it.
    """
    same = [pair for pair in verdicts if pair[1].relation is Relation.SAME]
    if same:
        return same[0]
    tier = trust_of(fact.record)
    richer = (
        (memory, verdict)
        for memory, verdict in verdicts
        if verdict.relation is Relation.RICHER and may_change(tier, trust_of(memory.record))
    )
    return next(richer, None)
