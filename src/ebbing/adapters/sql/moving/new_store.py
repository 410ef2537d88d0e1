"""A store on a database server that is being filled from another store. Until it is complete, nobody can open it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final

from sqlalchemy import URL, Column, Connection, MetaData, Table, delete, func, insert, select, text, update

from ebbing.adapters.sql.connection.addresses import address_of
from ebbing.adapters.sql.connection.dialects import number_from, table_options
from ebbing.adapters.sql.connection.schema import (
    LAYOUTS,
    MOVING,
    VERSION_TABLE,
    expect_schema,
    layout_at,
    migrate,
    open_schema,
)
from ebbing.adapters.sql.moving.row_shapes import MOVED, NUMBERED, table_rows
from ebbing.adapters.sql.moving.store_tables import SqlStoreTables
from ebbing.adapters.sql.tables.columns import Words
from ebbing.adapters.sql.tables.owner_tables import CHANGE_SET, OWNER
from ebbing.adapters.system.move_state import state_of, text_of
from ebbing.domain.errors import ConflictError, SchemaError
from ebbing.ports.stores.store_tables import MoveState, Row

STATE_TABLE: Final = "move_state"
_LAYOUT: Final = MOVING + LAYOUTS[-1]
_SET_LAYOUT: Final = text(f"UPDATE {VERSION_TABLE} SET version_num = :layout")  # noqa: S608
_LAST_CHANGE: Final = (
    select(func.coalesce(func.max(CHANGE_SET.c.no), 0))
    .where(CHANGE_SET.c.tenant == OWNER.c.tenant, CHANGE_SET.c.owner == OWNER.c.owner)
    .scalar_subquery()
)


class NewSqlStore(SqlStoreTables):
    """The store at an address. What is there already of the same move goes on where it was broken off."""

    def __init__(self, address: URL) -> None:
        super().__init__(address)
        self._state = ""
        """How far the move is, as the server has it."""
        self._writing = ExitStack()
        self._writer: Connection | None = None

    @classmethod
    def make(cls, address: str) -> NewSqlStore | None:
        """Open a database that is empty, or into which a store is being moved; None where a store is there.

        Raises:
            ConfigurationError: the address is not usable.
            MissingExtraError: the driver is not installed.
            SchemaError: the tables are of another layout, or another program's.
            StoreError: the server cannot be reached, or refuses.
        """
        url = address_of(address)
        layout = layout_at(url)
        if layout is None:
            open_schema(url)
        elif layout.startswith(MOVING) and layout != _LAYOUT:
            raise SchemaError(
                "a move that another version began is half done there: make the database anew, then begin anew"
            )
        store = cls(url)
        if layout is None or layout == _LAYOUT:
            return store
        if layout in LAYOUTS and store.is_empty():
            migrate(url)  # an earlier move may have been stopped while the tables were made
            return store
        store.close()
        expect_schema(url)
        return None

    def begin(self, source: str) -> MoveState:
        with self.connected() as db:
            table = _state_table(db)
            is_begun = db.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one() == _LAYOUT  # noqa: S608
            if not is_begun:
                table.drop(db, checkfirst=True)
            table.create(db, checkfirst=True)
            if db.execute(select(table.c.state)).first() is None:
                # Where the move is begun, it was broken off just before the end.
                state = MoveState(source, ()) if is_begun else MoveState(source)
                db.execute(insert(table), {"state": text_of(state)})
                db.execute(_SET_LAYOUT, {"layout": _LAYOUT})
            db.commit()
            self._state = db.execute(select(table.c.state)).scalar_one()
        return state_of(self._state, source)

    def write(self, table: str, rows: Sequence[Row], *, state: MoveState) -> None:
        with self._transaction(state) as db:
            db.execute(insert(MOVED[table]), list(table_rows(table, rows)))

    def clear(self, state: MoveState) -> None:
        with self._transaction(state) as db:
            for table in state.remaining:
                db.execute(delete(MOVED[table]))

    def finish(self, counters: Mapping[str, int]) -> None:
        with self.connected() as db:
            for table, column in NUMBERED.items():
                number_from(db, MOVED[table], column=column, highest=counters[table])
            db.execute(update(OWNER).values(last_change=_LAST_CHANGE))
            db.commit()
            _state_table(db).drop(db, checkfirst=True)
            db.execute(_SET_LAYOUT, {"layout": LAYOUTS[-1]})
            db.commit()

    def close(self) -> None:
        self._writing.close()
        super().close()

    @contextmanager
    def _transaction(self, state: MoveState) -> Iterator[Connection]:
        before, after = self._state, text_of(state)
        with self.errors():
            if self._writer is None:
                self._writer = self._writing.enter_context(self.connected())
            db, table = self._writer, _state_table(self._writer)
            try:
                done = db.execute(update(table).where(table.c.state == before).values(state=after))
                if done.rowcount != 1:
                    raise ConflictError("another process moves to the same place: let one of them do it")
                yield db
                db.commit()
            finally:
                db.rollback()
        self._state = after


def _state_table(db: Connection) -> Table:
    """The table that says how far the move is. It is no part of the layout."""
    return Table(STATE_TABLE, MetaData(), Column("state", Words(), nullable=False), **table_options(db))
