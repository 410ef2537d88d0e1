"""How the rows of an owner are numbered in the file, and how it writes times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

SEQ_BITS: Final = 24
MAX_SEQ: Final = (1 << SEQ_BITS) - 1
"""Rows that one owner can ever have, erased ones included."""


def first_mid(owner_no: int) -> int:
    """The lower bound of an owner's rows; no row has this number."""
    return owner_no << SEQ_BITS


def last_mid(owner_no: int) -> int:
    """The largest number that a row of this owner can have."""
    return owner_no << SEQ_BITS | MAX_SEQ


def utc_text(value: datetime) -> str:
    """ISO 8601 in UTC, as people and other programs read it in the history."""
    return value.astimezone(UTC).isoformat()
