"""Connecting and disconnecting, as one call each."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ebbing.interfaces.connect.hosts import NEXT_STEP, FileEdit, HostName, Start, edits_in, edits_out
from ebbing.interfaces.connect.write_files import plan, write
from ebbing.wiring.config.host_files import host_files, start_command

Changes = list[tuple[Path, str, Path | None]]
"""Path, what went in or out, and where a copy of the earlier file is."""


def connect(
    host: HostName, *, user: str, path: Path, tools: str | None, with_hooks: bool, dry_run: bool
) -> tuple[Changes, str]:
    """Write a host's configuration; returns what changed and what the person does next.

    Raises:
        ConfigurationError: a file cannot be edited or written; where it could not be edited, nothing was written.
    """
    start = Start(start_command(), user, path, tools)
    edits = edits_in(host, start, files=host_files(), with_hooks=with_hooks)
    install = "" if find_spec("mcp") else "pip install 'ebbing[mcp]', then "
    return _changed(edits, dry_run=dry_run), install + NEXT_STEP[host]


def disconnect(host: HostName, *, dry_run: bool) -> tuple[Changes, str]:
    """Take our entries out again; returns what changed and what the person does next.

    Raises:
        ConfigurationError: a file cannot be edited or written.
    """
    return _changed(edits_out(host, host_files()), dry_run=dry_run, removing=True), NEXT_STEP[host]


def _changed(edits: Sequence[FileEdit], *, dry_run: bool, removing: bool = False) -> Changes:
    changes = plan(edits, removing=removing)
    if not dry_run:
        write(changes)
    shown = [change for change in changes if change.is_changed or not removing]
    return [(change.path, change.content, None if dry_run else change.backup) for change in shown]
