"""Vectors that follow: texts stored without theirs, because too many waited for the model, get them within moments."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

import anyio.to_thread

from ebbing.domain.errors import EbbingError
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.index_entry import entry_for, passage
from ebbing.language.text.analyzer import analyse
from ebbing.ports.clock import Clock
from ebbing.ports.models.embed_passages import embed_passages
from ebbing.ports.models.embedder import Embedder
from ebbing.ports.stores.memory_store import MemoryStore, Reindex
from ebbing.remember.vectors.embed_drafts import EMBEDDING_SECONDS, enqueue_reindex

MAX_WAITING_TEXTS: Final = 10_000
"""Texts that may be behind, a hundred seconds of one core: beyond them a call waits for its vectors again."""
BATCH_SIZE: Final = 8
"""Texts embedded at a time."""
JOB_DELAY: Final = timedelta(minutes=5)
"""When a worker makes good what a process that was killed still owed."""
_MAX_NOTED_OWNERS: Final = 10_000

_log: Final = logging.getLogger(__name__)


class DeferredEmbedder:
    """Texts that are stored, are found by their words, and wait for their vectors.

    These are made in a thread with a loop of its own: on one that is busy, each step waits as long as a vector takes.
    Only ids wait here. Each owner is queued for the worker too, once in five minutes, so that no vector is missing for
    good when the process is killed.
    """

    def __init__(self, store: MemoryStore, clock: Clock, *, begin: Callable[[], None]) -> None:
        """`begin` is called in the thread first."""
        self._store, self._clock, self._begin = store, clock, begin
        self._embedding = 0
        """Calls whose texts are being embedded, or wait for it."""
        self._waiting: deque[tuple[Scope, str]] = deque()
        self._noted: dict[Owner, datetime] = {}
        """When the job runs that an owner was queued for."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        """There while something waits."""

    @property
    def waiting(self) -> int:
        """How many texts wait."""
        return len(self._waiting)

    @contextmanager
    def turn(self, embedder: Embedder | None) -> Iterator[bool]:
        """Around the embedding of new texts: whether so many wait for their vectors that these should not."""
        runs = getattr(embedder, "parallel_runs", None)
        is_later = runs is not None and self._embedding >= 2 * runs and len(self._waiting) < MAX_WAITING_TEXTS
        self._embedding += 1
        try:
            yield is_later
        finally:
            self._embedding -= 1

    async def take(self, memory_ids: Iterable[str], scope: Scope, *, embedder: Embedder) -> None:
        """See to the vectors of what was just stored without."""
        whole = scope.whole
        if self._is_unnoted(whole.owner):
            await enqueue_reindex(self._store.jobs, whole, run_at=self._clock.now() + JOB_DELAY)
        with self._lock:
            self._waiting.extend((whole, memory_id) for memory_id in memory_ids)
            if self._thread is None:
                work = self._follow(embedder)
                self._thread = threading.Thread(target=asyncio.run, args=(work,), name="ebbing-vectors", daemon=True)
                self._thread.start()

    def forget(self, is_meant: Callable[[Owner], bool]) -> None:
        """Let go of the texts of these owners, who are gone."""
        with self._lock:
            remaining = [waiting for waiting in self._waiting if not is_meant(waiting[0].owner)]
            self._waiting.clear()
            self._waiting.extend(remaining)
            self._noted = {owner: run_at for owner, run_at in self._noted.items() if not is_meant(owner)}

    async def aclose(self) -> None:
        """Leave what waits to the worker."""
        with self._lock:
            self._waiting.clear()
            thread = self._thread
        if thread is not None:
            await anyio.to_thread.run_sync(thread.join)

    def _is_unnoted(self, owner: Owner) -> bool:
        """Return whether an owner is to be queued: the job that waits already, if any, has not begun."""
        now = self._clock.now()
        with self._lock:
            if self._noted.get(owner, now) > now:
                return False
            if len(self._noted) >= _MAX_NOTED_OWNERS:
                self._noted = {noted_owner: run_at for noted_owner, run_at in self._noted.items() if run_at > now}
            self._noted[owner] = now + JOB_DELAY
            return True

    async def _follow(self, embedder: Embedder) -> None:
        self._begin()
        try:
            while portion := self._portion():
                await self._embed(portion, embedder)
        except EbbingError as error:
            _log.warning("vectors do not follow (%s): the worker makes them", error.code)
        finally:
            with self._lock:
                if self._thread is threading.current_thread():  # something went wrong
                    self._waiting.clear()
                    self._thread = None

    def _portion(self) -> dict[Scope, list[str]]:
        """Return what is next, by owner; none, and then the thread ends."""
        portion: dict[Scope, list[str]] = {}
        with self._lock:
            for _ in range(min(BATCH_SIZE, len(self._waiting))):
                scope, memory_id = self._waiting.popleft()
                portion.setdefault(scope, []).append(memory_id)
            if not portion:
                self._thread = None
        return portion

    async def _embed(self, portion: dict[Scope, list[str]], embedder: Embedder) -> None:
        texts = [(scope, record) for scope, ids in portion.items() for record in await self._store.get(scope, ids)]
        got = await embed_passages(embedder, [passage(record) for _, record in texts], seconds=EMBEDDING_SECONDS)
        changes: dict[Scope, list[Reindex]] = {}
        for (scope, record), vector in zip(texts, got.vectors, strict=True):
            if vector is not None:
                analysis = analyse(record.content, speaker=record.actor, said_at=record.said_at)
                entry = entry_for(analysis, vector=vector, model_id=embedder.model_id, utterance=record.is_verbatim)
                changes.setdefault(scope, []).append(Reindex(record.id, record.version, entry))
        await asyncio.gather(*(self._store.write(scope, made) for scope, made in changes.items()))
        if got.failure is not None:
            raise got.failure
