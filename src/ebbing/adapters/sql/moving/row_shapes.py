"""Between the rows of the tables and the form that all stores share (see `ebbing.ports.stores.store_tables`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, Table, and_, select

from ebbing.adapters.sql.memories.row_values import source_digest
from ebbing.adapters.sql.service.job_rows import job_name
from ebbing.adapters.sql.tables.columns import text_digest
from ebbing.adapters.sql.tables.conditions import REACH, same_row
from ebbing.adapters.sql.tables.owner_tables import MEMORY, METADATA, OWNER, OWNER_TABLES, SOURCE
from ebbing.adapters.system.move_state import ORPHANS
from ebbing.domain.errors import StoreError
from ebbing.domain.memory.scope import Owner
from ebbing.ports.job_queue import JobState
from ebbing.ports.stores.store_tables import TABLES, Row

MOVED: Final = {name: METADATA.tables[name] for name in TABLES}
NUMBERED: Final = {
    **dict.fromkeys(("owner", "history", "identity_merge", "act", "embedding_model"), "no"),
    "job": "id",
}
"""Tables whose rows the server numbers, and the column."""
DERIVED: Final = {
    "owner": ("last_change",),
    "memory": ("app_id", "is_blank"),
    "source": ("digest",),
    "feedback": ("recall_key",),
    "profile_edit": ("slot_key",),
    "parked_edit": ("slot_key",),
    "job": ("named", "waiting", "once", "due_at"),
}
"""Columns that are worked out of others. `last_change` is, once all change sets are there."""
_OWNED: Final = frozenset(table.name for table in OWNER_TABLES)


def selection(table: Table) -> Select[Any]:
    """Return the statement that reads a table, with whose the rows are."""
    statement = select(*table.c).execution_options(**{REACH: "service: everything is moved"})
    if table.name not in _OWNED or table is OWNER:
        return statement
    same_owner = and_(table.c.tenant == OWNER.c.tenant, table.c.owner == OWNER.c.owner)
    joined = table.outerjoin(OWNER, same_owner)
    columns: list[ColumnElement[Any]] = [OWNER.c.kind.label("of_kind"), OWNER.c.name.label("of_name")]
    if table is SOURCE:
        joined = joined.outerjoin(MEMORY, same_row(SOURCE, MEMORY))
        columns.append(MEMORY.c.source_ids)
    return statement.add_columns(*columns).select_from(joined)


def shared_rows(table: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield rows of the tables in the form that all stores share.

    Raises:
        StoreError: a row belongs to nobody.
    """
    for row in rows:
        if table == "owner":
            row["owner"] = Owner(row.pop("tenant"), row.pop("kind"), row.pop("name"))
        elif table in _OWNED:
            kind, name = row.pop("of_kind"), row.pop("of_name")
            if name is None:
                raise StoreError(ORPHANS)
            row["owner"] = Owner(row.pop("tenant"), kind, name)
        if table == "source":
            row["source_id"] = _source_id(row.pop("source_ids"), row["digest"])
        for column in DERIVED.get(table, ()):
            del row[column]
        yield row


def table_rows(table: str, rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yield rows as the tables hold them."""
    derive = _DERIVE.get(table)
    for shared in rows:
        row = dict(shared)
        if table in _OWNED:
            owner = row["owner"]
            row |= {"tenant": owner.tenant, "owner": owner.digest}
            if table == "owner":
                row |= {"kind": owner.kind, "name": owner.name}
        if derive is not None:
            row |= derive(row)
        row.pop("source_id", None)
        yield row


def _source_id(source_ids: str | None, digest: str) -> str:
    for source_id in json.loads(source_ids or "[]"):
        if source_digest(source_id) == digest:
            return str(source_id)
    raise StoreError(ORPHANS)


def _of_memory(row: Row) -> dict[str, Any]:
    app = json.loads(row["metadata"]).get("app_id") if row["metadata"] else None
    return {"app_id": app if isinstance(app, str) else None, "is_blank": int(not row["content"].strip())}


def _of_edit(row: Row) -> dict[str, Any]:
    return {"slot_key": text_digest(row["slot"])}


def _of_job(row: Row) -> dict[str, Any]:
    name, state = job_name(row["kind"], row["key"]), row["state"]
    is_waiting = state == JobState.WAITING
    due_at = row["run_at"] if is_waiting else row["leased_until"] if state == JobState.RUNNING else None
    return {"named": name, "waiting": name if is_waiting else None, "once": None, "due_at": due_at}


_DERIVE: Final[dict[str, Callable[[Row], dict[str, Any]]]] = {
    "owner": lambda _: {"last_change": 0},
    "memory": _of_memory,
    "source": lambda row: {"digest": source_digest(row["source_id"])},
    "feedback": lambda row: {"recall_key": text_digest(row["recall"])},
    "profile_edit": _of_edit,
    "parked_edit": _of_edit,
    "job": _of_job,
}
