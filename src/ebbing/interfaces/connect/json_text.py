"""JSON as it is written: where each part stands, so that a part goes in or out and every other character stays."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ebbing.domain.errors import ConfigurationError
from ebbing.interfaces.connect.unsafe_edit import UnsafeEditError

_DECODER: Final = json.JSONDecoder()
_BLANKS: Final = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object or an array."""

    begin: int
    """Where it begins: its name, or its value in an array."""
    value_begin: int
    end: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Container:
    """An object or an array."""

    begin: int
    end: int
    """Behind its last bracket."""
    members: tuple[Member, ...]


def parsed(text: str) -> Any:
    """Return what a text of JSON says.

    Raises:
        UnsafeEditError: it is no JSON, or has comments.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise UnsafeEditError("it holds comments or is no JSON") from None


def container_at(text: str, begin: int) -> Container:
    """Return the object or the array that begins here, in a text that is JSON."""
    is_object, members = text[begin] == "{", []
    at = _skip_blanks(text, begin + 1)
    while text[at] not in "}]":
        name, first = None, at
        if is_object:
            name, at = _DECODER.raw_decode(text, at)
            at = _skip_blanks(text, _skip_blanks(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        members.append(Member(first, at, end, name))
        at = _skip_blanks(text, end)
        if text[at] == ",":
            at = _skip_blanks(text, at + 1)
    return Container(begin, at + 1, tuple(members))


def root_of(text: str) -> Container:
    """Return the object that the whole text is."""
    return container_at(text, _skip_blanks(text, 0))


def named(container: Container, name: str) -> Member | None:
    """Return the member of this name; None for none.

    Raises:
        ConfigurationError: there are two.
    """
    members = [member for member in container.members if member.name == name]
    if len(members) > 1:
        raise ConfigurationError(f"it names {name!r} twice: set it right first")
    return members[0] if members else None


def gap_of(text: str, container: Container) -> str:
    """Return the blanks that a new member gets before it: those of the last one, none in an empty container."""
    if not container.members:
        return ""
    end = container.members[-1].begin
    begin = len(text[:end].rstrip(_BLANKS))
    return text[begin:end]


def with_member(text: str, container: Container, *, member: str) -> str:
    """Return the text with a member more at the end of a container."""
    if not container.members:
        at = container.begin + 1
        return f"{text[:at]}{member}{text[at:]}"
    at = container.members[-1].end
    return f"{text[:at]},{gap_of(text, container)}{member}{text[at:]}"


def in_brackets(content: str, gap: str, *, brackets: str, indent: str) -> str:
    """Return a container with one member, as it stands after this gap. There is always a blank before the member.

    By that blank `without_member` knows a container which was made for its only member.
    """
    inner = gap + indent if "\n" in gap else " "
    outer = gap if "\n" in gap else ""
    return f"{brackets[0]}{inner}{content}{outer}{brackets[1]}"


def without_member(text: str, way: Sequence[tuple[Container, Member]]) -> str:
    """Return the text without a member, and without the containers that were made for it.

    Args:
        way: from the root to the member, each container with the member that leads on.
    """
    container, member = way[-1]
    place = container.members.index(member)
    if place:
        return text[: container.members[place - 1].end] + text[member.end :]
    if len(container.members) > 1:
        return text[: member.begin] + text[container.members[1].begin :]
    if member.begin == container.begin + 1:
        return text[: member.begin] + text[member.end :]
    if len(way) == 1:
        return text[: container.begin] + text[container.end :]
    return without_member(text, way[:-1])


def _skip_blanks(text: str, at: int) -> int:
    while text[at] in _BLANKS:
        at += 1
    return at
