"""The statements of the job queue, and its rows as jobs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import moment
from ebbing.ports.job_queue import Job, JobState

# Names of columns and conditions are put together here, values never.
# ruff: noqa: S608

COLUMNS: Final = (
    "id, kind, key, payload, state, attempts, max_attempts, run_at, leased_until, last_error,"
    " tenant, user_id, agent_id, run_id, progress, ended_at"
)

ADD: Final = (
    "INSERT INTO job (kind, key, payload, state, attempts, max_attempts, run_at, tenant, user_id, agent_id, run_id)"
    " SELECT :kind, :key, :payload, 'waiting', 0, :max_attempts, :run_at, :tenant, :user, :agent, :run"
    " WHERE NOT (:once AND EXISTS (SELECT 1 FROM job WHERE kind = :kind AND key = :key)) ON CONFLICT DO NOTHING"
)
"""Nothing where one of the same name waits; with `once`, where one of the same name is there at all."""
WAITING: Final = "SELECT id FROM job WHERE kind = :kind AND key = :key AND state = 'waiting'"

_NEXT: Final = "ORDER BY run_at, id LIMIT 1"
DUE: Final = (
    f"SELECT run_at, id FROM job WHERE kind = :kind AND state = 'waiting' AND run_at <= :now {_NEXT}",
    f"SELECT run_at, id FROM job WHERE kind = :kind AND state = 'running' AND leased_until <= :now {_NEXT}",
)
"""Of one kind, so that an index leads to the first however many wait."""
BURY: Final = (
    "UPDATE job SET state = 'dead', leased_until = NULL, last_error = :lost, ended_at = :now"
    " WHERE state = 'running' AND leased_until <= :now AND attempts >= max_attempts"
)
"""A job whose last worker died is not tried for ever: it may be what kills them."""
LEASE: Final = "UPDATE job SET state = 'running', attempts = attempts + 1, leased_until = ? WHERE id = ?"

_LEASED: Final = "WHERE id = ? AND state = 'running' AND attempts = ?"
RENEW: Final = f"UPDATE job SET leased_until = ?, progress = ifnull(?, progress) {_LEASED}"
COMPLETE: Final = f"UPDATE job SET state = 'done', leased_until = NULL, last_error = NULL, ended_at = ? {_LEASED}"

_IN_LEASE: Final = "WHERE id = :id AND state = 'running' AND attempts = :attempts"
_REPLACED: Final = "EXISTS (SELECT 1 FROM job WHERE kind = :kind AND key = :key AND state = 'waiting')"
FAIL: Final = (
    f"UPDATE job SET state = iif(:last OR {_REPLACED}, 'dead', 'waiting'), run_at = :again, leased_until = NULL,"
    f" last_error = :error, ended_at = iif(:last OR {_REPLACED}, :now, NULL) {_IN_LEASE}"
)
GIVE_WAY: Final = f"DELETE FROM job {_IN_LEASE} AND {_REPLACED}"
RELEASE: Final = f"UPDATE job SET state = 'waiting', attempts = attempts - 1, leased_until = NULL {_IN_LEASE}"

BY_ID: Final = f"SELECT {COLUMNS} FROM job WHERE id = ?"
LIST: Final = (
    f"SELECT {COLUMNS} FROM job WHERE (:state IS NULL OR state = :state) AND (:kind IS NULL OR kind = :kind)"
    " AND (:tenant IS NULL OR tenant = :tenant) ORDER BY id DESC LIMIT :limit"
)
COUNTS: Final = "SELECT kind, state, count(*) FROM job WHERE :tenant IS NULL OR tenant = :tenant GROUP BY kind, state"
REQUEUE: Final = (
    "UPDATE job SET state = 'waiting', run_at = :now, max_attempts = attempts + :tries, ended_at = NULL"
    " WHERE id = :id AND state = 'dead' AND NOT EXISTS (SELECT 1 FROM job AS other"
    " WHERE other.kind = job.kind AND other.key = job.key AND other.state = 'waiting')"
)
"""The attempts are counted on, because their number names the lease."""
FORGET: Final = (
    "DELETE FROM job WHERE tenant = :tenant AND user_id IS :user AND (:user IS NOT NULL OR agent_id IS :agent)"
    " AND (:agent IS NULL OR agent_id = :agent) AND (:run IS NULL OR run_id = :run)"
)
# What is in hand is begun anew, since its worker looks for the memories where they were.
HAND_OVER_IN_HAND: Final = (
    "DELETE FROM job WHERE tenant = :tenant AND user_id = :gone AND state = 'running' AND EXISTS (SELECT 1 FROM job"
    " AS other WHERE other.kind = job.kind AND other.key = job.key AND other.state = 'waiting')"
)
HAND_OVER: Final = (
    "UPDATE job SET user_id = :target, payload = iif(json_extract(payload, '$.user_id') IS NULL, payload,"
    " json_set(payload, '$.user_id', :target)), attempts = attempts - (state = 'running'),"
    " state = iif(state = 'running', 'waiting', state), leased_until = NULL WHERE tenant = :tenant AND user_id = :gone"
)
DROP_DONE: Final = "DELETE FROM job WHERE state = 'done' AND ended_at < ?"


def lease_of(job: Job) -> dict[str, Any]:
    """What a job in this lease is known by."""
    return {"id": job.id, "attempts": job.attempts, "kind": job.kind, "key": job.key}


def job_of(row: Sequence[Any]) -> Job:
    """The job that a row of `COLUMNS` holds."""
    number, kind, key, payload, state, attempts, max_attempts, run_at, leased_until, last_error, *rest = row
    tenant, user, agent, run, progress, ended_at = rest
    is_somebodys = (user, agent, run) != (None, None, None)
    return Job(
        id=number,
        kind=kind,
        key=key,
        payload=json.loads(payload),
        state=JobState(state),
        attempts=attempts,
        max_attempts=max_attempts,
        run_at=moment(run_at),
        leased_until=None if leased_until is None else moment(leased_until),
        last_error=last_error,
        tenant=tenant,
        belongs_to=Scope(user, agent, run, tenant) if is_somebodys else None,
        progress=json.loads(progress) if progress else {},
        ended_at=None if ended_at is None else moment(ended_at),
    )
