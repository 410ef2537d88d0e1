"""What is about the whole tenant: counts, upkeep, and clearing everything."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.http.errors import documented
from ebbing.interfaces.http.request_context import Administrator
from ebbing.interfaces.http.request_models import ResetBody, UpkeepBody
from ebbing.interfaces.http.response_models import Anything
from ebbing.interfaces.http.responses import encoded

router = APIRouter(prefix="/v1", tags=["administration"])


@router.get("/stats", response_model=Anything, responses=documented())
async def stats(caller: Administrator) -> Response:
    """How much this tenant keeps."""
    counts = await caller.memory.stats()
    del counts["bytes_on_disk"]  # of all tenants together
    return encoded(counts)


@router.post("/upkeep", response_model=Anything, responses=documented())
async def upkeep(caller: Administrator, body: UpkeepBody) -> Response:
    """Do what the daily round does, of one owner or of all, or only tell what it would."""
    whose: dict[str, Any] = {**caller.whose(body.user_id, body.agent_id, run_id=body.run_id)}
    return encoded(await caller.memory.upkeep(**whose, now=body.now, dry_run=body.dry_run))


@router.post("/reset", response_model=Anything, responses=documented())
async def reset(caller: Administrator, body: ResetBody) -> Response:
    """Erase everything of this tenant for good; `confirm` is its name."""
    if body.confirm != caller.principal.tenant:
        raise InvalidInputError(f"to erase everything, confirm with the tenant's name: {caller.principal.tenant}")
    return encoded(await caller.memory.reset())
