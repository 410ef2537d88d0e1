"""Writing what was planned: every file or none, each with a copy of what it was."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ebbing.domain.errors import ConfigurationError
from ebbing.interfaces.connect.hosts import FileEdit


@dataclass(frozen=True, slots=True)
class FileChange:
    """What becomes of one file."""

    path: Path
    content: str
    text: str
    is_new: bool
    backup: Path | None
    """Where a copy of the earlier text goes; None where nothing changes or nothing was there."""
    is_changed: bool


def plan(edits: Sequence[FileEdit], *, removing: bool = False) -> list[FileChange]:
    """Work out every change before any file is touched.

    Args:
        removing: a file that is not there stays so.

    Raises:
        ConfigurationError: a file cannot be read or edited; nothing was written.
    """
    changes = []
    for edit in edits:
        path = edit.path.resolve()  # a link to somebody's own collection of such files stays one
        try:
            text = path.read_text("utf-8") if path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{edit.path} cannot be read ({type(error).__name__})") from None
        if removing and not text:
            continue
        try:
            edited = edit.change(text)
        except ConfigurationError as error:
            raise ConfigurationError(f"{edit.path}: {error}") from None
        is_changed = edited != text
        backup = _free_name(path) if is_changed and text else None
        changes.append(FileChange(path, edit.content, edited, not path.exists(), backup, is_changed))
    return changes


def write(changes: Sequence[FileChange]) -> None:
    """Write the changes; a reader of a file sees the earlier text or the new one.

    Raises:
        ConfigurationError: a file cannot be written.
    """
    for change in changes:
        if not change.is_changed:
            continue
        draft = change.path.with_name(change.path.name + ".ebbing-draft")
        try:
            change.path.parent.mkdir(parents=True, exist_ok=True)
            if change.backup is not None:
                shutil.copy2(change.path, change.backup)
            draft.write_text(change.text, "utf-8")
            if change.is_new:
                draft.chmod(0o600)
            else:
                shutil.copymode(change.path, draft)
            draft.replace(change.path)
        except OSError as error:
            with suppress(OSError):  # such as a folder that is none, or a disk that is read-only
                draft.unlink()
            raise ConfigurationError(f"{change.path} cannot be written ({error.strerror})") from None


def _free_name(path: Path) -> Path:
    number = 1
    while (backup := path.with_name(f"{path.name}.before-ebbing-{number}")).exists():
        number += 1
    return backup
