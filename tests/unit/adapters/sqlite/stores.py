"""Stores in a directory, and records to put into them, for the tests of the SQLite adapter."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.adapters.system.machine import TimeOrderedIds
from ebbing.domain.memory.record import MemoryRecord, Provenance
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import entry_for
from ebbing.language.text.analyzer import analyse
from ebbing.ports.stores.memory_store import Insert
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder

ADA, BOB = Scope(user_id="ada"), Scope(user_id="bob")
CLOCK = ManualClock()
EMBEDDER = FakeEmbedder(16)
_IDS = TimeOrderedIds()


def open_store(directory: Path, **options: Any) -> SqliteMemoryStore:
    return SqliteMemoryStore.open(directory, clock=CLOCK, model_id=EMBEDDER.model_id, dim=EMBEDDER.dim, **options)


def record(scope: Scope, text: str, *, source: str | None = None) -> MemoryRecord:
    now = CLOCK.now()
    provenance = Provenance(source_ids=(source,) if source else ())
    return MemoryRecord(
        id=_IDS.new(), belongs_to=scope, content=text, created_at=now, recorded_at=now, provenance=provenance
    )


def insert(of: MemoryRecord) -> Insert:
    analysis = analyse(of.content, speaker=of.actor, said_at=of.created_at)
    [vector] = EMBEDDER.embed([of.content])
    return Insert(of, entry_for(analysis, vector=vector, model_id=EMBEDDER.model_id))


async def stored(store: SqliteMemoryStore, scope: Scope, text: str, *, source: str | None = None) -> MemoryRecord:
    new = record(scope, text, source=source)
    await store.write(scope, [insert(new)])
    return new


@contextmanager
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    """The file as any program sees it; what was changed is committed."""
    with closing(sqlite3.connect(path)) as db, db:
        yield db
