"""What is about the whole tenant: counts, upkeep, and clearing everything."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.http.errors import documented
from ebbing.interfaces.http.request_context import Administrator
from ebbing.interfaces.http.schema.operations import Operation
from ebbing.interfaces.http.schema.request_models import ResetBody, UpkeepBody
from ebbing.interfaces.http.schema.response_models import Anything
from ebbing.interfaces.http.schema.responses import encoded

router = APIRouter(prefix="/v1", tags=["administration"], route_class=Operation)


@router.get("/stats", response_model=Anything, responses=documented())
async def get_stats(caller: Administrator) -> Response:
    """Count what the tenant stores."""
    counts = await caller.memory.maintenance.stats()
    # The size of the file is of all tenants together.
    return encoded({name: count for name, count in counts.items() if name != "bytes_on_disk"})


@router.post("/upkeep", response_model=Anything, responses=documented())
async def run_upkeep(caller: Administrator, body: UpkeepBody) -> Response:
    """Run the daily maintenance now, for one owner or for all. With `dry_run`, list what it would change."""
    whose: dict[str, Any] = {**caller.whose(body.user_id, body.agent_id, run_id=body.run_id)}
    return encoded(await caller.memory.maintenance.run(**whose, now=body.now, dry_run=body.dry_run))


@router.post("/reset", response_model=Anything, responses=documented())
async def reset_tenant(caller: Administrator, body: ResetBody) -> Response:
    """Erase all memories of the tenant. `confirm` must be the tenant's name."""
    if body.confirm != caller.principal.tenant:
        raise InvalidInputError(f"to erase everything, confirm with the tenant's name: {caller.principal.tenant}")
    return encoded(await caller.memory.reset())
