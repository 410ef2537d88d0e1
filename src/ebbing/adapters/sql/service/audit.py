"""Who administered what, beside the memories."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, insert, select

from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.tables.service_tables import ACT
from ebbing.index.shard import micros, moment
from ebbing.ports.stores.audit_log import Act

_LIST: Final = (
    select(ACT.c.at, ACT.c.tenant, ACT.c.who, ACT.c.what, ACT.c.target, ACT.c.outcome)
    .where(ACT.c.tenant == bindparam("of_tenant"))
    .order_by(ACT.c.no.desc())
    .limit(bindparam("most"))
)


class SqlAuditLog:
    """An `AuditLog` over the table `act`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, act: Act) -> None:
        values = {"at": micros(act.at), "tenant": act.tenant, "who": act.who, "what": act.action}
        values |= {"target": act.target, "outcome": act.outcome}
        await self._database.write(lambda db: db.execute(insert(ACT), values))

    async def list(self, tenant: str, *, limit: int = 100) -> list[Act]:
        rows = await self._database.rows(_LIST, {"of_tenant": tenant, "most": limit})
        return [Act(moment(row.at), row.tenant, row.who, row.what, row.target, row.outcome) for row in rows]
