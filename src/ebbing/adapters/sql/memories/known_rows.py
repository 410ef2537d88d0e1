"""What a list of changes has to know of the rows that are there: read at once, then kept in step with the changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.memories.owner_rows import OwnerRow
from ebbing.adapters.sql.memories.row_values import Source, source_digest, sources_of
from ebbing.adapters.sql.tables.conditions import REACH, chunks, is_in, of_owner, same_row
from ebbing.adapters.sql.tables.owner_tables import MEMORY, SOURCE
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Change, Insert

_COLUMNS: Final = tuple(
    MEMORY.c[name]
    for name in (
        *("seq", "id", "version", "content", "kind", "agent_id", "run_id", "source_ids", "compression_sources"),
        *("deleted_at", "access_count", "growth", "last_accessed_at"),
    )
)
_ROWS: Final = select(*_COLUMNS).where(of_owner(MEMORY), is_in(MEMORY.c.id, "ids"))
_TOLD_BY: Final = select(*_COLUMNS).where(of_owner(MEMORY), is_in(MEMORY.c.id, "ids"), MEMORY.c.retired_at.is_not(None))
TAKEN: Final = (
    select(MEMORY.c.id)
    .where(is_in(MEMORY.c.id, "ids"))
    .execution_options(**{REACH: "service: an id is taken once, by whomever"})
)
"""Which of some ids are taken."""
_SAME_SOURCE: Final = (
    select(SOURCE.c.digest, SOURCE.c.kind, SOURCE.c.run, SOURCE.c.seq, MEMORY.c.id)
    .join(MEMORY, same_row(SOURCE, MEMORY))
    .where(of_owner(SOURCE), is_in(SOURCE.c.digest, "digests"), SOURCE.c.place == 0, MEMORY.c.deleted_at.is_(None))
)


@dataclass(slots=True)
class KnownRow:
    """A record as it stands, as far as a change has to know it."""

    seq: int
    id: str
    version: int
    content: str
    kind: str
    agent_id: str | None
    run_id: str | None
    sources: list[Source]
    made_of: tuple[str, ...]
    is_deleted: bool
    access_count: int
    growth: float | None
    last_accessed_at: int | None

    def is_covered(self, scope: Scope) -> bool:
        """Whether the scope's agent and run, where it names them, are the row's."""
        return scope.agent_id in {None, self.agent_id} and scope.run_id in {None, self.run_id}


@dataclass(slots=True)
class KnownRows:
    """The rows that a list of changes names, by id."""

    rows: dict[str, KnownRow] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    """Ids of new records that a record has already, of whichever owner."""
    first_sources: dict[Source, dict[int, str]] = field(default_factory=dict)
    """By the first source, the rows that are not deleted: seq and id."""

    def put(self, seq: int, record: MemoryRecord, *, values: dict[str, Any]) -> KnownRow:
        """Know a record from now on as it was just written."""
        self.drop(record.id)
        row = KnownRow(
            seq=seq,
            id=record.id,
            version=record.version,
            content=record.content,
            kind=record.kind,
            agent_id=record.belongs_to.agent_id,
            run_id=record.belongs_to.run_id,
            sources=sources_of(record),
            made_of=tuple(record.compression_sources),
            is_deleted=record.deleted_at is not None,
            access_count=values["access_count"],
            growth=values["growth"],
            last_accessed_at=values["last_accessed_at"],
        )
        self.rows[row.id] = row
        if row.sources and not row.is_deleted:
            self.first_sources.setdefault(row.sources[0], {})[seq] = row.id
        return row

    def drop(self, memory_id: str) -> None:
        """Know a record no more."""
        row = self.rows.pop(memory_id, None)
        self.taken.discard(memory_id)
        if row is not None and row.sources:
            self.first_sources.get(row.sources[0], {}).pop(row.seq, None)

    def of_source(self, source: Source) -> str | None:
        """The id of the first record that came from this source and is not deleted."""
        rows = self.first_sources.get(source)
        return rows[min(rows)] if rows else None


async def known_rows(db: AsyncConnection, owner: OwnerRow, *, changes: Sequence[Change]) -> KnownRows:
    """Read what the changes name."""
    present = KnownRows()
    inserts = [change for change in changes if isinstance(change, Insert)]
    others = {_id_of(change) for change in changes if not isinstance(change, Insert)}
    for ids in chunks(sorted(others)):
        for row in await db.execute(_ROWS, {**owner.key, "ids": ids}):
            present.rows[row.id] = _row_from(row)
    for ids in chunks([change.record.id for change in inserts]):
        present.taken.update((await db.execute(TAKEN, {"ids": ids})).scalars())
    digests = {
        source_digest(change.record.provenance.source_ids[0])
        for change in inserts
        if change.once and change.record.provenance.source_ids
    }
    for some in chunks(sorted(digests)):
        for digest, kind, run, seq, memory_id in await db.execute(_SAME_SOURCE, {**owner.key, "digests": some}):
            present.first_sources.setdefault((kind, run, digest), {})[seq] = memory_id
    return present


async def told_by(db: AsyncConnection, owner: OwnerRow, *, teller: KnownRow) -> list[KnownRow]:
    """The retired records of which this one tells."""
    if not teller.made_of:
        return []
    statement = _TOLD_BY.where(MEMORY.c.superseded_by == teller.id)
    rows: Iterable[Row[Any]] = await db.execute(statement, {**owner.key, "ids": list(teller.made_of)})
    return [_row_from(row) for row in rows]


def _id_of(change: Change) -> str:
    return change.memory_id if hasattr(change, "memory_id") else change.record.id


def _row_from(row: Row[Any]) -> KnownRow:
    sources = json.loads(row.source_ids) if row.source_ids else ()
    return KnownRow(
        seq=row.seq,
        id=row.id,
        version=row.version,
        content=row.content,
        kind=row.kind,
        agent_id=row.agent_id,
        run_id=row.run_id,
        sources=[(row.kind, row.run_id or "", source_digest(source)) for source in sources],
        made_of=tuple(json.loads(row.compression_sources)) if row.compression_sources else (),
        is_deleted=row.deleted_at is not None,
        access_count=row.access_count,
        growth=row.growth,
        last_accessed_at=row.last_accessed_at,
    )
