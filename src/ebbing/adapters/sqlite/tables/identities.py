"""Names of persons, and persons made one, in the same file as their memories."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from sqlite3 import Connection
from typing import Any, Final

from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.writer import GroupCommitWriter
from ebbing.adapters.sqlite.memories.move_owner import OwnerRow, Range, count, forget_shards, move, owner_row
from ebbing.adapters.sqlite.memories.rows import MAX_SEQ
from ebbing.adapters.sqlite.memories.split_owner import park_edits, part, unpark_edits
from ebbing.adapters.sqlite.tables.jobs import hand_over_jobs
from ebbing.domain.errors import ConflictError, IdentityNotFoundError, InvalidInputError
from ebbing.domain.memory.identity import MERGE_GRACE, Identity, Merge
from ebbing.index.shard import micros, moment
from ebbing.ports.job_queue import SeparateJobQueue

_COLUMNS: Final = "channel, channel_user_id, unified_id, is_primary, linked_at"
_FIND: Final = f"SELECT {_COLUMNS} FROM identity WHERE tenant = ? AND channel = ? AND channel_user_id = ?"  # noqa: S608
_LIST: Final = (
    f"SELECT {_COLUMNS} FROM identity WHERE tenant = :tenant AND (:unified IS NULL OR unified_id = :unified)"  # noqa: S608
    " AND (channel, channel_user_id) > (:channel, :name) ORDER BY channel, channel_user_id LIMIT :limit"
)
_LINK: Final = (
    "INSERT INTO identity (tenant, channel, channel_user_id, unified_id, is_primary, linked_at)"
    " SELECT :tenant, :channel, :name, :unified, NOT EXISTS"
    " (SELECT 1 FROM identity WHERE tenant = :tenant AND unified_id = :unified), :at ON CONFLICT DO NOTHING"
)
_MERGE_COLUMNS: Final = "no, kept, gone, at, memories, episodes, undone_at"
_MERGES: Final = (
    f"SELECT {_MERGE_COLUMNS} FROM identity_merge WHERE tenant = :tenant"  # noqa: S608
    " AND (:unified IS NULL OR kept = :unified OR gone = :unified) ORDER BY no DESC LIMIT :limit"
)
_REQUESTS: Final = (
    "UPDATE request SET owner_name = :kept WHERE tenant = :tenant AND owner_kind = 'user' AND owner_name = :gone"
)
_STAGED: Final = "UPDATE staged_write SET name = :kept WHERE tenant = :tenant AND kind = 'user' AND name = :gone"
_NAMES: Final = "UPDATE identity SET unified_id = :kept, is_primary = 0 WHERE tenant = :tenant AND unified_id = :gone"
_NOT_THERE: Final = "there is no merge with this id: `identities.list_merges` shows the merges"


class SqliteIdentityBook:
    """An `IdentityBook` over the tables `identity` and `identity_merge`."""

    def __init__(self, connections: Connections, writer: GroupCommitWriter) -> None:
        self._connections, self._writer = connections, writer
        self._separate_jobs: SeparateJobQueue | None = None

    async def find(self, tenant: str, channel: str, *, channel_user_id: str) -> Identity | None:
        with self._connections.reading() as db:
            return _identity_at(db, (tenant, channel, channel_user_id))

    async def get_or_create(
        self, tenant: str, channel: str, *, channel_user_id: str, unified_id: str, at: datetime
    ) -> Identity:
        identity = await self.find(tenant, channel, channel_user_id=channel_user_id)
        if identity is not None:
            return identity
        return await self._writer.run(lambda db: _linked(db, (tenant, channel, channel_user_id), to=unified_id, at=at))

    async def link(self, tenant: str, channel: str, *, channel_user_id: str, unified_id: str, at: datetime) -> Identity:
        def work(db: Connection) -> Identity:
            linked = _linked(db, (tenant, channel, channel_user_id), to=unified_id, at=at)
            if linked.unified_id != unified_id:
                raise ConflictError("this name is somebody else's: merge the two, or unlink it first")
            return linked

        return await self._writer.run(work)

    async def unlink(self, tenant: str, channel: str, *, channel_user_id: str) -> bool:
        key = (tenant, channel, channel_user_id)
        delete = "DELETE FROM identity WHERE tenant = ? AND channel = ? AND channel_user_id = ?"
        return await self._writer.run(lambda db: db.execute(delete, key).rowcount == 1)

    async def list(
        self, tenant: str, *, unified_id: str | None = None, limit: int = 100, after: tuple[str, str] | None = None
    ) -> list[Identity]:
        channel, name = after or ("", "")
        values = {"tenant": tenant, "unified": unified_id, "channel": channel, "name": name, "limit": limit}
        with self._connections.reading() as db:
            return [_identity(row) for row in db.execute(_LIST, values)]

    async def merge(self, tenant: str, target: str, *, gone: str, at: datetime) -> Merge:
        done = await self._writer.run(lambda db: _merge(db, tenant, target=target, gone=gone, at=at))
        if self._separate_jobs is not None:
            await self._separate_jobs.hand_over(tenant, target, gone=gone)
        return done

    def use_queue(self, queue: SeparateJobQueue) -> None:
        """From now on the jobs of persons are in this queue."""
        self._separate_jobs = queue

    async def undo(self, tenant: str, merge_id: int, *, at: datetime) -> Merge:
        return await self._writer.run(lambda db: _undo(db, tenant, number=merge_id, at=at))

    async def merges(self, tenant: str, *, unified_id: str | None = None, limit: int = 100) -> Sequence[Merge]:
        with self._connections.reading() as db:
            rows = db.execute(_MERGES, {"tenant": tenant, "unified": unified_id, "limit": limit})
            return [_merge_of(row) for row in rows]


def forget_identity(db: Connection, tenant: str, *, name: str) -> int:
    """Removes the names and merges of a person, within whoever's transaction; how many names."""
    merges, values = "identity_merge WHERE tenant = ? AND (kept = ? OR gone = ?)", (tenant, name, name)
    db.execute(f"DELETE FROM profile_edit WHERE owner_no IN (SELECT -no FROM {merges})", values)  # noqa: S608
    db.execute(f"DELETE FROM {merges}", values)  # noqa: S608
    return db.execute("DELETE FROM identity WHERE tenant = ? AND unified_id = ?", (tenant, name)).rowcount


def forget_identities(db: Connection, *, tenant: str) -> int:
    """The same of everybody of a tenant."""
    db.execute(
        "DELETE FROM profile_edit WHERE owner_no IN (SELECT -no FROM identity_merge WHERE tenant = ?)", (tenant,)
    )
    db.execute("DELETE FROM identity_merge WHERE tenant = ?", (tenant,))
    return db.execute("DELETE FROM identity WHERE tenant = ?", (tenant,)).rowcount


def late_heir(db: Connection, tenant: str, *, name: str, now: datetime) -> str | None:
    """Whose the memories are that somebody still writes under a name that was merged away a short time ago."""
    row = db.execute(
        "SELECT kept FROM identity_merge WHERE tenant = ? AND gone = ? AND undone_at IS NULL AND at > ?"
        " ORDER BY no DESC LIMIT 1",
        (tenant, name, micros(now - MERGE_GRACE)),
    ).fetchone()
    return None if row is None else str(row[0])


def _linked(db: Connection, key: tuple[str, str, str], *, to: str, at: datetime) -> Identity:
    tenant, channel, name = key
    db.execute(_LINK, {"tenant": tenant, "channel": channel, "name": name, "unified": to, "at": micros(at)})
    identity = _identity_at(db, key)
    assert identity is not None
    return identity


def _merge(db: Connection, tenant: str, *, target: str, gone: str, at: datetime) -> Merge:
    if target == gone:
        raise InvalidInputError("a person cannot be merged with themselves: name two")
    leaving = owner_row(db, tenant, name=gone)
    names = db.execute(
        "SELECT channel, channel_user_id, is_primary FROM identity WHERE tenant = ? AND unified_id = ?", (tenant, gone)
    ).fetchall()
    if leaving is None and not names:
        raise IdentityNotFoundError("nobody of this name has a memory or comes from a channel")
    number = _next_number(db)
    counts = (0, 0) if leaving is None else count(db, leaving)
    rows = Range(1, 0) if leaving is None else _moved(db, tenant, leaving=leaving, target=target, number=number)
    values = {"tenant": tenant, "kept": target, "gone": gone}
    hand_over_jobs(db, tenant, target=target, gone=gone)
    for statement in (_REQUESTS, _STAGED, _NAMES):
        db.execute(statement, values)
    db.execute(
        "INSERT INTO identity_merge (no, tenant, kept, gone, at, first_seq, last_seq, memories, episodes, names)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (number, tenant, target, gone, micros(at), rows.first, rows.last, *counts, json.dumps(names)),
    )
    return Merge(number, target, gone, at, *counts)


def _moved(db: Connection, tenant: str, *, leaving: OwnerRow, target: str, number: int) -> Range:
    """Moves everything that belongs to an owner to another, and removes the owner; where the rows are now."""
    staying = owner_row(db, tenant, name=target, create=True)
    assert staying is not None
    if staying.last_seq + leaving.last_seq > MAX_SEQ:
        raise InvalidInputError(f"together they have more than {MAX_SEQ} rows, which is more than one owner can")
    rows = move(db, Range(1, leaving.last_seq), of=leaving, to=staying)
    park_edits(db, leaving.no, to=staying.no, merge=number)
    for table in ("profile", "mark", "change_set"):
        db.execute(f"DELETE FROM {table} WHERE owner_no = ?", (leaving.no,))  # noqa: S608
    db.execute("DELETE FROM owner WHERE no = ?", (leaving.no,))
    return rows


def _undo(db: Connection, tenant: str, *, number: int, at: datetime) -> Merge:
    row = db.execute(
        f"SELECT {_MERGE_COLUMNS}, first_seq, last_seq, names FROM identity_merge WHERE tenant = ? AND no = ?",  # noqa: S608
        (tenant, number),
    ).fetchone()
    if row is None:
        raise IdentityNotFoundError(_NOT_THERE)
    merge, (first, last, names) = _merge_of(row[:7]), row[7:]
    if merge.undone_at is not None:
        raise InvalidInputError("this merge was undone already")
    _refuse_buried(db, tenant, merge=merge)
    staying = owner_row(db, tenant, name=merge.target)
    if staying is not None and last >= first:
        back = owner_row(db, tenant, name=merge.gone, create=True)
        assert back is not None
        rows = move(db, Range(first, last), of=staying, to=back)
        forget_shards(db, staying)
        _shift_older(db, tenant, merge=merge, by=rows.first - 1)
        unpark_edits(db, staying.no, to=back.no, merge=number)
        part(db, source=staying.no, other=back.no, at=at)
    db.executemany(
        "UPDATE identity SET unified_id = ?, is_primary = ? WHERE tenant = ? AND channel = ? AND channel_user_id = ?"
        " AND unified_id = ?",
        [(merge.gone, primary, tenant, channel, name, merge.target) for channel, name, primary in json.loads(names)],
    )
    db.execute("UPDATE identity_merge SET undone_at = ? WHERE no = ?", (micros(at), number))
    return Merge(merge.id, merge.target, merge.gone, merge.at, merge.memories, merge.episodes, at)


def _refuse_buried(db: Connection, tenant: str, *, merge: Merge) -> None:
    """Who was merged away since has nothing to give back until that is undone."""
    later = "SELECT 1 FROM identity_merge WHERE tenant = ? AND gone = ? AND no > ? AND undone_at IS NULL"
    if db.execute(later, (tenant, merge.target, merge.id)).fetchone():
        raise InvalidInputError("the person who was kept was merged into somebody else since: undo that merge first")


def _shift_older(db: Connection, tenant: str, *, merge: Merge, by: int) -> None:
    """Rows that earlier merges had brought stand further behind now, if the one who is back had new ones."""
    db.execute(
        "UPDATE identity_merge SET first_seq = first_seq + ?, last_seq = last_seq + ?"
        " WHERE tenant = ? AND kept = ? AND no < ? AND undone_at IS NULL",
        (by, by, tenant, merge.gone, merge.id),
    )


def _next_number(db: Connection) -> int:
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'identity_merge'").fetchone()
    return 1 if row is None else int(row[0]) + 1


def _identity_at(db: Connection, key: tuple[str, str, str]) -> Identity | None:
    row = db.execute(_FIND, key).fetchone()
    return None if row is None else _identity(row)


def _identity(row: Sequence[Any]) -> Identity:
    channel, name, unified, primary, at = row
    return Identity(channel, name, unified, bool(primary), moment(at))


def _merge_of(row: Sequence[Any]) -> Merge:
    no, target, gone, at, memories, episodes, undone = row
    return Merge(no, target, gone, moment(at), memories, episodes, None if undone is None else moment(undone))
