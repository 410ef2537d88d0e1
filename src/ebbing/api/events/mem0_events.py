"""Webhook events in mem0's shape, for webhooks that ask for them by mem0's names."""

from __future__ import annotations

from typing import Any, Final

from ebbing.domain.memory.record import MemoryRecord
from ebbing.ports.event_bus import MemoryEvent, Topic

MEM0_TOPICS: Final = {
    Topic.MEMORY_ADDED.value: "memory_add",
    Topic.MEMORY_UPDATED.value: "memory_update",
    Topic.MEMORY_DELETED.value: "memory_delete",
}
"""mem0's name of each topic that it has."""
_EVENTS: Final = {"memory_add": "ADD", "memory_update": "UPDATE", "memory_delete": "DELETE"}


def mem0_events(event: MemoryEvent, event_id: str) -> list[dict[str, Any]]:
    """Return an event for each memory: ids alone, since the text is read when the event is sent."""
    topic = MEM0_TOPICS.get(event.topic.value)
    if topic is None:
        return []
    return [{"id": f"{event_id}-{memory_id}", "mem0": topic, "memory_id": memory_id} for memory_id in event.memory_ids]


def mem0_body(payload: dict[str, Any], record: MemoryRecord | None) -> dict[str, Any]:
    """Return what a receiver of mem0's webhooks reads; `memory` is null where the memory is gone."""
    text = None if record is None else record.content
    return {"event_details": {"id": payload["memory_id"], "data": {"memory": text}, "event": _EVENTS[payload["mem0"]]}}
