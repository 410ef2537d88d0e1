"""Where a page ended, as an opaque text: the creation time and the number of its last row."""

from __future__ import annotations

import base64
from typing import Final

from ebbing.domain.errors import InvalidInputError

START: Final = (1 << 62, 0)
"""Before the newest row."""


def cursor_after(created: int, seq: int) -> str:
    """The cursor that goes on after the row created at `created` (microseconds) with number `seq`."""
    return base64.urlsafe_b64encode(f"{created}.{seq}".encode()).decode()


def position(cursor: str | None) -> tuple[int, int]:
    """Creation time and number to go on after; None starts at the newest row.

    Raises:
        InvalidInputError: the cursor is not one of ours.
    """
    if cursor is None:
        return START
    if not isinstance(cursor, str):
        raise InvalidInputError("the cursor is not one that a page gave: start again without one")
    try:
        created, _, seq = base64.urlsafe_b64decode(cursor.encode()).decode().partition(".")
        place = int(created), int(seq)
    except ValueError as error:
        raise InvalidInputError("the cursor is not one that a page gave: start again without one") from error
    if max(map(abs, place)) > START[0]:
        raise InvalidInputError("the cursor is not one that a page gave: start again without one")
    return place
