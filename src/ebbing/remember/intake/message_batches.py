"""A call that tells a message twice in different words: the later words put the earlier ones right."""

from __future__ import annotations

from collections.abc import Sequence

from ebbing.domain.memory.message import Message


def split_repeated_ids(messages: Sequence[Message]) -> list[list[Message]]:
    """The messages in order, cut before each that gives an id of its part another text."""
    parts: list[list[Message]] = [[]]
    said: dict[str, str] = {}
    for message in messages:
        if message.id is not None and said.setdefault(message.id, message.content) != message.content:
            parts.append([])
            said = {message.id: message.content}
        parts[-1].append(message)
    return parts
