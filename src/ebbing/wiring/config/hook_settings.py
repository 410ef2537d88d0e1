"""What a hook needs of the environment, read with the standard library alone: a host waits while it starts."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

SERVICE_FILE: Final = "service.json"
"""Name of the file in the directory of a store in which its service says where it answers."""
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
BUDGET_SECONDS: Final = 15.0
RECALL_SECONDS: Final = 2.0
REMEMBER_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class HookSettings:
    """Where a hook finds the memory, and how long it may take."""

    user: str | None
    path: str | None
    """Directory of the store, if the command line names one."""
    directory: Path
    """Directory of the store."""
    state: Path
    """Folder in which hooks note how far they have read."""
    url: str | None
    """Address of the service, if one is named."""
    api_key: str | None
    budget_seconds: float = BUDGET_SECONDS
    recall_seconds: float = RECALL_SECONDS
    remember_seconds: float = REMEMBER_SECONDS

    @property
    def is_remote(self) -> bool:
        """Whether the service that is named runs elsewhere, so that the store of this machine is not its own."""
        return self.url is not None and urlsplit(self.url).hostname not in _LOOPBACK


def hook_settings(
    *, user: str | None = None, path: str | None = None, url: str | None = None, seconds: float | None = None
) -> HookSettings:
    """Return the settings of the environment, with what the command line names on top."""
    environment = os.environ
    home = Path(environment.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return HookSettings(
        user=user or environment.get("EBBING_USER") or None,
        path=path,
        directory=Path(path or environment.get("EBBING_PATH") or "ebbing-data"),
        state=home / "ebbing" / "hooks",
        url=url or environment.get("EBBING_CLIENT_BASE_URL") or environment.get("MEM0_BASE_URL") or None,
        api_key=environment.get("EBBING_CLIENT_API_KEY") or environment.get("MEM0_API_KEY") or None,
        budget_seconds=BUDGET_SECONDS if seconds is None else seconds,
    )


def service_address(settings: HookSettings) -> str | None:
    """Return where the service answers: as the settings say, else as the service of this store says while it runs."""
    if settings.url is not None:
        return settings.url
    note = _service_note(settings.directory)
    if note is None or not _is_near(note[0]) or not _is_running(note[1]):
        return None
    return note[0]


def note_service(directory: Path, address: str) -> None:
    """Say in a store's directory where its service answers; a directory that cannot be written is left alone."""
    note = json.dumps({"address": address, "pid": os.getpid()})
    with suppress(OSError):
        descriptor = os.open(directory / SERVICE_FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(note)


def forget_service(directory: Path) -> None:
    """Take this process's note away again; another service of the same store may have written its own."""
    note = _service_note(directory)
    if note is not None and note[1] == os.getpid():
        with suppress(OSError):
            (directory / SERVICE_FILE).unlink()


def _service_note(directory: Path) -> tuple[str, int] | None:
    """Address and process id, if a service has written them."""
    try:
        note = json.loads((directory / SERVICE_FILE).read_text("utf-8"))
        return str(note["address"]), int(note["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_near(address: str) -> bool:
    """Whether an address is on this machine. A note may come with a folder of somebody else: no talk goes further."""
    try:
        return urlsplit(address).hostname in _LOOPBACK
    except ValueError:
        return False


def _is_running(process_id: int) -> bool:
    if process_id <= 0:  # for the system these mean a whole group, and some process of it always runs
        return False
    if os.name != "posix":
        return True  # asking would end it there; an address where nobody answers costs one refused connection
    try:
        os.kill(process_id, 0)
    except (OSError, OverflowError):  # none, or somebody else's: the note is older than it
        return False
    return True
