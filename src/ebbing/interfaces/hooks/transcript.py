"""The messages in the file in which a host writes a conversation down, from where the last hook stopped reading."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

MAX_BYTES: Final = 4 * 2**20
"""Bytes of a transcript that one hook reads; the next one goes on from there."""
MAX_MESSAGES: Final = 60
MAX_CHARS: Final = 12_000
"""Characters of a message that are remembered."""
_BLOCKS: Final = re.compile(
    r"<(system-reminder|ide_selection|ide_opened_file|environment_context|attached_files)>.*?</\1>", re.DOTALL
)
"""What hosts write into a person's message."""
_WRAPPER: Final = re.compile(r"</?user_query>")
_NOT_SAID: Final = re.compile(
    r"\s*(?:<(?:command-|local-command|bash-|task-notification)|Caveat: The messages below|\[Request interrupted)"
)
"""How a text begins that the host made and not the person."""
_OF_HOST: Final = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NewMessages:
    """What a transcript holds after an offset."""

    messages: list[Message]
    """Each with an id that stays the same, so that it is stored once."""
    offset: int
    """Where the next reading begins."""


def read_new_messages(path: Path, offset: int, *, session: str) -> NewMessages:
    """Read whole lines after an offset: what the person said, and the last answer of each turn.

    A file that is shorter than the offset was begun anew, and is read from its start.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        start = offset if offset <= size else 0
        file.seek(start)
        data = file.read(MAX_BYTES)
    if b"\n" not in data and len(data) == MAX_BYTES:
        return NewMessages([], start + len(data))  # one line that no person wrote
    messages: list[Message] = []
    answer: Message | None = None
    place = start
    for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
        message = _message(line, name=f"{session}:{place}")
        if len(messages) >= MAX_MESSAGES and message is not None:
            break
        place += len(line)
        if message is not None and message["role"] == "assistant":
            answer = message  # what came before it was said between two tools
        elif message is not None:
            messages += [answer, message] if answer is not None else [message]
            answer = None
    return NewMessages([*messages, answer] if answer is not None else messages, place)


def _message(line: bytes, *, name: str) -> Message | None:
    """Read one line of Claude Code's, Cursor's or Codex's transcripts, or of plain `{"role", "content"}`."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    if not isinstance(entry, dict) or any(entry.get(mark) for mark in _OF_HOST):
        return None
    role, text = _role_and_text(entry)
    text = _WRAPPER.sub("", _BLOCKS.sub("", text)).strip()
    if role not in {"user", "assistant"} or not text or _NOT_SAID.match(text):
        return None
    message: Message = {"role": role, "content": text[:MAX_CHARS], "id": str(entry.get("uuid") or name)}
    if isinstance(entry.get("timestamp"), str):
        message["timestamp"] = entry["timestamp"]
    return message


def _role_and_text(entry: dict[str, Any]) -> tuple[str | None, str]:
    payload = entry.get("payload")
    if isinstance(payload, dict):  # Codex: its display log has what a person typed and nothing that was put beside it
        role = {"user_message": "user", "agent_message": "assistant"}.get(str(payload.get("type")))
        return (role, str(payload.get("message") or "")) if entry.get("type") == "event_msg" else (None, "")
    message = entry.get("message")
    inner = message if isinstance(message, dict) else entry
    role = inner.get("role") or entry.get("role") or entry.get("type")
    return (role if isinstance(role, str) else None), "\n".join(_texts(inner.get("content")))


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        yield from (str(part.get("text") or "") for part in content if _is_text(part))


def _is_text(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") == "text"
