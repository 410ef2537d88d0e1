"""The keys of the service, in the same file as the memories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from sqlite3 import Connection
from typing import Any, Final

from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.writer import GroupCommitWriter
from ebbing.domain.access_roles import role_named
from ebbing.index.shard import micros, moment
from ebbing.ports.stores.key_ring import ApiKey

_COLUMNS: Final = "id, digest, tenant, role, created_at, user_id, note, expires_at, revoked_at"
_ADD: Final = f"INSERT INTO api_key ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
_FIND: Final = f"SELECT {_COLUMNS} FROM api_key WHERE digest = ?"  # noqa: S608
_BY_ID: Final = f"SELECT {_COLUMNS} FROM api_key WHERE id = ? AND tenant = ?"  # noqa: S608
_LIST: Final = f"SELECT {_COLUMNS} FROM api_key WHERE tenant = ? ORDER BY created_at DESC, id DESC"  # noqa: S608
_REVOKE: Final = "UPDATE api_key SET revoked_at = ifnull(revoked_at, ?) WHERE id = ? AND tenant = ?"


class SqliteKeyRing:
    """A `KeyRing` over the table `api_key`."""

    def __init__(self, connections: Connections, writer: GroupCommitWriter) -> None:
        self._connections, self._writer = connections, writer

    async def add(self, key: ApiKey) -> None:
        values = (
            *(key.id, key.digest, key.tenant, key.role.word, micros(key.created_at), key.user_id, key.note),
            *(_micros(key.expires_at), _micros(key.revoked_at)),
        )
        await self._writer.run(lambda db: db.execute(_ADD, values).rowcount)

    async def find(self, digest: str) -> ApiKey | None:
        with self._connections.reading() as db:
            return _key(db.execute(_FIND, (digest,)).fetchone())

    async def list(self, tenant: str) -> list[ApiKey]:
        with self._connections.reading() as db:
            return [key for row in db.execute(_LIST, (tenant,)) if (key := _key(row))]

    async def revoke(self, tenant: str, key_id: str, *, at: datetime) -> ApiKey | None:
        def work(db: Connection) -> ApiKey | None:
            db.execute(_REVOKE, (micros(at), key_id, tenant))
            return _key(db.execute(_BY_ID, (key_id, tenant)).fetchone())

        return await self._writer.run(work)

    async def is_empty(self) -> bool:
        with self._connections.reading() as db:
            return db.execute("SELECT 1 FROM api_key LIMIT 1").fetchone() is None


def _key(row: Sequence[Any] | None) -> ApiKey | None:
    if row is None:
        return None
    key_id, digest, tenant, role, created, user, note, expires, revoked = row
    return ApiKey(
        id=key_id,
        digest=digest,
        tenant=tenant,
        role=role_named(role),
        created_at=moment(created),
        user_id=user,
        note=note,
        expires_at=None if expires is None else moment(expires),
        revoked_at=None if revoked is None else moment(revoked),
    )


def _micros(at: datetime | None) -> int | None:
    return None if at is None else micros(at)
