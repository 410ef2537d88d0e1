"""Edits of configuration files in JSON: one entry goes in or out, and every other character stays."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from ebbing.domain.errors import ConfigurationError
from ebbing.interfaces.connect.json_text import (
    Container,
    Member,
    container_at,
    gap_of,
    in_brackets,
    named,
    parsed,
    root_of,
    with_member,
    without_member,
)
from ebbing.interfaces.connect.unsafe_edit import UnsafeEditError

NAME: Final = "ebbing"
"""Name of the entry that is ours."""
_OUR_HOOK: Final = re.compile(
    r"(?:^|[\s/\\'\"])ebbing(?:\.exe)?['\"]?\s+hook\s+(?:session-start|prompt|stop|pre-compact|session-end)\b"
)
_INDENT: Final = re.compile(r"\s*\{\s*\n([ \t]+)\"")
_USUAL_INDENT: Final = "  "

Edit = Callable[[str], str]
_Way = list[tuple[Container, Member]]


def edited_json(text: str, edit: Edit) -> str:
    """Return the text of a JSON file after an edit.

    Raises:
        UnsafeEditError: the file is no plain JSON object.
        ConfigurationError: what the edit looks for stands there in another shape.
    """
    if text.strip() and not isinstance(parsed(text), dict):
        raise UnsafeEditError("it holds no JSON object")
    return edit(text)


def put_server(keys: Sequence[str], server: Mapping[str, Any]) -> Edit:
    """Put our server under these keys, in the place of an earlier one."""

    def edit(text: str) -> str:
        servers = _object_at(text, keys)
        ours = named(servers, NAME) if servers else None
        if ours is None:
            return _with_path(text, [*keys, NAME], value=_json(server), brackets="{}")
        if not _is_our_server(json.loads(text[ours.value_begin : ours.end])):
            raise ConfigurationError("it names a server `ebbing` that somebody wrote by hand: take that out first")
        return text[: ours.value_begin] + _json(server) + text[ours.end :]

    return edit


def take_server(keys: Sequence[str]) -> Edit:
    """Take our server out; a table that was made for it goes too."""

    def edit(text: str) -> str:
        way = _way(text, [*keys, NAME])
        if way is None or not _is_our_server(json.loads(text[way[-1][1].value_begin : way[-1][1].end])):
            return text
        return without_member(text, way)

    return edit


def put_hooks(commands: Mapping[str, tuple[str, int]]) -> Edit:
    """Put a command with its seconds under each event, beside the hooks of others."""

    def edit(text: str) -> str:
        text = take_hooks(text)
        for event, (command, seconds) in commands.items():
            group = {"hooks": [{"type": "command", "command": command, "timeout": seconds}]}
            text = _with_path(text, ["hooks", event, None], value=_json(group), brackets="[]")
        return text

    return edit


def take_hooks(text: str) -> str:
    """Take our hooks out; an event or a table that was made for them goes too."""
    while (way := next(_our_hooks(text), None)) is not None:
        text = without_member(text, way)
    return text


def _with_path(text: str, names: Sequence[str | None], *, value: str, brackets: str) -> str:
    """Return the text with a value at the end of a path; what is missing on the way is made.

    Args:
        names: of the members on the way; None for a new element of an array.
        brackets: of the container in which the value itself stands.
    """
    if not text.strip():
        return _made([None, *names], value, gap="\n", indent=_USUAL_INDENT, brackets=brackets).lstrip() + text
    matched = _INDENT.match(text)
    indent = matched[1] if matched else _USUAL_INDENT
    container, rest = root_of(text), list(names)
    while len(rest) > 1 and (member := named(container, str(rest[0]))) is not None:
        bracket = brackets[0] if len(rest) == 2 else "{"
        if text[member.value_begin] != bracket:
            shape = "list" if bracket == "[" else "table"
            raise ConfigurationError(f"{rest[0]!r} is no {shape}: set it right first")
        container, rest = container_at(text, member.value_begin), rest[1:]
    gap = gap_of(text, container)
    return with_member(text, container, member=_made(rest, value, gap=gap, indent=indent, brackets=brackets))


def _made(names: Sequence[str | None], value: str, *, gap: str, indent: str, brackets: str) -> str:
    """Return a member with everything below it, as it stands after this gap."""
    name = "" if names[0] is None else f"{_json(names[0])}: "
    if len(names) == 1:
        return name + value
    inner_gap = gap + indent if "\n" in gap else gap
    inner = _made(names[1:], value, gap=inner_gap, indent=indent, brackets=brackets)
    own = brackets if len(names) == 2 else "{}"
    return name + in_brackets(inner, gap, brackets=own, indent=indent)


def _object_at(text: str, keys: Sequence[str]) -> Container | None:
    """Return the object under these keys; None where there is none, or something else."""
    if not text.strip():
        return None
    container = root_of(text)
    for key in keys:
        member = named(container, key)
        if member is None or text[member.value_begin] != "{":
            return None
        container = container_at(text, member.value_begin)
    return container


def _way(text: str, keys: Sequence[str]) -> _Way | None:
    """Return the way to a member; None if there is no such member."""
    way: _Way = []
    for depth, key in enumerate(keys):
        container = _object_at(text, keys[:depth])
        member = named(container, key) if container else None
        if container is None or member is None:
            return None
        way.append((container, member))
    return way


def _our_hooks(text: str) -> Iterator[_Way]:
    """Yield the ways to our hooks; of a group that holds nothing else, the way to the group."""
    way = _way(text, ["hooks"]) if text.strip() else None
    if way is None or text[way[0][1].value_begin] != "{":
        return
    events = container_at(text, way[0][1].value_begin)
    for event in events.members:
        for groups, group in _elements(text, event):
            to_group = [*way, (events, event), (groups, group)]
            members = _object_members(text, group)
            inner = next((member for member in members.members if member.name == "hooks"), None) if members else None
            hooks = [*_elements(text, inner)] if inner else []
            ours = [pair for pair in hooks if _is_our_hook(json.loads(text[pair[1].begin : pair[1].end]))]
            if ours and members and inner:
                yield to_group if len(ours) == len(hooks) else [*to_group, (members, inner), ours[0]]


def _elements(text: str, member: Member) -> Iterator[tuple[Container, Member]]:
    if text[member.value_begin] == "[":
        array = container_at(text, member.value_begin)
        yield from ((array, element) for element in array.members)


def _object_members(text: str, element: Member) -> Container | None:
    return container_at(text, element.value_begin) if text[element.value_begin] == "{" else None


def _is_our_server(entry: Any) -> bool:
    """Return whether this starts our server, as `connect` and the documentation write it."""
    arguments = entry.get("args") if isinstance(entry, dict) else None
    return isinstance(arguments, list) and "mcp" in arguments


def _is_our_hook(hook: Any) -> bool:
    return isinstance(hook, dict) and _OUR_HOOK.search(str(hook.get("command", ""))) is not None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
