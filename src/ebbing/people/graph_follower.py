"""Keeping the graphs on a server in step with the memories: built once, then following the outbox in order."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from typing import Final

import anyio
import anyio.to_thread

from ebbing.domain.errors import EbbingError, GraphMirrorError
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.people.entity_graph import Graph
from ebbing.people.stored_graph import stored_graph
from ebbing.ports.clock import Clock
from ebbing.ports.exclusive_job import LEASE, exclusive_job
from ebbing.ports.ids import Ids
from ebbing.ports.indexes.graph_mirror import MOST_MEMORY_IDS, Edge, GraphMirror, GraphPlace, Node, OwnerGraph
from ebbing.ports.job_queue import Job
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.ports.stores.outbox import Followed, Outbox

JOB: Final = "graph_mirror"
"""The kind of the one job that is the right to change the mirror: whoever has it in hand does."""
BATCH_CHANGES: Final = 1_000
POLL_SECONDS: Final = 1.0
"""How often it is asked whether something changed."""
LOOK_SECONDS: Final = 10.0
"""How often the server is asked whether it still has what it was brought."""
REST_SECONDS: Final = 10.0
"""How long a server that failed is left alone."""
WAIT_SECONDS: Final = 2.0
"""How long an erasure waits for whoever is at it."""
_PREFIX: Final = "graph "
_BUILDING: Final = "building"
_LOST: Final = "the graph server lost what it was brought: look at its log; all graphs are brought again"

_log: Final = logging.getLogger(__name__)


class GraphFollower:
    """Brings every owner's graph to the server, in a thread of its own, one process at a time.

    The graph of an owner is worked out from all of their memories, since each may say who another one means. So a
    change brings the whole graph up to date; the mirror writes what differs.

    How far the server is stands in the outbox, and as a mark on the server itself, which moves first. A server that
    came back empty or with an older state has another mark than the outbox allows, and gets everything again.
    """

    def __init__(
        self,
        store: MemoryStore,
        outbox: Outbox,
        *,
        mirror: GraphMirror,
        clock: Clock,
        ids: Ids,
        begin: Callable[[], None],
    ) -> None:
        """`begin` is called in the thread first."""
        self._store, self._outbox, self._mirror, self._clock, self._begin = store, outbox, mirror, clock, begin
        self._ids = ids
        self._name = f"{_PREFIX}{mirror.name}"
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._is_failing = False
        self._look_at = time.monotonic() + LOOK_SECONDS

    @property
    def is_failing(self) -> bool:
        """Whether the last attempt failed."""
        return self._is_failing

    def start(self) -> None:
        """Follow from now on, in the background."""
        self._thread = threading.Thread(target=asyncio.run, args=(self._work(),), name="ebbing-graph", daemon=True)
        self._thread.start()

    async def catch_up(self) -> bool:
        """Bring the server up to date; False where that is not possible now. It then follows by itself."""
        try:
            right = exclusive_job(self._store.jobs, JOB, key=self._mirror.name, wait_seconds=WAIT_SECONDS)
            async with right as job:
                if job is None:
                    return False
                await self._follow(job)
        except EbbingError as error:
            self._note(error)
            return False
        self._note(None)
        return True

    async def aclose(self) -> None:
        """Bring the server up to date once more where it answers, and let go of it."""
        self._is_closed = True
        self._wake.set()
        if self._thread is not None:
            await anyio.to_thread.run_sync(self._thread.join)
        await self._mirror.aclose()

    async def _work(self) -> None:
        self._begin()
        while True:
            is_last = self._is_closed
            try:
                if self._is_failing or await self._is_behind():
                    await self.catch_up()
            except EbbingError as error:
                self._note(error)
            if is_last:
                return
            self._wake.wait(REST_SECONDS if self._is_failing else POLL_SECONDS)
            if self._is_closed and self._is_failing:
                return

    async def _is_behind(self) -> bool:
        name = await self._followed_as()
        if name is None or await self._outbox.read(name, limit=1):
            return True
        if time.monotonic() < self._look_at:
            return False
        self._look_at = time.monotonic() + LOOK_SECONDS
        return await self._mark_in_step(name) is None

    def _note(self, error: EbbingError | None) -> None:
        """Say once that it failed, and once that it goes again."""
        if error is not None and not self._is_failing:
            _log.warning("the graph server is behind (%s): %s", error.code, error)
        elif error is None and self._is_failing:
            _log.info("the graph server is up to date again")
        self._is_failing = error is not None

    async def _follow(self, job: Job) -> None:
        name = await self._followed_as()
        mark = None if name is None else await self._mark_in_step(name)
        if name is not None and mark is None:
            _log.warning("the graph server does not have all that it was brought: all graphs are brought again")
        if name is None or mark is None:
            name, mark = await self._build(job)
        await self._apply_all(name, mark, job=job)

    async def _followed_as(self) -> str | None:
        """The name in the outbox: the server's, and that of the last time that everything was brought."""
        return next((name for name in await self._outbox.followers() if name.startswith(f"{self._name} ")), None)

    async def _mark_in_step(self, name: str) -> str | None:
        """Return the server's mark; None where the server does not have all that the outbox says it was brought.

        Whoever is killed between the mark and the cursor leaves a mark that is some changes ahead.
        """
        cursor = await self._outbox.cursor(name)
        mark = await self._mirror.mark()
        if cursor is None or mark is None:
            return None
        changes = await self._outbox.read(name, limit=BATCH_CHANGES)
        marks = {_mark(name, seq) for seq in (cursor, *(change.seq for change in changes))}
        return mark if mark in marks else None

    async def _build(self, job: Job) -> tuple[str, str]:
        """Bring everything that is there; what is noted meanwhile follows. Return the new name and the mark."""
        for other in await self._outbox.followers():
            if other.startswith(_PREFIX):
                await self._outbox.unregister(other)
        name = f"{self._name} {self._ids.new()}"
        building = _mark(name, _BUILDING)
        await self._mirror.clear(building)
        cursor = await self._outbox.register(name)
        for tenant in await self._store.tenants():
            for owner in await self._store.owners(tenant):
                standing = await self._outbox.standing(name, owner, limit=1)
                if standing is not None:
                    await self._put(owner, standing.partition)
                    await self._store.jobs.renew(job, lease=LEASE)
        await self._move_mark(building, _mark(name, cursor))
        return name, _mark(name, cursor)

    async def _apply_all(self, name: str, mark: str, *, job: Job) -> None:
        while changes := await self._outbox.read(name, limit=BATCH_CHANGES):
            last: dict[str, Followed] = {change.partition: change for change in changes}
            for partition, change in last.items():
                if change.owner is None:
                    await self._mirror.remove(partition)
                else:
                    await self._put(change.owner, partition)
                await self._store.jobs.renew(job, lease=LEASE)
            mark, before = _mark(name, changes[-1].seq), mark
            await self._move_mark(before, mark)
            await self._outbox.advance(name, changes[-1].seq)

    async def _move_mark(self, old: str, new: str) -> None:
        """Say on the server how far it is, unless it lost what it had meanwhile."""
        if not await self._mirror.move_mark(old, new):
            raise GraphMirrorError(_LOST)

    async def _put(self, owner: Owner, partition: str) -> None:
        graph = await stored_graph(self._store, Scope.of(owner), at=self._clock.now(), past=True)
        place = GraphPlace(owner.tenant, owner.kind, owner.name, partition)
        await self._mirror.put(place, mirrored(graph))


def _mark(name: str, place: int | str) -> str:
    """Return the mark of a server that has everything up to a place."""
    return f"{name.rpartition(' ')[2]} {place}"


def mirrored(graph: Graph) -> OwnerGraph:
    """Return a graph as it is shown to other programs; a person of whom nothing is known is nobody."""
    nodes: set[Node] = set()
    for entity in graph.entities:
        memory_ids = tuple(entity.memory_ids[-MOST_MEMORY_IDS:])
        nodes.add(Node(entity.id, entity.name, entity.kind, tuple(entity.aliases), memory_ids))
    edges: set[Edge] = set()
    for item in graph.relations:
        edges.add(Edge(item.subject, item.relation, item.object, item.memory_id, item.since, item.until))
    if not edges and all(not node.memory_ids for node in nodes):
        return OwnerGraph()
    return OwnerGraph(frozenset(nodes), frozenset(edges))
