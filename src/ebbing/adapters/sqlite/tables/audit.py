"""Who administered what, in the same file as the memories."""

from __future__ import annotations

from typing import Final

from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.writer import GroupCommitWriter
from ebbing.index.shard import micros, moment
from ebbing.ports.stores.audit_log import Act

_NOTE: Final = "INSERT INTO act (at, tenant, who, what, target, outcome) VALUES (?, ?, ?, ?, ?, ?)"
_LIST: Final = "SELECT at, tenant, who, what, target, outcome FROM act WHERE tenant = ? ORDER BY no DESC LIMIT ?"


class SqliteAuditLog:
    """An `AuditLog` over the table `act`."""

    def __init__(self, connections: Connections, writer: GroupCommitWriter) -> None:
        self._connections, self._writer = connections, writer

    async def note(self, act: Act) -> None:
        values = (micros(act.at), act.tenant, act.who, act.action, act.target, act.outcome)
        await self._writer.run(lambda db: db.execute(_NOTE, values).rowcount)

    async def list(self, tenant: str, *, limit: int = 100) -> list[Act]:
        with self._connections.reading() as db:
            return [Act(moment(at), *rest) for at, *rest in db.execute(_LIST, (tenant, limit))]
