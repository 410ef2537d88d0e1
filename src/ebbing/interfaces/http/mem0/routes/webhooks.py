"""The platform's routes about webhooks, on ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.http.errors import ProblemError
from ebbing.interfaces.http.mem0.request_models import HookIn
from ebbing.interfaces.http.mem0.responses import Item
from ebbing.interfaces.http.request_context import Administrator, Caller
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.response_models import ObjectResponse
from ebbing.interfaces.http.schema.responses import encoded

_EVENTS: Final = ("memory_add", "memory_update", "memory_delete")
_MEMORY_EVENTS: Final = {
    "memory.added": "memory_add",
    "memory.updated": "memory_update",
    "memory.deleted": "memory_delete",
}

router = operations("mem0 platform")


@router.get("/api/v1/webhooks/projects/{project_id}/", response_model=ObjectResponse)
async def list_webhooks(caller: Administrator, project_id: str) -> Response:
    """List webhooks, without their secrets."""
    _same_tenant(caller, project_id)
    return encoded([_hook_out(hook, project_id) for hook in await caller.memory.webhooks.list()])


@router.post("/api/v1/webhooks/projects/{project_id}/", response_model=ObjectResponse)
async def create_webhook(caller: Administrator, project_id: str, *, body: HookIn) -> Response:
    """Create a webhook. Its messages are in mem0's shape and hold the text of the memory."""
    _same_tenant(caller, project_id)
    if body.url is None:
        raise InvalidInputError("give the url that is to be told")
    made = await caller.memory.webhooks.create(body.url, topics=_topics(body.event_types or _EVENTS), name=body.name)
    caller.acted_on(made["id"])
    return encoded({**_hook_out(made, project_id), "secret": made["secret"]}, headers={"Cache-Control": "no-store"})


@router.put("/api/v1/webhooks/{webhook_id}/", response_model=ObjectResponse)
async def update_webhook(caller: Administrator, webhook_id: str, *, body: HookIn) -> Response:
    """Update a webhook: its address, name, events or state."""
    changed = await caller.memory.webhooks.update(
        webhook_id, url=body.url, topics=_topics(body.event_types), name=body.name, is_active=body.is_active
    )
    caller.acted_on(changed["id"])
    return encoded({"message": "Webhook updated successfully", **_hook_out(changed, caller.principal.tenant)})


@router.delete("/api/v1/webhooks/{webhook_id}/", response_model=ObjectResponse)
async def delete_webhook(caller: Administrator, webhook_id: str) -> Response:
    """Delete a webhook."""
    await caller.memory.webhooks.delete(webhook_id)
    caller.acted_on(webhook_id)
    return encoded({"message": "Webhook deleted successfully"})


def _same_tenant(caller: Caller, project_id: str) -> None:
    if project_id != caller.principal.tenant:
        raise ProblemError("not_found", "no such project")


def _topics(events: Sequence[str] | None) -> list[str] | None:
    """Return the topics for the platform's events, which have the same names."""
    if events is None:
        return None
    if not set(events) <= set(_EVENTS):
        raise InvalidInputError(f"event_types here are {', '.join(_EVENTS)}")
    return [*events]


def _hook_out(hook: Mapping[str, Any], project_id: str) -> Item:
    shown = {name: hook.get(name) for name in ("name", "url", "is_active", "created_at", "updated_at")}
    events = [_MEMORY_EVENTS.get(topic, topic) for topic in hook["topics"]]
    return {"webhook_id": hook["id"], "project": project_id, "owner": project_id, "event_types": events, **shown}
