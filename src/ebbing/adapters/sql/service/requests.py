"""Requests that are remembered, beside the memories they are about."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from sqlalchemy import and_, bindparam, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.tables.conditions import REACH
from ebbing.adapters.sql.tables.service_tables import REQUEST
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import micros, moment
from ebbing.ports.stores.request_log import KeptRequest

_MINE: Final = and_(
    REQUEST.c.tenant == bindparam("of_tenant"),
    REQUEST.c.caller == bindparam("of_caller"),
    REQUEST.c.key == bindparam("of_key"),
)
_GET: Final = select(REQUEST).where(_MINE)
_LOCK: Final = _GET.with_for_update()
_TO_DO: Final = (
    select(REQUEST)
    .where(REQUEST.c.body.is_not(None))
    .order_by(REQUEST.c.begun_at)
    .limit(bindparam("most"))
    .execution_options(**{REACH: "service: work is done for every tenant"})
)
_UNANSWERED: Final = and_(_MINE, REQUEST.c.status.is_(None))
_RENEW: Final = update(REQUEST).where(_UNANSWERED).values(leased_until=bindparam("new_leased_until"))
_ANSWER: Final = ("status", "answer", "owner_kind", "owner_name", "agent_id", "run_id")
_FINISH: Final = (
    update(REQUEST).where(_UNANSWERED).values({name: bindparam(f"new_{name}") for name in _ANSWER} | {"body": None})
)
_DROP: Final = delete(REQUEST).where(_MINE)
_DROP_ANSWERED: Final = (
    delete(REQUEST)
    .where(REQUEST.c.begun_at < bindparam("before"), REQUEST.c.body.is_(None))
    .execution_options(**{REACH: "service: what is old is dropped of every tenant"})
)


class SqlRequestLog:
    """A `RequestLog` over the table `request`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, request: KeptRequest) -> KeptRequest | None:
        async def work(db: AsyncConnection) -> KeptRequest | None:
            earlier = _request((await db.execute(_LOCK, _name(request))).first())
            if earlier is not None:
                is_lost = earlier.status is None and earlier.body is None
                if not (is_lost and earlier.leased_until <= request.begun_at):
                    return earlier
                await db.execute(_DROP, _name(request))
            await db.execute(insert(REQUEST), _values(request))
            return None

        return await self._database.write(work)

    async def renew(self, request: KeptRequest, *, until: datetime) -> None:
        values = {**_name(request), "new_leased_until": micros(until)}
        await self._database.write(lambda db: db.execute(_RENEW, values))

    async def finish(self, request: KeptRequest, *, status: int, answer: str, belongs_to: Scope | None) -> None:
        values = {f"new_{name}": value for name, value in _scope_values(belongs_to).items()}
        values |= {"new_status": status, "new_answer": answer, **_name(request)}
        await self._database.write(lambda db: db.execute(_FINISH, values))

    async def drop(self, request: KeptRequest) -> None:
        await self._database.write(lambda db: db.execute(_DROP, _name(request)))

    async def get(self, tenant: str, caller: str, *, key: str) -> KeptRequest | None:
        return _request(await self._database.row(_GET, {"of_tenant": tenant, "of_caller": caller, "of_key": key}))

    async def to_do(self, *, limit: int = 1_000) -> list[KeptRequest]:
        return [item for row in await self._database.rows(_TO_DO, {"most": limit}) if (item := _request(row))]

    async def drop_answered(self, *, before: datetime) -> int:
        async def work(db: AsyncConnection) -> int:
            return (await db.execute(_DROP_ANSWERED, {"before": micros(before)})).rowcount

        return await self._database.write(work)


def _name(request: KeptRequest) -> dict[str, Any]:
    return {"of_tenant": request.tenant, "of_caller": request.caller, "of_key": request.key}


def _scope_values(scope: Scope | None) -> dict[str, Any]:
    if scope is None:
        return dict.fromkeys(("owner_kind", "owner_name", "agent_id", "run_id"))
    owner = scope.owner
    return {"owner_kind": owner.kind, "owner_name": owner.name, "agent_id": scope.agent_id, "run_id": scope.run_id}


def _values(request: KeptRequest) -> dict[str, Any]:
    return {
        "tenant": request.tenant,
        "caller": request.caller,
        "key": request.key,
        "digest": request.digest,
        "begun_at": micros(request.begun_at),
        "leased_until": micros(request.leased_until),
        **_scope_values(request.belongs_to),
        "body": request.body,
        "status": request.status,
        "answer": request.answer,
    }


def _request(row: Any) -> KeptRequest | None:
    if row is None:
        return None
    user = row.owner_name if row.owner_kind == "user" else None
    scope = Scope(user_id=user, agent_id=row.agent_id, run_id=row.run_id, tenant=row.tenant) if row.owner_kind else None
    return KeptRequest(
        tenant=row.tenant,
        caller=row.caller,
        key=row.key,
        digest=row.digest,
        begun_at=moment(row.begun_at),
        leased_until=moment(row.leased_until),
        belongs_to=scope,
        body=row.body,
        status=row.status,
        answer=row.answer,
    )
