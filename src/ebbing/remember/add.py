"""The way in: screen → known messages → extract → draft → embed → commit, with a reason for each step.

`reconcile/commit.py` holds the last step, a loop: find candidates, decide, write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.history import STORED_AS_SAID, Event
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.pending_extraction import ExtractionFailure, PendingExtraction, WriteMode
from ebbing.domain.memory.record import QUARANTINED, Kind
from ebbing.domain.memory.scope import Scope
from ebbing.language.text.sentences import split_text
from ebbing.privacy.guarding.trust import TrustTier
from ebbing.remember.add_deps import AddDeps
from ebbing.remember.add_report import (
    HELD_BACK,
    AddReport,
    MemoryOutcome,
    joined_report,
    known_outcome,
    outcome_of,
)
from ebbing.remember.extraction.extractor import (
    Extraction,
    extract_facts,
    is_in_company,
    previous_messages,
    with_certain_subjects,
    with_talk_before,
)
from ebbing.remember.extraction.salient_words import Words
from ebbing.remember.facts.drafts import Draft, DraftContext, fact_draft, message_drafts
from ebbing.remember.facts.evidence import with_literal_evidence
from ebbing.remember.facts.new_fact import to_new_fact
from ebbing.remember.facts.outdated_memories import OutdatedMemories
from ebbing.remember.facts.salient_facts import RuleFacts, quotable_words, salient_facts, worth_telling
from ebbing.remember.facts.withdrawn_wishes import with_withdrawn_wishes
from ebbing.remember.intake.screening import ScreenedMessage, screen_messages, split_repeated_ids
from ebbing.remember.llm.retry_queue import enqueue_retry, pending_extraction_of
from ebbing.remember.reconcile.apply_corrections import apply_self_corrections
from ebbing.remember.reconcile.candidates import current_in_these_words
from ebbing.remember.reconcile.commit import Statement, commit_facts
from ebbing.remember.reconcile.known_messages import KnownMessages, find_known_messages
from ebbing.remember.reconcile.tentative_facts import drop_unmatched_tentative
from ebbing.remember.vectors.embed_drafts import ids_without_vector


async def add_extracted(
    deps: AddDeps,
    messages: Sequence[Message],
    *,
    scope: Scope,
    metadata: Mapping[str, Any],
    trust: TrustTier | None = None,
    tags: tuple[str, ...] = (),
    expires_at: datetime | None = None,
) -> AddReport:
    """Store the messages as episodes, and what they say that is worth keeping as memories.

    A message whose id is known changes nothing if its text is the same; if it was edited, what it led to follows.
    """
    reports: list[AddReport] = []
    for part in split_repeated_ids(messages):
        context = DraftContext(scope, metadata, now=deps.clock.now(), ids=deps.ids, tags=tags, expires_at=expires_at)
        screened = screen_messages(part, deps.policy, trust=trust)
        reports.append(await _add_part(deps, screened, context=context))
    return joined_report(reports)


async def add_statements(
    deps: AddDeps,
    messages: Sequence[Message],
    *,
    scope: Scope,
    metadata: Mapping[str, Any],
    trust: TrustTier | None = None,
    tags: tuple[str, ...] = (),
    expires_at: datetime | None = None,
    importance: float | None = None,
) -> AddReport:
    """Store messages that somebody chose to keep: what each says as facts, and as a memory where it says none.

    What is stored in these words and still holds is left as it is.

    Raises:
        InvalidInputError: a message with an id, which says by itself what is repeated.
    """
    if any(message.id is not None for message in messages):
        raise InvalidInputError("a statement has no id: leave source_id out, or take another mode")
    deps = replace(deps, mode=WriteMode.RULES if deps.llm is None else WriteMode.LLM)
    context = DraftContext(scope, metadata, now=deps.clock.now(), ids=deps.ids, tags=tags, expires_at=expires_at)
    if importance is not None:
        context = replace(context, importance=importance)
    named = [
        replace(message, id=deps.ids.new()) for message in messages
    ]  # forgotten together with what is read from it
    screened = screen_messages(named, deps.policy, trust=trust)
    return joined_report([await _add_statement(deps, message, context=context) for message in screened])


async def _add_statement(deps: AddDeps, screened: ScreenedMessage, *, context: DraftContext) -> AddReport:
    text, is_held_back = screened.message.content, screened.held_back is not None
    same_words = await current_in_these_words(deps.store, text, scope=context.scope, now=context.now)
    stored = [record for record in same_words if (QUARANTINED in record.tags) is is_held_back]
    report = await _add_part(deps, [screened], context=context, statement=Statement(bool(stored)))
    if is_held_back:
        return report._replace(outcomes=(MemoryOutcome(None, "", Event.NONE, HELD_BACK),))
    if report.extraction_error is not None or any(outcome.memory_id for outcome in report.outcomes):
        return report
    if not report.episode_ids:
        return report._replace(outcomes=tuple(map(known_outcome, stored[:1])))
    records = await deps.store.get(context.scope, report.episode_ids)
    added = (MemoryOutcome(record.id, record.content, Event.ADD, STORED_AS_SAID, record) for record in records)
    return AddReport(tuple(added), vectors_pending=report.vectors_pending)


async def _add_part(
    deps: AddDeps,
    screened: Sequence[ScreenedMessage],
    *,
    context: DraftContext,
    statement: Statement | None = None,
) -> AddReport:
    """Add messages none of which has two texts for one id; screening may have left none."""
    if not screened:
        return AddReport(())
    known_messages = await find_known_messages(deps.store, screened, scope=context.scope, now=context.now)
    chosen = statement is not None
    extraction = await _extract(deps, screened, known_messages=known_messages, context=context, chosen=chosen)
    episodes = message_drafts(screened, kind=Kind.EPISODE, context=context)
    if extraction.failed is not None:
        # Before anything is stored: a process that dies right after it leaves nothing unread. Of messages that are not
        # stored after all, the job finds nothing to read.
        drafted = [draft.record.id for draft in episodes]
        await _enqueue_reading(deps, extraction.failed, screened=screened, episode_ids=drafted, scope=context.scope)
    stored = await store_extraction(
        deps,
        extraction,
        screened=screened,
        episodes=episodes,
        known_messages=known_messages,
        context=context,
        statement=statement if extraction.failed is None else None,
    )
    if extraction.failed is not None:
        ids = stored.episode_ids
        await _enqueue_reading(deps, extraction.failed, screened=screened, episode_ids=ids, scope=context.scope)
    outcomes = (*map(known_outcome, known_messages.memories), *stored.outcomes)
    error = extraction.failed.reason if extraction.failed else None
    return AddReport(outcomes, tuple(stored.episode_ids), error, stored.vectors_pending)


async def _extract(
    deps: AddDeps,
    screened: Sequence[ScreenedMessage],
    *,
    known_messages: KnownMessages,
    context: DraftContext,
    chosen: bool,
) -> Extraction:
    """Read the facts of the messages: by a language model where there is one for it, else by the rules."""
    store, scope = deps.store, context.scope
    now = context.now.astimezone(deps.zone)
    agent_facts = scope.agent_id is not None
    if deps.llm is not None and deps.mode is not WriteMode.RULES:
        return await extract_facts(
            screened,
            mode=deps.mode,
            llm=deps.llm,
            now=now,
            agent_facts=agent_facts,
            known_places=known_messages.repeated,
            earlier=await previous_messages(store, screened[0], scope=scope, now=now),
        )
    extraction = await extract_facts(
        screened, mode=WriteMode.RULES, llm=None, now=now, agent_facts=agent_facts, known_places=known_messages.repeated
    )
    extraction = await with_talk_before(extraction, screened, store=store, scope=scope, now=now)
    extraction = await with_certain_subjects(
        extraction,
        screened,
        store=store,
        scope=scope,
        now=now,
        agent_facts=agent_facts,
        known_places=known_messages.repeated,
        chosen=chosen,
    )
    facts = await apply_self_corrections(store, extraction.facts, screened=screened, scope=scope)
    put_right = frozenset(fact.source for fact in extraction.facts) - {fact.source for fact in facts}
    facts = await with_withdrawn_wishes(store, facts, screened=screened, context=context)
    return replace(extraction, facts=facts, unquoted=extraction.unquoted | put_right)


class StoredExtraction(NamedTuple):
    """The outcomes of the facts of some messages, and the stored messages."""

    outcomes: Sequence[MemoryOutcome]
    """One a fact."""
    episode_ids: Sequence[str]
    vectors_pending: int
    """Texts that wait for their vectors."""


async def store_extraction(
    deps: AddDeps,
    extraction: Extraction,
    *,
    screened: Sequence[ScreenedMessage],
    episodes: Sequence[Draft],
    known_messages: KnownMessages,
    context: DraftContext,
    statement: Statement | None = None,
) -> StoredExtraction:
    """Store what was read of messages, and the messages."""
    facts = with_literal_evidence(extraction.facts, screened)
    in_company = await is_in_company(screened, store=deps.store, scope=context.scope)
    said_before = extraction.stored_before
    outdated = OutdatedMemories(deps.store, deps.change_model, in_company, said_before)
    is_by_rules = bool(episodes) and extraction.llm is None and extraction.failed is None and statement is None
    drafts = [(fact, fact_draft(fact, screened[fact.source], context=context)) for fact in facts]
    if any(fact.tentative for fact in facts):
        drafts = await drop_unmatched_tentative(deps.store, drafts, screened=screened, context=context)
    quotable: Sequence[Words] = ()
    if is_by_rules:
        quotable, drafts = await quotable_words(deps, drafts, screened=screened, context=context, in_company=in_company)
    inserts, is_later = await deps.embed_now_or_later([*episodes, *(draft for _, draft in drafts)])
    stored_messages, memories = inserts[: len(episodes)], inserts[len(episodes) :]
    new_facts = [to_new_fact(fact, insert) for (fact, _), insert in zip(drafts, memories, strict=True)]
    if is_by_rules:
        question_message = extraction.question_message
        new_facts = await worth_telling(
            deps,
            new_facts,
            screened=screened,
            episodes=stored_messages,
            in_company=in_company,
            question_message=question_message,
        )
        places = {*known_messages.repeated, *extraction.unquoted, *(fact.source for fact, _ in drafts)}
        quoted = await salient_facts(
            deps,
            screened,
            episodes=stored_messages,
            by_rules=RuleFacts(new_facts, quotable, places),
            context=context,
            outdated=outdated,
            extraction=extraction,
        )
        new_facts = sorted([*new_facts, *quoted], key=attrgetter("fact.source"))
    committed = await commit_facts(
        replace(deps, llm=extraction.llm),
        new_facts,
        episodes=stored_messages,
        known_messages=known_messages,
        context=context,
        outdated=outdated,
        statement=statement,
    )
    stored = [*stored_messages, *(fact.insert for fact in new_facts)]
    pending = await deps.note_missing_vectors(ids_without_vector(stored), context.scope, is_later=is_later)
    outcomes = list(map(outcome_of, committed.facts, committed.decisions))
    return StoredExtraction(outcomes, committed.episode_ids, pending)


async def _enqueue_reading(
    deps: AddDeps,
    failed: ExtractionFailure,
    *,
    screened: Sequence[ScreenedMessage],
    episode_ids: Sequence[str],
    scope: Scope,
) -> None:
    """Queue what the model could not read; of the same episodes once, as long as that waits."""
    work = PendingExtraction(scope, (), deps.mode, agent_facts=scope.agent_id is not None)
    numbers: list[int] = []
    for number, screened_message in enumerate(screened):
        parts = split_text(screened_message.message.content)
        numbers += [number] * len(parts)
    episodes = list(zip(numbers, episode_ids, strict=True))
    unread = pending_extraction_of(episodes, failed, like=work)
    await enqueue_retry(deps.store.jobs, unread, failed=failed, now=deps.clock.now())
