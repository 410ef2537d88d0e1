"""Keeping the index of vectors in step with the store: built for large owners, then following the outbox in order."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

import anyio.to_thread
import numpy as np

from ebbing.domain.errors import EbbingError
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.near_rows import Rows, side_by_side
from ebbing.index.shard import Shard
from ebbing.ports.exclusive_job import LEASE, exclusive_job
from ebbing.ports.indexes.vector_index import COMPLETE, VectorIndex, VectorRoom, follower_name
from ebbing.ports.job_queue import Job
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.ports.stores.outbox import Followed, Outbox

JOB: Final = "vector_index"
"""The kind of the one job that is the right to change the index: whoever has it in hand does."""
BATCH_CHANGES: Final = 5_000
"""Changes that are applied before the index is saved."""
BATCH_ROWS: Final = 2_000
"""Vectors of one call while the index is built."""
SAVED_ROWS: Final = 250_000
"""Vectors after which a half-built index is saved, so that it goes on from there; near ones of these are written
together."""
MOST_BEHIND: Final = 1_000_000
"""Changes that are kept for an index in another place, such as the disk of a machine that may be gone for good."""
WAIT_SECONDS: Final = 2.0
"""How long an erasure waits for whoever is at it."""
_PREFIX: Final = "vectors "

_log: Final = logging.getLogger(__name__)


class VectorFollower:
    """Builds and updates the index, in a thread of its own, one process at a time. What is killed is done again."""

    def __init__(
        self, store: MemoryStore, outbox: Outbox, *, index: VectorIndex, min_rows: int, begin: Callable[[], None]
    ) -> None:
        """`begin` is called in the thread first; owners with fewer rows than `min_rows` are not indexed."""
        self._store, self._outbox, self._index, self._begin = store, outbox, index, begin
        self._min_rows = min_rows
        self._waiting: dict[Owner, None] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    @property
    def _technology(self) -> str:
        return self._index.name.partition("-")[0]

    @property
    def is_busy(self) -> bool:
        """Whether something is being built or brought up to date."""
        return self._thread is not None

    def follow(self, owner: Owner) -> None:
        """Have the index built for an owner, and brought up to date, soon."""
        with self._lock:
            if self._is_closed:
                return
            self._waiting[owner] = None
            if self._thread is None:
                self._thread = threading.Thread(
                    target=asyncio.run, args=(self._work(),), name="ebbing-index", daemon=True
                )
                self._thread.start()

    async def catch_up(self) -> bool:
        """Apply every change that was noted for the index; False where that is not possible now.

        The index is then brought up to date within a minute of its next use.
        """
        followers = [
            name for name in await self._outbox.followers() if name.startswith(f"{_PREFIX}{self._index.name} ")
        ]
        names = [name for name in followers if await self._outbox.read(name, limit=1)]
        if not names:
            return True
        try:
            async with self._lease(wait_seconds=WAIT_SECONDS) as job:
                if job is None:
                    return False
                for name in names:
                    await self._catch_up(name, job)
        except EbbingError as error:
            _log.warning("the vector index is behind (%s): %s", error.code, error)
            return False
        return True

    async def build(self, owner: Owner) -> bool:
        """Build the index of an owner, or bring it up to date; False where another process is at it."""
        shard = await self._store.shard(Scope.of(owner))
        if shard.model_id is None or shard.size < self._min_rows:
            return True
        async with self._lease() as job:
            if job is None:
                return False
            name = follower_name(self._index, shard.model_id, dim=shard.dim)
            if await self._is_new(name):
                await self._store.set_mark(Scope.of(owner), name, value=0)
            await self._catch_up(name, job)
            await self._build(name, owner, job=job)
            await self._catch_up(name, job)
            await self._drop_places_behind()
        return True

    async def aclose(self) -> None:
        """Stop between two pieces of work, and close the index."""
        with self._lock:
            self._is_closed = True
            self._waiting.clear()
            thread = self._thread
        if thread is not None:
            await anyio.to_thread.run_sync(thread.join)
        await self._index.aclose()

    async def _work(self) -> None:
        self._begin()
        try:
            while (owner := self._next()) is not None:
                await self.build(owner)
        except EbbingError as error:
            _log.warning("the vector index is not built (%s): %s", error.code, error)
        finally:
            with self._lock:
                if self._thread is threading.current_thread():  # something went wrong
                    self._waiting.clear()
                    self._thread = None

    def _next(self) -> Owner | None:
        """Return whose turn it is; nobody's, and then the thread ends."""
        with self._lock:
            owner = next(iter(self._waiting), None)
            if owner is None:
                self._thread = None
            else:
                del self._waiting[owner]
            return owner

    def _lease(self, *, wait_seconds: float = 0.0) -> AbstractAsyncContextManager[Job | None]:
        """The right to change the index; None where another process or thread has it."""
        return exclusive_job(self._store.jobs, JOB, key=self._technology, lease=LEASE, wait_seconds=wait_seconds)

    @asynccontextmanager
    async def _renewing(self, job: Job) -> AsyncIterator[None]:
        """Keep the right to change the index while it is saved: to build the graph of a large owner takes long."""

        async def renew() -> None:
            while True:
                await anyio.sleep(LEASE.total_seconds() / 3)
                await self._store.jobs.renew(job, lease=LEASE)

        renewing = asyncio.create_task(renew())
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def _is_new(self, name: str) -> bool:
        """Begin to follow, unless it does already. What the index holds from before nobody vouches for: it goes."""
        names = await self._outbox.followers()
        if name in names:
            return False
        await self._index.clear()
        elsewhere = self._elsewhere(names)
        for other in names:
            if other.startswith(_PREFIX) and other not in elsewhere:
                await self._outbox.unregister(other)
        await self._outbox.register(name)
        return True

    def _elsewhere(self, names: Sequence[str]) -> list[str]:
        """Return who follows with an index of the same kind in another place."""
        here, same_kind = f"{_PREFIX}{self._index.name} ", f"{_PREFIX}{self._technology}-"
        return [name for name in names if name.startswith(same_kind) and not name.startswith(here)]

    async def _drop_places_behind(self) -> None:
        """Keep no more changes for an index in another place that nobody brings up to date: it is built again."""
        for other in self._elsewhere(await self._outbox.followers()):
            if await self._outbox.backlog(other) > MOST_BEHIND:
                _log.warning("a vector index in another place is far behind: no more changes are kept for it")
                await self._outbox.unregister(other)

    async def _catch_up(self, name: str, job: Job) -> None:
        while not self._is_closed and (changes := await self._outbox.read(name, limit=BATCH_CHANGES)):
            by_partition: dict[str, list[Followed]] = {}
            for change in changes:
                by_partition.setdefault(change.partition, []).append(change)
            for partition, group in by_partition.items():
                await self._apply(name, partition, changes=group)
            async with self._renewing(job):
                await self._index.save()
            await self._outbox.advance(name, changes[-1].seq)
            if not await self._store.jobs.renew(job, lease=LEASE):
                return  # another process has the right by now

    async def _apply(self, name: str, partition: str, *, changes: Sequence[Followed]) -> None:
        """Bring the changed rows of one owner into the index as the store has them now."""
        owner = changes[-1].owner
        if owner is None:
            await self._index.delete(partition)
            return
        seqs = np.unique(np.array([change.row for change in changes], dtype=np.int64))
        if not await self._store.mark(Scope.of(owner), name):
            erased = np.array([change.row for change in changes if change.op == "erase"], dtype=np.int64)
            await self._index.delete(partition, erased)
            return
        shard = await self._store.shard(Scope.of(owner))
        present = shard.rows_of(seqs.tolist())
        present = present[shard.alive[present] & shard.embedded[present]]
        if follower_name(self._index, shard.model_id or "", dim=shard.dim) != name:
            present = present[:0]
        await self._index.delete(partition, np.setdiff1d(seqs, shard.seq[present]))
        room = VectorRoom(owner.tenant, partition, shard.model_id or "", shard.dim)
        await self._index.upsert(room, shard.seq[present], vectors=shard.vectors[present])

    async def _build(self, name: str, owner: Owner, *, job: Job) -> None:
        scope = Scope.of(owner)
        done = await self._store.mark(scope, name)
        standing = await self._outbox.standing(name, owner, limit=1)
        if done == COMPLETE or standing is None:
            return
        if not done:
            await self._index.delete(standing.partition)
        shard = await self._store.shard(scope)
        room = VectorRoom(owner.tenant, standing.partition, shard.model_id or "", shard.dim)
        rows = _rows_after(shard, done)
        for start in range(0, len(rows), SAVED_ROWS):
            stretch = rows[start : start + SAVED_ROWS]
            if not await self._write(room, shard, rows=side_by_side(shard.vectors, stretch), job=job):
                return
            if len(stretch) == SAVED_ROWS:
                await self._index.save(is_complete=False)
                await self._store.set_mark(scope, name, value=int(shard.seq[stretch[-1]]))
        async with self._renewing(job):
            await self._index.save()
        await self._store.set_mark(scope, name, value=COMPLETE)

    async def _write(self, room: VectorRoom, shard: Shard, *, rows: Rows, job: Job) -> bool:
        """Write rows in this order; False where that has to stop, or another process has the right by now."""
        for start in range(0, len(rows), BATCH_ROWS):
            part = rows[start : start + BATCH_ROWS]
            await self._index.upsert(room, shard.seq[part], vectors=shard.vectors[part])
            if self._is_closed or not await self._store.jobs.renew(job, lease=LEASE):
                return False
        return True


def _rows_after(shard: Shard, seq: int) -> Rows:
    """Return the living rows with vectors from after a row on, in the order in which they came."""
    rows = np.flatnonzero(shard.alive & shard.embedded & (shard.seq > seq))
    return rows[np.argsort(shard.seq[rows], kind="stable")]
