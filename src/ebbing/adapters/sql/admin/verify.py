"""Compares everything in the tables that was derived with what it was derived from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, Table, and_, case, exists, func, not_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.rows.entry_consistency import agrees
from ebbing.adapters.sql.tables.conditions import REACH, same_row
from ebbing.adapters.sql.tables.owner_tables import (
    CHANGE_SET,
    FEEDBACK,
    HISTORY,
    INDEX_ENTRY,
    MEMORY,
    OWNER,
    PROFILE,
    PROFILE_EDIT,
    RETURNED,
    REVISION,
    SOURCE,
)
from ebbing.adapters.sql.tables.service_tables import EMBEDDING_MODEL, IDENTITY_MERGE, PARKED_EDIT
from ebbing.domain.memory.record import Kind, content_hash
from ebbing.index.shard import digest, moment
from ebbing.language.text.analyzer import ANALYZER_VERSION
from ebbing.language.text.text_compression import unpack

_ALL: Final = {REACH: "service: everything is checked"}
_TELLER: Final = MEMORY.alias("teller")
_ENTRY_OF: Final = MEMORY.outerjoin(INDEX_ENTRY, same_row(MEMORY, INDEX_ENTRY))
_OWNED: Final = MEMORY.join(OWNER, and_(MEMORY.c.tenant == OWNER.c.tenant, MEMORY.c.owner == OWNER.c.owner))


def _count(source: Any, *conditions: ColumnElement[bool]) -> Select[Any]:
    return select(func.count()).select_from(source).where(*conditions).execution_options(**_ALL)


def _without(table: Table, other: Any, *, link: ColumnElement[bool]) -> Select[Any]:
    """How many rows of a table have no row of another one."""
    return _count(table, not_(exists(select(1).select_from(other).where(link))))


def _same_owner(table: Any, other: Any) -> ColumnElement[bool]:
    return and_(table.c.tenant == other.c.tenant, table.c.owner == other.c.owner)


_NAMED: Final = and_(_same_owner(HISTORY, MEMORY), HISTORY.c.memory_id == MEMORY.c.id)
_OF_CHANGE: Final = and_(_same_owner(REVISION, CHANGE_SET), REVISION.c.no == CHANGE_SET.c.no)
_OF_MERGE: Final = and_(PARKED_EDIT.c.tenant == IDENTITY_MERGE.c.tenant, PARKED_EDIT.c.merge == IDENTITY_MERGE.c.no)
_SEVERAL_SIZES: Final = (
    select(INDEX_ENTRY.c.model)
    .where(INDEX_ENTRY.c.vector.is_not(None))
    .group_by(INDEX_ENTRY.c.model)
    .having(func.min(func.length(INDEX_ENTRY.c.vector)) != func.max(func.length(INDEX_ENTRY.c.vector)))
    .subquery()
)
_HAS_VECTOR: Final = case((INDEX_ENTRY.c.vector.is_(None), 0), else_=1)
_HAS_MODEL: Final = case((INDEX_ENTRY.c.model.is_(None), 0), else_=1)
_COUNTS: Final = (
    (
        _count(
            _ENTRY_OF,
            MEMORY.c.deleted_at.is_(None),
            MEMORY.c.retired_at.is_(None),
            INDEX_ENTRY.c.length.is_(None),
        ),
        "{} records have no index entry",
    ),
    (
        _count(
            MEMORY,
            MEMORY.c.retired_at.is_not(None),
            MEMORY.c.superseded_by.is_not(None),
            not_(
                exists(
                    select(1)
                    .select_from(_TELLER)
                    .where(_same_owner(_TELLER, MEMORY), _TELLER.c.id == MEMORY.c.superseded_by)
                )
            ),
        ),
        "{} memories are told by a memory that is not there",
    ),
    *(
        (_without(table, MEMORY, link=same_row(table, MEMORY)), sentence)
        for table, sentence in (
            (INDEX_ENTRY, "{} index entries belong to no record"),
            (SOURCE, "{} source ids belong to no record"),
            (RETURNED, "{} counts of use belong to no record"),
            (FEEDBACK, "{} signals belong to no record"),
            (REVISION, "{} earlier states of records belong to no record"),
        )
    ),
    *(
        (_without(table, OWNER, link=_same_owner(table, OWNER)), sentence)
        for table, sentence in (
            (MEMORY, "{} records belong to no owner"),
            (PROFILE, "{} profiles belong to no owner"),
            (PROFILE_EDIT, "{} edits of profiles belong to no owner"),
            (CHANGE_SET, "{} change sets belong to no owner"),
        )
    ),
    (_without(PARKED_EDIT, IDENTITY_MERGE, link=_OF_MERGE), "{} edits of profiles wait for a merge that is not there"),
    (_without(HISTORY, MEMORY, link=_NAMED), "{} history rows belong to no record"),
    (
        _without(MEMORY, HISTORY, link=_NAMED).where(MEMORY.c.kind == Kind.MEMORY.value),
        "{} memories have no history",
    ),
    (_without(REVISION, CHANGE_SET, link=_OF_CHANGE), "{} earlier states of records belong to no change set"),
    (_count(_OWNED, MEMORY.c.seq > OWNER.c.last_seq), "{} records are numbered beyond their owner's last number"),
    (_count(_OWNED, MEMORY.c.changed > OWNER.c.generation), "{} records changed later than their owner"),
    (_count(OWNER, OWNER.c.erased_generation > OWNER.c.generation), "{} owners were erased in the future"),
    (_count(INDEX_ENTRY, _HAS_VECTOR != _HAS_MODEL), "{} index entries have a vector without a model, or the reverse"),
    (
        _without(INDEX_ENTRY, EMBEDDING_MODEL, link=INDEX_ENTRY.c.model == EMBEDDING_MODEL.c.no).where(
            INDEX_ENTRY.c.model.is_not(None)
        ),
        "{} vectors name an unknown model",
    ),
    (_count(_SEVERAL_SIZES), "{} models have vectors of several sizes"),
    (
        _count(INDEX_ENTRY, INDEX_ENTRY.c.analyzer != ANALYZER_VERSION),
        "{} index entries were made by another version of the analyser: rebuild the index",
    ),
)
_TEXTS: Final = (
    select(
        *(MEMORY.c[name] for name in ("content", "packed", "actor", "created_at", "digest")),
        *(INDEX_ENTRY.c[name] for name in ("length", "flags", "numbers", "terms", "analyzer")),
    )
    .select_from(_ENTRY_OF)
    .execution_options(**_ALL)
)


async def findings(db: AsyncConnection) -> list[str]:
    """What does not agree, as sentences without personal text; reads one moment of the store."""
    counted = [sentence async for sentence in _contradictions(db)]
    return [*counted, *[sentence async for sentence in _stale_entries(db)]]


async def _contradictions(db: AsyncConnection) -> AsyncIterator[str]:
    for statement, sentence in _COUNTS:
        count = (await db.execute(statement)).scalar_one()
        if count:
            yield sentence.format(count)


async def _stale_entries(db: AsyncConnection) -> AsyncIterator[str]:
    digests = entries = 0
    async with db.stream(_TEXTS) as rows:
        async for content, packed, actor, created, stored_digest, *entry, analyzer in rows:
            digests += stored_digest != digest(content_hash(content))
            if entry[0] is not None and analyzer == ANALYZER_VERSION:
                text = unpack(packed) if packed else content
                entries += not agrees(tuple(entry), content=text, actor=actor, created_at=moment(created))
    if digests:
        yield f"{digests} records have a digest of another text"
    if entries:
        yield f"{entries} index entries do not say what their records say: rebuild the index"
