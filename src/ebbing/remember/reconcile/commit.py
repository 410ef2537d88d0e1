"""The last steps of an add, in a loop: find candidates, decide, write.

The facts are decided anew when another call wrote about the same owner in between, since the decisions may be others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ebbing.domain.conflict.decision import Decision, Ignore, Keep, closed_by
from ebbing.domain.errors import ConflictError
from ebbing.domain.memory.record import QUARANTINED, Kind, MemoryRecord, type_of_tags
from ebbing.index.index_entry import IndexEntry
from ebbing.ports.stores.memory_store import Change, Insert, Revise
from ebbing.remember.add_deps import MAX_ATTEMPTS, AddDeps
from ebbing.remember.facts.doubts import with_doubts, without_doubts
from ebbing.remember.facts.drafts import DraftContext
from ebbing.remember.facts.new_fact import NewFact
from ebbing.remember.facts.outdated_memories import DisbelievedEndings, OutdatedMemories
from ebbing.remember.reconcile.apply_decisions import to_changes
from ebbing.remember.reconcile.candidates import CandidateSet, find_candidates, owner_scope, refresh_candidates
from ebbing.remember.reconcile.decide import LlmProposal, decide
from ebbing.remember.reconcile.importance import with_importance
from ebbing.remember.reconcile.known_messages import KnownMessages, deleted_episodes
from ebbing.remember.reconcile.llm_proposals import ask_llm, embed_rewordings


@dataclass(frozen=True, slots=True)
class Statement:
    """The messages were chosen to be kept: they are memories themselves, where nothing is learnt from them."""

    is_stored: bool
    """They are stored in just these words: nothing is written, unless what they say does not hold any more."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The facts, decisions and records of a commit."""

    facts: Sequence[NewFact]
    decisions: Sequence[Decision]
    """One a fact, in order."""
    episode_ids: Sequence[str]
    """Of the messages, also where they are memories."""


async def commit_facts(
    deps: AddDeps,
    facts: Sequence[NewFact],
    *,
    episodes: Sequence[Insert],
    known_messages: KnownMessages,
    context: DraftContext,
    outdated: OutdatedMemories,
    statement: Statement | None = None,
) -> Committed:
    """Decide about facts and write them with the messages that they were read from, in one transaction.

    Args:
        deps: what adding needs.
        facts: what was read.
        episodes: the messages.
        known_messages: those that were stored before.
        context: whose memory it is, and when it is.
        outdated: finds what the messages put in doubt.
        statement: what is to be remembered as it stands.

    Raises:
        ConflictError: other calls wrote about the same owner at every attempt.
    """
    commit = _Commit(deps, known_messages, episodes, context, facts, outdated, statement)
    for _ in range(1, MAX_ATTEMPTS):  # the last attempt writes without a look at what was written in between
        try:
            committed = await commit.attempt(is_last=False)
        except ConflictError:
            continue
        if committed is not None:
            return committed
    committed = await commit.attempt(is_last=True)
    if committed is None:
        raise ConflictError("the messages were deleted while they were read")
    return committed


@dataclass(frozen=True, slots=True)
class _LlmAdvice:
    """The advice of a language model, asked once for all attempts."""

    proposal: LlmProposal | None = None
    wordings: Mapping[str, IndexEntry | None] = field(default_factory=dict)
    """Index entries of the texts that it gives to known memories."""


@dataclass(slots=True)
class _Commit:
    deps: AddDeps
    known_messages: KnownMessages
    episodes: Sequence[Insert]
    context: DraftContext
    facts: Sequence[NewFact]
    outdated: OutdatedMemories
    statement: Statement | None = None
    advice: _LlmAdvice | None = None
    """None until the model was asked. Later it counts only for memories that are still as the model saw them."""
    disbelieved: DisbelievedEndings | None = None
    """None until the first attempt."""

    async def attempt(self, *, is_last: bool) -> Committed | None:
        """Decide and write; None where messages were deleted while they were read, and their facts are left out."""
        store, scope, now = self.deps.store, self.context.scope, self.context.now
        deleted = deleted_episodes(self.known_messages.episodes, now=now)
        if not self.facts and not self.known_messages.products:
            withdrawn = await self.known_messages.withdrawn(store, decisions=(), scope=scope, now=now)
            changes: list[Change] = [*deleted, *withdrawn, *self._messages(())]
            changes = await self._with_doubts(changes, decisions=())
            return await self._write(changes, (), expected_generation=None)
        candidates = await self._candidates()
        facts = await self.known_messages.drop_erased_sources(store, self.facts, scope=scope)
        if len(facts) < len(self.facts):
            self.facts = facts
            return None
        formula = self.deps.policy.importance
        self.facts = with_importance(facts, candidates.by_fact, formula=formula, now=now)
        advice = await self._llm_advice(candidates)
        decisions = await self._decisions(candidates, proposal=advice.proposal)
        decisions = [self.known_messages.as_edit(decision) for decision in decisions]
        changes = [*deleted, *self._messages(decisions)]
        if self.statement is not None and self.statement.is_stored and not changes and _changes_nothing(decisions):
            return Committed(self.facts, decisions, ())
        current = await refresh_candidates(store, candidates, decisions=decisions, scope=scope)
        decided = zip(self.facts, decisions, strict=True)
        changes += to_changes(decided, candidates=current, now=now, wordings=advice.wordings)
        changes += await self.known_messages.withdrawn(store, decisions=decisions, scope=scope, now=now)
        changes = await self._with_doubts(changes, decisions=decisions)
        generation = None if is_last else candidates.generation
        return await self._write(changes, decisions, expected_generation=generation)

    async def _with_doubts(self, changes: Sequence[Change], *, decisions: Sequence[Decision]) -> list[Change]:
        """Return the changes with what notes the memories that new messages put in doubt.

        Those that change are left out, and those that were said again.
        """
        store, scope, now = self.deps.store, self.context.scope, self.context.now
        changed = {change.record.id for change in changes if isinstance(change, Revise)}
        changed |= {decision.memory_id for decision in decisions if isinstance(decision, Keep)}
        changes = await without_doubts(store, changes, gone=self.known_messages.episodes, scope=scope)
        sure_again: dict[str, MemoryRecord] = {}
        for change in changes:
            if isinstance(change, Revise) and change.record.id not in changed:
                sure_again[change.record.id] = change.record
        inserts = [change for change in changes if isinstance(change, Insert)]
        messages = [insert for insert in inserts if self._is_new_message(insert.record)]
        memories = [insert for insert in inserts if insert.record.kind is Kind.MEMORY]
        doubted = await self.outdated.find(
            messages, new_memories=memories, scope=scope, now=now, besides=changed, sure_again=sure_again
        )
        return await with_doubts(store, changes, doubted=doubted, scope=scope)

    async def _decisions(self, candidates: CandidateSet, *, proposal: LlmProposal | None) -> list[Decision]:
        """Return what becomes of each fact; none ends what the change model does not believe to be over."""
        if self.disbelieved is None:
            edited = frozenset(self.known_messages.products)
            self.disbelieved = DisbelievedEndings(self.deps.change_model, besides=edited)
        disbelieved: frozenset[tuple[int, str]] = frozenset()
        while True:
            decisions = decide(
                self.facts,
                candidates.by_fact,
                confidence_threshold=self.deps.policy.confidence_threshold,
                proposal=proposal,
                disbelieved=disbelieved,
            )
            new = await self.disbelieved.find(self.facts, decisions, candidates=candidates.by_fact)
            if new <= disbelieved:
                return decisions
            disbelieved |= new

    def _is_new_message(self, record: MemoryRecord) -> bool:
        """Return whether a record is one of the messages, and was not stored before in the same words."""
        is_own = any(record.id == episode.record.id for episode in self.episodes)
        return is_own and self.known_messages.repeated_ids.isdisjoint(record.provenance.source_ids)

    def _messages(self, decisions: Sequence[Decision]) -> list[Insert]:
        """Return the messages as they are to be stored, given what became of what they say."""
        if self.statement is None:
            return [*self.episodes]
        if self.statement.is_stored and _changes_nothing(decisions):
            return []
        if not all(isinstance(decision, Ignore) for decision in decisions):
            return [*self.episodes]
        return [_as_memory(episode, self.context) for episode in self.episodes]

    async def _candidates(self) -> CandidateSet:
        corrected_ids = [name for fact in self.facts for name in fact.fact.instead_of]
        return await find_candidates(
            self.deps.store,
            self.facts,
            scope=self.context.scope,
            now=self.context.now,
            calibration=self.deps.embedder.calibration if self.deps.embedder else None,
            always=(*self.known_messages.products, *corrected_ids),
        )

    async def _llm_advice(self, candidates: CandidateSet) -> _LlmAdvice:
        """Return what the model would do; it is asked at the first attempt only."""
        if self.advice is not None:
            return self.advice
        self.advice = _LlmAdvice()
        if self.deps.llm is not None:
            threshold = self.deps.policy.confidence_threshold
            proposal = await ask_llm(
                self.deps.llm, self.facts, candidates=candidates.by_fact, confidence_threshold=threshold
            )
            self.advice = _LlmAdvice(proposal, await embed_rewordings(self.deps, self.facts, proposal=proposal))
        return self.advice

    async def _write(
        self, changes: Sequence[Change], decisions: Sequence[Decision], *, expected_generation: int | None
    ) -> Committed:
        record_ids = await self.deps.store.write(owner_scope(self.context.scope), changes, seen=expected_generation)
        deleted, own_ids = len(self.known_messages.episodes), {episode.record.id for episode in self.episodes}
        stored = sum(isinstance(change, Insert) and change.record.id in own_ids for change in changes)
        return Committed(_as_stored(self.facts, changes), decisions, record_ids[deleted : deleted + stored])


def _as_stored(facts: Sequence[NewFact], changes: Sequence[Change]) -> list[NewFact]:
    """Return the facts with their records as they are written: one may be in doubt from the start."""
    inserts = {change.record.id: change for change in changes if isinstance(change, Insert)}
    return [replace(fact, insert=inserts.get(fact.record.id, fact.insert)) for fact in facts]


def _changes_nothing(decisions: Sequence[Decision]) -> bool:
    """Return whether all that was decided about is known already, or not to be kept."""
    return all(isinstance(decision, Keep | Ignore) and not closed_by(decision) for decision in decisions)


def _as_memory(episode: Insert, context: DraftContext) -> Insert:
    """Return a message as a memory; one that is held back for review stays a message."""
    record = episode.record
    if QUARANTINED in record.tags:
        return episode
    memory = replace(record, kind=Kind.MEMORY, type=type_of_tags(context.tags), importance=context.importance)
    return replace(episode, record=memory)
