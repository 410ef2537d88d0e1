"""The hosts, and what each of them is told."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from ebbing.interfaces.connect.json_edits import Edit, edited_json, put_hooks, put_server, take_hooks, take_server
from ebbing.interfaces.connect.marked_lines import quoted
from ebbing.interfaces.connect.toml_edits import with_toml_server, without_toml_server
from ebbing.interfaces.connect.yaml_edits import with_yaml_server, without_yaml_server
from ebbing.wiring.config.host_files import HostFiles

HostName = Literal["claude-code", "claude-desktop", "cursor", "vscode", "codex", "openclaw", "hermes"]
HOST_NAMES: Final[tuple[HostName, ...]] = (
    *("claude-code", "claude-desktop", "cursor", "vscode", "codex", "openclaw", "hermes"),
)
EVENTS: Final = {
    "SessionStart": ("session-start", 20),
    "UserPromptSubmit": ("prompt", 20),
    "Stop": ("stop", 30),
    "PreCompact": ("pre-compact", 30),
    "SessionEnd": ("session-end", 30),
}
"""Hook and seconds by the event of Claude Code and Codex."""
_NOT_OF_CODEX: Final = frozenset({"SessionEnd"})
NEXT_STEP: Final[dict[HostName, str]] = {
    "claude-code": "start Claude Code anew; /mcp shows the server, /hooks the hooks",
    "claude-desktop": "quit Claude Desktop and start it again",
    "cursor": "start Cursor anew; Settings, MCP shows the server",
    "vscode": "reload the window; `MCP: List Servers` shows the server",
    "codex": "start Codex anew, and trust the hooks under /hooks",
    "openclaw": "run `openclaw mcp list`, and restart the gateway",
    "hermes": "start Hermes anew",
}


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One file of a host, and how its text changes."""

    path: Path
    content: str
    """What goes in or out, in words."""
    change: Callable[[str], str]
    by_hand: str
    """What a person can do where the file cannot be edited."""
    undo: Callable[[str], str] | None = None
    """The way back, which must lead to the text as it was without our entry."""


@dataclass(frozen=True, slots=True)
class Start:
    """What starts the memory of one person."""

    command: Sequence[str]
    user: str
    path: Path
    tools: str | None = None

    @property
    def server(self) -> list[str]:
        """The command of the MCP server."""
        tools = ["--tools", self.tools] if self.tools else []
        return [*self.command, "mcp", "--user", self.user, "--path", str(self.path), *tools]

    def hook(self, name: str) -> str:
        """The command of a hook, as a shell reads it."""
        command = [*self.command, "hook", name, "--user", self.user, "--path", str(self.path)]
        return subprocess.list2cmdline(command) if os.name == "nt" else shlex.join(command)


def edits_in(host: HostName, start: Start, *, files: HostFiles, with_hooks: bool) -> list[FileEdit]:
    """What is written to connect a host."""
    command = start.server
    edits = [_server_edit(host, command, files=files)]
    if with_hooks and host in {"claude-code", "codex"}:
        left_out = _NOT_OF_CODEX if host == "codex" else frozenset[str]()
        commands = {
            event: (start.hook(hook), seconds) for event, (hook, seconds) in EVENTS.items() if event not in left_out
        }
        content, by_hand = f"hooks at {', '.join(commands)}", "set it right first, or take --no-hooks"
        path = _hooks_file(host, files)
        edits.append(_json(path, put_hooks(commands), content=content, by_hand=by_hand, undo=take_hooks))
    return edits


def edits_out(host: HostName, files: HostFiles) -> list[FileEdit]:
    """What is written to disconnect a host."""
    edits = [_server_out(host, _server_file(host, files))]
    if host in {"claude-code", "codex"}:
        edits.append(_json(_hooks_file(host, files), take_hooks, content="the hooks", by_hand="take them out by hand"))
    return edits


_SERVER: Final = "the MCP server `ebbing`"
_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "claude-code": ("mcpServers",),
    "claude-desktop": ("mcpServers",),
    "cursor": ("mcpServers",),
    "vscode": ("servers",),
    "openclaw": ("mcp", "servers"),
}


def _server_edit(host: HostName, command: Sequence[str], *, files: HostFiles) -> FileEdit:
    path = _server_file(host, files)
    undo = _server_out(host, path).change
    entry: dict[str, Any] = {"command": command[0], "args": [*command[1:]]}
    if host == "codex":
        lines = f"command = {quoted(command[0])}, args = {quoted([*command[1:]])}"
        by_hand = f"add the table [mcp_servers.ebbing] to it by hand, with {lines}"
        return FileEdit(path, _SERVER, partial(with_toml_server, command=command), by_hand, undo)
    if host in {"claude-code", "vscode"}:
        entry = {"type": "stdio", **entry}
    shown = json.dumps({"ebbing": entry}, ensure_ascii=False)
    if host == "hermes":
        by_hand = f"add this server to its mcp_servers by hand: {shown}"
        return FileEdit(path, _SERVER, partial(with_yaml_server, command=command), by_hand, undo)
    by_hand = f"add this server to its {'.'.join(_KEYS[host])} by hand: {shown}"
    return _json(path, put_server(_KEYS[host], entry), by_hand=by_hand, undo=undo)


def _server_out(host: HostName, path: Path) -> FileEdit:
    by_hand = "take the server `ebbing` out by hand"
    if host == "codex":
        return FileEdit(path, _SERVER, without_toml_server, by_hand)
    if host == "hermes":
        return FileEdit(path, _SERVER, without_yaml_server, by_hand)
    return _json(path, take_server(_KEYS[host]), by_hand=by_hand)


def _json(
    path: Path, edit: Edit, *, by_hand: str, content: str = _SERVER, undo: Callable[[str], str] | None = None
) -> FileEdit:
    return FileEdit(path, content, partial(edited_json, edit=edit), by_hand, undo)


def _server_file(host: HostName, files: HostFiles) -> Path:
    path: Path = getattr(files, host.replace("-", "_"))
    return path


def _hooks_file(host: HostName, files: HostFiles) -> Path:
    return files.codex_hooks if host == "codex" else files.claude_code_settings
