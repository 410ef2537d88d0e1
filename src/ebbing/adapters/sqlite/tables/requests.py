"""Requests that are remembered, in the same file as the memories they are about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from sqlite3 import Connection
from typing import Any, Final

from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.writer import GroupCommitWriter
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import micros, moment
from ebbing.ports.stores.request_log import KeptRequest

_COLUMNS: Final = (
    "tenant, caller, key, digest, begun_at, leased_until, owner_kind, owner_name, agent_id, run_id, body, status,"
    " answer"
)
_MINE: Final = "WHERE tenant = ? AND caller = ? AND key = ?"
_PUT: Final = f"INSERT OR REPLACE INTO request ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
_GET: Final = f"SELECT {_COLUMNS} FROM request {_MINE}"  # noqa: S608
_TO_DO: Final = f"SELECT {_COLUMNS} FROM request WHERE body IS NOT NULL ORDER BY begun_at LIMIT ?"  # noqa: S608
_RENEW: Final = f"UPDATE request SET leased_until = ? {_MINE} AND status IS NULL"  # noqa: S608
_FINISH: Final = (
    "UPDATE request SET status = ?, answer = ?, owner_kind = ?, owner_name = ?, agent_id = ?, run_id = ?, body = NULL"  # noqa: S608
    f" {_MINE} AND status IS NULL"
)
_FORGET_ANSWERS: Final = (
    "DELETE FROM request WHERE tenant = :tenant AND body IS NULL AND (owner_kind IS NULL"
    " OR (owner_kind = :kind AND owner_name = :name))"
)
_FORGET_BODIES: Final = (
    "DELETE FROM request WHERE tenant = :tenant AND body IS NOT NULL AND owner_kind = :kind AND owner_name = :name"
    " AND (:agent IS NULL OR agent_id = :agent) AND (:run IS NULL OR run_id = :run)"
)


class SqliteRequestLog:
    """A `RequestLog` over the table `request`."""

    def __init__(self, connections: Connections, writer: GroupCommitWriter) -> None:
        self._connections, self._writer = connections, writer

    async def begin(self, request: KeptRequest) -> KeptRequest | None:
        def work(db: Connection) -> KeptRequest | None:
            earlier = _request(db.execute(_GET, _name(request)).fetchone())
            is_lost = earlier is not None and earlier.status is None and earlier.body is None
            if earlier is not None and not (is_lost and earlier.leased_until <= request.begun_at):
                return earlier
            db.execute(_PUT, _values(request))
            return None

        return await self._writer.run(work)

    async def renew(self, request: KeptRequest, *, until: datetime) -> None:
        values = (micros(until), *_name(request))
        await self._writer.run(lambda db: db.execute(_RENEW, values).rowcount)

    async def finish(self, request: KeptRequest, *, status: int, answer: str, belongs_to: Scope | None) -> None:
        values = (status, answer, *_owner_columns(belongs_to), *_name(request))
        await self._writer.run(lambda db: db.execute(_FINISH, values).rowcount)

    async def drop(self, request: KeptRequest) -> None:
        await self._writer.run(lambda db: db.execute(f"DELETE FROM request {_MINE}", _name(request)).rowcount)  # noqa: S608

    async def get(self, tenant: str, caller: str, *, key: str) -> KeptRequest | None:
        with self._connections.reading() as db:
            return _request(db.execute(_GET, (tenant, caller, key)).fetchone())

    async def to_do(self, *, limit: int = 1_000) -> list[KeptRequest]:
        with self._connections.reading() as db:
            return [request for row in db.execute(_TO_DO, (limit,)) if (request := _request(row))]

    async def drop_answered(self, *, before: datetime) -> int:
        moment = (micros(before),)
        delete = "DELETE FROM request WHERE begun_at < ? AND body IS NULL"
        return await self._writer.run(lambda db: db.execute(delete, moment).rowcount)


def forget_answers(db: Connection, *, scope: Scope) -> None:
    """Removes the answers about an owner, or about nobody knows whom, within whoever's transaction."""
    db.execute(_FORGET_ANSWERS, _names(scope))


def forget_requests(db: Connection, *, scope: Scope) -> None:
    """Removes those, and what is to be done later about what the scope covers."""
    forget_answers(db, scope=scope)
    db.execute(_FORGET_BODIES, _names(scope))


def forget_requests_of_tenant(db: Connection, *, tenant: str) -> None:
    """Removes every request of a tenant."""
    db.execute("DELETE FROM request WHERE tenant = ?", (tenant,))


def _names(scope: Scope) -> dict[str, str | None]:
    owner = scope.owner
    names = {"tenant": owner.tenant, "kind": owner.kind, "name": owner.name}
    return {**names, "agent": scope.agent_id, "run": scope.run_id}


def _name(request: KeptRequest) -> tuple[str, str, str]:
    return request.tenant, request.caller, request.key


def _owner_columns(belongs_to: Scope | None) -> tuple[str | None, ...]:
    return (
        (belongs_to.owner.kind, belongs_to.owner.name, belongs_to.agent_id, belongs_to.run_id)
        if belongs_to
        else (None, None, None, None)
    )


def _values(request: KeptRequest) -> tuple[Any, ...]:
    times = (micros(request.begun_at), micros(request.leased_until))
    return (
        *_name(request),
        request.digest,
        *times,
        *_owner_columns(request.belongs_to),
        request.body,
        request.status,
        request.answer,
    )


def _request(row: Sequence[Any] | None) -> KeptRequest | None:
    if row is None:
        return None
    tenant, caller, key, digest, begun, leased, kind, name, agent, run, body, status, answer = row
    user = name if kind == "user" else None
    return KeptRequest(
        tenant=tenant,
        caller=caller,
        key=key,
        digest=digest,
        begun_at=moment(begun),
        leased_until=moment(leased),
        belongs_to=None if kind is None else Scope(user_id=user, agent_id=agent, run_id=run, tenant=tenant),
        body=body,
        status=status,
        answer=answer,
    )
