"""What a caller passes to the façade, checked: it comes back usable, or a typed error says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

from ebbing.domain.errors import InvalidInputError, TooLargeError
from ebbing.domain.query import INCLUDES, Include
from ebbing.domain.record import Kind
from ebbing.remember.messages import clean_text

MAX_TOP_K: Final = 50
MAX_QUERY_LENGTH: Final = 4_000
MAX_METADATA_BYTES: Final = 65_536
MAX_PAGE: Final = 1_000
MAX_RECORDS: Final = 10_000


def checked_query(query: object, top_k: object, *, include: object) -> str:
    """The question, clean and cut after 4,000 characters."""
    if not isinstance(query, str) or not (text := clean_text(query)):
        raise InvalidInputError("query must be a non-empty string")
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 1:
        raise InvalidInputError("top_k must be a whole number of at least 1")
    if include not in INCLUDES:
        raise InvalidInputError(f"include must be one of {', '.join(INCLUDES)}")
    return text[:MAX_QUERY_LENGTH]


def checked_metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """A copy that is sure to be JSON, at most 64 KiB of it; empty for None."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping) or not all(isinstance(key, str) for key in metadata):
        raise InvalidInputError("metadata must be a dict with string keys")
    try:
        text = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False)
        size = len(text.encode("utf-8"))
    except (TypeError, ValueError):
        raise InvalidInputError("metadata must hold JSON values only, in valid Unicode") from None
    if size > MAX_METADATA_BYTES:
        raise TooLargeError(f"metadata is larger than {MAX_METADATA_BYTES} bytes of JSON")
    checked: dict[str, Any] = json.loads(text)
    return checked


def kinds_of(include: Include) -> tuple[Kind, ...]:
    """The kinds of record that `include` names."""
    if include not in get_args(Include):
        raise InvalidInputError(f"include must be one of {', '.join(INCLUDES)}")
    return {"all": (Kind.MEMORY, Kind.EPISODE), "memories": (Kind.MEMORY,), "episodes": (Kind.EPISODE,)}[include]


def checked_limit(limit: object) -> int:
    """The size of a page, 1 to 1,000."""
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MAX_PAGE:
        raise InvalidInputError(f"limit must be a whole number from 1 to {MAX_PAGE}")
    return limit


def checked_records(records: object) -> Sequence[Mapping[str, Any]]:
    """Exported records; what is in each is checked one by one later."""
    if not isinstance(records, Sequence) or isinstance(records, str | bytes | bytearray):
        raise InvalidInputError("records must be a list of exported records")
    if len(records) > MAX_RECORDS:
        raise TooLargeError(f"more than {MAX_RECORDS} records in one call: pass them in several")
    return records
