"""Whether anything was committed, by whatever thread or process, told without a statement.

Beside a file in WAL mode lies its index of the log, which every process that has the file open maps into its memory.
It begins with 48 bytes that each commit and each reset of the log changes: the number of the last frame, the checksum
of all frames up to it and the salt of the log are among them (https://www.sqlite.org/walformat.html, section 2.1).
SQLite itself tells by them whether a reader has to look again; so may we. That takes a tenth of what the least
statement takes, which locks and unlocks the index.
"""

from __future__ import annotations

import os
import struct
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

if sys.platform != "win32":
    import mmap

HEADER_BYTES: Final = 48
"""Of the header, which stands there twice."""
_VERSION: Final = 3_007_000
"""Of the layout; SQLite has had no other since 2010."""


class _Index(NamedTuple):
    """An index that is open in this process."""

    descriptor: int
    mapped: mmap.mmap | None
    """None where it could not be mapped."""


_opened: dict[tuple[int, int], _Index] = {}
"""By device and inode. A process that closes any descriptor of a file loses all its locks on it, SQLite's as well (that
is what POSIX says of them): so each is opened once, and closed only when the file is gone."""
_guard = threading.RLock()
"""Reentrant, since a store that nobody closed may be collected at any step."""


def _renew_guard() -> None:
    global _guard  # noqa: PLW0603 – a fork may have happened while another thread held it
    _guard = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows, which knows no fork
    os.register_at_fork(after_in_child=_renew_guard)


class WalIndex:
    """The index of the log of a database file.

    Args:
        path: the database file, which a connection of this process has open, and read from, in WAL mode.
    """

    def __init__(self, path: Path) -> None:
        # SQLite keeps it beside the file itself, wherever a link to that lies.
        real = path.resolve()
        self._mapped = None if sys.platform == "win32" else _mapped(real.with_name(f"{real.name}-shm"))

    def state(self) -> bytes | None:
        """Bytes that are others after the next commit to the file. None where that cannot be told.

        Read before a statement, they stand for what that statement saw as long as they are the same.
        """
        mapped = self._mapped
        return None if mapped is None else mapped[:HEADER_BYTES]

    def let_go(self) -> None:
        """Tells nothing any more."""
        self._mapped = None
        _close_gone()


def _mapped(path: Path) -> mmap.mmap | None:
    """The index, if it is laid out as we know it."""
    _close_gone()
    with suppress(OSError), _guard:
        there = path.stat()
        known = _opened.get((there.st_dev, there.st_ino)) or _open(path)
        if known.mapped is not None and _is_readable(known.mapped):
            return known.mapped
    return None


def _open(path: Path) -> _Index:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    there, mapped = os.fstat(descriptor), None
    with suppress(OSError, ValueError):  # the descriptor is to be kept all the same
        mapped = mmap.mmap(descriptor, 2 * HEADER_BYTES, prot=mmap.PROT_READ)
    return _opened.setdefault((there.st_dev, there.st_ino), _Index(descriptor, mapped))


def _is_readable(mapped: mmap.mmap) -> bool:
    """Whether both headers are the same, as they are unless somebody is writing them, and of the known layout."""
    header = mapped[:HEADER_BYTES]
    return header == mapped[HEADER_BYTES:] and struct.unpack_from("=I", header) == (_VERSION,)


def _close_gone() -> None:
    """Closes the indexes of which the file was deleted: SQLite does that when nobody has the database open any more."""
    with suppress(OSError), _guard:
        for key, index in [*_opened.items()]:
            if os.fstat(index.descriptor).st_nlink == 0 and _opened.pop(key, None) is not None:
                os.close(index.descriptor)
