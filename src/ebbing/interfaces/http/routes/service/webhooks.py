"""`/v1/webhooks`: who is told of what happens in the tenant."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from ebbing.interfaces.http.request_context import Administrator
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.request_models import WebhookBody, WebhookChange
from ebbing.interfaces.http.schema.response_models import DeleteResponse, ObjectResponse
from ebbing.interfaces.http.schema.responses import encoded

router = operations("administration", prefix="/v1/webhooks")

WebhookId = Annotated[str, Path(description="Id of a webhook.")]


@router.post("", status_code=201, response_model=ObjectResponse)
async def create_webhook(caller: Administrator, body: WebhookBody) -> Response:
    """Create a webhook. The secret that signs its messages is shown only in this answer."""
    made = await caller.memory.webhooks.create(body.url, topics=body.topics, name=body.name)
    caller.acted_on(made["id"])
    return encoded(made, status=201, headers={"Cache-Control": "no-store"})


@router.get("", response_model=ObjectResponse)
async def list_webhooks(caller: Administrator) -> Response:
    """List webhooks, without their secrets."""
    return encoded({"webhooks": await caller.memory.webhooks.list()})


@router.put("/{webhook_id}", response_model=ObjectResponse)
async def update_webhook(caller: Administrator, webhook_id: WebhookId, *, body: WebhookChange) -> Response:
    """Update a webhook: its address, topics, name or state."""
    changed = await caller.memory.webhooks.update(
        webhook_id, url=body.url, topics=body.topics, name=body.name, is_active=body.is_active
    )
    caller.acted_on(changed["id"])
    return encoded(changed)


@router.delete("/{webhook_id}", response_model=DeleteResponse)
async def delete_webhook(caller: Administrator, webhook_id: WebhookId) -> Response:
    """Delete a webhook."""
    await caller.memory.webhooks.delete(webhook_id)
    caller.acted_on(webhook_id)
    return encoded({"deleted": True, "id": webhook_id})
