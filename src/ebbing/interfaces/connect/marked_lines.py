"""Edits of configuration files in TOML and YAML: our lines stand between two marks, and no other line is touched."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Final

from ebbing.domain.errors import ConfigurationError

BEGIN: Final = "# ebbing: begin (`ebbing disconnect` takes these lines out)"
END: Final = "# ebbing: end"
_MARKED: Final = re.compile(r"^[ \t]*# ebbing: begin.*?^[ \t]*# ebbing: end[^\n]*\n?", re.MULTILINE | re.DOTALL)
_HEADER: Final = re.compile(r"^[ \t]*\[\[?[ \t]*(?!mcp_servers\.[\"']?ebbing\b)", re.MULTILINE)
"""Where a table in TOML begins that is not ours."""
_SERVERS: Final = re.compile(r"^mcp_servers:[ \t]*(\{\}|~|null)?[ \t]*(?:#.*)?$", re.MULTILINE)
_ANY_SERVERS: Final = re.compile(r"^[\"']?mcp_servers[\"']?[ \t]*:", re.MULTILINE)
_CHILD: Final = re.compile(r"(?:[ \t]*(?:#.*)?\n)*([ \t]+)[^\s#]")


def with_toml_server(text: str, command: Sequence[str], *, by_hand: str) -> str:
    """Return a TOML file with our server at its end.

    Raises:
        ConfigurationError: it is no TOML, or names a server like ours outside our marks.
    """
    clean = without_marked(text)
    try:
        servers = tomllib.loads(clean).get("mcp_servers", {})
    except tomllib.TOMLDecodeError:
        raise ConfigurationError(f"it is no TOML, so it is left as it is: {by_hand}") from None
    if "ebbing" in servers:
        raise ConfigurationError("it names a server `ebbing` that somebody wrote by hand: take that out first")
    gap = "" if not clean or clean.endswith("\n\n") else "\n" if clean.endswith("\n") else "\n\n"
    lines = [
        BEGIN,
        "[mcp_servers.ebbing]",
        f"command = {_quoted(command[0])}",
        f"args = {_quoted([*command[1:]])}",
        END,
    ]
    edited = clean + gap + "\n".join(lines) + "\n"
    try:
        tomllib.loads(edited)
    except tomllib.TOMLDecodeError:  # such as `mcp_servers = {…}`, which nothing can be added to
        raise ConfigurationError(f"its mcp_servers stand on one line, so it is left as it is: {by_hand}") from None
    return edited


def with_yaml_server(text: str, command: Sequence[str], *, by_hand: str) -> str:
    """Return a YAML file with our server under `mcp_servers`.

    Raises:
        ConfigurationError: its servers are written in a way that lines cannot be added to.
    """
    clean = without_marked(text)
    lines = [BEGIN, "ebbing:", f"  command: {_quoted(command[0])}", f"  args: {_quoted([*command[1:]])}", END]
    matched = _SERVERS.search(clean)
    if matched is None:
        if _ANY_SERVERS.search(clean):
            raise ConfigurationError(f"its mcp_servers stand on one line, so it is left as it is: {by_hand}")
        gap = "" if not clean or clean.endswith("\n") else "\n"
        return f"{clean}{gap}mcp_servers:\n" + "".join(f"  {line}\n" for line in lines)
    rest = clean[matched.end() :].removeprefix("\n")
    child = None if matched[1] else _CHILD.match(rest)
    indent = child[1] if child else "  "
    if re.match(rf"(?:.*\n)*?{indent}ebbing:", _children(rest)):
        raise ConfigurationError("it names a server `ebbing` that somebody wrote by hand: take that out first")
    return f"{clean[: matched.start()]}mcp_servers:\n" + "".join(f"{indent}{line}\n" for line in lines) + rest


def without_marked(text: str) -> str:
    """Return a text without our lines.

    Codex adds new tables before a last comment, which is our second mark: they stay.
    """
    return _MARKED.sub(lambda marked: _other_tables(marked[0]), text)


def _other_tables(marked: str) -> str:
    inner = "".join(marked.splitlines(keepends=True)[1:-1])
    matched = _HEADER.search(inner)
    return inner[matched.start() :] if matched else ""


def without_yaml_server(text: str) -> str:
    """Return a YAML file without our lines, and without `mcp_servers` if nothing else is under it."""
    clean = without_marked(text)
    matched = _SERVERS.search(clean)
    if clean == text or matched is None or matched[1] or _children(clean[matched.end() :].removeprefix("\n")).strip():
        return clean
    return clean[: matched.start()] + clean[matched.end() :].removeprefix("\n")


def _children(rest: str) -> str:
    """The lines that belong to a key: up to the next one that is not indented."""
    matched = re.match(r"(?:(?:[ \t]+[^\n]*|[ \t]*)(?:\n|$))*?(?=[^\s]|\Z)", rest)
    return matched[0] if matched else ""


def _quoted(value: str | list[str]) -> str:
    """A value that TOML and YAML read as JSON does."""
    return json.dumps(value, ensure_ascii=False)
