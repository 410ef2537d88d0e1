"""Jobs as BullMQ stores them, and as ours."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ebbing.adapters.system.job_payload import payload_text
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import micros, moment
from ebbing.ports.job_queue import Job, JobState, NewJob


def arguments(job: NewJob, now: datetime) -> list[str]:
    """Return what the script `add` is told of a job.

    Raises:
        InvalidInputError: its kind cannot name a queue of BullMQ, or its payload is no JSON.
    """
    if not job.kind or ":" in job.kind or not job.kind.isprintable():
        raise InvalidInputError("the kind of a job names a queue: it is not empty and has no colon")
    payload_text(job.payload)
    scope, due = job.belongs_to, job.run_at or now
    data = {
        "key": job.key,
        "payload": dict(job.payload or {}),
        "tenant": job.of_tenant,
        "user": scope and scope.user_id,
        "agent": scope and scope.agent_id,
        "run": scope and scope.run_id,
    }
    text = json.dumps({name: value for name, value in data.items() if value is not None}, ensure_ascii=False)
    try:
        (job.kind + text).encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError("a job's key or payload holds broken Unicode (a lone surrogate): replace it") from error
    attempts, due_ms = str(job.max_attempts), str(due_in_ms(due, now))
    once, owner = "1" if job.once else "", scope.owner.digest if scope else ""
    return [job.kind, job.key, text, attempts, str(micros(due)), due_ms, once, job.of_tenant, owner]


def due_in_ms(due: datetime, now: datetime) -> int:
    """Return when a job is due in milliseconds, which BullMQ counts in: never before its time."""
    exact = micros(due)
    return exact // 1_000 if due <= now else -(-exact // 1_000)


def job_of(row: Sequence[Any]) -> Job:
    """Return the job that a script gave back."""
    number, kind, state_name, (data_text, options, attempts, reason, progress, ended, due, until) = row
    data, state = json.loads(data_text), JobState(state_name)
    tenant, names = data.get("tenant", ""), (data.get("user"), data.get("agent"), data.get("run"))
    is_over, is_somebodys = state in {JobState.DONE, JobState.DEAD}, names != (None, None, None)
    noted = json.loads(progress) if progress else None
    return Job(
        id=int(number),
        kind=kind,
        key=data.get("key", number),
        payload=data.get("payload", {}),
        state=state,
        attempts=int(attempts or 0),
        max_attempts=int(json.loads(options).get("attempts", 1)),
        run_at=moment(int(due or 0)),
        leased_until=moment(int(until)) if until and state is JobState.RUNNING else None,
        last_error=reason,
        tenant=tenant,
        belongs_to=Scope(*names, tenant) if is_somebodys else None,
        progress=noted if isinstance(noted, dict) else {},
        ended_at=datetime.fromtimestamp(int(ended) / 1_000, UTC) if ended and is_over else None,
    )


def handed_over(text: str, target: str) -> str:
    """Return the data of a job that is another user's from now on."""
    data: dict[str, Any] = {**json.loads(text), "user": target}
    payload: Mapping[str, Any] = data.get("payload", {})
    if payload.get("user_id") is not None:
        data["payload"] = {**payload, "user_id": target}
    return json.dumps(data, ensure_ascii=False)
