"""Graph mirrors against the one contract: in RAM, and on a server that speaks Bolt (`make test-stores`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ebbing.domain.errors import ConfigurationError, GraphMirrorError
from ebbing.ports.indexes.graph_mirror import GraphMirror
from ebbing.testing.graph_mirror import GraphMirrorInRam
from ebbing.testing.graph_mirror_suite import ADA, GRAPH, GraphMirrorSuite
from tests.graph_server import BOLT, GraphServer, graph_server, needs_bolt, rows_of, skip_waiting_connection

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
        with pytest.raises(GraphMirrorError, match="check EBBING_GRAPH_U") as error:
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
