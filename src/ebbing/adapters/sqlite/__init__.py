"""Everything in one SQLite file: memories, history, index entries, jobs and the outbox."""

from ebbing.adapters.sqlite.store import SqliteMemoryStore
from ebbing.adapters.sqlite.tables.jobs import SqliteJobQueue

__all__ = ["SqliteJobQueue", "SqliteMemoryStore"]
