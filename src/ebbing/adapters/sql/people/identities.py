"""Names of persons, and persons made one, in the same database as their memories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import and_, bindparam, delete, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.people.identity_rows import merge_of
from ebbing.adapters.sql.people.merging import merge_persons, undo_merge
from ebbing.adapters.sql.tables.conditions import optional
from ebbing.adapters.sql.tables.service_tables import IDENTITY, IDENTITY_MERGE
from ebbing.domain.errors import ConflictError
from ebbing.domain.memory.identity import Identity, Merge
from ebbing.index.shard import micros, moment
from ebbing.ports.job_queue import SeparateJobQueue

_OF_TENANT: Final = IDENTITY.c.tenant == bindparam("of_tenant")
_THIS: Final = and_(
    _OF_TENANT,
    IDENTITY.c.channel == bindparam("of_channel"),
    IDENTITY.c.channel_user_id == bindparam("of_name"),
)
_FIND: Final = select(IDENTITY).where(_THIS)
_UNLINK: Final = delete(IDENTITY).where(_THIS)
_NAMES_OF: Final = select(IDENTITY.c.channel).where(_OF_TENANT, IDENTITY.c.unified_id == bindparam("unified")).limit(1)
_LIST: Final = (
    select(IDENTITY)
    .where(
        _OF_TENANT,
        optional(IDENTITY.c.unified_id, "unified"),
        or_(
            IDENTITY.c.channel > bindparam("channel"),
            and_(IDENTITY.c.channel == bindparam("channel"), IDENTITY.c.channel_user_id > bindparam("name")),
        ),
    )
    .order_by(IDENTITY.c.channel, IDENTITY.c.channel_user_id)
    .limit(bindparam("most"))
)
_MERGES: Final = (
    select(IDENTITY_MERGE)
    .where(
        IDENTITY_MERGE.c.tenant == bindparam("of_tenant"),
        or_(optional(IDENTITY_MERGE.c.kept, "unified"), optional(IDENTITY_MERGE.c.gone, "unified")),
    )
    .order_by(IDENTITY_MERGE.c.no.desc())
    .limit(bindparam("most"))
)


class SqlIdentityBook:
    """An `IdentityBook` over the tables `identity` and `identity_merge`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._separate_jobs: SeparateJobQueue | None = None

    async def find(self, tenant: str, channel: str, *, channel_user_id: str) -> Identity | None:
        row = await self._database.row(_FIND, _key(tenant, channel, name=channel_user_id))
        return None if row is None else _identity(row)

    async def get_or_create(
        self, tenant: str, channel: str, *, channel_user_id: str, unified_id: str, at: datetime
    ) -> Identity:
        identity = await self.find(tenant, channel, channel_user_id=channel_user_id)
        if identity is not None:
            return identity
        key = _key(tenant, channel, name=channel_user_id)
        return await self._database.write(lambda db: _linked(db, key, to=unified_id, at=at))

    async def link(self, tenant: str, channel: str, *, channel_user_id: str, unified_id: str, at: datetime) -> Identity:
        key = _key(tenant, channel, name=channel_user_id)
        linked = await self._database.write(lambda db: _linked(db, key, to=unified_id, at=at))
        if linked.unified_id != unified_id:
            raise ConflictError("this name is somebody else's: merge the two, or unlink it first")
        return linked

    async def unlink(self, tenant: str, channel: str, *, channel_user_id: str) -> bool:
        key = _key(tenant, channel, name=channel_user_id)

        async def work(db: AsyncConnection) -> bool:
            return (await db.execute(_UNLINK, key)).rowcount == 1

        return await self._database.write(work)

    async def list(
        self, tenant: str, *, unified_id: str | None = None, limit: int = 100, after: tuple[str, str] | None = None
    ) -> list[Identity]:
        channel, name = after or ("", "")
        values = {"of_tenant": tenant, "unified": unified_id, "channel": channel, "name": name, "most": limit}
        return [_identity(row) for row in await self._database.rows(_LIST, values)]

    async def merge(self, tenant: str, target: str, *, gone: str, at: datetime) -> Merge:
        done = await self._database.write(lambda db: merge_persons(db, tenant, target=target, gone=gone, at=at))
        if self._separate_jobs is not None:
            await self._separate_jobs.hand_over(tenant, target, gone=gone)
        return done

    def use_queue(self, queue: SeparateJobQueue) -> None:
        """From now on the jobs of persons are in this queue."""
        self._separate_jobs = queue

    async def undo(self, tenant: str, merge_id: int, *, at: datetime) -> Merge:
        return await self._database.write(lambda db: undo_merge(db, tenant, number=merge_id, at=at))

    async def merges(self, tenant: str, *, unified_id: str | None = None, limit: int = 100) -> Sequence[Merge]:
        values = {"of_tenant": tenant, "unified": unified_id, "most": limit}
        return [merge_of(row) for row in await self._database.rows(_MERGES, values)]


async def _linked(db: AsyncConnection, key: dict[str, Any], *, to: str, at: datetime) -> Identity:
    """The name as it is linked; where it was nobody's, it is this person's from now on."""
    row = (await db.execute(_FIND, key)).first()
    if row is not None:
        return _identity(row)
    is_first = (await db.execute(_NAMES_OF, {"of_tenant": key["of_tenant"], "unified": to})).first() is None
    values = {"tenant": key["of_tenant"], "channel": key["of_channel"], "channel_user_id": key["of_name"]}
    values |= {"unified_id": to, "is_primary": int(is_first), "linked_at": micros(at)}
    await db.execute(insert(IDENTITY), values)
    return Identity(key["of_channel"], key["of_name"], to, is_first, at)


def _key(tenant: str, channel: str, *, name: str) -> dict[str, Any]:
    return {"of_tenant": tenant, "of_channel": channel, "of_name": name}


def _identity(row: Any) -> Identity:
    return Identity(row.channel, row.channel_user_id, row.unified_id, bool(row.is_primary), moment(row.linked_at))
