"""Removes from the disk what was removed from the tables, and remembers in the file itself what is still to be done.

SQLite overwrites what it deletes (`secure_delete`). Two places are left: the write-ahead log, which holds pages as they
were, and the unused part of pages that were once split, where a copy of a moved row may stay behind. Emptying the log
takes a moment; for the pages the whole file is rewritten, in which nobody else can write.

What an erasure leaves to be done is noted in its own transaction, so that a process that is killed right after it, or
that is kept from it by a reader of another process, does it later, or leaves it to whoever opens the file next.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from contextlib import suppress
from enum import IntEnum
from sqlite3 import Connection
from typing import Final

from ebbing.adapters.sqlite.connection.connections import BUSY_SECONDS, Connections

SMALL_BYTES: Final = 64 * 2**20
"""Up to this size a file is rewritten at once whenever somebody waits for it: in less than a second."""
MAX_REWRITTEN_BYTES: Final = 2**30
"""A larger file is rewritten only on demand (`compact`): it takes many seconds, in which nobody else can write."""
SHARE_OF_TIME: Final = 0.05
"""Of the time that passes, how much at most goes into rewriting a file that is not small."""
GATHER_SECONDS: Final = 2.0
"""So long single erasures are gathered before the file is rewritten for all of them."""
LONGEST_PAUSE: Final = 60.0
_WAIT_SECONDS: Final = 1.0
"""How long a reader of another process is waited for, while nobody can write."""

_log: Final = logging.getLogger("ebbing.store")


class Scrub(IntEnum):
    """How thoroughly removed bytes are removed from the disk as well, once the work is committed."""

    NO = 0
    LOG = 1
    """The write-ahead log is emptied."""
    SOON = 2
    """The log is emptied; the file is rewritten soon, once for many erasures."""
    FILE = 3
    """The file is rewritten at once, unless it is large or was rewritten just now: then soon."""
    LARGE_FILE = 4
    """The file is rewritten at once, however large it is."""


class Scrubber:
    """The writer's own: it runs between two transactions, on the connection that writes."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._left = Scrub.NO
        """What is still to be done, as far as this process knows."""
        self._again_at = 0.0
        self._pause = 1.0
        self._rewritten_at, self._took = -1e9, 0.0

    @property
    def _db(self) -> Connection:
        return self._connections.writer

    @property
    def is_overdue(self) -> bool:
        """Whether what is left has waited so long that others have to wait for it now."""
        return self._left is not Scrub.NO and time.monotonic() > self._again_at + LONGEST_PAUSE

    @property
    def pause(self) -> float | None:
        """Seconds until there is something to do; None where nothing is left."""
        return None if self._left is Scrub.NO else max(0.0, self._again_at - time.monotonic())

    def look(self) -> None:
        """Finds what an earlier process left to be done, to do it soon."""
        with suppress(sqlite3.Error):
            if self._noted():
                self._left, self._again_at = Scrub.SOON, time.monotonic() + GATHER_SECONDS

    def note(self, scrub: Scrub) -> None:
        """Says what the running transaction makes necessary; it is known once that is committed."""
        self._db.execute("INSERT INTO unscrubbed (level) VALUES (?)", (min(scrub, Scrub.SOON),))

    def attempt(self, scrub: Scrub = Scrub.NO) -> bool:
        """Does what is noted, as far as it can be done now; whether nothing is left.

        Args:
            scrub: what somebody waits for; `NO` for an attempt of its own accord.
        """
        try:
            noted = self._noted()
            if not noted and scrub is not Scrub.LARGE_FILE:
                self._left = Scrub.NO
                return True
            self._db.execute(f"PRAGMA busy_timeout = {int(1000 * _WAIT_SECONDS)}")
            rewritten = self._rewrite(noted, scrub)
            emptied = self._empty_log()
            if emptied and rewritten:
                self._db.execute("DELETE FROM unscrubbed WHERE no <= ?", (max(noted, default=0),))
            return self._note_outcome(emptied=emptied, rewritten=rewritten)
        except sqlite3.Error:
            return self._note_outcome(emptied=False, rewritten=False)
        finally:
            self._db.execute(f"PRAGMA busy_timeout = {int(1000 * BUSY_SECONDS)}")

    def _noted(self) -> dict[int, int]:
        return dict(self._db.execute("SELECT no, level FROM unscrubbed").fetchall())

    def _rewrite(self, noted: dict[int, int], scrub: Scrub) -> bool:
        """Rewrites the files where that is noted and may be done now; whether it need not be done any more."""
        if scrub is not Scrub.LARGE_FILE and max(noted.values(), default=0) < Scrub.SOON:
            return True
        if not self._may_rewrite(scrub):
            return False
        begun = time.monotonic()
        for database in self._databases:
            self._db.execute(f"VACUUM {database}")
        self._rewritten_at = time.monotonic()
        self._took = self._rewritten_at - begun
        # The old pages are gone from the new file; what is left of this is to get it out of the log.
        self._db.execute("UPDATE unscrubbed SET level = ? WHERE no <= ?", (Scrub.LOG, max(noted, default=0)))
        return True

    def _may_rewrite(self, scrub: Scrub) -> bool:
        if scrub is Scrub.LARGE_FILE:
            return True
        if self._is_too_large or scrub is Scrub.SOON:
            return False
        if scrub is Scrub.FILE and self._bytes <= SMALL_BYTES:
            return True
        return time.monotonic() >= self._rewritten_at + self._took / SHARE_OF_TIME

    def _empty_log(self) -> bool:
        busy = [self._db.execute(f"PRAGMA {name}.wal_checkpoint(TRUNCATE)").fetchone()[0] for name in self._databases]
        return not any(busy)

    def _note_outcome(self, *, emptied: bool, rewritten: bool) -> bool:
        now = time.monotonic()
        if emptied and rewritten:
            self._left, self._pause = Scrub.NO, 1.0
            return True
        if emptied:
            if self._left is not Scrub.SOON or self._again_at < now:
                rested = self._rewritten_at + self._took / SHARE_OF_TIME
                self._again_at = max(now + (LONGEST_PAUSE if self._is_too_large else GATHER_SECONDS), rested)
            self._left = Scrub.SOON
            return False
        if self._left is not Scrub.LOG:
            _log.warning("removed texts stay in the store's log until another process lets go of it")
        self._left, self._again_at = Scrub.LOG, now + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        return False

    @property
    def _databases(self) -> list[str]:
        return ["main", "elsewhere"] if self._connections.history_path else ["main"]

    @property
    def _is_too_large(self) -> bool:
        return self._bytes > MAX_REWRITTEN_BYTES

    @property
    def _bytes(self) -> int:
        return sum(self._number(name, "page_count") * self._number(name, "page_size") for name in self._databases)

    def _number(self, database: str, pragma: str) -> int:
        return int(self._db.execute(f"PRAGMA {database}.{pragma}").fetchone()[0])
