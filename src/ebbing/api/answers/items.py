"""Records, hits and changes as answers, in the shapes that users of mem0 know, with ours added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from hashlib import md5
from typing import Any, TypeVar, cast

from ebbing.domain.filters.query import Hit
from ebbing.domain.forgetting.curves import never_fades
from ebbing.domain.forgetting.usage_model import DEFAULT_USAGE_MODEL, HORIZON_DAYS, UsageFeatures, UsageModel
from ebbing.domain.memory.change_set import LoggedChange
from ebbing.domain.memory.history import HistoryEntry
from ebbing.domain.memory.profile import Portrait, ProfileEntry, Section
from ebbing.domain.memory.record import MemoryRecord, Stage
from ebbing.domain.memory.scope import Scope
from ebbing.ports.job_queue import Job
from ebbing.recall.context.render import explain_hit, memory_text
from ebbing.recall.search import SearchResults
from ebbing.remember.add_report import AddReport, MemoryOutcome
from ebbing.remember.reconcile.review import Review
from ebbing.results import (
    AddAnswer,
    AddedItem,
    ChangeItem,
    ExplainAnswer,
    ForgetOfferItem,
    HistoryItem,
    HitItem,
    JobItem,
    ListAnswer,
    MemoryItem,
    OmittedParts,
    OwnerIds,
    ProfileAnswer,
    ProfileItem,
    ReviewItem,
    SearchAnswer,
    UsageProbability,
)

_Answer = TypeVar("_Answer")


def memory_item(record: MemoryRecord) -> MemoryItem:
    """Return a record in the fields that users of mem0 know, with ours added."""
    scope, role = record.belongs_to, record.role
    # Most memories are no quotation, and a list may hold a thousand.
    text = memory_text(record) if "“" in record.content else record.content
    item: MemoryItem = {
        "id": record.id,
        "memory": text,
        "hash": md5(text.encode("utf-8"), usedforsecurity=False).hexdigest(),
        "metadata": dict(record.metadata) or None,
        "created_at": record.created_at.isoformat(),
        "updated_at": _iso(record.updated_at),
        "kind": str(record.kind),
        "type": str(record.type),
        "layer": str(record.layer),
        "tags": [*record.tags],
        "language": record.language,
        "importance": round(record.importance, 4),
        "confidence": round(record.confidence, 4),
        "strength": round(record.strength, 4),
        "source_ids": [*record.provenance.source_ids],
        "version": record.version,
    }
    if scope.user_id is not None:
        item["user_id"] = scope.user_id
    if scope.agent_id is not None:
        item["agent_id"] = scope.agent_id
    if scope.run_id is not None:
        item["run_id"] = scope.run_id
    if record.actor is not None:
        item["actor_id"] = record.actor
    if record.utc_offset_minutes is not None:
        item["utc_offset_minutes"] = record.utc_offset_minutes
    if role is not None:
        item["role"] = str(role)
    if record.stage is not Stage.FULL:
        item["stage"] = str(record.stage)
    _add_claim(item, record)
    _add_times(item, record)
    if record.mentions > 1 or record.is_compressed or record.retired_at is not None:
        _add_mentions(item, record)
    return item


def _add_claim(item: MemoryItem, record: MemoryRecord) -> None:
    if record.attribute is not None:
        item["attribute"] = record.attribute
    if record.value is not None:
        item["value"] = record.value
    if record.trust is not None:
        item["trust"] = record.trust


def _add_times(item: MemoryItem, record: MemoryRecord) -> None:
    if record.valid_from is not None:
        item["valid_from"] = record.valid_from.isoformat()
    if record.valid_to is not None:
        item["valid_to"] = record.valid_to.isoformat()
    if record.expires_at is not None:
        item["expires_at"] = record.expires_at.isoformat()


def _add_mentions(item: MemoryItem, record: MemoryRecord) -> None:
    """Add how often and since when it was said, how general it is, and what replaced it."""
    item["mentions"] = record.mentions
    item["first_said_at"] = _iso(record.first_said_at)
    item["is_compressed"] = record.is_compressed
    if record.abstraction_level:
        item["abstraction_level"] = record.abstraction_level
    if record.retired_at is not None:
        item["merged_into"] = record.superseded_by


def hit_item(hit: Hit) -> HitItem:
    """Return a memory with its score in [0, 1] and the raw score of each retriever that found it."""
    item = cast(HitItem, memory_item(hit.record))
    item["score"] = round(hit.score, 4)
    item["retriever_scores"] = dict(hit.retriever_scores)
    if hit.duplicate_ids:
        item["duplicate_ids"] = [*hit.duplicate_ids]
    return item


def explained_hit_item(hit: Hit) -> HitItem:
    """Return a hit with a sentence that says why, and what its score is made of."""
    details = {"fused": hit.rank_score, "coverage": hit.coverage, "meaning": hit.meaning, **hit.retriever_scores}
    if hit.session:
        details["session"] = hit.session
    item = hit_item(hit)
    item["why"] = explain_hit(hit)
    item["score_details"] = {name: round(value, 4) for name, value in details.items()}
    return item


def search_answer(results: SearchResults, api_version: str, *, explained: bool) -> SearchAnswer:
    """Return the answer of `search`."""
    make_item = explained_hit_item if explained else hit_item
    answer: SearchAnswer = {
        "results": [make_item(hit) for hit in results.hits],
        "recall_id": results.recall_id,
    }
    for item in answer["results"]:
        turns = results.context_turns.get(item["id"])
        if turns is not None:
            item["context"] = [memory_item(record) for record in turns]
    if results.failed_retrievers:
        answer["failed_retrievers"] = dict(results.failed_retrievers)
    if not results.owner_known:
        answer["owner_known"] = False
    return in_version(answer, api_version)


def list_answer(
    records: Iterable[MemoryRecord], api_version: str, *, next_cursor: str | None, owner_known: bool
) -> ListAnswer:
    """Return the answer of `get_all`."""
    answer: ListAnswer = {"results": [memory_item(record) for record in records], "next_cursor": next_cursor}
    if not owner_known:
        answer["owner_known"] = False
    return in_version(answer, api_version)


def outcome_item(outcome: MemoryOutcome) -> AddedItem:
    """Return the decision about one fact or raw message."""
    record = outcome.record
    item: AddedItem = {
        "id": outcome.memory_id,
        "memory": memory_text(record) if record is not None and "“" in outcome.text else outcome.text,
        "event": str(outcome.event),
        "reason": outcome.reason,
    }
    if outcome.closed_ids:
        item["superseded"] = [*outcome.closed_ids]
    if record is not None:
        item["actor_id"] = record.actor
        item["role"] = str(record.role) if record.role else None
        item["type"] = str(record.type)
        item["tags"] = [*record.tags]
        item["importance"] = round(record.importance, 4)
        item["confidence"] = round(record.confidence, 4)
        item["source_text"] = record.provenance.source_text
        item["rule"] = record.provenance.rule
    return item


def explained_item(
    record: MemoryRecord, history: Sequence[HistoryEntry], *, usage_probability: UsageProbability | None
) -> ExplainAnswer:
    """Return a memory with its evidence, how likely it is of use, what became of it, and every change."""
    provenance = record.provenance
    return {
        **memory_item(record),
        "provenance": {
            "source_ids": [*provenance.source_ids],
            "source_text": provenance.source_text,
            "method": provenance.method,
            "rule": provenance.rule,
            "reason": provenance.reason,
        },
        "never_fades": never_fades(record),
        "access_count": record.access_count,
        "last_accessed_at": _iso(record.last_accessed_at),
        "usage_probability": usage_probability,
        "deleted_at": _iso(record.deleted_at),
        "delete_reason": record.delete_reason,
        "superseded_by": record.superseded_by,
        "related_ids": [*record.related_ids],
        "history": [history_item(entry) for entry in history],
    }


def usage_probability_item(model: UsageModel, footing: UsageFeatures) -> UsageProbability:
    """Return the chance in (0, 1) of being needed within `horizon_days`, and from what it is worked out."""
    return {
        "probability": round(model.chance(footing), 4),
        "horizon_days": int(HORIZON_DAYS),
        "features": {name: round(value, 4) for name, value in asdict(footing).items()},
        "is_learned": model != DEFAULT_USAGE_MODEL,
    }


def profile_item(portrait: Portrait, scope: Scope, *, language: str | None = None) -> ProfileAnswer:
    """Return a profile by sections, with its summary in `zh` or `en` (by default in the language of most of it)."""
    chinese = sum(entry.language == "zh" for entry in portrait.entries)
    spoken = language or ("zh" if 2 * chinese > len(portrait.entries) else "en")
    sections = {
        section.value: [_profile_entry(entry) for entry in portrait.entries if entry.section is section]
        for section in Section
    }
    return {
        **owner_ids(Scope.of(scope.owner)),
        "version": portrait.version,
        "updated_at": _iso(portrait.built_at),
        "summary": portrait.summaries.get(spoken, ""),
        "language": spoken,
        "facts": sections["facts"],
        "constraints": sections["constraints"],
        "preferences": sections["preferences"],
        "dislikes": sections["dislikes"],
        "stats": {"memories": portrait.memories, **{name: len(entries) for name, entries in sections.items()}},
    }


def owner_ids(scope: Scope) -> OwnerIds:
    """Return the ids of a scope that are set."""
    ids: OwnerIds = {}
    if scope.user_id is not None:
        ids["user_id"] = scope.user_id
    if scope.agent_id is not None:
        ids["agent_id"] = scope.agent_id
    if scope.run_id is not None:
        ids["run_id"] = scope.run_id
    return ids


def _profile_entry(entry: ProfileEntry) -> ProfileItem:
    kind, _, attribute = entry.slot.partition(":")
    item: ProfileItem = {
        "key": entry.key,
        "value": entry.value,
        "text": entry.text,
        "weight": round(entry.weight, 4),
        "mentions": entry.mentions,
        "first_at": _iso(entry.first_at),
        "last_at": _iso(entry.last_at),
        "memory_ids": list(entry.memory_ids),
        "source": entry.origin.value,
        "is_safety_critical": entry.safety,
    }
    if kind == "attribute":
        item["attribute"] = attribute
    if entry.overridden_value is not None:
        item["overridden_value"] = entry.overridden_value
    return item


def history_item(entry: HistoryEntry) -> HistoryItem:
    """Return one change, in mem0's ten fields and its reason."""
    return {
        "id": entry.id,
        "memory_id": entry.memory_id,
        "old_memory": entry.old_memory,
        "new_memory": entry.new_memory,
        "event": entry.event.value,
        "created_at": _iso(entry.created_at),
        "updated_at": _iso(entry.updated_at),
        "is_deleted": entry.is_deleted,
        "actor_id": entry.actor_id,
        "role": entry.role,
        "reason": entry.reason,
    }


def job_item(job: Job) -> JobItem:
    """Return a job, with the ids of the owner that it is about."""
    item: JobItem = {
        "id": job.id,
        "kind": job.kind,
        "key": job.key,
        "state": job.state.value,
        "attempts": job.attempts,
        "max_attempts": job.max_attempts,
        "run_at": job.run_at.isoformat(),
        "leased_until": _iso(job.leased_until),
        "ended_at": _iso(job.ended_at),
        "last_error": job.last_error,
        "progress": dict(job.progress),
    }
    if job.belongs_to is not None:
        item.update(cast(JobItem, owner_ids(job.belongs_to)))
    return item


def in_version(answer: _Answer, api_version: str) -> _Answer:
    """Return the answer; in version v1.0 of mem0's config the bare list of its results, which no type can tell."""
    bare: Any = answer
    return bare["results"] if api_version == "v1.0" else answer


def add_answer(
    report: AddReport,
    api_version: str,
    *,
    change_id: str | None = None,
    to_forget: ForgetOfferItem | None = None,
    omitted_parts: Sequence[OmittedParts] = (),
) -> AddAnswer:
    """Return the answer of `add`: the decisions, the ids of the raw messages, and the id of the change set."""
    answer: AddAnswer = {
        "results": [outcome_item(outcome) for outcome in report.outcomes],
        "episode_ids": [*report.episode_ids],
        "change_id": change_id,
    }
    if report.extraction_error:
        answer["extraction_error"] = report.extraction_error
    if report.vectors_pending:
        answer["vectors_pending"] = report.vectors_pending
    if omitted_parts:
        answer["omitted_parts"] = [*omitted_parts]
    if to_forget is not None:
        answer["to_forget"] = to_forget
    return in_version(answer, api_version)


def change_item(logged: LoggedChange, *, undone_by: str | None) -> ChangeItem:
    """Return a change set as `changes.list` shows it."""
    return {
        "id": logged.id,
        "cause": str(logged.cause),
        "at": logged.at.isoformat(),
        "inserted": logged.inserted,
        "revised": logged.revised,
        "erased": logged.erased,
        "undoes": logged.undoes,
        "undone_by": undone_by,
    }


def review_item(review: Review) -> ReviewItem:
    """Return what waits for a decision."""
    record = review.record
    return {
        "id": record.id,
        "memory": memory_text(record),
        "kind": str(record.kind),
        "created_at": record.created_at.isoformat(),
        "why": "quarantined" if review.is_quarantined else "closes_many",
        "reason": record.provenance.reason,
        "would_close": [{"id": item.id, "memory": memory_text(item)} for item in review.would_close],
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None
