"""The keys of the service, beside the memories."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.tables.service_tables import API_KEY
from ebbing.domain.access_roles import role_named
from ebbing.index.shard import micros, moment
from ebbing.ports.stores.key_ring import ApiKey

_KEYS: Final = select(API_KEY)
_FIND: Final = _KEYS.where(API_KEY.c.digest == bindparam("of_digest"))
_BY_ID: Final = _KEYS.where(API_KEY.c.id == bindparam("of_id"), API_KEY.c.tenant == bindparam("of_tenant"))
_LIST: Final = _KEYS.where(API_KEY.c.tenant == bindparam("of_tenant")).order_by(
    API_KEY.c.created_at.desc(), API_KEY.c.id.desc()
)
_REVOKE: Final = (
    update(API_KEY)
    .where(
        API_KEY.c.id == bindparam("of_id"), API_KEY.c.tenant == bindparam("of_tenant"), API_KEY.c.revoked_at.is_(None)
    )
    .values(revoked_at=bindparam("new_revoked_at"))
)
_ANY: Final = select(API_KEY.c.id).limit(1)


class SqlKeyRing:
    """A `KeyRing` over the table `api_key`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, key: ApiKey) -> None:
        values = {
            "id": key.id,
            "digest": key.digest,
            "tenant": key.tenant,
            "role": key.role.word,
            "created_at": micros(key.created_at),
            "user_id": key.user_id,
            "note": key.note,
            "expires_at": None if key.expires_at is None else micros(key.expires_at),
            "revoked_at": None if key.revoked_at is None else micros(key.revoked_at),
        }
        await self._database.write(lambda db: db.execute(insert(API_KEY), values))

    async def find(self, digest: str) -> ApiKey | None:
        return _key(await self._database.row(_FIND, {"of_digest": digest}))

    async def list(self, tenant: str) -> list[ApiKey]:
        rows = await self._database.rows(_LIST, {"of_tenant": tenant})
        return [key for row in rows if (key := _key(row))]

    async def revoke(self, tenant: str, key_id: str, *, at: datetime) -> ApiKey | None:
        values = {"of_id": key_id, "of_tenant": tenant}

        async def work(db: AsyncConnection) -> ApiKey | None:
            await db.execute(_REVOKE, {**values, "new_revoked_at": micros(at)})
            return _key((await db.execute(_BY_ID, values)).first())

        return await self._database.write(work)

    async def is_empty(self) -> bool:
        return await self._database.row(_ANY) is None


def _key(row: Any) -> ApiKey | None:
    if row is None:
        return None
    return ApiKey(
        id=row.id,
        digest=row.digest,
        tenant=row.tenant,
        role=role_named(row.role),
        created_at=moment(row.created_at),
        user_id=row.user_id,
        note=row.note,
        expires_at=None if row.expires_at is None else moment(row.expires_at),
        revoked_at=None if row.revoked_at is None else moment(row.revoked_at),
    )
