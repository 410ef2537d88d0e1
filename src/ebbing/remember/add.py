"""The way in: screen → extract → relate → decide → commit, in one transaction, with a reason for each step."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from functools import wraps
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, TypeVar

from ebbing.domain.conflict.decision import Decision, Ignore, Keep, Update
from ebbing.domain.errors import ConflictError
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.pending_extraction import Failed, Unread, WriteMode
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import IndexEntry
from ebbing.language.text.split_text import split_text
from ebbing.ports.clock import Clock
from ebbing.ports.embedder import Embedder
from ebbing.ports.ids import Ids
from ebbing.ports.loop import on_a_loop
from ebbing.ports.memory_store import Change, Insert, MemoryStore
from ebbing.privacy.guarding.trust import TrustTier
from ebbing.remember.extraction.extractor import Extraction, extract_facts, previous_messages, with_certain_subjects
from ebbing.remember.facts.drafts import Draft, DraftContext, fact_draft, message_drafts
from ebbing.remember.facts.evidence import with_literal_evidence
from ebbing.remember.facts.new_fact import NewFact, to_new_fact
from ebbing.remember.intake.message_batches import split_repeated_ids
from ebbing.remember.intake.off_record import OFF_RECORD
from ebbing.remember.intake.screening import ScreenedMessage, screen_messages
from ebbing.remember.intake.write_policy import WritePolicy
from ebbing.remember.llm.client import LlmOptions
from ebbing.remember.llm.retry_queue import note_unread, unread_of
from ebbing.remember.reconcile.apply_corrections import apply_self_corrections
from ebbing.remember.reconcile.apply_decisions import to_changes
from ebbing.remember.reconcile.candidates import find_candidates, owner_scope, refresh_candidates
from ebbing.remember.reconcile.decide import LlmProposal, closed_by, decide
from ebbing.remember.reconcile.importance import with_importance
from ebbing.remember.reconcile.llm_proposals import ask_llm, embed_rewordings
from ebbing.remember.reconcile.message_dedup import KnownMessages, deleted_episodes, find_known_messages
from ebbing.remember.reconcile.tentative_facts import drop_unmatched_tentative
from ebbing.remember.vectors.deferred_embedding import DeferredEmbedder
from ebbing.remember.vectors.embed_drafts import SOON, EmbedOptions, embed_drafts, enqueue_reindex, ids_without_vector

_How = ParamSpec("_How")
_Text = TypeVar("_Text")
_Vectors = TypeVar("_Vectors")
ATTEMPTS: Final = 32
"""How often facts are related and decided anew when somebody else wrote in between."""


@dataclass(frozen=True, slots=True)
class AddDeps:
    """What the way in works with."""

    store: MemoryStore
    embedder: Embedder | None
    clock: Clock
    ids: Ids
    policy: WritePolicy = field(default_factory=WritePolicy)
    mode: WriteMode = WriteMode.RULES
    asking: LlmOptions | None = None
    """The language model, if there is one."""
    zone: tzinfo = UTC
    """Where days begin and end for a message whose time names no zone."""
    following: DeferredEmbedder | None = None
    """What gives texts their vectors later, where they may come later."""

    @property
    def embedding(self) -> EmbedOptions:
        """How texts get their vectors."""
        return EmbedOptions(self.embedder, self.policy.embedding_seconds, self.policy.strict_embeddings)

    async def embedded(
        self, texts: Sequence[_Text], by: Callable[[EmbedOptions, Sequence[_Text]], Awaitable[_Vectors]]
    ) -> tuple[_Vectors, bool]:
        """What `by` makes of new texts, and whether their vectors follow, since too many others wait for theirs."""
        if self.following is None or self.policy.strict_embeddings:
            return await by(self.embedding, texts), False
        with self.following.turn(self.embedder) as is_later:
            return await by(replace(self.embedding, is_later=is_later), texts), is_later

    async def note_missing_vectors(self, bare: Sequence[str], scope: Scope, *, follow: bool = False) -> int:
        """See to it that memories that were stored without a vector get one; return how many wait for theirs."""
        if self.embedder is None or not bare:
            return 0
        if follow and self.following is not None:
            await self.following.take(bare, scope, embedder=self.embedder)
        else:
            await enqueue_reindex(self.store.jobs, scope, run_at=self.clock.now() + SOON)
        return len(bare)


class MemoryOutcome(NamedTuple):
    """What became of one fact or raw message."""

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
        """The same answer, with so many results for messages off the record."""
        return self._replace(outcomes=self.outcomes + count * (MemoryOutcome(None, "", Event.NONE, OFF_RECORD),))


Step = Callable[Concatenate[AddDeps, Sequence[Message], _How], Awaitable[AddReport]]


def in_rounds(step: Step[_How]) -> Step[_How]:
    """The step, called for one part of the messages after the other, so that no part has two texts for one id."""

    @wraps(step)
    async def call(
        using: AddDeps, messages: Sequence[Message], /, *args: _How.args, **kwargs: _How.kwargs
    ) -> AddReport:
        told = [await step(using, part, *args, **kwargs) for part in split_repeated_ids(messages)]
        if len(told) == 1:
            return told[0]
        return AddReport(
            tuple(outcome for one in told for outcome in one.outcomes),
            tuple(episode for one in told for episode in one.episode_ids),
            next((one.extraction_error for one in told if one.extraction_error), None),
            sum(one.vectors_pending for one in told),
        )

    return call


@in_rounds
async def add_extracted(
    using: AddDeps,
    messages: Sequence[Message],
    *,
    scope: Scope,
    metadata: Mapping[str, Any],
    trust: TrustTier | None = None,
    tags: tuple[str, ...] = (),
    expires_at: datetime | None = None,
) -> AddReport:
    """Keeps the messages as episodes, and what they say that is worth keeping as memories.

    A message whose id is known changes nothing if its text is the same; if it was edited, what it led to follows.
    """
    drafting = DraftContext(scope, metadata, now=using.clock.now(), ids=using.ids, tags=tags, expires_at=expires_at)
    local_now = drafting.now.astimezone(using.zone)
    kept = screen_messages(messages, using.policy, trust=trust)
    before = await find_known_messages(using.store, kept, scope=scope, now=drafting.now)
    agent_facts = scope.agent_id is not None
    by_model = using.asking is not None and using.mode is not WriteMode.RULES
    if by_model:
        await on_a_loop()
    found = await extract_facts(
        kept,
        mode=using.mode,
        asking=using.asking,
        now=local_now,
        agent_facts=agent_facts,
        known=before.repeated,
        before=await previous_messages(using.store, scope) if by_model else (),
    )
    if not by_model:
        found = await with_certain_subjects(
            found, kept, store=using.store, scope=scope, now=local_now, agent_facts=agent_facts
        )
        found = replace(found, facts=await apply_self_corrections(using.store, found.facts, kept=kept, scope=scope))
    episodes = message_drafts(kept, kind=Kind.EPISODE, drafting=drafting)
    outcomes, held, pending = await store_extraction(
        using, found, kept=kept, episodes=episodes, before=before, drafting=drafting
    )
    if found.failed is not None:
        unread = Unread(scope, (), using.mode, agent_facts=agent_facts)
        await _note_unread(using, kept, held=held, failed=found.failed, like=unread)
    told = (*map(_known_outcome, before.known), *outcomes)
    return AddReport(told, tuple(held), found.failed.reason if found.failed else None, pending)


async def store_extraction(
    using: AddDeps,
    found: Extraction,
    *,
    kept: Sequence[ScreenedMessage],
    episodes: Sequence[Draft],
    before: KnownMessages,
    drafting: DraftContext,
) -> tuple[list[MemoryOutcome], list[str], int]:
    """Store what was read of messages, and the messages.

    Returns:
        What became of each fact, the ids of the episodes, and how many texts wait for their vectors.
    """
    facts = with_literal_evidence(found.facts, kept)
    drafts = [(fact, fact_draft(fact, kept[fact.source], drafting=drafting)) for fact in facts]
    drafts = await drop_unmatched_tentative(using.store, drafts, kept=kept, drafting=drafting)
    inserts, follow = await using.embedded([*episodes, *(draft for _, draft in drafts)], embed_drafts)
    heard = [to_new_fact(fact, insert) for (fact, _), insert in zip(drafts, inserts[len(episodes) :], strict=True)]
    outcomes, held = await _commit(
        replace(using, asking=found.asking),
        heard,
        episodes=inserts[: len(episodes)],
        before=before,
        drafting=drafting,
    )
    pending = await using.note_missing_vectors(ids_without_vector(inserts), drafting.scope, follow=follow)
    return outcomes, held[: len(episodes)], pending


async def _note_unread(
    using: AddDeps, kept: Sequence[ScreenedMessage], *, held: Sequence[str], failed: Failed, like: Unread
) -> None:
    """Queues what the model could not read; the episodes are stored by now."""
    numbers = [number for number, one in enumerate(kept) for _ in split_text(one.message.content)]
    unread = unread_of(list(zip(numbers, held, strict=True)), failed, like=like)
    await note_unread(using.store.jobs, unread, failed=failed, now=using.clock.now())


async def _commit(
    using: AddDeps,
    heard: Sequence[NewFact],
    *,
    episodes: Sequence[Insert],
    before: KnownMessages,
    drafting: DraftContext,
) -> tuple[list[MemoryOutcome], list[str]]:
    """Relates, decides and writes; again if somebody else wrote in between, since the decision might be another one.

    The model is asked once; what it proposed counts later only for memories that are still as it saw them.
    """
    store, scope, now = using.store, drafting.scope, drafting.now
    calibration = using.embedder.calibration if using.embedder else None
    threshold = using.policy.confidence_threshold
    proposed: LlmProposal | None = None
    wordings: Mapping[str, IndexEntry | None] = {}
    asked = False
    for attempt in range(1, ATTEMPTS + 1):
        seen: int | None = None
        decisions: list[Decision] = []
        changes: list[Change] = [*deleted_episodes(before.episodes, now=now), *episodes]
        if heard or before.products:
            wrong = tuple(one.fact.instead_of for one in heard if one.fact.instead_of)
            related = await find_candidates(
                store, heard, scope=scope, now=now, calibration=calibration, always=(*before.products, *wrong)
            )
            seen = related.generation if attempt < ATTEMPTS else None
            if len(said := await before.drop_erased_sources(store, heard, scope=scope)) < len(heard):
                heard = said
                continue
            heard = with_importance(heard, related.candidates, formula=using.policy.importance, now=now)
            if not asked:
                asked = True
                proposed = await ask_llm(
                    using.asking, heard, candidates=related.candidates, confidence_threshold=threshold
                )
                wordings = await embed_rewordings(using.embedding, heard, proposed=proposed)
            decisions = decide(heard, related.candidates, confidence_threshold=threshold, proposed=proposed)
            decisions = [before.as_edit(decision) for decision in decisions]
            around = await refresh_candidates(store, related, decisions=decisions, scope=scope)
            changes += to_changes(zip(heard, decisions, strict=True), around=around, now=now, wordings=wordings)
            changes += await before.withdrawn(store, decisions=decisions, scope=scope, now=now)
        try:
            held = await store.write(owner_scope(scope), changes, seen=seen)
        except ConflictError:
            if attempt == ATTEMPTS:
                raise
            continue
        return list(map(_outcome, heard, decisions)), held[len(before.episodes) :]
    raise AssertionError("the loop returns or raises")


def _known_outcome(record: MemoryRecord) -> MemoryOutcome:
    return MemoryOutcome(record.id, record.content, Event.NONE, "this message is already stored")


def _outcome(heard: NewFact, decision: Decision) -> MemoryOutcome:
    text, reason, closed = heard.fact.text, decision.reason, closed_by(decision)
    match decision:
        case Ignore():
            return MemoryOutcome(None, text, Event.NONE, reason)
        case Keep(memory_id=memory_id):
            return MemoryOutcome(memory_id, text, Event.NONE, reason, closed_ids=closed)
        case Update(memory_id=memory_id):
            return MemoryOutcome(memory_id, text, Event.UPDATE, reason, closed_ids=closed)
        case _:
            return MemoryOutcome(heard.record.id, text, Event.ADD, reason, heard.record, closed_ids=closed)
