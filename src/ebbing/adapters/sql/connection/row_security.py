"""A second wall between tenants and owners: PostgreSQL itself shows a transaction only the rows that it names.

The first wall is that every statement names tenant and owner. With this one, a statement that forgot to would see no
row of anybody else: each statement first says whose rows it is about, for the running transaction, and the policies of
the tables compare. What it says is read from the values of the statement, so that a wrong condition is caught, and from
its reach (`REACH`) where it is about a whole tenant or all of them. It is no wall against a caller who names a wrong
owner, nor against whoever may run statements of their own.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Engine, Table, event, text
from sqlalchemy.ext.asyncio import AsyncEngine

from ebbing.adapters.sql.tables.conditions import REACH
from ebbing.adapters.sql.tables.owner_tables import OWNER_TABLES
from ebbing.adapters.sql.tables.service_tables import TENANT_TABLES
from ebbing.adapters.sql.tables.session_tables import SESSION_TABLES
from ebbing.domain.errors import ConfigurationError, SchemaError

_OWNED: Final = (*OWNER_TABLES, *SESSION_TABLES)
PROTECTED: Final = (*_OWNED, *TENANT_TABLES)
"""Keys, webhooks and jobs are looked up before it is known whose they are: they have no policy."""
POLICY: Final = "ebbing_rows"
_NAME_ROWS: Final = (
    "SELECT set_config('ebbing.reach', %s, true), set_config('ebbing.tenant', %s, true),"
    " set_config('ebbing.owners', %s, true)"
)
_OF_ALL: Final = "SELECT set_config('ebbing.reach', 'service', false)"
_COUNT: Final = "SELECT count(*) FROM pg_policies WHERE policyname = :policy AND schemaname = current_schema()"
_PASSES: Final = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
_TENANTS: Final = ("of_tenant", "tenant", "new_tenant")
_OWNERS: Final = ("of_owner", "owner", "new_owner")
_NAMED: Final = "ebbing_rows_named"
"""Where a connection keeps what its transaction said."""


class Rows(NamedTuple):
    """Whose rows a statement is about."""

    reach: str
    """`owner`, `tenant` or `service`."""
    tenant: str
    owners: str
    """Their digests, with commas in between."""


def guard(engine: AsyncEngine) -> None:
    """Let every statement of an engine say first whose rows it is about."""
    event.listen(engine.sync_engine, "begin", _forget)
    event.listen(engine.sync_engine, "before_cursor_execute", _say)


def rows_of(context: Any) -> Rows | None:
    """Return whose rows a statement is about; None where it names nobody."""
    reach = str(context.execution_options.get(REACH) or "owner").partition(":")[0]
    if reach == "service":
        return Rows(reach, "", "")
    values = context.compiled_parameters if context.compiled is not None else []
    tenants = {row[name] for row in values for name in _TENANTS if row.get(name) is not None}
    owners = {row[name] for row in values for name in _OWNERS if row.get(name) is not None}
    if len(tenants) != 1:
        return None
    return Rows(reach, str(tenants.pop()), ",".join(sorted(map(str, owners))))


def put_policies(db: Connection, *, is_on: bool) -> None:
    """Make the policies of all tables anew, or remove them.

    Raises:
        ConfigurationError: the server is not PostgreSQL.
    """
    if db.dialect.name != "postgresql":
        _refuse_elsewhere(is_on)
        return
    for table in PROTECTED:
        name = db.dialect.identifier_preparer.format_table(table)
        db.execute(text(f"DROP POLICY IF EXISTS {POLICY} ON {name}"))
        if is_on:
            db.execute(text(f"CREATE POLICY {POLICY} ON {name} USING ({_condition(table)})"))
        word = "" if is_on else "NO "
        db.execute(text(f"ALTER TABLE {name} {'ENABLE' if is_on else 'DISABLE'} ROW LEVEL SECURITY"))
        db.execute(text(f"ALTER TABLE {name} {word}FORCE ROW LEVEL SECURITY"))


def see_everything(db: Connection) -> None:
    """Let a connection see the rows of everybody, for a migration."""
    if db.dialect.name == "postgresql":
        db.execute(text(_OF_ALL))


def let_see_everything(engine: Engine) -> None:
    """Let every connection of an engine see the rows of everybody, for a move of the whole store."""

    def say(connection: Any, _: object) -> None:
        connection.cursor().execute(_OF_ALL)
        connection.commit()

    if engine.dialect.name == "postgresql":
        event.listen(engine, "connect", say)


def count_policies(db: Connection) -> int:
    """Return how many tables have their policy."""
    if db.dialect.name != "postgresql":
        return 0
    return int(db.execute(text(_COUNT), {"policy": POLICY}).scalar_one())


def check(db: Connection, *, is_on: bool) -> None:
    """Refuse a store whose policies are not as the setting says.

    Raises:
        ConfigurationError: the server is not PostgreSQL, or lets this user pass every policy.
        SchemaError: the policies are missing, or are there without the setting.
    """
    if db.dialect.name != "postgresql":
        _refuse_elsewhere(is_on)
        return
    if count_policies(db) != (len(PROTECTED) if is_on else 0):
        state = "lacks row security" if is_on else "has row security"
        raise SchemaError(
            f"the store {state}, and EBBING_STORE_ROW_SECURITY={str(is_on).lower()}: change the setting, or run"
            " `ebbing migrate` with it, as the user who owns the tables"
        )
    if is_on and db.execute(text(_PASSES)).scalar():
        raise ConfigurationError(
            "EBBING_STORE_ROW_SECURITY has no effect for this user of the database, a superuser or one with BYPASSRLS:"
            " name another one in EBBING_STORE"
        )


def _refuse_elsewhere(is_on: bool) -> None:
    if is_on:
        raise ConfigurationError("EBBING_STORE_ROW_SECURITY needs PostgreSQL: leave it out")


def _condition(table: Table) -> str:
    of_all = "current_setting('ebbing.reach', true) = 'service'"
    of_tenant = "tenant = current_setting('ebbing.tenant', true)"
    if table not in _OWNED:
        return f"{of_all} OR {of_tenant}"
    of_owner = "owner = ANY (string_to_array(current_setting('ebbing.owners', true), ','))"
    return f"{of_all} OR ({of_tenant} AND (current_setting('ebbing.reach', true) = 'tenant' OR {of_owner}))"


def _forget(db: Connection) -> None:
    db.info.pop(_NAMED, None)


def _say(db: Connection, cursor: Any, *rest: Any) -> None:
    rows = rows_of(rest[2])
    if rows is None or db.info.get(_NAMED) == rows:
        return
    cursor.execute(_NAME_ROWS, rows)
    db.info[_NAMED] = rows
