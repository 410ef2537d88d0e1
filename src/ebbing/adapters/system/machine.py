"""The machine's clock, identifiers and chance."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from secrets import token_urlsafe

from uuid_utils import uuid7


class SystemClock:
    """A `Clock` that tells the time of day."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class TimeOrderedIds:
    """`Ids` made of the time in milliseconds, a counter and random bits: UUID version 7 (RFC 9562, section 5.7).

    Within a process every id is larger than the one before; neighbours in time are neighbours in an index.
    """

    def new(self) -> str:
        return str(uuid7())

    def secret(self) -> str:
        return token_urlsafe(32)


class SystemChance:
    """A `Chance` from the interpreter's generator, which differs from process to process."""

    def share(self) -> float:
        return random.random()  # noqa: S311 - it spreads work over time and guards no secret
