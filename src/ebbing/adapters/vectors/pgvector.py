"""A vector index in PostgreSQL with pgvector: one table for each model, and an HNSW graph for each owner.

A graph of its own (a partial index) finds an owner's rows whatever else is in the table. It is built once the first
rows are there, which is much faster than to grow it row by row.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from struct import pack
from time import monotonic
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import psycopg
from psycopg import errors, sql
from psycopg.adapt import Dumper
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Format
from psycopg.types import TypeInfo

from ebbing.adapters.vectors.rooms import COLLECTION, collection_name, digest
from ebbing.adapters.vectors.server_index import ServerIndex
from ebbing.domain.errors import ConfigurationError, VectorIndexError
from ebbing.ports.indexes.vector_index import Seqs, VectorRoom, Vectors

_DRIVER: Final = re.compile(r"^(postgresql|postgres)\+\w+:")
"""SQLAlchemy names one in its addresses, which libpq does not read."""
_PORTS: Final = re.compile(r"[\d,]*")
_BATCH: Final = 1_000
_CONNECT_SECONDS: Final = 3
_LEAST_VERSION: Final = (0, 8)
"""Of pgvector: iterative scans, half vectors."""
_WIDTH: Final = 100
"""Rows that a search weighs in a small graph."""
_ROWS_TO_WEIGH_ONE_MORE: Final = 20_000
"""In a large graph a search that weighs as few as in a small one misses whole clusters."""
_MAX_WIDTH: Final = 400
"""Also what a search weighs in a graph of fewer links, which an earlier version built."""
_LOOK_AGAIN_SECONDS: Final = 600.0
"""How long a graph is taken to be as large as it was."""
_SESSION: Final = (
    "SET hnsw.iterative_scan = 'strict_order'",
    f"SET hnsw.ef_search = {_WIDTH}",
    "SET statement_timeout = 0",
)
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS {table} (tenant text NOT NULL, partition text NOT NULL, row bigint NOT NULL,"
    " vector halfvec({dim}) NOT NULL, PRIMARY KEY (partition, row, tenant))"
)
"""The key begins with what a removal names. In an earlier version's tables it began with the tenant."""
_UPSERT: Final = (
    "INSERT INTO {table} (tenant, partition, row, vector)"
    " SELECT %s, %s, seq, numbers FROM unnest(%b::bigint[], %b::halfvec[]) AS rows (seq, numbers)"
    " ON CONFLICT (tenant, partition, row) DO UPDATE SET vector = excluded.vector"
    " WHERE {table}.vector <> excluded.vector"
)
"""A memory changes more often than its vector, and each vector that is written again grows the graph."""
_DELETE: Final = "DELETE FROM {table} WHERE partition = %s AND (%s::bigint[] IS NULL OR row = ANY (%s))"
_GRAPH: Final = (
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS {graph} ON {table} USING hnsw (vector halfvec_ip_ops)"
    " WITH (m = 32, ef_construction = 200) WHERE tenant = {tenant} AND partition = {partition}"
)
_GRAPH_BYTES: Final = 1_200
"""What a row takes in a graph beside its vector."""
_MAX_GRAPH_KIB: Final = 4 * 1024 * 1024
_GIVE_MEMORY: Final = (
    "SELECT set_config('maintenance_work_mem', %s::text || 'kB', false)"
    " WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < %s * 1024::bigint"
)
"""A graph that does not fit into this memory of the server is built many times slower."""
_SEARCH: Final = (
    "SELECT row FROM {table} WHERE tenant = {tenant} AND partition = {partition} ORDER BY vector <#> %b LIMIT {limit}"
)
"""With its limit as a literal: with a parameter the server would plan the statement again for each search."""
_TABLES: Final = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename LIKE %s"
_SIZE: Final = "SELECT 'm=32' = ANY (reloptions), reltuples FROM pg_class WHERE oid = to_regclass(%s)"
_DENIED: Final = (errors.InvalidPassword, errors.InvalidAuthorizationSpecification, errors.InsufficientPrivilege)
_NO_ADDRESS: Final = (
    "EBBING_VECTOR_INDEX_URL is no address that PostgreSQL's client can read: write"
    " postgresql://user:password@host/database, with @ / % in a password as %40 %2F %25"
)
_REFUSED: Final = "PostgreSQL refuses the user: check EBBING_VECTOR_INDEX_URL and its rights"
_IS_VALID: Final = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"


@dataclass(frozen=True, slots=True)
class _Search:
    """How a room is searched."""

    statements: dict[int, bytes]
    """By their limits, of which a deployment has few."""
    width: int
    until: float
    """When to look again how large the graph is."""


@dataclass(frozen=True, slots=True)
class _Halfvec:
    """A vector for a parameter of a statement."""

    numbers: Vectors


class PgvectorIndex(ServerIndex):
    """A `VectorIndex` in a PostgreSQL database."""

    name = "pgvector"

    def __init__(self, url: str, *, collection: str = "ebbing") -> None:
        """Connected at the first use.

        Args:
            url: such as `postgresql://user:password@host/database`; one with SQLAlchemy's driver is taken, too.
            collection: how the names of the tables begin.

        Raises:
            ConfigurationError: the address is none.
        """
        self._url, self._prefix = _libpq_address(url), collection
        self._idle: deque[psycopg.Connection[Any]] = deque()
        self._seen: set[str] = set()
        """Tables that were seen to be there."""
        self._searches: dict[VectorRoom, _Search] = {}
        self._widths: WeakKeyDictionary[psycopg.Connection[Any], int] = WeakKeyDictionary()
        """How wide a connection searches, where that is not as wide as usual."""
        self._touched: dict[VectorRoom, None] = {}
        """Rooms that may lack their graph."""

    async def save(self, *, is_complete: bool = True) -> None:
        if is_complete:  # a graph that is there already would grow row by row
            await self._in_a_thread(self._make_graphs, seconds=None)

    def _close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _connection(self) -> Iterator[psycopg.Connection[Any]]:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        try:
            yield connection
        except psycopg.Error:
            with suppress(psycopg.Error):
                connection.close()
            raise
        self._idle.append(connection)

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            connection = psycopg.connect(self._url, autocommit=True, connect_timeout=_CONNECT_SECONDS)
        except psycopg.ProgrammingError:  # its words repeat the address
            raise VectorIndexError(_NO_ADDRESS) from None
        try:
            version = _version(connection)
            if version is None:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
                version = _version(connection) or (0, 0)
            if version < _LEAST_VERSION:
                raise VectorIndexError(
                    "pgvector is older than 0.8: install a newer one, and run ALTER EXTENSION vector UPDATE"
                )
            for statement in _SESSION:
                connection.execute(statement)
            _register(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _find(self, connection: psycopg.Connection[Any], room: VectorRoom) -> sql.Identifier | None:
        """Return the table of a room; None if there is none."""
        name = collection_name(self._prefix, room)
        if name not in self._seen:
            row = connection.execute("SELECT to_regclass(%s)", (name,)).fetchone()
            if row is None or row[0] is None:
                return None
            self._seen.add(name)
        return sql.Identifier(name)

    def _upsert(self, room: VectorRoom, seqs: Seqs, *, vectors: Vectors) -> None:
        with self._connection() as connection:
            table = self._find(connection, room)
            if table is None:
                table = sql.Identifier(collection_name(self._prefix, room))
                connection.execute(sql.SQL(_TABLE).format(table=table, dim=sql.Literal(room.dim)))
            statement = sql.SQL(_UPSERT).format(table=table)
            for start in range(0, len(seqs), _BATCH):
                numbers = [_Halfvec(vector) for vector in vectors[start : start + _BATCH]]
                rows = seqs[start : start + _BATCH].tolist()
                connection.execute(statement, (room.tenant, room.partition, rows, numbers))
        self._touched[room] = None

    def _delete(self, partition: str, seqs: Seqs | None) -> None:
        with self._connection() as connection:
            for name in self._tables(connection):
                statement = sql.SQL(_DELETE).format(table=sql.Identifier(name))
                rows = None if seqs is None else seqs.tolist()
                removed = connection.execute(statement, (partition, rows, rows)).rowcount
                if removed:  # what was removed stays in the pages until they are cleaned
                    connection.execute(sql.SQL("VACUUM {table}").format(table=sql.Identifier(name)))

    def _search(self, room: VectorRoom, vector: Vectors, *, limit: int) -> Seqs:
        with self._connection() as connection:
            table = self._find(connection, room)
            if table is None:
                return np.zeros(0, dtype=np.int64)
            search = self._searches.get(room)
            if search is None or monotonic() >= search.until:
                graph = _graph_of(room, table=collection_name(self._prefix, room))
                width = _width(connection.execute(_SIZE, (graph,)).fetchone())
                search = self._searches[room] = _Search({}, width, until=monotonic() + _LOOK_AGAIN_SECONDS)
            statement = search.statements.get(limit)
            if statement is None:
                parts = sql.SQL(_SEARCH).format(table=table, limit=sql.Literal(limit), **_literals(room))
                statement = search.statements[limit] = parts.as_bytes(connection)
            if self._widths.get(connection, _WIDTH) != search.width:
                connection.execute(f"SET hnsw.ef_search = {search.width:d}".encode())
                self._widths[connection] = search.width
            rows = connection.execute(statement, (_Halfvec(vector),), binary=True).fetchall()
        return np.array([row for (row,) in rows], dtype=np.int64)

    def _count(self, room: VectorRoom) -> int:
        with self._connection() as connection:
            table = self._find(connection, room)
            if table is None:
                return 0
            statement = sql.SQL("SELECT count(*) FROM {table} WHERE tenant = %s AND partition = %s").format(table=table)
            row = connection.execute(statement, (room.tenant, room.partition)).fetchone()
        return int(row[0]) if row else 0

    def _make_graphs(self) -> None:
        """Build the graph of each room that lacks one, or has one that was broken off."""
        for room in list(self._touched):
            graph = _graph_of(room, table=collection_name(self._prefix, room))
            with self._connection() as connection:
                row = connection.execute(_IS_VALID, (graph,)).fetchone()
                if row is not None and not row[0]:
                    connection.execute(sql.SQL("DROP INDEX {graph}").format(graph=sql.Identifier(graph)))
                if row is None or not row[0]:
                    self._make_graph(connection, room, graph=graph)
            self._touched.pop(room, None)

    def _make_graph(self, connection: psycopg.Connection[Any], room: VectorRoom, *, graph: str) -> None:
        names = {"graph": sql.Identifier(graph), "table": sql.Identifier(collection_name(self._prefix, room))}
        needed_kib = self._count(room) * (2 * room.dim + _GRAPH_BYTES) // 1024
        connection.execute(_GIVE_MEMORY, 2 * (min(needed_kib, _MAX_GRAPH_KIB),))
        try:
            connection.execute(sql.SQL(_GRAPH).format(**names, **_literals(room)))
        finally:
            with suppress(psycopg.Error):
                connection.execute("RESET maintenance_work_mem")

    def _clear(self) -> None:
        with self._connection() as connection:
            for name in self._tables(connection):
                connection.execute(sql.SQL("DROP TABLE IF EXISTS {table}").format(table=sql.Identifier(name)))
        self._seen.clear()
        self._touched.clear()

    def _tables(self, connection: psycopg.Connection[Any]) -> list[str]:
        rows = connection.execute(_TABLES, (f"{self._prefix}%",)).fetchall()
        return [name for (name,) in rows if name.startswith(f"{self._prefix}_") and COLLECTION.search(name)]

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (
            errors.InvalidPassword,
            errors.InvalidAuthorizationSpecification,
            errors.InsufficientPrivilege,
        ) as error:
            raise VectorIndexError(_REFUSED) from error
        except (errors.FeatureNotSupported, errors.UndefinedFile, errors.UndefinedObject) as error:
            raise VectorIndexError(
                "the database has no pgvector 0.8: install it on the server, and check with CREATE EXTENSION vector"
            ) from error
        except errors.DiskFull as error:  # so it says of its shared memory, too
            raise VectorIndexError(
                "the disk or the shared memory of PostgreSQL is full: make room on the server, then retry"
            ) from error
        except psycopg.OperationalError as error:
            if "password" in str(error):  # of a connection that was not made there is no code
                raise VectorIndexError(_REFUSED) from error
            raise VectorIndexError(
                "PostgreSQL cannot be reached: start it, or check EBBING_VECTOR_INDEX_URL"
            ) from error
        except psycopg.Error as error:
            raise VectorIndexError(f"PostgreSQL refuses ({error.sqlstate or 'no code'}): check its log") from error


def _libpq_address(url: str) -> str:
    """Return an address as libpq takes it.

    Raises:
        ConfigurationError: libpq cannot read it, or takes a part of the password for something else.
    """
    address = _DRIVER.sub(r"\1:", url.strip())
    try:
        parts = conninfo_to_dict(address)
    except psycopg.ProgrammingError:  # its words repeat the address
        raise ConfigurationError(_NO_ADDRESS) from None
    host = str(parts.get("host", ""))
    database = str(parts.get("dbname", ""))
    # libpq ends a password at the first @, and takes a / in it for the end of the host
    is_torn = "@" in host or ("@" in database and database in address)
    if "://" in address and is_torn:
        raise ConfigurationError(_NO_ADDRESS)
    if not _PORTS.fullmatch(str(parts.get("port", ""))):
        raise ConfigurationError(_NO_ADDRESS)
    return address


def _version(connection: psycopg.Connection[Any]) -> tuple[int, ...] | None:
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    return None if row is None else tuple(int(part) for part in row[0].split(".")[:2])


def _width(graph: tuple[bool, float] | None) -> int:
    """Return how many rows a search weighs in a graph, of which is known whether it is dense, and its rows."""
    if graph is None:
        return _WIDTH
    is_dense, rows = graph
    return min(_WIDTH + max(int(rows), 0) // _ROWS_TO_WEIGH_ONE_MORE, _MAX_WIDTH) if is_dense else _MAX_WIDTH


def _graph_of(room: VectorRoom, *, table: str) -> str:
    return f"{table}_{digest(f'{room.tenant} {room.partition}')}"


def _literals(room: VectorRoom) -> dict[str, sql.Literal]:
    """Return what names a room as literals: with parameters the planner would not know which graph is meant."""
    return {"tenant": sql.Literal(room.tenant), "partition": sql.Literal(room.partition)}


class _HalfvecDumper(Dumper):
    """Hands vectors over as the server stores them: to write them as text would take longer than to find them."""

    format = Format.BINARY

    def dump(self, obj: _Halfvec) -> bytes:
        return pack(">hh", len(obj.numbers), 0) + obj.numbers.astype(">f2").tobytes()


def _register(connection: psycopg.Connection[Any]) -> None:
    """Teach a connection the type of the vectors."""
    kind = TypeInfo.fetch(connection, "halfvec")
    if kind is not None:
        kind.register(connection)
        dumper = type("HalfvecDumper", (_HalfvecDumper,), {"oid": kind.oid})
        connection.adapters.register_dumper(_Halfvec, dumper)
