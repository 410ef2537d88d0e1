"""Edits of configuration files in JSON: one entry goes in or out, and everything else stays in its order."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ebbing.domain.errors import ConfigurationError

NAME: Final = "ebbing"
"""Name of the entry that is ours."""
_OUR_HOOK: Final = re.compile(
    r"(?:^|[\s/\\'\"])ebbing(?:\.exe)?['\"]?\s+hook\s+(?:session-start|prompt|stop|pre-compact|session-end)\b"
)
_HALF_CHARACTER: Final = re.compile("[\ud800-\udfff]")
"""Half of an emoji, as JavaScript leaves it where it cuts a text; only an escape can write it."""
_INDENT: Final = re.compile(r"^\{\s*\n([ \t]+)\"")

Edit = Callable[[dict[str, Any]], None]


def edited_json(text: str, edit: Edit, *, by_hand: str) -> str:
    """Return the text of a JSON file after an edit, indented as it was.

    Args:
        by_hand: what a person can do where the file cannot be edited.

    Raises:
        ConfigurationError: the file is no plain JSON object.
    """
    try:
        data = json.loads(text) if text.strip() else {}
    except ValueError:
        raise ConfigurationError(f"it holds comments or is no JSON, so it is left as it is: {by_hand}") from None
    if not isinstance(data, dict):
        raise ConfigurationError(f"it holds no JSON object, so it is left as it is: {by_hand}")
    before = json.dumps(data)
    edit(data)
    if json.dumps(data) == before and text.strip():
        return text
    matched = _INDENT.match(text)
    indent: str | int = matched[1] if matched else 2
    edited = json.dumps(data, ensure_ascii=False, indent=indent) + "\n"
    return _HALF_CHARACTER.sub(lambda half: f"\\u{ord(half[0]):04x}", edited)


def put_server(keys: Sequence[str], server: Mapping[str, Any]) -> Edit:
    """Put our server under these keys, in the place of an earlier one."""

    def edit(data: dict[str, Any]) -> None:
        _table(data, keys)[NAME] = dict(server)

    return edit


def take_server(keys: Sequence[str]) -> Edit:
    """Take our server out; a table that is empty then goes too."""

    def edit(data: dict[str, Any]) -> None:
        tables = [data]
        for key in keys:
            inner = tables[-1].get(key)
            if not isinstance(inner, dict):
                return
            tables.append(inner)
        if tables[-1].pop(NAME, None) is None:
            return
        for outer, key in zip(reversed(tables[:-1]), reversed(keys), strict=True):
            if not outer[key]:
                del outer[key]

    return edit


def put_hooks(commands: Mapping[str, tuple[str, int]]) -> Edit:
    """Put a command with its seconds under each event, beside the hooks of others."""

    def edit(data: dict[str, Any]) -> None:
        take_hooks(data)
        hooks = _table(data, ["hooks"])
        for event, (command, seconds) in commands.items():
            groups = hooks.setdefault(event, [])
            if not isinstance(groups, list):
                raise ConfigurationError(f"hooks.{event} is no list: set it right first")
            groups.append({"hooks": [{"type": "command", "command": command, "timeout": seconds}]})

    return edit


def take_hooks(data: dict[str, Any]) -> None:
    """Take our hooks out; an event or a table that is empty then goes too."""
    hooks = data.get("hooks")
    if not isinstance(hooks, dict):
        return
    changed = False
    for event, groups in list(hooks.items()):
        if not isinstance(groups, list):
            continue
        others = [group for group in map(_without_ours, groups) if group is not None]
        if others != groups:
            changed = True
            hooks[event] = others
            if not others:
                del hooks[event]
    if changed and not hooks:
        del data["hooks"]


def _without_ours(group: Any) -> Any:
    """A group of hooks without ours; None if nothing else was in it."""
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return group
    others = [hook for hook in group["hooks"] if not _is_ours(hook)]
    if len(others) == len(group["hooks"]):
        return group
    return {**group, "hooks": others} if others else None


def _is_ours(hook: Any) -> bool:
    return isinstance(hook, dict) and _OUR_HOOK.search(str(hook.get("command", ""))) is not None


def _table(data: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    for key in keys:
        inner = data.setdefault(key, {})
        if not isinstance(inner, dict):
            raise ConfigurationError(f"{key!r} is no table: set it right first")
        data = inner
    return data
