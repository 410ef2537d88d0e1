"""Graphs follow the memories: everything once, then each change in order; a server that fails costs nobody a memory."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import anyio.to_thread
import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.scope import Scope
from ebbing.people.graph_follower import GraphFollower, mirrored
from ebbing.people.stored_graph import stored_graph
from ebbing.ports.stores.memory_store import Erase
from ebbing.ports.stores.outbox import Outbox
from ebbing.testing.clock import ManualClock
from ebbing.testing.graph_mirror import GraphMirrorInRam
from ebbing.testing.ids import SequentialIds
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.testing.stores.case import ADA, BOB, StoreCase

pytestmark = pytest.mark.anyio


class TestGraphFollower(StoreCase):
    @pytest.fixture(autouse=True)
    async def _parts(self, tmp_path: Path) -> AsyncIterator[None]:
        self.clock, self.ids, self.embedder = ManualClock(), SequentialIds(), FakeEmbedder(16)
        self.store = SqliteMemoryStore.open(tmp_path, clock=self.clock)
        self.store.use_model(self.embedder)
        self.opened = self.store
        self.mirror = GraphMirrorInRam()
        self.follower = self.follower_of(self.mirror)
        yield
        await self.store.aclose()

    def follower_of(self, mirror: GraphMirrorInRam) -> GraphFollower:
        assert self.store.outbox is not None
        outbox: Outbox = self.store.outbox
        return GraphFollower(self.store, outbox, mirror=mirror, clock=self.clock, ids=self.ids, begin=lambda: None)

    async def told(self, scope: Scope, attribute: str, value: str) -> str:
        record = self.record(scope, f"{attribute}: {value}", attribute=attribute, value=value)
        await self.store.write(scope, [self.insert(record)])
        return record.id

    async def check_equal(self, *scopes: Scope) -> None:
        """The mirror shows what the memories tell, and nothing of anybody else."""
        graphs = [mirrored(await stored_graph(self.store, scope, at=self.clock.now(), past=True)) for scope in scopes]
        shown = [graph for graph in self.mirror.graphs.values() if graph.nodes]
        assert sorted(map(repr, map(sorted_graph, shown))) == sorted(map(repr, map(sorted_graph, graphs)))

    async def test_what_was_there_before_comes_along(self) -> None:
        await self.told(ADA, "home", "Berlin")
        await self.told(BOB, "home", "Paris")
        assert await self.follower.catch_up()
        await self.check_equal(ADA, BOB)

    async def test_what_is_written_afterwards_follows_and_is_applied_once(self) -> None:
        assert await self.follower.catch_up()
        for place in ("Berlin", "Paris", "Rome"):
            await self.told(ADA, "visited", place)
            assert await self.follower.catch_up()
            assert await self.follower.catch_up()
            await self.check_equal(ADA)

    async def test_a_fact_that_ended_has_its_end_there(self) -> None:
        memory_id = await self.told(ADA, "home", "Berlin")
        assert await self.follower.catch_up()
        [record] = await self.store.get(ADA, [memory_id])
        await self.store.write(ADA, [self.revise(record, Event.UPDATE, valid_to=self.clock.now())])
        assert await self.follower.catch_up()
        [graph] = self.mirror.graphs.values()
        assert {edge.valid_to for edge in graph.edges} == {self.clock.now()}
        await self.check_equal(ADA)

    async def test_what_is_erased_is_gone_there(self) -> None:
        gone, _ = await self.told(ADA, "home", "Berlin"), await self.told(ADA, "pet", "Rex")
        await self.told(BOB, "home", "Paris")
        assert await self.follower.catch_up()
        await self.store.write(ADA, [Erase(gone)])
        assert await self.follower.catch_up()
        await self.check_equal(ADA, BOB)
        await self.store.erase(ADA)
        assert await self.follower.catch_up()
        await self.check_equal(BOB)
        assert not any(gone in repr(graph) for graph in self.mirror.graphs.values())

    async def test_a_node_names_no_more_memories_than_servers_take(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ebbing.people.graph_follower.MOST_MEMORY_IDS", 2)
        ids = [await self.told(ADA, "visited", place) for place in ("Berlin", "Paris", "Rome")]
        assert await self.follower.catch_up()
        [graph] = self.mirror.graphs.values()
        [person] = [node for node in graph.nodes if node.id == "self"]
        assert person.memory_ids == tuple(ids[1:])
        assert len(graph.edges) == 3

    async def test_a_server_that_is_down_is_said_once_and_catches_up(self, caplog: pytest.LogCaptureFixture) -> None:
        await self.told(ADA, "home", "Berlin")
        assert await self.follower.catch_up()
        self.mirror.is_down = True
        with caplog.at_level(logging.INFO, "ebbing.people.graph_follower"):
            for place in ("Paris", "Rome", "Oslo"):
                await self.told(ADA, "visited", place)
                assert not await self.follower.catch_up()
            self.mirror.is_down = False
            assert await self.follower.catch_up()
        assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
        await self.check_equal(ADA)

    async def test_another_server_is_built_from_the_beginning(self) -> None:
        await self.told(ADA, "home", "Berlin")
        assert await self.follower.catch_up()
        self.mirror = GraphMirrorInRam()
        self.mirror.name = "another one"
        self.follower = self.follower_of(self.mirror)
        assert await self.follower.catch_up()
        await self.check_equal(ADA)
        assert self.store.outbox is not None
        [name] = await self.store.outbox.followers()
        assert name.startswith("graph another one ")

    async def test_a_build_that_was_broken_off_is_done_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        await self.told(ADA, "home", "Berlin")
        await self.told(BOB, "home", "Paris")
        put, calls = self.mirror.put, []

        async def breaks(place: object, graph: object) -> None:
            calls.append(place)
            self.mirror.is_down = len(calls) == 2
            await put(place, graph)  # type: ignore[arg-type]

        monkeypatch.setattr(self.mirror, "put", breaks)
        assert not await self.follower.catch_up()
        self.mirror.is_down = False
        await self.told(ADA, "pet", "Rex")
        assert await self.follower.catch_up()
        await self.check_equal(ADA, BOB)

    async def test_a_server_that_came_back_empty_is_filled_again(self, caplog: pytest.LogCaptureFixture) -> None:
        await self.told(ADA, "home", "Berlin")
        await self.told(BOB, "home", "Paris")
        assert await self.follower.catch_up()
        self.mirror.graphs, self.mirror.left = {}, None
        assert await self.follower.catch_up()
        await self.check_equal(ADA, BOB)
        assert "all graphs are brought again" in caplog.text
        caplog.clear()
        assert await self.follower.catch_up()
        assert not caplog.text

    async def test_a_server_with_an_older_state_is_filled_again(self) -> None:
        gone = await self.told(ADA, "home", "Berlin")
        await self.told(BOB, "home", "Paris")
        assert await self.follower.catch_up()
        graphs, mark = dict(self.mirror.graphs), self.mirror.left
        await self.store.write(ADA, [Erase(gone)])
        assert await self.follower.catch_up()
        self.mirror.graphs, self.mirror.left = graphs, mark
        await self.told(BOB, "pet", "Rex")
        assert await self.follower.catch_up()
        await self.check_equal(BOB)
        assert not any(gone in repr(graph) for graph in self.mirror.graphs.values())

    async def test_an_older_state_from_before_another_server_was_followed_is_noticed(self) -> None:
        """The outbox counts on from where it was, so that a number alone would be the same again."""
        await self.told(ADA, "home", "Berlin")
        assert await self.follower.catch_up()
        first, graphs, mark = self.mirror, dict(self.mirror.graphs), self.mirror.left
        assert self.store.outbox is not None
        for name in await self.store.outbox.followers():
            await self.store.outbox.unregister(name)
        await self.told(ADA, "pet", "Rex")
        assert await self.follower.catch_up()
        first.graphs, first.left = graphs, mark
        assert await self.follower.catch_up()
        await self.check_equal(ADA)

    @pytest.mark.parametrize("lost_after", [1, 2, 3])
    async def test_a_server_that_loses_everything_meanwhile_is_filled_again(
        self, lost_after: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It crashes while it is built, or while changes follow, and goes on at once without what it had."""
        put, calls = self.mirror.put, []

        async def loses(place: object, graph: object) -> None:
            await put(place, graph)  # type: ignore[arg-type]
            calls.append(place)
            if len(calls) == lost_after:
                self.mirror.graphs, self.mirror.left = {}, None

        monkeypatch.setattr(self.mirror, "put", loses)
        await self.told(ADA, "home", "Berlin")
        await self.told(BOB, "home", "Paris")
        results = [await self.follower.catch_up()]
        await self.told(BOB, "pet", "Rex")
        results += [await self.follower.catch_up(), await self.follower.catch_up()]
        assert results.count(False) == 1
        await self.check_equal(ADA, BOB)

    async def test_a_process_that_is_killed_before_it_moves_its_cursor_is_followed_without_building(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        assert await self.follower.catch_up()
        for place in ("Berlin", "Rome"):
            await self.told(ADA, "visited", place)
        with monkeypatch.context() as patch:
            patch.setattr(self.store.outbox, "advance", self._killed)
            with pytest.raises(KeyboardInterrupt):
                await self.follower.catch_up()
        await self.told(ADA, "visited", "Oslo")
        assert await self.follower.catch_up()
        await self.check_equal(ADA)
        assert not caplog.text

    @staticmethod
    async def _killed(*_: object) -> None:
        raise KeyboardInterrupt

    async def test_the_thread_notices_a_loss_while_nothing_changes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ebbing.people.graph_follower.LOOK_SECONDS", 0.1)
        monkeypatch.setattr("ebbing.people.graph_follower.POLL_SECONDS", 0.05)
        await self.told(ADA, "home", "Berlin")
        self.follower = self.follower_of(self.mirror)
        assert await self.follower.catch_up()
        self.mirror.graphs, self.mirror.left = {}, None
        is_filled, put = threading.Event(), self.mirror.put

        async def fills(place: object, graph: object) -> None:
            await put(place, graph)  # type: ignore[arg-type]
            is_filled.set()

        monkeypatch.setattr(self.mirror, "put", fills)
        self.follower.start()
        assert await anyio.to_thread.run_sync(is_filled.wait, 20)
        await self.follower.aclose()
        await self.check_equal(ADA)

    async def test_the_thread_follows_by_itself_and_ends_up_to_date(self) -> None:
        await self.told(ADA, "home", "Berlin")
        self.follower.start()
        await self.told(ADA, "visited", "Rome")
        await self.follower.aclose()
        await self.check_equal(ADA)


def sorted_graph(graph: object) -> object:
    """A graph whose text does not depend on the order of sets."""
    return sorted(map(repr, graph.nodes)), sorted(map(repr, graph.edges))  # type: ignore[attr-defined]
