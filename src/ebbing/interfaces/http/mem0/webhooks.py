"""The platform's routes about webhooks and profiles, on ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import Response

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.http.errors import ProblemError, documented
from ebbing.interfaces.http.mem0.request_models import HookIn
from ebbing.interfaces.http.mem0.responses import Item
from ebbing.interfaces.http.request_context import Administrator, Caller, Reader
from ebbing.interfaces.http.response_models import Anything
from ebbing.interfaces.http.responses import encoded

_TOPICS: Final = {"memory_add": "memory.added", "memory_update": "memory.updated", "memory_delete": "memory.deleted"}
_EVENTS: Final = {topic: event for event, topic in _TOPICS.items()}

router = APIRouter(tags=["mem0 platform"])


@router.get("/api/v1/webhooks/projects/{project_id}/", response_model=Anything, responses=documented())
async def webhooks(caller: Administrator, project_id: str) -> Response:
    """Who is told of what happens."""
    _same_tenant(caller, project_id)
    return encoded([_hook_out(hook, project_id) for hook in await caller.memory.webhooks()])


@router.post("/api/v1/webhooks/projects/{project_id}/", response_model=Anything, responses=documented())
async def create_webhook(caller: Administrator, project_id: str, *, body: HookIn) -> Response:
    """Have an address told of what happens. Its messages are ours, not the platform's: they name memories by id."""
    _same_tenant(caller, project_id)
    if body.url is None:
        raise InvalidInputError("give the url that is to be told")
    made = await caller.memory.add_webhook(body.url, topics=_topics(body.event_types), name=body.name)
    caller.acted_on(made["id"])
    return encoded({**_hook_out(made, project_id), "secret": made["secret"]}, headers={"Cache-Control": "no-store"})


@router.put("/api/v1/webhooks/{webhook_id}/", response_model=Anything, responses=documented())
async def change_webhook(caller: Administrator, webhook_id: str, *, body: HookIn) -> Response:
    """Give a webhook another address, name or events, or stop it for a while."""
    changed = await caller.memory.change_webhook(
        webhook_id, url=body.url, topics=_topics(body.event_types), name=body.name, is_active=body.is_active
    )
    caller.acted_on(changed["id"])
    return encoded({"message": "Webhook updated successfully", **_hook_out(changed, caller.principal.tenant)})


@router.delete("/api/v1/webhooks/{webhook_id}/", response_model=Anything, responses=documented())
async def delete_webhook(caller: Administrator, webhook_id: str) -> Response:
    """End a webhook for good."""
    await caller.memory.remove_webhook(webhook_id)
    caller.acted_on(webhook_id)
    return encoded({"message": "Webhook deleted successfully"})


@router.get("/v2/entities/user/{name}/profile/", response_model=Anything, responses=documented())
async def profile(caller: Reader, name: str) -> Response:
    """Who somebody is, put together from their memories."""
    found = await caller.memory.profile(user_id=caller.user(name))
    told = {"profile": found, "status": "succeeded", "entity_type": "user", "entity_id": name}
    return encoded({**told, "updated_at": found.get("updated_at"), "generation_count": found.get("version")})


def _same_tenant(caller: Caller, project_id: str) -> None:
    if project_id != caller.principal.tenant:
        raise ProblemError("not_found", "no such project")


def _topics(events: Sequence[str] | None) -> list[str] | None:
    """Our topics for the platform's events."""
    if events is None:
        return None
    known = [_TOPICS[event] for event in events if event in _TOPICS]
    if len(known) < len(events):
        raise InvalidInputError(f"event_types here are {', '.join(_TOPICS)}")
    return known


def _hook_out(hook: Mapping[str, Any], project_id: str) -> Item:
    shown = {name: hook.get(name) for name in ("name", "url", "is_active", "created_at", "updated_at")}
    events = [_EVENTS.get(topic, topic) for topic in hook["topics"]]
    return {"webhook_id": hook["id"], "project": project_id, "owner": project_id, "event_types": events, **shown}
