"""Everything in one SQLite file: memories, history, index entries, jobs and the outbox."""

from ebbing.adapters.sqlite.jobs import SqliteJobQueue
from ebbing.adapters.sqlite.store import SqliteMemoryStore

__all__ = ["SqliteJobQueue", "SqliteMemoryStore"]
