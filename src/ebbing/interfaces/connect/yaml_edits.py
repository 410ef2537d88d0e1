"""Edits of configuration files in YAML: the parser says where our entry goes, and every other character stays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ebbing.domain.errors import ConfigurationError
from ebbing.interfaces.connect.marked_lines import quoted, with_marked, without_marked, without_marks
from ebbing.interfaces.connect.unsafe_edit import UnsafeEditError
from ebbing.wiring.optional_extras import yaml_parser

_KEY: Final = "mcp_servers"
_NAME: Final = "ebbing"
_REST_OF_LINE: Final = re.compile(r"[ \t]*:[ \t]*(?:#[^\r\n]*)?(?:\r?\n|\Z)")
"""Behind a key whose values stand on the lines below."""
_BEHIND_OURS: Final = re.compile(r",[ \t]?")
_ODD: Final = "its mcp_servers are written in a way that lines cannot be added to"


def with_yaml_server(text: str, command: Sequence[str]) -> str:
    """Return a YAML file with our server under `mcp_servers`.

    Raises:
        UnsafeEditError: it cannot be edited so that everything else stays.
        ConfigurationError: it names a server like ours that we did not write, or names something twice.
        MissingExtraError: the parser is not installed.
    """
    clean = without_yaml_server(text)
    entry = {"command": command[0], "args": [*command[1:]]}
    lines = [f"{_NAME}:", f"  command: {quoted(command[0])}", f"  args: {quoted([*command[1:]])}"]
    root = _root(clean)
    pair = _pair(root, _KEY)
    if _NAME in _servers(clean):
        raise ConfigurationError("it names a server `ebbing` that somebody wrote by hand: take that out first")
    if pair is None:
        edited = _with_servers(clean, root, lines=lines)
    elif pair[1].id == "mapping" and pair[1].flow_style:
        edited = _in_braces(clean, pair[1], entry=f"{quoted(_NAME)}: {{{_flow(command)}}}")
    else:
        edited = _below_key(clean, pair, lines=lines)
    if _others(edited) != _others(clean) or _servers(edited).get(_NAME) != entry:
        raise UnsafeEditError(_ODD)
    return edited


def without_yaml_server(text: str) -> str:
    """Return a YAML file without our server.

    Raises:
        UnsafeEditError: it cannot be taken out so that everything else stays.
        MissingExtraError: the parser is not installed.
    """
    if _NAME not in text:
        return text
    others = _others(text)
    clean = without_marked(text)
    if clean != text and _others(clean) == others:
        return clean
    entry = _servers(text).get(_NAME)
    arguments = entry.get("args") if isinstance(entry, dict) else None
    if not (isinstance(arguments, list) and "mcp" in arguments):
        return text
    clean = without_marks(_without_pair(text))
    if _others(clean) != others or _NAME in _servers(clean):
        raise UnsafeEditError("our server stands there in a way that it cannot be taken out alone")
    return clean


def _with_servers(text: str, root: Any, *, lines: Sequence[str]) -> str:
    """Return the text with `mcp_servers` as the last key."""
    if root is None:
        return with_marked(text, len(text), lines=[f"{_KEY}:", *(f"  {line}" for line in lines)])
    if root.id != "mapping" or root.flow_style:
        raise UnsafeEditError("it is no list of keys, one on a line")
    indent = " " * root.start_mark.column
    return with_marked(text, root.end_mark.index, lines=[f"{_KEY}:", *(f"  {line}" for line in lines)], indent=indent)


def _in_braces(text: str, servers: Any, *, entry: str) -> str:
    at = servers.start_mark.index + 1
    if text[at - 1] != "{":
        raise UnsafeEditError(_ODD)
    return text[:at] + entry + (", " if servers.value else "") + text[at:]


def _flow(command: Sequence[str]) -> str:
    return f'"command": {quoted(command[0])}, "args": {quoted([*command[1:]])}'


def _below_key(text: str, pair: tuple[Any, Any], *, lines: Sequence[str]) -> str:
    """Return the text with our lines below the key, before its other values."""
    key, servers = pair
    matched = _REST_OF_LINE.match(text, key.end_mark.index)
    if matched is None:
        raise UnsafeEditError(_ODD)
    first = servers.value[0][0].start_mark.column if servers.id == "mapping" and servers.value else None
    indent = key.start_mark.column + 2 if first is None else first
    return with_marked(text, matched.end(), lines=lines, indent=" " * indent)


def _without_pair(text: str) -> str:
    """Return the text without our entry, which a host wrote anew without our marks."""
    servers = _pair(_root(text), _KEY)
    pair = _pair(servers[1], _NAME) if servers else None
    if servers is None or pair is None:
        return text
    begin, end = pair[0].start_mark.index, _end(pair[1])
    if servers[1].flow_style:
        matched = _BEHIND_OURS.match(text, end)
        return text[:begin] + text[matched.end() if matched else end :]
    begin = text.rfind("\n", 0, begin) + 1
    key_line = _REST_OF_LINE.match(text, servers[0].end_mark.index)
    if len(servers[1].value) == 1 and key_line is not None and key_line.end() == begin:
        begin = text.rfind("\n", 0, servers[0].start_mark.index) + 1
    line_end = text.find("\n", end)
    return text[:begin] + (text[line_end + 1 :] if line_end >= 0 else "")


def _end(node: Any) -> int:
    """Return where the last word of a value ends: the end of a block is where the next one begins."""
    children = [child for pair in node.value for child in pair] if node.id == "mapping" else node.value
    if node.id == "scalar" or node.flow_style or not children:
        end: int = node.end_mark.index
        return end
    return _end(children[-1])


def _pair(node: Any, name: str) -> tuple[Any, Any] | None:
    """Return key and value of a mapping.

    Raises:
        ConfigurationError: the key is there twice.
    """
    pairs = node.value if node is not None and node.id == "mapping" else []
    named = [(key, value) for key, value in pairs if key.id == "scalar" and key.value == name]
    if len(named) > 1:
        raise ConfigurationError(f"it names {name!r} twice: set it right first")
    return named[0] if named else None


def _root(text: str) -> Any:
    """Return the tree of a document with the places of its parts; None for an empty one."""
    parser = yaml_parser()
    try:
        return parser.compose(text, Loader=parser.SafeLoader)
    except (parser.YAMLError, RecursionError):
        raise UnsafeEditError("it is no YAML") from None


def _loaded(text: str) -> dict[Any, Any]:
    parser = yaml_parser()
    try:
        data = parser.safe_load(text)
    except (parser.YAMLError, ValueError, RecursionError):
        raise UnsafeEditError("it is no YAML") from None
    if data is not None and not isinstance(data, dict):
        raise UnsafeEditError("it is no list of keys, one on a line")
    return data or {}


def _servers(text: str) -> dict[Any, Any]:
    servers = _loaded(text).get(_KEY)
    return servers if isinstance(servers, dict) else {}


def _others(text: str) -> str:
    """Return what a file says beside our server, whether it names no servers or none of them."""
    data = _loaded(text)
    servers = data.get(_KEY)
    rest = {name: value for name, value in data.items() if name != _KEY}
    others = {name: value for name, value in servers.items() if name != _NAME} if isinstance(servers, dict) else servers
    return repr((rest, others or None))
