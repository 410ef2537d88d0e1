"""Removes everything that a scope or a tenant has, from every table, inside one transaction."""

from __future__ import annotations

from sqlite3 import Connection
from typing import Final

from ebbing.adapters.rows.counts import receipt_of
from ebbing.adapters.rows.record_columns import RECORD_COLUMNS
from ebbing.adapters.sqlite.memories.outbox import is_followed
from ebbing.adapters.sqlite.memories.rows import first_mid, last_mid
from ebbing.adapters.sqlite.tables.identities import forget_identities, forget_identity
from ebbing.adapters.sqlite.tables.jobs import forget_jobs, forget_jobs_of_tenant
from ebbing.adapters.sqlite.tables.requests import forget_requests, forget_requests_of_tenant
from ebbing.domain.memory.record import Kind
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Receipt

_COVERED: Final = (
    "mid BETWEEN :first AND :last AND (:agent IS NULL OR agent_id = :agent) AND (:run IS NULL OR run_id = :run)"
)
_STEPS: Final = {
    "outbox": f"INSERT INTO outbox (mid, memory_id, op) SELECT mid, id, 'erase' FROM memory WHERE {_COVERED}",  # noqa: S608
    "history": f"DELETE FROM history WHERE memory_id IN (SELECT id FROM memory WHERE {_COVERED})",  # noqa: S608
    "index": f"DELETE FROM index_entry WHERE mid IN (SELECT mid FROM memory WHERE {_COVERED})",  # noqa: S608
    "source": (
        "DELETE FROM source WHERE owner_no = :no AND mid IN"  # noqa: S608
        f" (SELECT mid FROM memory WHERE {_COVERED})"
    ),
    "returned": f"DELETE FROM returned WHERE mid IN (SELECT mid FROM memory WHERE {_COVERED})",  # noqa: S608
    "feedback": f"DELETE FROM feedback WHERE mid IN (SELECT mid FROM memory WHERE {_COVERED})",  # noqa: S608
    "revision": f"DELETE FROM revision WHERE mid IN (SELECT mid FROM memory WHERE {_COVERED})",  # noqa: S608
    "edits": (
        "DELETE FROM profile_edit WHERE owner_no = :no AND (:agent IS NULL AND :run IS NULL OR memory_id IN"  # noqa: S608
        f" (SELECT id FROM memory WHERE {_COVERED}))"
    ),
    "profile": "UPDATE profile SET revision = revision + 1, generation = -1, entries = NULL WHERE owner_no = :no",
    "episodes": f"DELETE FROM memory WHERE kind = :episode AND {_COVERED}",  # noqa: S608
    "memories": f"DELETE FROM memory WHERE {_COVERED}",  # noqa: S608
}


# Only what could not be taken in is left of the writes that an earlier version staged. Where these are records column
# by column, the agent and run of the first are those of all; where they cannot be read, they go with any part.
_STAGED_BY: Final = {
    name: f"ifnull(json_extract(body, '$.{name}'), json_extract(body, '$[0][0][{RECORD_COLUMNS.index(f'{name}_id')}]'))"
    for name in ("agent", "run")
}
_STAGED: Final = (
    "DELETE FROM staged_write WHERE tenant = :tenant AND kind = :kind AND name = :name AND CASE WHEN json_valid(body)"  # noqa: S608
    f" THEN (:agent IS NULL OR {_STAGED_BY['agent']} = :agent) AND (:run IS NULL OR {_STAGED_BY['run']} = :run)"
    " ELSE 1 END"
)


def erase_scope(db: Connection, scope: Scope) -> Receipt:
    """Removes what the scope covers, deleted rows too; an owner who has nothing left goes as well."""
    owner = scope.owner
    forget_requests(db, scope=scope)
    db.execute(_STAGED, {**owner._asdict(), "agent": scope.agent_id, "run": scope.run_id})
    is_whole = scope == Scope.of(owner) and owner.kind == "user"
    names = forget_identity(db, owner.tenant, name=owner.name) if is_whole else 0
    rows = db.execute(
        "SELECT no FROM owner WHERE tenant = ? AND kind = ? AND name = ?", (owner.tenant, owner.kind, owner.name)
    ).fetchone()
    receipt = Receipt() if rows is None else _erase(db, rows[0], agent=scope.agent_id, run=scope.run_id)
    return receipt.plus(Receipt(jobs=forget_jobs(db, scope=scope), identities=names))


def erase_tenant(db: Connection, tenant: str) -> Receipt:
    """Removes every owner of a tenant."""
    forget_requests_of_tenant(db, tenant=tenant)
    db.execute("DELETE FROM staged_write WHERE tenant = ?", (tenant,))
    total = Receipt(jobs=forget_jobs_of_tenant(db, tenant=tenant), identities=forget_identities(db, tenant=tenant))
    for (no,) in db.execute("SELECT no FROM owner WHERE tenant = ?", (tenant,)).fetchall():
        total = total.plus(_erase(db, no, agent=None, run=None))
    db.execute("DELETE FROM profile_default WHERE tenant = ?", (tenant,))
    db.execute("DELETE FROM tenant_setting WHERE tenant = ?", (tenant,))
    return total


def _erase(db: Connection, no: int, *, agent: str | None, run: str | None) -> Receipt:
    bounds = {"no": no, "first": first_mid(no), "last": last_mid(no)}
    values = {**bounds, "agent": agent, "run": run, "episode": Kind.EPISODE}
    steps = [name for name in _STEPS if name != "outbox" or is_followed(db)]
    removed = {name: db.execute(_STEPS[name], values).rowcount for name in steps}
    if db.execute("SELECT 1 FROM memory WHERE mid BETWEEN :first AND :last LIMIT 1", bounds).fetchone() is None:
        db.execute("DELETE FROM mark WHERE owner_no = ?", (no,))
        db.execute("DELETE FROM change_set WHERE owner_no = ?", (no,))
        db.execute("DELETE FROM profile WHERE owner_no = ?", (no,))
        removed["edits"] += db.execute("DELETE FROM profile_edit WHERE owner_no = ?", (no,)).rowcount
        db.execute("DELETE FROM owner WHERE no = ?", (no,))
    else:
        db.execute(
            "UPDATE owner SET generation = generation + 1, erased_generation = generation + 1 WHERE no = ?", (no,)
        )
    return receipt_of(removed)
