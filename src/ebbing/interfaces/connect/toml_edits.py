"""Edits of configuration files in TOML: our table stands at the end, between two marks."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any, Final

from ebbing.domain.errors import ConfigurationError
from ebbing.interfaces.connect.marked_lines import BEGIN, quoted, with_marked, without_marked
from ebbing.interfaces.connect.unsafe_edit import UnsafeEditError

_HEADER: Final = re.compile(r"^[ \t]*\[\[?[ \t]*(?!mcp_servers\.[\"']?ebbing\b)", re.MULTILINE)
"""Where a table begins that is not ours."""


def with_toml_server(text: str, command: Sequence[str]) -> str:
    """Return a TOML file with our server at its end.

    Raises:
        UnsafeEditError: it is no TOML, or nothing can be added to its servers.
        ConfigurationError: it names a server like ours outside our marks.
    """
    clean = without_toml_server(text)
    if "ebbing" in _servers(_parsed(clean)):
        raise ConfigurationError("it names a server `ebbing` that somebody wrote by hand: take that out first")
    lines = ["[mcp_servers.ebbing]", f"command = {quoted(command[0])}", f"args = {quoted([*command[1:]])}"]
    edited = with_marked(clean, len(clean), lines=lines)
    try:
        tomllib.loads(edited)
    except tomllib.TOMLDecodeError:  # such as `mcp_servers = {…}`, which nothing can be added to
        raise UnsafeEditError("its mcp_servers stand on one line") from None
    return edited


def without_toml_server(text: str) -> str:
    """Return a TOML file without our lines.

    Codex adds new tables before a last comment, which is our second mark: they stay.

    Raises:
        UnsafeEditError: it is no TOML, or more than our server stands between the marks.
    """
    if BEGIN.partition("(")[0] not in text:
        return text
    clean = without_marked(text, others_in=_other_tables)
    if _others(_parsed(clean)) != _others(_parsed(text)):
        raise UnsafeEditError("more than our server stands between our marks")
    return clean


def _other_tables(inner: str) -> str:
    matched = _HEADER.search(inner)
    return inner[matched.start() :] if matched else ""


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        raise UnsafeEditError("it is no TOML") from None


def _servers(data: dict[str, Any]) -> dict[str, Any]:
    servers = data.get("mcp_servers")
    return servers if isinstance(servers, dict) else {}


def _others(data: dict[str, Any]) -> str:
    """Return what a file says beside our server."""
    rest = {name: value for name, value in data.items() if name != "mcp_servers"}
    servers = {name: value for name, value in _servers(data).items() if name != "ebbing"}
    return repr((rest, servers))
