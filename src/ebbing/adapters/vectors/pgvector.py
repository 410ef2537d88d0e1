"""A vector index in PostgreSQL with pgvector: one table for each model, and an HNSW graph for each owner.

A graph of its own (a partial index) finds an owner's rows whatever else is in the table. It is built once the first
rows are there, which is much faster than to grow it row by row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, TypeVar

import numpy as np
import psycopg
from anyio import to_thread
from psycopg import errors, sql

from ebbing.adapters.vectors.rooms import COLLECTION, check_length, collection_name, digest
from ebbing.domain.errors import VectorIndexError
from ebbing.ports.vector_index import Seqs, VectorRoom, Vectors

_Result = TypeVar("_Result")
_BATCH: Final = 1_000
_CONNECT_SECONDS: Final = 3
_LEAST_VERSION: Final = (0, 8)
"""Of pgvector: iterative scans, half vectors."""
_SESSION: Final = (
    "SET hnsw.iterative_scan = 'strict_order'",
    "SET hnsw.ef_search = 200",
    "SET statement_timeout = 0",
)
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS {table} (tenant text NOT NULL, partition text NOT NULL, row bigint NOT NULL,"
    " vector halfvec({dim}) NOT NULL, PRIMARY KEY (tenant, partition, row))"
)
_UPSERT: Final = (
    "INSERT INTO {table} (tenant, partition, row, vector)"
    " SELECT %s, %s, seq, given::halfvec FROM unnest(%s::bigint[], %s::text[]) AS rows (seq, given)"
    " ON CONFLICT (tenant, partition, row) DO UPDATE SET vector = excluded.vector"
)
_GRAPH: Final = (
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS {graph} ON {table} USING hnsw (vector halfvec_ip_ops)"
    " WITH (m = 16, ef_construction = 200) WHERE tenant = {tenant} AND partition = {partition}"
)
_SEARCH: Final = (
    "SELECT row FROM {table} WHERE tenant = {tenant} AND partition = {partition}"
    " ORDER BY vector <#> %s::halfvec LIMIT %s"
)
_TABLES: Final = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename LIKE %s"
_IS_VALID: Final = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"


class PgvectorIndex:
    """A `VectorIndex` in a PostgreSQL database. Threads and event loops may share it."""

    name = "pgvector"

    def __init__(self, url: str, *, collection: str = "ebbing") -> None:
        """`url` is a libpq address, such as `postgresql://user:password@host/database`; connected at the first use."""
        self._url, self._prefix = url, collection
        self._idle: deque[psycopg.Connection[Any]] = deque()
        self._known: set[str] = set()
        """Tables that were seen to be there."""
        self._touched: dict[VectorRoom, None] = {}
        """Rooms that may lack their graph."""

    async def upsert(self, room: VectorRoom, seqs: Seqs, *, vectors: Vectors) -> None:
        check_length(room, vectors)
        if len(seqs):
            await _in_a_thread(partial(self._upsert, room, seqs, vectors=vectors))

    async def delete(self, partition: str, seqs: Seqs | None = None) -> None:
        if seqs is None or len(seqs):
            await _in_a_thread(partial(self._delete, partition, seqs))

    async def search(self, room: VectorRoom, vector: Vectors, *, limit: int) -> Seqs:
        check_length(room, vector)
        return await _in_a_thread(partial(self._search, room, vector, limit=limit))

    async def count(self, room: VectorRoom) -> int:
        return await _in_a_thread(partial(self._count, room))

    async def save(self, *, is_complete: bool = True) -> None:
        if is_complete:  # a graph that is there already would grow row by row
            await _in_a_thread(self._make_graphs)

    async def clear(self) -> None:
        await _in_a_thread(self._clear)

    async def aclose(self) -> None:
        while self._idle:
            await to_thread.run_sync(self._idle.pop().close)

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
        connection = psycopg.connect(self._url, autocommit=True, connect_timeout=_CONNECT_SECONDS)
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
        except BaseException:
            connection.close()
            raise
        return connection

    def _find(self, connection: psycopg.Connection[Any], room: VectorRoom) -> sql.Identifier | None:
        """Return the table of a room; None if there is none."""
        name = collection_name(self._prefix, room)
        if name not in self._known:
            row = connection.execute("SELECT to_regclass(%s)", (name,)).fetchone()
            if row is None or row[0] is None:
                return None
            self._known.add(name)
        return sql.Identifier(name)

    def _upsert(self, room: VectorRoom, seqs: Seqs, *, vectors: Vectors) -> None:
        with self._connection() as connection:
            table = self._find(connection, room)
            if table is None:
                table = sql.Identifier(collection_name(self._prefix, room))
                connection.execute(sql.SQL(_TABLE).format(table=table, dim=sql.Literal(room.dim)))
            statement = sql.SQL(_UPSERT).format(table=table)
            for start in range(0, len(seqs), _BATCH):
                given = [_text(vector) for vector in vectors[start : start + _BATCH]]
                rows = seqs[start : start + _BATCH].tolist()
                connection.execute(statement, (room.tenant, room.partition, rows, given))
        self._touched[room] = None

    def _delete(self, partition: str, seqs: Seqs | None) -> None:
        with self._connection() as connection:
            for name in self._tables(connection):
                statement = sql.SQL(
                    "DELETE FROM {table} WHERE partition = %s AND (%s::bigint[] IS NULL OR row = ANY (%s))"
                ).format(table=sql.Identifier(name))
                rows = None if seqs is None else seqs.tolist()
                removed = connection.execute(statement, (partition, rows, rows)).rowcount
                if removed:  # what was removed stays in the pages until they are cleaned
                    connection.execute(sql.SQL("VACUUM {table}").format(table=sql.Identifier(name)))

    def _search(self, room: VectorRoom, vector: Vectors, *, limit: int) -> Seqs:
        with self._connection() as connection:
            table = self._find(connection, room)
            if table is None:
                return np.zeros(0, dtype=np.int64)
            statement = sql.SQL(_SEARCH).format(table=table, **_literals(room))
            rows = connection.execute(statement, (_text(vector), limit)).fetchall()
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
            name = collection_name(self._prefix, room)
            graph = f"{name}_{digest(f'{room.tenant} {room.partition}')}"
            with self._connection() as connection:
                row = connection.execute(_IS_VALID, (graph,)).fetchone()
                if row is not None and not row[0]:
                    connection.execute(sql.SQL("DROP INDEX {graph}").format(graph=sql.Identifier(graph)))
                if row is None or not row[0]:
                    names = {"graph": sql.Identifier(graph), "table": sql.Identifier(name)}
                    connection.execute(sql.SQL(_GRAPH).format(**names, **_literals(room)))
            self._touched.pop(room, None)

    def _clear(self) -> None:
        with self._connection() as connection:
            for name in self._tables(connection):
                connection.execute(sql.SQL("DROP TABLE IF EXISTS {table}").format(table=sql.Identifier(name)))
        self._known.clear()
        self._touched.clear()

    def _tables(self, connection: psycopg.Connection[Any]) -> list[str]:
        rows = connection.execute(_TABLES, (f"{self._prefix}%",)).fetchall()
        return [name for (name,) in rows if name.startswith(f"{self._prefix}_") and COLLECTION.search(name)]


def _version(connection: psycopg.Connection[Any]) -> tuple[int, ...] | None:
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    return None if row is None else tuple(int(part) for part in row[0].split(".")[:2])


def _literals(room: VectorRoom) -> dict[str, sql.Literal]:
    """Return what names a room as literals: with parameters the planner would not know which graph is meant."""
    return {"tenant": sql.Literal(room.tenant), "partition": sql.Literal(room.partition)}


def _text(vector: Vectors) -> str:
    return "[" + ",".join(map("{:.5g}".format, vector.tolist())) + "]"


async def _in_a_thread(work: Callable[[], _Result]) -> _Result:
    try:
        return await to_thread.run_sync(work, abandon_on_cancel=True)
    except (errors.InvalidPassword, errors.InvalidAuthorizationSpecification, errors.InsufficientPrivilege) as error:
        raise VectorIndexError("PostgreSQL refuses the user: check EBBING_VECTOR_INDEX_URL and its rights") from error
    except (errors.FeatureNotSupported, errors.UndefinedFile, errors.UndefinedObject) as error:
        raise VectorIndexError(
            "the database has no pgvector 0.8: install it on the server, and check with CREATE EXTENSION vector"
        ) from error
    except psycopg.OperationalError as error:
        raise VectorIndexError("PostgreSQL cannot be reached: start it, or check EBBING_VECTOR_INDEX_URL") from error
    except psycopg.Error as error:
        raise VectorIndexError(f"PostgreSQL refuses ({error.sqlstate or 'no code'}): check its log") from error
