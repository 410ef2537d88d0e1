"""What a tenant has, counted, and which rows of an owner are to be indexed anew."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection
from typing import Any, Final

from ebbing.adapters.rows.counts import stats_of
from ebbing.adapters.rows.record_columns import RECORD_COLUMNS, record_of
from ebbing.adapters.sqlite.memories.rows import first_mid, last_mid
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.shard import vector_of
from ebbing.language.text.analyzer import ANALYZER_VERSION
from ebbing.ports.stores.memory_store import Outdated, Share, StoreStats

_COLUMNS: Final = ", ".join(f"memory.{name}" for name in RECORD_COLUMNS)
_ENTRIES: Final = "LEFT JOIN index_entry USING (mid) LEFT JOIN model ON model.no = index_entry.model"
_BLANK: Final = "' ' || char(9, 10, 11, 12, 13, 160, 12288)"
# A row that faded from its vector on purpose, or has no text, needs none.
_BARE: Final = (
    f"(:model IS NOT NULL AND stage IS NULL AND retired_at IS NULL AND (vector IS NULL OR model.name IS NOT :model)"
    f" AND trim(content, {_BLANK}) <> '')"
)
_COUNTS: Final = (
    f"SELECT memory.kind, layer, type, deleted_at IS NOT NULL, model.name, count(*), sum({_BARE})"  # noqa: S608
    f" FROM owner JOIN memory ON mid BETWEEN owner.no << 24 AND owner.no << 24 | 16777215 {_ENTRIES}"
    " WHERE tenant = :tenant GROUP BY 1, 2, 3, 4, 5"
)
OWNERS: Final = (
    "SELECT tenant, kind, name FROM owner WHERE tenant = ? AND EXISTS (SELECT 1 FROM memory"
    " WHERE mid BETWEEN owner.no << 24 AND owner.no << 24 | 16777215 AND (? OR deleted_at IS NULL)) ORDER BY no"
)
SHARES: Final = (
    "SELECT tenant, owner.kind, name, agent_id, run_id, json_extract(metadata, '$.app_id') AS app_id,"
    " sum(memory.kind = 'memory' AND retired_at IS NULL)"
    " FROM owner JOIN memory ON mid BETWEEN owner.no << 24 AND owner.no << 24 | 16777215"
    " WHERE tenant = ?1 AND deleted_at IS NULL AND (?2 IS NULL OR agent_id = ?2)"
    " AND (?3 IS NULL OR run_id = ?3) AND (?4 IS NULL OR app_id = ?4)"
    " GROUP BY owner.no, agent_id, run_id, app_id ORDER BY owner.no"
)
_OUTDATED: Final = (
    f"SELECT memory.mid & 16777215, flags, iif(model.name IS :model, vector, NULL), {_COLUMNS} FROM memory {_ENTRIES}"  # noqa: S608
    " WHERE memory.mid > :after AND memory.mid <= :last AND deleted_at IS NULL AND retired_at IS NULL"
    f" AND (length IS NULL OR analyzer <> :analyzer OR {_BARE}) ORDER BY memory.mid LIMIT :limit"
)


def counts(db: Connection, *, tenant: str, model_id: str | None) -> StoreStats:
    """How many rows there are of what; without the owners, and without what the file itself is."""
    return stats_of(db.execute(_COUNTS, {"tenant": tenant, "model": model_id}))


def outdated(db: Connection, scope: Scope, *, model_id: str | None, limit: int, after: int) -> list[Outdated]:
    """See `MemoryStore.outdated`."""
    owner = scope.owner
    rows = db.execute(
        "SELECT no FROM owner WHERE tenant = ? AND kind = ? AND name = ?", (owner.tenant, owner.kind, owner.name)
    ).fetchone()
    if rows is None:
        return []
    first, last = first_mid(rows[0]), last_mid(rows[0])
    values = {"model": model_id, "analyzer": ANALYZER_VERSION, "after": first + after, "last": last, "limit": limit}
    return [
        Outdated(
            seq,
            record_of(row, user=scope.user_id, tenant=scope.tenant),
            flags,
            vector_of(vector),
        )
        for seq, flags, vector, *row in db.execute(_OUTDATED, values)
    ]


def shares(rows: Sequence[Sequence[Any]]) -> list[Share]:
    """Return what the statement `SHARES` found."""
    return [Share(Owner(*row[:3]), row[3], row[4], _text(row[5]), row[6]) for row in rows]


def _text(value: object) -> str | None:
    """Return an app's name; metadata may hold anything under its key."""
    return value if isinstance(value, str) else None
