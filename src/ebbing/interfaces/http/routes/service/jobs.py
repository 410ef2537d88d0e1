"""`/v1/jobs`: work in the background, and what became of what was accepted to be done later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from starlette.responses import Response

from ebbing.api.upkeep.jobs import NO_JOB
from ebbing.domain.errors import JobNotFoundError
from ebbing.interfaces.http.request_context import Administrator, Reader
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.response_models import JobOut, ObjectResponse
from ebbing.interfaces.http.schema.responses import added_out, encoded

router = operations("administration", prefix="/v1/jobs")

JobId = Annotated[int, Path(description="Id of a job.")]


@router.get("", response_model=ObjectResponse)
async def list_jobs(
    caller: Administrator,
    *,
    state: Literal["waiting", "running", "done", "dead"] | None = None,
    kind: Annotated[str | None, Query(description="`add`, `daily`, `extract`, `webhook` …")] = None,
    limit: Annotated[int, Query(description="1 to 1,000.")] = 100,
) -> Response:
    """List background jobs, the newest first, and count them."""
    return encoded(await caller.memory.jobs.list(state=state, kind=kind, limit=limit))


@router.get("/{job_id}", response_model=JobOut)
async def get_job(caller: Reader, job_id: JobId) -> Response:
    """Get a background job and its `result`. A credential for one user sees that user's jobs."""
    item = await caller.memory.jobs.get(job_id)
    fixed = caller.principal.user
    if fixed is not None and item.get("user_id") != fixed:
        raise JobNotFoundError(NO_JOB)
    return encoded(_with_result(item))


@router.post("/{job_id}/retry", response_model=JobOut)
async def retry_job(caller: Administrator, job_id: JobId) -> Response:
    """Retry a job that was given up."""
    caller.acted_on(str(job_id))
    return encoded(await caller.memory.jobs.retry(job_id))


def _with_result(item: Mapping[str, Any]) -> Mapping[str, Any]:
    result = item.get("result")
    return {**item, "result": added_out(result)} if result and "results" in result else item
