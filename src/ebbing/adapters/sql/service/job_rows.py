"""The statements of the job queue, and its rows as jobs."""

from __future__ import annotations

import json
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, bindparam, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.tables.columns import text_digest
from ebbing.adapters.sql.tables.conditions import is_in, optional
from ebbing.adapters.sql.tables.service_tables import JOB
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import moment
from ebbing.ports.job_queue import Job, JobState

_OF_ID: Final = JOB.c.id == bindparam("of_id")
_RUNNING: Final = JOB.c.state == JobState.RUNNING.value
IN_LEASE: Final = and_(_OF_ID, _RUNNING, JOB.c.attempts == bindparam("of_attempts"))

SAME_NAME: Final = select(JOB.c.named, JOB.c.waiting).where(is_in(JOB.c.named, "names"))
WAITING: Final = select(JOB.c.id).where(JOB.c.waiting == bindparam("of_name"))
DUE: Final = (
    select(JOB)
    .where(JOB.c.due_at <= bindparam("now"), is_in(JOB.c.kind, "kinds"))
    .order_by(JOB.c.due_at, JOB.c.id)
    .limit(1)
)
CLAIM: Final = DUE.with_for_update(skip_locked=True)
"""Workers do not wait for each other: each takes the next one that nobody else is taking."""
BY_ID: Final = select(JOB).where(_OF_ID)
LOCK: Final = BY_ID.with_for_update()
LIST: Final = (
    select(JOB)
    .where(optional(JOB.c.state, "state"), optional(JOB.c.kind, "kind"), optional(JOB.c.tenant, "tenant"))
    .order_by(JOB.c.id.desc())
    .limit(bindparam("most"))
)
COUNTS: Final = (
    select(JOB.c.kind, JOB.c.state, func.count())
    .where(optional(JOB.c.tenant, "tenant"))
    .group_by(JOB.c.kind, JOB.c.state)
)
_OF_USER: Final = (
    select(JOB).where(JOB.c.tenant == bindparam("of_tenant"), JOB.c.user_id == bindparam("of_user")).with_for_update()
)
FORGET_TENANT: Final = delete(JOB).where(JOB.c.tenant == bindparam("of_tenant"))
DROP_DONE: Final = delete(JOB).where(JOB.c.state == JobState.DONE.value, JOB.c.ended_at < bindparam("before"))


async def change(db: AsyncConnection, job: Job, **values: Any) -> bool:
    """Set columns of a job in this lease; False when the lease was lost."""
    statement = update(JOB).where(IN_LEASE).values(**values)
    return (await db.execute(statement, {"of_id": job.id, "of_attempts": job.attempts})).rowcount == 1


async def change_by_id(db: AsyncConnection, job_id: int, **values: Any) -> None:
    """Set columns of a job whose row is locked."""
    await db.execute(update(JOB).where(_OF_ID).values(**values), {"of_id": job_id})


async def is_replaced(db: AsyncConnection, name: str) -> bool:
    """Whether another job of this name waits."""
    return (await db.execute(WAITING, {"of_name": name})).first() is not None


async def forget_jobs(db: AsyncConnection, scope: Scope) -> int:
    """Remove the jobs about what the scope covers, within whoever's transaction."""
    return (await db.execute(delete(JOB).where(*_about(scope)))).rowcount


async def forget_jobs_of_tenant(db: AsyncConnection, tenant: str) -> int:
    """Remove every job of a tenant, within whoever's transaction."""
    return (await db.execute(FORGET_TENANT, {"of_tenant": tenant})).rowcount


def job_name(kind: str, key: str) -> str:
    """Return what stands for kind and key in an index: a key may be long."""
    return text_digest(json.dumps([kind, key]))


def job_of(row: Any) -> Job:
    """Return the job that a row holds."""
    is_somebodys = (row.user_id, row.agent_id, row.run_id) != (None, None, None)
    return Job(
        id=row.id,
        kind=row.kind,
        key=row.key,
        payload=json.loads(row.payload),
        state=JobState(row.state),
        attempts=row.attempts,
        max_attempts=row.max_attempts,
        run_at=moment(row.run_at),
        leased_until=None if row.leased_until is None else moment(row.leased_until),
        last_error=row.last_error,
        tenant=row.tenant,
        belongs_to=Scope(row.user_id, row.agent_id, row.run_id, row.tenant) if is_somebodys else None,
        progress=json.loads(row.progress) if row.progress else {},
        ended_at=None if row.ended_at is None else moment(row.ended_at),
    )


def _about(scope: Scope) -> list[ColumnElement[bool]]:
    conditions = [JOB.c.tenant == scope.tenant, JOB.c.user_id == scope.user_id]
    if scope.user_id is None:
        conditions.append(JOB.c.agent_id == scope.agent_id)  # an owner is an agent, or a run without one
    conditions += [JOB.c.agent_id == scope.agent_id] if scope.agent_id is not None else []
    conditions += [JOB.c.run_id == scope.run_id] if scope.run_id is not None else []
    return conditions


async def hand_over_jobs(db: AsyncConnection, tenant: str, *, target: str, gone: str) -> int:
    """Give the jobs of a person to another. What is in hand is begun anew, since its worker looks where it was."""
    jobs = (await db.execute(_OF_USER, {"of_tenant": tenant, "of_user": gone})).all()
    for row in jobs:
        is_running = row.state == JobState.RUNNING
        if is_running and await is_replaced(db, row.named):
            await db.execute(delete(JOB).where(_OF_ID), {"of_id": row.id})
            continue
        payload = json.loads(row.payload)
        if payload.get("user_id") is not None:
            payload["user_id"] = target
        values: dict[str, Any] = {"user_id": target, "payload": json.dumps(payload, ensure_ascii=False)}
        if is_running:
            values |= {"state": JobState.WAITING.value, "attempts": row.attempts - 1, "leased_until": None}
            values |= {"waiting": row.named, "due_at": row.run_at}
        await change_by_id(db, row.id, **values)
    return len(jobs)
