"""Memories as any memory server tells them: ours, mem0's, or one that somebody wrote after its documentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Final

_LISTS: Final = ("memories", "data", "results", "items")
_IDS: Final = ("id", "memory_id", "_id")
_TEXTS: Final = ("text", "content", "memory")
_SCORES: Final = ("score", "similarity")
_TAGS: Final = ("tags", "tag", "categories")
_TIMES: Final = ("created_at", "createdAt", "timestamp")


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One memory of an answer."""

    id: str
    text: str
    score: float = 0.0
    """Relevance; in [0, 1] from our own servers, 0 where none was told."""
    tags: tuple[str, ...] = ()
    created_at: datetime | None = None
    """With a time zone, UTC where none was told."""
    raw: Mapping[str, Any] = field(default_factory=dict)
    """All that the server told of it."""


def items_of(answer: Any) -> list[MemoryItem]:
    """Return the memories of a server's answer, whatever it calls its fields; what is no memory is passed over.

    A list, or an object with one under `memories`, `data`, `results` or `items` (also one inside the other).
    """
    return [item for raw in _listed(answer) if (item := _item(raw)) is not None]


def id_of(answer: Any) -> str | None:
    """Return the id that a server gave what was stored, if it tells one: its own, or that of the first result."""
    if isinstance(answer, Mapping):
        own = _first(answer, _IDS)
        if isinstance(own, str | int) and not isinstance(own, bool):
            return str(own)
        if isinstance(answer.get("data"), Mapping):
            return id_of(answer["data"])
    return next((item_id for item in _listed(answer) if isinstance(item, Mapping) and (item_id := id_of(item))), None)


def _listed(answer: Any) -> Iterable[Any]:
    if isinstance(answer, Mapping):
        for name in _LISTS:
            if isinstance(answer.get(name), list | Mapping):
                return _listed(answer[name])
        return ()
    return answer if isinstance(answer, Sequence) and not isinstance(answer, str | bytes) else ()


def _item(raw: Any) -> MemoryItem | None:
    if not isinstance(raw, Mapping):
        return None
    text, own = _first(raw, _TEXTS), _first(raw, _IDS)
    if not isinstance(text, str) or not text.strip():
        return None
    name = str(own) if isinstance(own, str | int) and not isinstance(own, bool) else text[:16]
    return MemoryItem(name, text, _number(_first(raw, _SCORES)), _tags(raw), _moment(_first(raw, _TIMES)), raw)


def _first(raw: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((raw[name] for name in names if raw.get(name) is not None), None)


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return 0.0
    return number if isfinite(number) else 0.0


def _tags(raw: Mapping[str, Any]) -> tuple[str, ...]:
    tags = _first(raw, _TAGS)
    if isinstance(tags, str):
        return (tags,) if tags else ()
    return tuple(str(tag) for tag in tags if tag) if isinstance(tags, list | tuple) else ()


def _moment(value: Any) -> datetime | None:
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except (AttributeError, ValueError, OverflowError, OSError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
