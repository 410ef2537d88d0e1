"""Writing what was planned: every file or none, each with a copy of what it was."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ebbing.domain.errors import ConfigurationError
from ebbing.interfaces.connect.hosts import FileEdit
from ebbing.interfaces.connect.unsafe_edit import UnsafeEditError

_MARK_OF_ORDER: Final = "\ufeff"
"""What some editors put before a text in UTF-8; it stays where it was."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """What becomes of one file."""

    path: Path
    content: str
    before: bytes | None
    """What it holds; None where it is not there."""
    after: bytes | None
    """What it is to hold; None where nothing is left in it, so that it goes."""
    backup: Path | None
    """Where a copy of what it was goes; None where nothing changes or nothing was there."""

    @property
    def is_changed(self) -> bool:
        """Whether anything is to be written."""
        return self.after != self.before


def plan(edits: Sequence[FileEdit], *, removing: bool = False) -> list[FileChange]:
    """Work out every change before any file is touched.

    Args:
        removing: a file that is not there stays so.

    Raises:
        ConfigurationError: a file cannot be read or edited; nothing was written.
        MissingExtraError: what edits such a file is not installed.
    """
    changes = []
    for edit in edits:
        try:
            path = edit.path.resolve()  # a link to somebody's own collection of such files stays one
            before = path.read_bytes() if path.exists() else None
            text = (before or b"").decode()
        except (OSError, RuntimeError, UnicodeDecodeError) as error:  # of links in a circle, resolve makes the second
            raise ConfigurationError(f"{edit.path} cannot be read ({type(error).__name__})") from None
        if removing and not text:
            continue
        try:
            edited = _edited(edit, text)
        except UnsafeEditError as error:
            raise ConfigurationError(f"{edit.path}: {error}, so it is left as it is: {edit.by_hand}") from None
        except ConfigurationError as error:
            raise ConfigurationError(f"{edit.path}: {error}") from None
        after = edited.encode() if edited.strip() else None
        backup = _free_name(path) if before and after != before else None
        changes.append(FileChange(path, edit.content, before, before if edited == text else after, backup))
    return changes


def write(changes: Sequence[FileChange]) -> None:
    """Write the changes; a reader of a file sees the earlier text or the new one.

    Raises:
        ConfigurationError: a file cannot be written, or was changed by somebody else meanwhile.
    """
    for change in changes:
        if not change.is_changed:
            continue
        try:
            change.path.parent.mkdir(parents=True, exist_ok=True)
            mode = stat.S_IMODE(change.path.stat().st_mode) if change.before is not None else 0o600
            if change.backup is not None and change.before is not None:
                _place(change.before, change.backup, mode=mode)
            if (change.path.read_bytes() if change.path.exists() else None) != change.before:
                raise ConfigurationError(f"{change.path} was written by somebody else just now: try again")
            if change.after is None:
                change.path.unlink()
            else:
                _place(change.after, change.path, mode=mode)
        except OSError as error:
            raise ConfigurationError(f"{change.path} cannot be written ({error.strerror})") from None


def _place(data: bytes, path: Path, *, mode: int) -> None:
    """Write a file whole, which nobody but its owner can read before it has its mode."""
    descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".ebbing-draft", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except OSError:
        with suppress(OSError):  # such as a disk that is read-only by now
            Path(name).unlink()
        raise


def _edited(edit: FileEdit, text: str) -> str:
    """Return the text after an edit. One that could not be taken back whole is refused.

    Raises:
        UnsafeEditError: the text cannot be edited safely.
        ConfigurationError: the text cannot be edited.
    """
    mark = _MARK_OF_ORDER if text.startswith(_MARK_OF_ORDER) else ""
    plain = text.removeprefix(mark)
    edited = edit.change(plain)
    if edit.undo is not None and edit.undo(edited) != edit.undo(plain):
        raise UnsafeEditError("it is written in a way that our entry could not be taken out of again")
    return mark + edited


def _free_name(path: Path) -> Path:
    number = 1
    while os.path.lexists(backup := path.with_name(f"{path.name}.before-ebbing-{number}")):
        number += 1
    return backup
