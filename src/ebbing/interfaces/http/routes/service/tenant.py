"""What is about the whole tenant: counts, maintenance, erasure."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.http.request_context import Administrator
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.request_models import MaintenanceBody
from ebbing.interfaces.http.schema.response_models import ObjectResponse
from ebbing.interfaces.http.schema.responses import encoded

router = operations("administration", prefix="/v1")


@router.get("/stats", response_model=ObjectResponse)
async def get_stats(caller: Administrator) -> Response:
    """Count what the tenant stores."""
    counts = await caller.memory.maintenance.stats()
    # The size of the file is of all tenants together.
    return encoded({name: count for name, count in counts.items() if name != "bytes_on_disk"})


@router.post("/maintenance/runs", response_model=ObjectResponse)
async def run_maintenance(caller: Administrator, body: MaintenanceBody) -> Response:
    """Run the daily maintenance now, for one owner or for all. With `dry_run`, list what it would change."""
    owner: dict[str, Any] = {**caller.owner_of(body)}
    return encoded(await caller.memory.maintenance.run(**owner, now=body.now, dry_run=body.dry_run))


@router.delete("/tenant", response_model=ObjectResponse)
async def erase_tenant(
    caller: Administrator, confirm: Annotated[str, Query(description="The name of the tenant.")]
) -> Response:
    """Erase all memories of the tenant. `confirm` must be the tenant's name."""
    if confirm != caller.principal.tenant:
        raise InvalidInputError(f"to erase everything, confirm with the tenant's name: {caller.principal.tenant}")
    return encoded(await caller.memory.reset())
