"""Records, hits and changes as plain dicts, in the shapes that mem0's users know, with ours added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from hashlib import md5
from typing import Any

from ebbing.domain.filters.query import Hit
from ebbing.domain.forgetting.curves import never_fades
from ebbing.domain.forgetting.usage_model import HORIZON_DAYS, USUAL, Footing, Retention
from ebbing.domain.memory.change_set import LoggedChange
from ebbing.domain.memory.history import HistoryEntry
from ebbing.domain.memory.profile import Portrait, ProfileEntry, Section
from ebbing.domain.memory.record import MemoryRecord, Stage
from ebbing.domain.memory.scope import Scope
from ebbing.ports.job_queue import Job
from ebbing.recall.output.explanation import why
from ebbing.recall.search import SearchResults
from ebbing.remember.add_report import AddReport, MemoryOutcome
from ebbing.remember.reconcile.review import Review

Item = dict[str, Any]


def memory_item(record: MemoryRecord) -> Item:
    """`id, memory, hash, metadata, created_at, updated_at`, the owner's ids that are set, and what Ebbing knows."""
    whose, role = record.whose, record.role
    item: Item = {
        "id": record.id,
        "memory": record.content,
        "hash": md5(record.content.encode("utf-8"), usedforsecurity=False).hexdigest(),
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
    if whose.user_id is not None:
        item["user_id"] = whose.user_id
    if whose.agent_id is not None:
        item["agent_id"] = whose.agent_id
    if whose.run_id is not None:
        item["run_id"] = whose.run_id
    if record.actor is not None:
        item["actor_id"] = record.actor
    if role is not None:
        item["role"] = str(role)
    if record.stage is not Stage.FULL:
        item["stage"] = str(record.stage)
    if record.attribute is not None or record.trust is not None or record.value is not None:
        item |= _told(record)
    if record.valid_from is not None or record.valid_to is not None or record.expires_at is not None:
        item |= _times(record)
    if record.mentions > 1 or record.is_compressed or record.retired_at is not None:
        item |= _telling(record)
    return item


def _telling(record: MemoryRecord) -> Item:
    """How often and since when it was said, how general it is, and what tells it instead."""
    said = {"mentions": record.mentions, "first_said_at": _iso(record.first_said_at)}
    general = {"abstraction_level": record.abstraction_level} if record.abstraction_level else {}
    told = {"merged_into": record.superseded_by} if record.retired_at is not None else {}
    return {**said, "is_compressed": record.is_compressed, **general, **told}


def _told(record: MemoryRecord) -> Item:
    told: Item = {} if record.attribute is None else {"attribute": record.attribute}
    if record.value is not None:
        told["value"] = record.value
    if record.trust is not None:
        told["trust"] = record.trust
    return told


def _times(record: MemoryRecord) -> Item:
    times = {"valid_from": record.valid_from, "valid_to": record.valid_to, "expires_at": record.expires_at}
    return {name: moment.isoformat() for name, moment in times.items() if moment is not None}


def hit_item(hit: Hit) -> Item:
    """A memory item with `score` in [0, 1] and the raw score of each route that found it."""
    item = memory_item(hit.record)
    item["score"], item["retriever_scores"] = round(hit.score, 4), hit.retriever_scores
    if hit.duplicate_ids:
        item["duplicate_ids"] = [*hit.duplicate_ids]
    return item


def explained_hit_item(hit: Hit) -> Item:
    """A hit with `why`, a sentence, and `score_details`: each leg's share of what the order was made by."""
    details = {"fused": hit.rank_score, "coverage": hit.coverage, "meaning": hit.meaning, **hit.retriever_scores}
    if hit.session:
        details["session"] = hit.session
    return {
        **hit_item(hit),
        "why": why(hit),
        "score_details": {name: round(value, 4) for name, value in details.items()},
    }


def search_answer(results: SearchResults, api_version: str, *, explained: bool) -> Any:
    """The answer of `search`: hits as items, with the turns around them and the routes that were dropped, if any."""
    make_item = explained_hit_item if explained else hit_item
    items = [make_item(hit) for hit in results.hits]
    for item in items:
        turns = results.context_turns.get(item["id"])
        if turns is not None:
            item["context"] = [memory_item(record) for record in turns]
    more: Item = {}
    if results.failed_retrievers:
        more["failed_retrievers"] = dict(results.failed_retrievers)
    if not results.owner_known:
        more["owner_known"] = False
    return answer(items, api_version, recall_id=results.recall_id, **more)


def outcome_item(outcome: MemoryOutcome) -> Item:
    """`id, memory, event`, and why."""
    item: Item = {
        "id": outcome.memory_id,
        "memory": outcome.text,
        "event": str(outcome.event),
        "reason": outcome.reason,
        **({"superseded": list(outcome.closed_ids)} if outcome.closed_ids else {}),
    }
    record = outcome.record
    if record is not None:
        item |= {
            "actor_id": record.actor,
            "role": str(record.role) if record.role else None,
            "type": str(record.type),
            "tags": list(record.tags),
            "importance": round(record.importance, 4),
            "confidence": round(record.confidence, 4),
            "source_text": record.provenance.source_text,
            "rule": record.provenance.rule,
        }
    return item


def explained_item(record: MemoryRecord, history: Sequence[HistoryEntry], *, usage_probability: Item | None) -> Item:
    """A memory item with where it comes from, how likely it is needed, what became of it, and every change."""
    provenance = asdict(record.provenance)
    provenance["source_ids"] = list(record.provenance.source_ids)
    return {
        **memory_item(record),
        "provenance": provenance,
        "never_fades": never_fades(record),
        "access_count": record.access_count,
        "last_accessed_at": _iso(record.last_accessed_at),
        "usage_probability": usage_probability,
        "deleted_at": _iso(record.deleted_at),
        "delete_reason": record.delete_reason,
        "superseded_by": record.superseded_by,
        "history": [*map(history_item, history)],
    }


def usage_probability_item(model: Retention, footing: Footing) -> Item:
    """The chance in (0, 1) of being needed within `horizon_days`, and from what it is worked out."""
    return {
        "probability": round(model.chance(footing), 4),
        "horizon_days": int(HORIZON_DAYS),
        "features": {name: round(value, 4) for name, value in asdict(footing).items()},
        "is_learned": model != USUAL,
    }


def profile_item(portrait: Portrait, scope: Scope, *, language: str | None = None) -> Item:
    """A profile by sections, with its summary in `zh` or `en` (by default in the language of most of it)."""
    chinese = sum(entry.language == "zh" for entry in portrait.entries)
    spoken = language or ("zh" if 2 * chinese > len(portrait.entries) else "en")
    sections = {
        section.value: [_profile_entry(entry) for entry in portrait.entries if entry.section is section]
        for section in Section
    }
    return {
        f"{scope.owner.kind}_id": scope.owner.name,
        "version": portrait.version,
        "updated_at": _iso(portrait.built_at),
        "summary": portrait.summaries.get(spoken, ""),
        "language": spoken,
        **sections,
        "stats": {"memories": portrait.memories, **{name: len(entries) for name, entries in sections.items()}},
    }


def _profile_entry(entry: ProfileEntry) -> Item:
    kind, _, attribute = entry.slot.partition(":")
    more = {"attribute": attribute if kind == "attribute" else None, "overridden_value": entry.told}
    return {
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
        **{name: value for name, value in more.items() if value is not None},
    }


def history_item(entry: HistoryEntry) -> Item:
    """One change, in mem0's ten fields and its reason."""
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


def job_item(job: Job) -> Item:
    """A job, with the owner's ids where it is about somebody."""
    whose = asdict(job.whose) if job.whose else {}
    ids = {name: value for name, value in whose.items() if value is not None and name != "tenant"}
    return {
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
        **ids,
    }


def answer(items: Iterable[Item], api_version: str, **more: Any) -> Any:
    """`{"results": [...]}` with `more` beside it, or the bare list of version v1.0."""
    results = list(items)
    return results if api_version == "v1.0" else {"results": results, **more}


def add_answer(
    remembered: AddReport,
    api_version: str,
    *,
    change_id: str | None = None,
    to_forget: Item | None = None,
    omitted_parts: Sequence[Item] = (),
) -> Any:
    """The answer of `add`: one result a fact or raw message, the ids of the episodes, and the id of the change set."""
    more: Item = {"change_id": change_id} | (
        {"extraction_error": remembered.extraction_error} if remembered.extraction_error else {}
    )
    if remembered.vectors_pending:
        more["vectors_pending"] = remembered.vectors_pending
    if omitted_parts:
        more["omitted_parts"] = [*omitted_parts]
    if to_forget is not None:
        more["to_forget"] = to_forget
    return answer(map(outcome_item, remembered.outcomes), api_version, episode_ids=list(remembered.episode_ids), **more)


def change_item(logged: LoggedChange, *, undone_by: str | None) -> Item:
    """A change set as `changes.list` shows it."""
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


def review_item(review: Review) -> Item:
    """What waits for a decision."""
    record = review.record
    return {
        "id": record.id,
        "memory": record.content,
        "kind": str(record.kind),
        "created_at": record.created_at.isoformat(),
        "why": "quarantined" if review.is_quarantined else "closes_many",
        "reason": record.provenance.reason,
        "would_close": [{"id": one.id, "memory": one.content} for one in review.would_close],
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None
