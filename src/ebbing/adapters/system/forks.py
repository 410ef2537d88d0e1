"""No SQLite connection crosses a fork: all are closed before it, and the parent opens them again when it needs them.

SQLite keeps for each file of a process which locks its connections hold. A forked child inherits that book, but not
the locks. A connection that it opens itself then takes none, since the book says that they are held; the parent, or
whoever closes the file last, believes to be alone and deletes the log that the child writes to. So nothing of SQLite
may be open while a process forks (https://www.sqlite.org/howtocorrupt.html, section 2.6).
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Protocol

from ebbing.domain.errors import StoreError

QUIET_SECONDS: Final = 5.0
"""How long a fork waits for calls of other threads to give their connections back."""

_INHERITED: Final = (
    "this process was forked while its parent used this store: fork when no call is running, or start processes with"
    " the method `spawn`"
)


class Forkable(Protocol):
    """Something that keeps connections open."""

    def close_for_fork(self, deadline: float) -> Iterable[Path]:
        """Close every connection and let nobody open one; return the files that are still open at the deadline.

        Args:
            deadline: as `time.monotonic` counts.
        """
        ...

    def resume_after_fork(self) -> None:
        """Let connections be opened again."""
        ...


opening = threading.RLock()
"""Held by whoever opens a file for the first time, and during a fork."""
_forkables: Final[weakref.WeakSet[Forkable]] = weakref.WeakSet()
_closed: list[Forkable] = []
"""Those that were closed for the fork that is going on."""
_locks_taken: list[threading.RLock] = []
"""The lock above, where the fork that is going on could take it."""
_left_open: set[Path] = set()
"""Files that were open during that fork."""
_unsafe_files: set[tuple[int, int]] = set()
"""Device and inode of the files that this process inherited open."""


def register(forkable: Forkable) -> None:
    """Close this before each fork as long as it lives."""
    _forkables.add(forkable)


def check_inherited(path: Path) -> None:
    """Refuse a file that was open when this process was forked.

    Raises:
        StoreError: it was.
    """
    if _unsafe_files and path.exists() and _identity(path) in _unsafe_files:
        raise StoreError(_INHERITED)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def _before() -> None:
    deadline = time.monotonic() + QUIET_SECONDS
    if opening.acquire(timeout=QUIET_SECONDS):
        _locks_taken.append(opening)
    for forkable in list(_forkables):
        _closed.append(forkable)
        _left_open.update(forkable.close_for_fork(deadline))


def _resume() -> None:
    while _closed:
        _closed.pop().resume_after_fork()
    while _locks_taken:
        _locks_taken.pop().release()


def _in_parent() -> None:
    _left_open.clear()
    _resume()


def _in_child() -> None:
    global opening  # noqa: PLW0603 – a fork is the one thing that changes them
    _unsafe_files.update(_identity(path) for path in _left_open if path.exists())
    _left_open.clear()
    _resume()
    opening = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows, which knows no fork
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
