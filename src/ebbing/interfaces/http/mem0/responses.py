"""Our memories as mem0's platform and its open-source server tell theirs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ebbing.validation import end_of_day

Item = dict[str, Any]
APP: Final = "app_id"
"""An application is kept as a metadata key: our owners are users, agents and runs."""


def platform_item(item: Mapping[str, Any]) -> Item:
    """A memory of the platform's: `id, memory, user_id, agent_id, app_id, run_id, metadata, categories, …`."""
    metadata = dict(item.get("metadata") or {})
    app = metadata.pop(APP, None)
    made: Item = {
        "id": item["id"],
        "memory": item["memory"],
        "user_id": item.get("user_id"),
        "agent_id": item.get("agent_id"),
        "app_id": app,
        "run_id": item.get("run_id"),
        "session_id": item.get("run_id"),
        "actor_id": item.get("actor_id"),
        "role": item.get("role"),
        "hash": item["hash"],
        "metadata": metadata or None,
        "categories": list(item["tags"]),
        "expiration_date": last_day(item.get("expires_at")),
        "created_at": item["created_at"],
        "updated_at": item["updated_at"] or item["created_at"],
        "immutable": False,
        "type": item["type"],
    }
    return made


def platform_hit(item: Mapping[str, Any]) -> Item:
    """A found memory of the platform's, with its score and what it is made of."""
    routes = item.get("retriever_scores", {})
    breakdown = {"semantic": routes.get("semantic", 0.0), "bm25": routes.get("keyword", 0.0)}
    return {
        **platform_item(item),
        "score": item["score"],
        "score_breakdown": {**breakdown, "entity": routes.get("name", 0.0)},
    }


def open_item(item: Mapping[str, Any]) -> Item:
    """A memory of the open-source server's: ours has its fields already, and the day on which it ends."""
    names = ("id", "memory", "hash", "metadata", "score", "score_details", "created_at", "updated_at", "user_id")
    made = {name: item[name] for name in (*names, "agent_id", "run_id", "actor_id", "role") if name in item}
    if item.get("expires_at"):
        made["expiration_date"] = last_day(item["expires_at"])
    return made


def change_out(change: Mapping[str, Any], *, user_id: str | None) -> Item:
    """One entry of a history, as the platform tells it."""
    text = change["new_memory"] or change["old_memory"]
    return {
        **{name: change[name] for name in ("id", "memory_id", "old_memory", "new_memory", "event", "created_at")},
        "input": [{"role": change["role"] or "user", "content": text}] if text else [],
        "user_id": user_id,
        "metadata": None,
        "categories": [],
        "updated_at": change["updated_at"] or change["created_at"],
        "reason": change["reason"],
        "is_deleted": change["is_deleted"],
    }


def end_of(day: Any) -> str | datetime | None:
    """When a memory ends whose `expiration_date`, a day in UTC, is its last; None where none is given.

    Raises:
        InvalidInputError: it is no day.
    """
    if day is None:
        return None
    return end_of_day(day)


def last_day(expires_at: str | None) -> str | None:
    """The last day, in UTC, of what ends at a moment."""
    if expires_at is None:
        return None
    return (datetime.fromisoformat(expires_at) - timedelta(microseconds=1)).astimezone(UTC).date().isoformat()
