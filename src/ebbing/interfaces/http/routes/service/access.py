"""`/v1/keys` and `/v1/audit`: who may do what in the tenant, and who administered it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from ebbing.interfaces.http.request_context import Administrator
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.request_models import KeyBody
from ebbing.interfaces.http.schema.responses import encoded

router = operations("administration", prefix="/v1")


@router.post("/keys", status_code=201)
async def create_key(caller: Administrator, body: KeyBody) -> Response:
    """Create an API key. The key is shown only in this answer."""
    made = await caller.memory.api_keys.create(
        body.role, user_id=body.user_id, note=body.note, expires_in_days=body.expires_in_days
    )
    caller.acted_on(made["id"])
    return encoded(made, status=201, headers={"Cache-Control": "no-store"})


@router.get("/keys")
async def list_keys(caller: Administrator) -> Response:
    """List API keys, without their secrets."""
    return encoded({"keys": await caller.memory.api_keys.list()})


@router.delete("/keys/{key_id}")
async def revoke_key(caller: Administrator, key_id: Annotated[str, Path(description="Id of a key.")]) -> Response:
    """Revoke an API key."""
    revoked = await caller.memory.api_keys.revoke(key_id)
    caller.acted_on(revoked["id"])
    return encoded(revoked)


@router.get("/audit")
async def list_audit_log(
    caller: Administrator, *, limit: Annotated[int, Query(description="1 to 1,000.")] = 100
) -> Response:
    """List administrative actions, the newest first."""
    return encoded({"acts": await caller.memory.audit.list(limit=limit)})
