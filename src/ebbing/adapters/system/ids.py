"""Identifiers that rise with time: UUID version 7 (RFC 9562, section 5.7)."""

from __future__ import annotations

from secrets import token_urlsafe

from uuid_utils import uuid7


class TimeOrderedIds:
    """`Ids` made of the time in milliseconds, a counter and random bits.

    Within a process every id is larger than the one before; neighbours in time are neighbours in an index.
    """

    def new(self) -> str:
        return str(uuid7())

    def secret(self) -> str:
        return token_urlsafe(32)
