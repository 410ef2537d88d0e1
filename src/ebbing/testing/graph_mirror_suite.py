"""The contract of `GraphMirror` as tests. An adapter gives `open_mirror`; see `GraphMirrorSuite`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

import pytest

from ebbing.domain.errors import GraphMirrorError
from ebbing.ports.indexes.graph_mirror import MOST_MEMORY_IDS, Edge, GraphMirror, GraphPlace, Node, OwnerGraph

ADA = GraphPlace("default", "user", "ada", "1")
BOB = GraphPlace("default", "user", "bob", "2")
ELSEWHERE = GraphPlace("other", "user", "ada", "3")
MONDAY = datetime(2026, 3, 2, 8, 30, 15, 123456, tzinfo=UTC)
TUESDAY = datetime(2026, 3, 3, tzinfo=UTC)
SELF = Node("self", "Ada", "person", ("她",), ("m1", "m2"))
BERLIN = Node("berlin", "Berlin", "place", (), ("m1",))
SISTER = Node("李雷", "李雷", "person", ("sister", "小\"雷'"), ("m2",))
HOME = Edge("self", "home", "berlin", "m1", MONDAY, None)
KIN = Edge("self", "sister", "李雷", "m2", MONDAY, None)
GRAPH = OwnerGraph(frozenset({SELF, BERLIN, SISTER}), frozenset({HOME, KIN}))


@pytest.mark.anyio
class GraphMirrorSuite:
    """Everything that a graph mirror promises. Needs pytest, and a fixture `anyio_backend` that returns "asyncio"."""

    def open_mirror(self) -> AbstractAsyncContextManager[GraphMirror]:
        """A mirror over the same place at every call of one test, empty at first; closed at the end of the context."""
        raise NotImplementedError

    def unreachable_mirror(self) -> GraphMirror | None:
        """A mirror whose server is down; None where there is no such thing."""
        raise NotImplementedError

    @pytest.fixture
    async def mirror(self) -> AsyncIterator[GraphMirror]:
        """An empty mirror for one test."""
        async with self.open_mirror() as mirror:
            yield mirror

    async def test_nothing_is_there_of_somebody_unknown(self, mirror: GraphMirror) -> None:
        assert await mirror.read(ADA) == OwnerGraph()
        await mirror.remove(ADA.partition)

    async def test_what_was_put_is_read_as_it_was(self, mirror: GraphMirror) -> None:
        await mirror.put(ADA, GRAPH)
        assert await mirror.read(ADA) == GRAPH

    async def test_to_put_it_again_changes_nothing(self, mirror: GraphMirror) -> None:
        for _ in range(3):
            await mirror.put(ADA, GRAPH)
        assert await mirror.read(ADA) == GRAPH

    async def test_what_ended_has_its_end_and_may_hold_again(self, mirror: GraphMirror) -> None:
        closed = Edge(HOME.subject, HOME.relation, HOME.object, HOME.memory_id, HOME.valid_from, TUESDAY)
        ended = OwnerGraph(GRAPH.nodes, frozenset({closed, KIN}))
        for graph in (GRAPH, ended, GRAPH):
            await mirror.put(ADA, graph)
            assert await mirror.read(ADA) == graph

    async def test_what_is_no_more_told_is_gone_from_it(self, mirror: GraphMirror) -> None:
        await mirror.put(ADA, GRAPH)
        left = OwnerGraph(frozenset({SELF, BERLIN}), frozenset({HOME}))
        await mirror.put(ADA, left)
        assert await mirror.read(ADA) == left
        await mirror.put(ADA, OwnerGraph())
        assert await mirror.read(ADA) == OwnerGraph()

    async def test_two_memories_that_say_the_same_are_two_edges(self, mirror: GraphMirror) -> None:
        again = Edge(HOME.subject, HOME.relation, HOME.object, "m9", HOME.valid_from, None)
        graph = OwnerGraph(GRAPH.nodes, frozenset({HOME, again}))
        await mirror.put(ADA, graph)
        assert await mirror.read(ADA) == graph

    async def test_owners_and_tenants_see_nothing_of_each_other(self, mirror: GraphMirror) -> None:
        others = OwnerGraph(frozenset({SELF}), frozenset())
        for place, graph in ((ADA, GRAPH), (BOB, others), (ELSEWHERE, others)):
            await mirror.put(place, graph)
        await mirror.remove(ADA.partition)
        assert await mirror.read(ADA) == OwnerGraph()
        assert await mirror.read(BOB) == await mirror.read(ELSEWHERE) == others

    async def test_after_it_was_cleared_nothing_is_there_of_anybody(self, mirror: GraphMirror) -> None:
        await mirror.put(ADA, GRAPH)
        await mirror.put(BOB, GRAPH)
        await mirror.clear("fresh")
        assert await mirror.read(ADA) == await mirror.read(BOB) == OwnerGraph()

    async def test_a_mark_is_left_with_the_graphs_and_moves_from_what_it_is(self, mirror: GraphMirror) -> None:
        assert await mirror.mark() is None
        assert not await mirror.move_mark("fresh", "a 1")
        assert await mirror.mark() is None
        await mirror.clear("fresh")
        assert await mirror.move_mark("fresh", "a 1")
        assert await mirror.move_mark("fresh", "a 1"), "a call whose answer was lost is repeated"
        assert not await mirror.move_mark("b 1", "b 2")
        async with self.open_mirror() as other:
            assert await other.mark() == "a 1"
        await mirror.clear("again")
        assert await mirror.mark() == "again"
        await mirror.put(ADA, GRAPH)
        assert await mirror.read(ADA) == GRAPH

    async def test_a_large_graph_is_there_as_a_whole(self, mirror: GraphMirror) -> None:
        nodes = [Node(f"thing {n}", f"Thing {n}", "thing", (), (f"m{n}",)) for n in range(1_200)]
        edges = [Edge("self", "likes", node.id, node.memory_ids[0], MONDAY, None) for node in nodes]
        graph = OwnerGraph(frozenset({SELF, *nodes}), frozenset(edges))
        await mirror.put(ADA, graph)
        assert await mirror.read(ADA) == graph

    async def test_somebody_whom_many_memories_name_is_there_with_all_of_them(self, mirror: GraphMirror) -> None:
        people = [
            Node(name, name, "person", (), tuple(f"{name}-{n:036}" for n in range(MOST_MEMORY_IDS))) for name in "ab"
        ]
        graph = OwnerGraph(frozenset({*people, BERLIN}))
        await mirror.put(ADA, graph)
        assert await mirror.read(ADA) == graph

    async def test_another_one_at_the_same_place_sees_it(self, mirror: GraphMirror) -> None:
        await mirror.put(ADA, GRAPH)
        async with self.open_mirror() as other:
            assert await other.read(ADA) == GRAPH

    async def test_a_server_that_is_down_is_told_with_what_to_do(self) -> None:
        mirror = self.unreachable_mirror()
        if mirror is None:
            pytest.skip("it has no server")
        with pytest.raises(GraphMirrorError, match=r"check|start"):
            await mirror.put(ADA, GRAPH)
        await mirror.aclose()
        await mirror.aclose()
