"""The rows of a store on a database server, table by table."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from sqlalchemy import URL, Connection, create_engine, func, inspect, literal, select, text, tuple_

from ebbing.adapters.sql.connection.addresses import CONNECT_SECONDS, address_of, shown, with_driver
from ebbing.adapters.sql.connection.dialects import highest_number, keep_writers_out
from ebbing.adapters.sql.connection.errors import EXPECTED, translated
from ebbing.adapters.sql.connection.row_security import let_see_everything
from ebbing.adapters.sql.connection.schema import expect_schema
from ebbing.adapters.sql.moving.row_shapes import MOVED, NUMBERED, selection, shared_rows
from ebbing.adapters.sql.tables.owner_tables import METADATA
from ebbing.adapters.sql.tables.session_tables import SESSION
from ebbing.ports.stores.store_tables import PAGE, Key, Page, Row


class SqlStoreTables:
    """The tables of the store at an address. It blocks: a move does nothing else meanwhile."""

    def __init__(self, address: URL) -> None:
        self._address = address
        self.place = shown(address)
        self._engine = create_engine(
            with_driver(address, blocking=True),
            isolation_level="READ COMMITTED",
            connect_args={"connect_timeout": CONNECT_SECONDS},
        )
        let_see_everything(self._engine)
        self._lock: Connection | None = None
        """Keeps writers out as long as it is open."""

    @classmethod
    def open(cls, address: str) -> SqlStoreTables:
        """Open the store at an address.

        Raises:
            ConfigurationError: the address is not usable.
            MissingExtraError: the driver is not installed.
            StoreNotFoundError: the database is empty.
            SchemaError: the tables are of another layout.
            StoreError: the server cannot be reached, or refuses.
        """
        url = address_of(address)
        expect_schema(url)
        return cls(url)

    @contextmanager
    def still(self) -> Iterator[None]:
        """Lock every table for whoever writes: they wait until the end, while others read."""
        with self.connected() as db:
            db.execution_options(isolation_level="AUTOCOMMIT").detach()  # in the end it is closed, with its locks
            keep_writers_out(db, METADATA.sorted_tables)
            self._lock = db
            yield

    def check_still(self) -> None:
        if self._lock is not None:
            with self.errors():
                self._lock.execute(text("SELECT 1"))

    def count(self, table: str) -> int:
        with self.connected() as db:
            return int(db.execute(select(func.count()).select_from(MOVED[table])).scalar_one())

    def is_empty(self) -> bool:
        """Whether no table that is moved has a row; an older layout may lack some, and columns of others."""
        with self.connected() as db:
            present = [table for name, table in MOVED.items() if inspect(db).has_table(name)]
            return all(db.execute(select(literal(1)).select_from(table).limit(1)).first() is None for table in present)

    def pages(self, table: str, *, after: Key | None = None) -> Generator[Page]:
        source = MOVED[table]
        key = list(source.primary_key)
        statement = selection(source).order_by(*key)
        if after is not None:
            values = (literal(value, column.type) for value, column in zip(after, key, strict=True))
            statement = statement.where(tuple_(*key) > tuple_(*values))
        with self.connected() as db:
            streaming = db.execution_options(stream_results=True, max_row_buffer=PAGE)
            with closing(streaming.execute(statement)) as result:
                titles = list(result.keys())
                while some := result.fetchmany(PAGE):
                    rows: list[Row] = [dict(zip(titles, row, strict=True)) for row in some]
                    last = [rows[-1][column.name] for column in key]
                    yield Page(list(shared_rows(table, rows)), last)

    def counters(self) -> Mapping[str, int]:
        with self.connected() as db:
            return {table: highest_number(db, MOVED[table], column=column) for table, column in NUMBERED.items()}

    def running_sessions(self) -> int:
        with self.connected() as db:
            return int(db.execute(select(func.count()).select_from(SESSION)).scalar_one())

    def left_behind(self) -> Sequence[str]:
        return ()

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """A connection of the pool, which ends its transaction without writing anything unless that is committed."""
        with self.errors(), self._engine.connect() as db:
            yield db

    @contextmanager
    def errors(self) -> Iterator[None]:
        """What the server raises, as errors of ours."""
        try:
            yield
        except EXPECTED as error:
            raise translated(error, self._address) from error
