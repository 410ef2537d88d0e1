"""Profiles beside the memories that they are made from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Delete, and_, bindparam, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.rows.profile_columns import entries_of, entries_text
from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.memories.owner_rows import OwnerRow, lock, lock_or_make
from ebbing.adapters.sql.tables.columns import text_digest
from ebbing.adapters.sql.tables.conditions import is_in, key_of, of_owner
from ebbing.adapters.sql.tables.owner_tables import OWNER, PROFILE, PROFILE_EDIT
from ebbing.adapters.sql.tables.service_tables import PROFILE_DEFAULT, TENANT_SETTING
from ebbing.domain.memory.profile import ProfileEdit, ProfileEntry, Section, Snapshot
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import micros, moment
from ebbing.ports.stores.profile_store import StoredProfile

_GENERATION: Final = select(OWNER.c.generation).where(of_owner(OWNER))
_SNAPSHOT: Final = select(PROFILE).where(of_owner(PROFILE))
_REVISION: Final = select(PROFILE.c.revision).where(of_owner(PROFILE))
_DROP: Final = delete(PROFILE).where(of_owner(PROFILE))
_EDITS: Final = select(PROFILE_EDIT).where(of_owner(PROFILE_EDIT))
_DROP_EDITS: Final = delete(PROFILE_EDIT).where(of_owner(PROFILE_EDIT), is_in(PROFILE_EDIT.c.slot_key, "slots"))
_OF_TENANT: Final = PROFILE_DEFAULT.c.tenant == bindparam("of_tenant")
_DEFAULTS: Final = select(PROFILE_DEFAULT.c.entries).where(_OF_TENANT)
_DROP_DEFAULTS: Final = delete(PROFILE_DEFAULT).where(_OF_TENANT)
_SETTINGS: Final = (
    select(TENANT_SETTING.c.name, TENANT_SETTING.c.value)
    .where(TENANT_SETTING.c.tenant == bindparam("of_tenant"))
    .order_by(TENANT_SETTING.c.name)
)
_DROP_SETTINGS: Final[Delete] = delete(TENANT_SETTING).where(
    and_(TENANT_SETTING.c.tenant == bindparam("of_tenant"), is_in(TENANT_SETTING.c.name, "names"))
)


class SqlProfileStore:
    """A `ProfileStore` over the tables `profile`, `profile_edit`, `profile_default` and `tenant_setting`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, scope: Scope) -> StoredProfile:
        key = key_of(scope.owner)

        async def work(db: AsyncConnection) -> StoredProfile:
            generation = (await db.execute(_GENERATION, key)).scalar()
            row = (await db.execute(_SNAPSHOT, key)).first()
            edits = sorted((_edit(edit) for edit in await db.execute(_EDITS, key)), key=lambda edit: edit.slot)
            defaults = (await db.execute(_DEFAULTS, {"of_tenant": scope.tenant})).scalar()
            return StoredProfile(
                None if row is None or not row.version else _snapshot(row),
                tuple(edits),
                entries_of(defaults),
                0 if row is None else row.revision,
                -1 if generation is None else generation,
            )

        return await self._database.read(work)

    async def keep(self, scope: Scope, snapshot: Snapshot, *, seen: int) -> bool:
        values = {
            "version": snapshot.version,
            "generation": snapshot.generation,
            "built_at": micros(snapshot.built_at),
            "holds_until": micros(snapshot.holds_until),
            "memories": snapshot.memories,
            "entries": entries_text(snapshot.entries),
        }

        async def work(db: AsyncConnection) -> bool:
            owner = await lock(db, scope.owner)
            if owner is None or await _revision(db, owner) != seen:
                return False
            await _put(db, owner, revision=seen + 1, values=values)
            return True

        return await self._database.write(work)

    async def edit(self, scope: Scope, put: Sequence[ProfileEdit], *, drop: Sequence[str] = ()) -> None:
        async def work(db: AsyncConnection) -> None:
            owner = await lock_or_make(db, scope.owner)
            rows = {edit.slot: {**owner.columns, **_edit_values(edit)} for edit in put}
            slots = [text_digest(slot) for slot in {*drop, *rows}]
            if slots:
                await db.execute(_DROP_EDITS, {**owner.key, "slots": slots})
            if rows:
                await db.execute(insert(PROFILE_EDIT), list(rows.values()))
            await _outdate(db, owner)

        await self._database.write(work)

    async def set_defaults(self, tenant: str, entries: Sequence[ProfileEntry]) -> None:
        async def work(db: AsyncConnection) -> None:
            await db.execute(_DROP_DEFAULTS, {"of_tenant": tenant})
            if entries:
                await db.execute(insert(PROFILE_DEFAULT), {"tenant": tenant, "entries": entries_text(entries)})

        await self._database.write(work)

    async def settings(self, tenant: str) -> dict[str, Any]:
        rows = await self._database.rows(_SETTINGS, {"of_tenant": tenant})
        return {name: json.loads(value) for name, value in rows}

    async def change_settings(self, tenant: str, changes: Mapping[str, Any]) -> None:
        rows = [
            {"tenant": tenant, "name": name, "value": json.dumps(value, ensure_ascii=False)}
            for name, value in changes.items()
            if value is not None
        ]

        async def work(db: AsyncConnection) -> None:
            await db.execute(_DROP_SETTINGS, {"of_tenant": tenant, "names": list(changes)})
            if rows:
                await db.execute(insert(TENANT_SETTING), rows)

        await self._database.write(work)


async def _revision(db: AsyncConnection, owner: OwnerRow) -> int:
    return (await db.execute(_REVISION, owner.key)).scalar() or 0


async def _put(db: AsyncConnection, owner: OwnerRow, *, revision: int, values: Mapping[str, Any]) -> None:
    await db.execute(_DROP, owner.key)
    await db.execute(insert(PROFILE), {**owner.columns, "revision": revision, **values})


async def _outdate(db: AsyncConnection, owner: OwnerRow) -> None:
    """Let the profile hold no longer; one that was never worked out gets a revision all the same."""
    row = (await db.execute(_SNAPSHOT, owner.key)).first()
    names = ("version", "built_at", "holds_until", "memories")
    values = {name: 0 if row is None else getattr(row, name) for name in names}
    revision = 1 if row is None else row.revision + 1
    await _put(db, owner, revision=revision, values={**values, "generation": -1, "entries": None})


def _snapshot(row: Any) -> Snapshot:
    times = (moment(row.built_at), moment(row.holds_until))
    return Snapshot(row.version, row.generation, *times, row.memories, entries_of(row.entries))


def _edit(row: Any) -> ProfileEdit:
    return ProfileEdit(row.slot, Section(row.section), row.key, moment(row.at), row.memory_id)


def _edit_values(edit: ProfileEdit) -> dict[str, Any]:
    return {
        "slot_key": text_digest(edit.slot),
        "slot": edit.slot,
        "section": edit.section,
        "key": edit.key,
        "at": micros(edit.at),
        "memory_id": edit.memory_id,
        "brought_by": None,
    }
