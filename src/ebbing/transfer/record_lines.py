"""A memory as one line of JSON that holds everything, and back."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, Final

from ebbing.domain.errors import InvalidInputError, TooLargeError
from ebbing.domain.memory.record import (
    MINUTES_A_DAY,
    Kind,
    Layer,
    MemoryRecord,
    MemoryType,
    Provenance,
    Role,
    Stage,
)
from ebbing.domain.memory.scope import Scope
from ebbing.domain.nesting import MAX_METADATA_BYTES, check_nesting

FORMAT_KEY: Final = "ebbing"
"""Every line names the format that it is in, so that files can be cut and joined."""
FORMAT_VERSION: Final = 1
MAX_TEXT_LENGTH: Final = 100_000
"""Of any text of a record, as of a message."""
_SCOPE: Final = ("user_id", "agent_id", "run_id")
_PROVENANCE: Final = tuple(field.name for field in fields(Provenance))
_OWN: Final = tuple(field.name for field in fields(MemoryRecord) if field.name not in {"belongs_to", "provenance"})

Line = dict[str, Any]


def line_from_record(record: MemoryRecord) -> Line:
    """Every field of the record as JSON values, in reading order; what is not set is left out.

    The tenant stays behind, as do vectors and keyword entries, which are made again from the text.
    """
    named = {
        "id": record.id,
        **{name: getattr(record.belongs_to, name) for name in _SCOPE},
        **{name: getattr(record, name) for name in _OWN},
        **{name: getattr(record.provenance, name) for name in _PROVENANCE},
    }
    return {FORMAT_KEY: FORMAT_VERSION, **{name: _plain(value) for name, value in named.items() if not _unset(value)}}


def record_from_line(line: Mapping[str, Any], *, tenant: str, user_id: str | None = None) -> MemoryRecord:
    """The record that `line_from_record` wrote, in this tenant; with `user_id` it becomes that user's.

    Raises:
        InvalidInputError: another format or a newer version of it, a field that is missing, unknown or of a wrong
            type. The message names the field, never its value.
        MissingOwnerError: the line says of nobody whose it is.
    """
    if not isinstance(line, Mapping) or line.get(FORMAT_KEY) != FORMAT_VERSION:
        raise InvalidInputError(f"not a record of export format {FORMAT_VERSION}: it lacks {FORMAT_KEY!r}: 1")
    values = {name: value for name, value in line.items() if name != FORMAT_KEY}
    if unknown := set(values) - set(_READ):
        raise InvalidInputError(f"unknown field {min(unknown)[:40]!r}: was it exported by a newer version?")
    read = {name: _field(name, value) for name, value in values.items()}
    if missing := {"id", "content", "created_at", "recorded_at"} - set(read):
        raise InvalidInputError(f"the field {min(missing)!r} is missing")
    ids = {name: read.pop(name, None) for name in _SCOPE}
    scope = Scope(user_id=user_id or ids["user_id"], agent_id=ids["agent_id"], run_id=ids["run_id"], tenant=tenant)
    provenance = Provenance(**{name: read.pop(name) for name in _PROVENANCE if name in read})
    return MemoryRecord(belongs_to=scope, provenance=provenance, **read)


def _unset(value: object) -> bool:
    return value is None or (isinstance(value, Sequence | Mapping) and not value)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return dict(value) if isinstance(value, Mapping) else value


def _field(name: str, value: object) -> Any:
    try:
        return _READ[name](value)
    except TooLargeError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(f"the field {name!r} does not hold what it should") from None


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError
    if len(value) > MAX_TEXT_LENGTH:
        raise TooLargeError(f"a text of a record is longer than {MAX_TEXT_LENGTH} characters")
    value.encode("utf-8")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(map(_text, value))


def _time(value: object) -> datetime:
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None:
        raise ValueError
    return moment.astimezone(UTC)


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1 or math.isnan(value):
        raise ValueError
    return float(value)


def _factor(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError
    return float(value)


def _bytes(value: object) -> bytes:
    return base64.b64decode(_text(value), validate=True)


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError
    return value


def _times(value: object) -> int:
    if (times := _count(value)) < 1:
        raise ValueError
    return times


def _minutes_ahead(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= MINUTES_A_DAY:
        raise ValueError
    return value


def _sign(value: object) -> int:
    if isinstance(value, bool) or value not in {-1, 0, 1}:
        raise ValueError
    return int(str(value))


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError
    check_nesting(value, "metadata")
    if len(json.dumps(value, ensure_ascii=False).encode()) > MAX_METADATA_BYTES:
        raise TooLargeError(f"metadata is larger than {MAX_METADATA_BYTES} bytes of JSON")
    return value


_READ: Final[Mapping[str, Callable[[object], Any]]] = {
    **dict.fromkeys(("id", "content", *_SCOPE, "scope", "actor", "language", "delete_reason", "superseded_by"), _text),
    **dict.fromkeys(("source_text", "method", "rule", "reason", "attribute", "value", "object", "trust"), _text),
    "polarity": _sign,
    **dict.fromkeys(("created_at", "recorded_at", "updated_at", "last_accessed_at"), _time),
    **dict.fromkeys(("valid_from", "valid_to", "expires_at", "deleted_at", "retired_at", "first_said_at"), _time),
    **dict.fromkeys(("tags", "related_ids", "compression_sources", "source_ids"), _texts),
    **dict.fromkeys(("strength", "importance", "confidence"), _share),
    **dict.fromkeys(("access_count", "abstraction_level", "version"), _count),
    "mentions": _times,
    "utc_offset_minutes": _minutes_ahead,
    "growth": _factor,
    "packed": _bytes,
    "is_compressed": _flag,
    "metadata": _mapping,
    "kind": lambda value: Kind(_text(value)),
    "type": lambda value: MemoryType(_text(value)),
    "stage": lambda value: Stage(_text(value)),
    "layer": lambda value: Layer(_text(value)),
    "role": lambda value: Role(_text(value)),
}
