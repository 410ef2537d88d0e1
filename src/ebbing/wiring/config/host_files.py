"""Where hosts keep their configuration on this machine."""

from __future__ import annotations

import getpass
import os
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class HostFiles:
    """Paths of the files that are written when a host is connected; none of them need exist."""

    claude_code: Path
    claude_code_settings: Path
    claude_desktop: Path
    cursor: Path
    vscode: Path
    codex: Path
    codex_hooks: Path
    openclaw: Path
    hermes: Path


def host_files() -> HostFiles:
    """Return the paths, as each host finds its own: by its variable, else in its usual place."""
    home = Path.home()
    programs = _program_settings(home)
    claude = _folder("CLAUDE_CONFIG_DIR", home / ".claude")
    codex = _folder("CODEX_HOME", home / ".codex")
    named = os.environ.get("OPENCLAW_CONFIG_PATH")
    return HostFiles(
        claude_code=(claude if os.environ.get("CLAUDE_CONFIG_DIR") else home) / ".claude.json",
        claude_code_settings=claude / "settings.json",
        claude_desktop=programs / "Claude" / "claude_desktop_config.json",
        cursor=home / ".cursor" / "mcp.json",
        vscode=programs / "Code" / "User" / "mcp.json",
        codex=codex / "config.toml",
        codex_hooks=codex / "hooks.json",
        openclaw=Path(named) if named else home / ".openclaw" / "openclaw.json",
        hermes=_folder("HERMES_HOME", home / ".hermes") / "config.yaml",
    )


def usual_store() -> Path:
    """Return where the memory of somebody's hosts lies unless a setting says otherwise: the same for all of them."""
    return Path.home() / ".ebbing"


def login_name() -> str:
    """Return the name of who is logged in."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container without names
        return "me"


def start_command() -> list[str]:
    """Return what starts this program from anywhere."""
    script = Path(sys.executable).with_name("ebbing.exe" if os.name == "nt" else "ebbing")
    return [str(script)] if script.exists() else [sys.executable, "-m", "ebbing"]


def _folder(variable: str, usual: Path) -> Path:
    value = os.environ.get(variable)
    return Path(value).expanduser() if value else usual


def _program_settings(home: Path) -> Path:
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    if sys.platform == "win32":
        return _folder("APPDATA", home / "AppData" / "Roaming")
    return _folder("XDG_CONFIG_HOME", home / ".config")
