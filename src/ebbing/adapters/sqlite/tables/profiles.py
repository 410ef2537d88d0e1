"""Profiles in the same file as the memories that they are made from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from sqlite3 import Connection
from typing import Any, Final

from ebbing.adapters.rows.profile_columns import entries_of, entries_text
from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.writer import GroupCommitWriter
from ebbing.domain.memory.profile import ProfileEdit, ProfileEntry, Section, Snapshot
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.shard import micros, moment
from ebbing.ports.stores.profile_store import StoredProfile

_OWNER: Final = "SELECT no, generation FROM owner WHERE tenant = ? AND kind = ? AND name = ?"
_SNAPSHOT: Final = (
    "SELECT revision, version, generation, built_at, holds_until, memories, entries FROM profile WHERE owner_no = ?"
)
_EDITS: Final = "SELECT slot, section, key, at, memory_id FROM profile_edit WHERE owner_no = ? ORDER BY slot"
_DEFAULTS: Final = "SELECT entries FROM profile_default WHERE tenant = ?"
_KEEP: Final = (
    "INSERT INTO profile (owner_no, revision, version, generation, built_at, holds_until, memories, entries)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (owner_no) DO UPDATE SET revision = excluded.revision,"
    " version = excluded.version, generation = excluded.generation, built_at = excluded.built_at,"
    " holds_until = excluded.holds_until, memories = excluded.memories, entries = excluded.entries"
)
_STALE: Final = (
    "INSERT INTO profile (owner_no, revision, version, generation, built_at, holds_until, memories)"
    " VALUES (?, 1, 0, -1, 0, 0, 0) ON CONFLICT (owner_no) DO UPDATE SET revision = revision + 1, generation = -1,"
    " entries = NULL"
)
_EDIT: Final = (
    "INSERT OR REPLACE INTO profile_edit (owner_no, slot, section, key, at, memory_id) VALUES (?, ?, ?, ?, ?, ?)"
)


class SqliteProfileStore:
    """A `ProfileStore` over the tables `profile`, `profile_edit`, `profile_default` and `tenant_setting`."""

    def __init__(self, connections: Connections, writer: GroupCommitWriter) -> None:
        self._connections, self._writer = connections, writer

    async def read(self, scope: Scope) -> StoredProfile:
        with self._connections.reading() as db:
            db.execute("BEGIN")
            no, generation = db.execute(_OWNER, _key(scope.owner)).fetchone() or (None, -1)
            row = db.execute(_SNAPSHOT, (no,)).fetchone()
            edits = db.execute(_EDITS, (no,)).fetchall()
            defaults = db.execute(_DEFAULTS, (scope.tenant,)).fetchone()
        return StoredProfile(
            None if row is None or not row[1] else _snapshot(row[1:]),
            tuple(_edit(edit) for edit in edits),
            () if defaults is None else entries_of(defaults[0]),
            0 if row is None else row[0],
            generation,
        )

    async def keep(self, scope: Scope, snapshot: Snapshot, *, seen: int) -> bool:
        times = (micros(snapshot.built_at), micros(snapshot.holds_until))
        values = (snapshot.version, snapshot.generation, *times, snapshot.memories, entries_text(snapshot.entries))

        def work(db: Connection) -> bool:
            no = _number(db, scope.owner)
            row = db.execute("SELECT revision FROM profile WHERE owner_no = ?", (no,)).fetchone()
            if no is None or (0 if row is None else row[0]) != seen:
                return False
            db.execute(_KEEP, (no, seen + 1, *values))
            return True

        return await self._writer.run(work)

    async def edit(self, scope: Scope, put: Sequence[ProfileEdit], *, drop: Sequence[str] = ()) -> None:
        values = [(edit.slot, edit.section, edit.key, micros(edit.at), edit.memory_id) for edit in put]

        def work(db: Connection) -> None:
            db.execute("INSERT OR IGNORE INTO owner (tenant, kind, name) VALUES (?, ?, ?)", _key(scope.owner))
            no = _number(db, scope.owner)
            db.executemany("DELETE FROM profile_edit WHERE owner_no = ? AND slot = ?", [(no, slot) for slot in drop])
            db.executemany(_EDIT, [(no, *value) for value in values])
            db.execute(_STALE, (no,))

        await self._writer.run(work)

    async def set_defaults(self, tenant: str, entries: Sequence[ProfileEntry]) -> None:
        text = entries_text(entries)

        def work(db: Connection) -> None:
            db.execute("DELETE FROM profile_default WHERE tenant = ?", (tenant,))
            if entries:
                db.execute("INSERT INTO profile_default (tenant, entries) VALUES (?, ?)", (tenant, text))

        await self._writer.run(work)

    async def settings(self, tenant: str) -> dict[str, Any]:
        with self._connections.reading() as db:
            rows = db.execute("SELECT name, value FROM tenant_setting WHERE tenant = ? ORDER BY name", (tenant,))
            return {name: json.loads(value) for name, value in rows}

    async def change_settings(self, tenant: str, changes: Mapping[str, Any]) -> None:
        texts = {name: json.dumps(value, ensure_ascii=False) for name, value in changes.items() if value is not None}

        def work(db: Connection) -> None:
            names = [(tenant, name) for name in changes]
            db.executemany("DELETE FROM tenant_setting WHERE tenant = ? AND name = ?", names)
            values = [(tenant, name, text) for name, text in texts.items()]
            db.executemany("INSERT INTO tenant_setting (tenant, name, value) VALUES (?, ?, ?)", values)

        await self._writer.run(work)


def forget_memory(db: Connection, memory_id: str, *, owner_no: int) -> None:
    """Takes what a profile says out of the file, since a memory that it may tell of is gone for good."""
    for place in ("owner_no = ?1", "owner_no < 0"):  # below nought wait edits that gave way in a merge
        db.execute(f"DELETE FROM profile_edit WHERE {place} AND memory_id = ?2", (owner_no, memory_id))  # noqa: S608
    db.execute(
        "UPDATE profile SET revision = revision + 1, generation = -1, entries = NULL WHERE owner_no = ?", (owner_no,)
    )


def _number(db: Connection, owner: Owner) -> int | None:
    row = db.execute(_OWNER, _key(owner)).fetchone()
    return None if row is None else int(row[0])


def _key(owner: Owner) -> tuple[str, str, str]:
    return owner.tenant, owner.kind, owner.name


def _snapshot(row: Sequence[Any]) -> Snapshot:
    version, generation, built_at, holds_until, memories, entries = row
    return Snapshot(version, generation, moment(built_at), moment(holds_until), memories, entries_of(entries))


def _edit(row: Sequence[Any]) -> ProfileEdit:
    slot, section, key, at, memory_id = row
    return ProfileEdit(slot, Section(section), key, moment(at), memory_id)
