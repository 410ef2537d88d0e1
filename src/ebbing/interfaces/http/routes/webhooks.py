"""`/v1/webhooks`: who is told of what happens in the tenant."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from ebbing.interfaces.http.errors import documented
from ebbing.interfaces.http.request_context import Administrator
from ebbing.interfaces.http.request_models import WebhookBody, WebhookChange
from ebbing.interfaces.http.response_models import Anything, Deleted
from ebbing.interfaces.http.responses import encoded

router = APIRouter(prefix="/v1/webhooks", tags=["administration"])

WebhookId = Annotated[str, Path(description="Id of a webhook.")]


@router.post("", status_code=201, response_model=Anything, responses=documented())
async def add_webhook(caller: Administrator, body: WebhookBody) -> Response:
    """Have an address told of what happens; the secret that signs its messages is told now and never again."""
    made = await caller.memory.add_webhook(body.url, topics=body.topics, name=body.name)
    caller.acted_on(made["id"])
    return encoded(made, status=201, headers={"Cache-Control": "no-store"})


@router.get("", response_model=Anything, responses=documented())
async def list_webhooks(caller: Administrator) -> Response:
    """The webhooks of this tenant, without their secrets."""
    return encoded({"webhooks": await caller.memory.webhooks()})


@router.put("/{webhook_id}", response_model=Anything, responses=documented())
async def change_webhook(caller: Administrator, webhook_id: WebhookId, *, body: WebhookChange) -> Response:
    """Give a webhook another address, topics or name, or stop it for a while."""
    changed = await caller.memory.change_webhook(
        webhook_id, url=body.url, topics=body.topics, name=body.name, is_active=body.is_active
    )
    caller.acted_on(changed["id"])
    return encoded(changed)


@router.delete("/{webhook_id}", response_model=Deleted, responses=documented())
async def remove_webhook(caller: Administrator, webhook_id: WebhookId) -> Response:
    """End a webhook for good."""
    await caller.memory.remove_webhook(webhook_id)
    caller.acted_on(webhook_id)
    return encoded({"deleted": True, "id": webhook_id})
