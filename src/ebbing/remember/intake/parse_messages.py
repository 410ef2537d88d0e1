"""The `messages` argument becomes a list of clean `Message` values, or raises a typed error."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from ebbing.domain.errors import InvalidInputError, TooLargeError
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.language.dates.grammar import FIRST_YEAR, LAST_YEAR
from ebbing.privacy.names import person_name
from ebbing.results import OmittedParts

MAX_MESSAGE_LENGTH: Final = 100_000
"""Characters of one message; a longer one is refused, so that nothing of it is lost unseen."""
MAX_MESSAGES: Final = 10_000
_ROLES: Final = {
    **{role.value: role for role in Role},
    "human": Role.USER,
    "ai": Role.ASSISTANT,
    "function": Role.TOOL,
    "developer": Role.SYSTEM,
}
_KINDS: Final = (
    ("image", ("image", "picture", "photo")),
    ("audio", ("audio", "voice", "sound")),
    ("video", ("video",)),
    ("file", ("file", "pdf", "mdx", "document", "attachment")),
)
"""Kinds of parts that are no text, and what their types are called by."""
_MILLISECONDS_FROM: Final = 1e11
"""Epoch numbers above this (the year 5138 in seconds) are taken for milliseconds."""


def parse_messages(messages: object) -> list[Message]:
    """Accept a string (one user message), one message dict, or a list of either.

    Blank messages are left out. NUL and lone surrogates, which no store can keep, are dropped or replaced.

    Raises:
        InvalidInputError: another type, an unknown role, an unreadable timestamp, nothing but blanks.
        TooLargeError: a message over 100,000 characters, or more than 10,000 messages.
    """
    items: Sequence[object]
    if isinstance(messages, str) or isinstance(messages, Mapping):  # noqa: SIM101 – most are a string
        items = [messages]
    elif isinstance(messages, Sequence) and not isinstance(messages, bytes | bytearray):
        items = messages
    else:
        raise InvalidInputError("messages must be a string, a message dict, or a list of these")
    if len(items) > MAX_MESSAGES:
        raise TooLargeError(f"more than {MAX_MESSAGES} messages in one call: pass them in several")
    parsed = [message for place, item in enumerate(items) if (message := _parse(item, place)) is not None]
    if not parsed:
        if omitted_parts(messages):
            raise InvalidInputError(
                "messages hold no text, only images or other parts: say in words what is to be remembered of them"
            )
        raise InvalidInputError("messages hold no text: there is nothing to remember")
    return parsed


def omitted_parts(messages: object) -> list[OmittedParts]:
    """Return what of messages is no text and so is not remembered: `{"message": place, "parts": {kind: count}}` for
    each.
    """
    if isinstance(messages, str):
        return []
    items = messages if isinstance(messages, Sequence) else [messages]
    omitted = ((place, _omitted(item)) for place, item in enumerate(items) if isinstance(item, Mapping))
    return [OmittedParts(message=place, parts=dict(parts)) for place, parts in omitted if parts]


def is_blank(message: Mapping[str, Any]) -> bool:
    """Return whether a message holds no text; parts of other kinds do not count.

    Raises:
        InvalidInputError: its content is neither text nor parts.
    """
    return not clean_text(_text_of(message.get("content"), 0))


def _omitted(message: Mapping[str, Any]) -> Counter[str]:
    content = message.get("content")
    parts = [content] if isinstance(content, Mapping) else content
    omitted: Counter[str] = Counter()
    if isinstance(parts, Sequence) and not isinstance(parts, str):
        texts_left_out = (part for part in parts if isinstance(part, Mapping) and not isinstance(part.get("text"), str))
        omitted.update(_kind_of(part.get("type")) for part in texts_left_out)
    for field in ("images", "audio", "attachments"):
        if value := message.get(field):
            omitted[_kind_of(field)] += len(value) if isinstance(value, list) else 1
    return omitted


def _kind_of(name: object) -> str:
    """Return the kind of a part as a word of ours: what a caller wrote there is not told again."""
    words = str(name).lower()
    return next((kind for kind, signs in _KINDS if any(sign in words for sign in signs)), "other")


def clean_text(text: str) -> str:
    """Return the text without NUL, with lone surrogates replaced by U+FFFD, trimmed."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            # Two halves that belong together become the one character that they are.
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\x00", "").strip()


def parse_time(value: object, label: str = "timestamp") -> datetime:
    """ISO 8601 text, epoch seconds or milliseconds, or a datetime, as aware UTC; a naive time is taken as UTC.

    See `local_time` for the errors.
    """
    return local_time(value, label).astimezone(UTC)


def local_time(value: object, label: str = "timestamp") -> datetime:
    """Return the same with the offset that the value names, since "yesterday" means the day of the one who wrote.

    Raises:
        InvalidInputError: none of these, or outside the years in which words like "last week" can be understood.
    """
    moment = _moment(value)
    if moment is None:
        raise InvalidInputError(f"{label} must be ISO 8601 text, epoch seconds, or a datetime")
    if not FIRST_YEAR < moment.year < LAST_YEAR:
        raise InvalidInputError(f"{label} must lie between the years {FIRST_YEAR} and {LAST_YEAR}")
    return moment


def _moment(value: object) -> datetime | None:
    try:
        if isinstance(value, datetime):
            return _aware(value)
        if isinstance(value, bool):
            raise ValueError
        if isinstance(value, int | float) and math.isfinite(value):
            return datetime.fromtimestamp(value / 1000 if abs(value) > _MILLISECONDS_FROM else value, UTC)
        if isinstance(value, str):
            return _aware(datetime.fromisoformat(value.strip()))
    except (ValueError, OverflowError, OSError):
        pass
    return None


def _aware(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _parse(item: object, place: int) -> Message | None:
    if isinstance(item, str):
        content = _checked_text(item, place)
        return Message(content) if content else None
    if not isinstance(item, Mapping):
        raise InvalidInputError(f"message {place} must be a string or a dict with 'role' and 'content'")
    text = _checked_text(_text_of(item.get("content"), place), place)
    if not text:
        return None
    timestamp = item.get("timestamp", item.get("created_at"))
    return Message(
        content=text,
        role=_role_of(item.get("role", "user"), place),
        name=_name_of(item.get("name"), place),
        id=optional_text(item.get("id"), f"id of message {place}"),
        timestamp=None if timestamp is None else local_time(timestamp, f"timestamp of message {place}"),
    )


def _checked_text(content: str, place: int) -> str:
    text = clean_text(content)
    if len(text) > MAX_MESSAGE_LENGTH:
        raise TooLargeError(f"message {place} is longer than {MAX_MESSAGE_LENGTH} characters: split it")
    return text


def _text_of(content: Any, place: int) -> str:
    """Return the text of a content field: a string, or the text parts of a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if isinstance(content, Sequence) and all(isinstance(part, Mapping) for part in content):
        return "\n".join(str(part["text"]) for part in content if isinstance(part.get("text"), str))
    raise InvalidInputError(f"content of message {place} must be a string or a list of parts")


def _role_of(role: object, place: int) -> Role:
    known_role = _ROLES.get(str(role).strip().lower())
    if known_role is None:
        raise InvalidInputError(f"role of message {place} must be user, assistant, system or tool")
    return known_role


def _name_of(value: object, place: int) -> str | None:
    name = optional_text(value, f"name of message {place}")
    return None if name is None else person_name(name)


def optional_text(value: object, label: str) -> str | None:
    """Return a clean string of at most 256 characters, None for nothing."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInputError(f"{label} must be a string")
    text = clean_text(str(value))
    if len(text) > 256:
        raise InvalidInputError(f"{label} is longer than 256 characters")
    return text or None
