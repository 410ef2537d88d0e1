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
from ebbing.remember.extraction.extractor import Read, read, said_before, with_certain_subjects
from ebbing.remember.facts.drafts import Draft, Drafting, fact_draft, message_drafts
from ebbing.remember.facts.evidence import with_literal_evidence
from ebbing.remember.facts.new_fact import Heard, heard_as
from ebbing.remember.intake.message_batches import rounds
from ebbing.remember.intake.off_record import OFF_RECORD
from ebbing.remember.intake.screening import Screened, screened
from ebbing.remember.intake.write_policy import WritePolicy
from ebbing.remember.llm.client import Asking
from ebbing.remember.llm.retry_queue import note_unread, unread_of
from ebbing.remember.reconcile.apply_corrections import corrected
from ebbing.remember.reconcile.apply_decisions import carried_out
from ebbing.remember.reconcile.candidates import as_stored, reach, relate
from ebbing.remember.reconcile.decide import Proposed, closed_by, decide
from ebbing.remember.reconcile.importance import weighed
from ebbing.remember.reconcile.llm_proposals import proposed_by, reworded
from ebbing.remember.reconcile.message_dedup import Before, told_before, withdrawn_episodes
from ebbing.remember.reconcile.tentative_facts import telling
from ebbing.remember.vectors.deferred_embedding import Following
from ebbing.remember.vectors.embed_drafts import SOON, Embedding, bare, embedded, note_bare

_How = ParamSpec("_How")
_Text = TypeVar("_Text")
_Vectors = TypeVar("_Vectors")
ATTEMPTS: Final = 32
"""How often facts are related and decided anew when somebody else wrote in between."""


@dataclass(frozen=True, slots=True)
class Remembering:
    """What the way in works with."""

    store: MemoryStore
    embedder: Embedder | None
    clock: Clock
    ids: Ids
    policy: WritePolicy = field(default_factory=WritePolicy)
    mode: WriteMode = WriteMode.RULES
    asking: Asking | None = None
    """The language model, if there is one."""
    zone: tzinfo = UTC
    """Where days begin and end for a message whose time names no zone."""
    following: Following | None = None
    """What gives texts their vectors later, where they may come later."""

    @property
    def embedding(self) -> Embedding:
        """How texts get their vectors."""
        return Embedding(self.embedder, self.policy.embedding_seconds, self.policy.strict_embeddings)

    async def embedded(
        self, texts: Sequence[_Text], by: Callable[[Embedding, Sequence[_Text]], Awaitable[_Vectors]]
    ) -> tuple[_Vectors, bool]:
        """What `by` makes of new texts, and whether their vectors follow, since too many others wait for theirs."""
        if self.following is None or self.policy.strict_embeddings:
            return await by(self.embedding, texts), False
        with self.following.turn(self.embedder) as is_later:
            return await by(replace(self.embedding, is_later=is_later), texts), is_later

    async def note_bare(self, bare: Sequence[str], scope: Scope, *, follow: bool = False) -> int:
        """See to it that memories that were stored without a vector get one; return how many wait for theirs."""
        if self.embedder is None or not bare:
            return 0
        if follow and self.following is not None:
            await self.following.take(bare, scope, embedder=self.embedder)
        else:
            await note_bare(self.store.jobs, scope, run_at=self.clock.now() + SOON)
        return len(bare)


class Outcome(NamedTuple):
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


class Remembered(NamedTuple):
    """The answer of an add."""

    outcomes: tuple[Outcome, ...]
    episode_ids: tuple[str, ...] = ()
    unread: str | None = None
    """Why the language model could not read all of it, as a code; it will be read again."""
    vectors_pending: int = 0
    """Texts that are found by their words alone until their vectors are made."""

    def without(self, count: int) -> Remembered:
        """The same answer, with so many results for messages off the record."""
        return self._replace(outcomes=self.outcomes + count * (Outcome(None, "", Event.NONE, OFF_RECORD),))


Step = Callable[Concatenate[Remembering, Sequence[Message], _How], Awaitable[Remembered]]


def in_rounds(step: Step[_How]) -> Step[_How]:
    """The step, called for one part of the messages after the other, so that no part has two texts for one id."""

    @wraps(step)
    async def call(
        using: Remembering, messages: Sequence[Message], /, *args: _How.args, **kwargs: _How.kwargs
    ) -> Remembered:
        told = [await step(using, part, *args, **kwargs) for part in rounds(messages)]
        if len(told) == 1:
            return told[0]
        return Remembered(
            tuple(outcome for one in told for outcome in one.outcomes),
            tuple(episode for one in told for episode in one.episode_ids),
            next((one.unread for one in told if one.unread), None),
            sum(one.vectors_pending for one in told),
        )

    return call


@in_rounds
async def add_extracted(
    using: Remembering,
    messages: Sequence[Message],
    *,
    scope: Scope,
    metadata: Mapping[str, Any],
    trust: TrustTier | None = None,
    tags: tuple[str, ...] = (),
    expires_at: datetime | None = None,
) -> Remembered:
    """Keeps the messages as episodes, and what they say that is worth keeping as memories.

    A message whose id is known changes nothing if its text is the same; if it was edited, what it led to follows.
    """
    drafting = Drafting(scope, metadata, now=using.clock.now(), ids=using.ids, tags=tags, expires_at=expires_at)
    local_now = drafting.now.astimezone(using.zone)
    kept = screened(messages, using.policy, trust=trust)
    before = await told_before(using.store, kept, scope=scope, now=drafting.now)
    agent_facts = scope.agent_id is not None
    by_model = using.asking is not None and using.mode is not WriteMode.RULES
    if by_model:
        await on_a_loop()
    found = await read(
        kept,
        mode=using.mode,
        asking=using.asking,
        now=local_now,
        agent_facts=agent_facts,
        known=before.repeated,
        before=await said_before(using.store, scope) if by_model else (),
    )
    if not by_model:
        found = await with_certain_subjects(
            found, kept, store=using.store, scope=scope, now=local_now, agent_facts=agent_facts
        )
        found = replace(found, facts=await corrected(using.store, found.facts, kept=kept, scope=scope))
    episodes = message_drafts(kept, kind=Kind.EPISODE, drafting=drafting)
    outcomes, held, pending = await learn(using, found, kept=kept, episodes=episodes, before=before, drafting=drafting)
    if found.failed is not None:
        unread = Unread(scope, (), using.mode, agent_facts=agent_facts)
        await _note_unread(using, kept, held=held, failed=found.failed, like=unread)
    told = (*map(_known_outcome, before.known), *outcomes)
    return Remembered(told, tuple(held), found.failed.reason if found.failed else None, pending)


async def learn(
    using: Remembering,
    found: Read,
    *,
    kept: Sequence[Screened],
    episodes: Sequence[Draft],
    before: Before,
    drafting: Drafting,
) -> tuple[list[Outcome], list[str], int]:
    """Store what was read of messages, and the messages.

    Returns:
        What became of each fact, the ids of the episodes, and how many texts wait for their vectors.
    """
    facts = with_literal_evidence(found.facts, kept)
    drafts = [(fact, fact_draft(fact, kept[fact.source], drafting=drafting)) for fact in facts]
    drafts = await telling(using.store, drafts, kept=kept, drafting=drafting)
    inserts, follow = await using.embedded([*episodes, *(draft for _, draft in drafts)], embedded)
    heard = [heard_as(fact, insert) for (fact, _), insert in zip(drafts, inserts[len(episodes) :], strict=True)]
    outcomes, held = await _commit(
        replace(using, asking=found.asking),
        heard,
        episodes=inserts[: len(episodes)],
        before=before,
        drafting=drafting,
    )
    pending = await using.note_bare(bare(inserts), drafting.scope, follow=follow)
    return outcomes, held[: len(episodes)], pending


async def _note_unread(
    using: Remembering, kept: Sequence[Screened], *, held: Sequence[str], failed: Failed, like: Unread
) -> None:
    """Queues what the model could not read; the episodes are stored by now."""
    numbers = [number for number, one in enumerate(kept) for _ in split_text(one.message.content)]
    unread = unread_of(list(zip(numbers, held, strict=True)), failed, like=like)
    await note_unread(using.store.jobs, unread, failed=failed, now=using.clock.now())


async def _commit(
    using: Remembering, heard: Sequence[Heard], *, episodes: Sequence[Insert], before: Before, drafting: Drafting
) -> tuple[list[Outcome], list[str]]:
    """Relates, decides and writes; again if somebody else wrote in between, since the decision might be another one.

    The model is asked once; what it proposed counts later only for memories that are still as it saw them.
    """
    store, scope, now = using.store, drafting.scope, drafting.now
    calibration = using.embedder.calibration if using.embedder else None
    threshold = using.policy.confidence_threshold
    proposed: Proposed | None = None
    wordings: Mapping[str, IndexEntry | None] = {}
    asked = False
    for attempt in range(1, ATTEMPTS + 1):
        seen: int | None = None
        decisions: list[Decision] = []
        changes: list[Change] = [*withdrawn_episodes(before.episodes, now=now), *episodes]
        if heard or before.products:
            wrong = tuple(one.fact.instead_of for one in heard if one.fact.instead_of)
            related = await relate(
                store, heard, scope=scope, now=now, calibration=calibration, always=(*before.products, *wrong)
            )
            seen = related.generation if attempt < ATTEMPTS else None
            if len(said := await before.still_said(store, heard, scope=scope)) < len(heard):
                heard = said
                continue
            heard = weighed(heard, related.candidates, formula=using.policy.importance, now=now)
            if not asked:
                asked = True
                proposed = await proposed_by(
                    using.asking, heard, candidates=related.candidates, confidence_threshold=threshold
                )
                wordings = await reworded(using.embedding, heard, proposed=proposed)
            decisions = decide(heard, related.candidates, confidence_threshold=threshold, proposed=proposed)
            decisions = [before.as_edit(decision) for decision in decisions]
            around = await as_stored(store, related, decisions=decisions, scope=scope)
            changes += carried_out(zip(heard, decisions, strict=True), around=around, now=now, wordings=wordings)
            changes += await before.withdrawn(store, decisions=decisions, scope=scope, now=now)
        try:
            held = await store.write(reach(scope), changes, seen=seen)
        except ConflictError:
            if attempt == ATTEMPTS:
                raise
            continue
        return list(map(_outcome, heard, decisions)), held[len(before.episodes) :]
    raise AssertionError("the loop returns or raises")


def _known_outcome(record: MemoryRecord) -> Outcome:
    return Outcome(record.id, record.content, Event.NONE, "this message is already stored")


def _outcome(heard: Heard, decision: Decision) -> Outcome:
    text, reason, closed = heard.fact.text, decision.reason, closed_by(decision)
    match decision:
        case Ignore():
            return Outcome(None, text, Event.NONE, reason)
        case Keep(memory_id=memory_id):
            return Outcome(memory_id, text, Event.NONE, reason, closed_ids=closed)
        case Update(memory_id=memory_id):
            return Outcome(memory_id, text, Event.UPDATE, reason, closed_ids=closed)
        case _:
            return Outcome(heard.record.id, text, Event.ADD, reason, heard.record, closed_ids=closed)
