"""What names a new memory."""

from __future__ import annotations

from typing import Protocol


class Ids(Protocol):
    """Makes identifiers: UUID text, unguessable, unique across processes, rising with time."""

    def new(self) -> str: ...

    def secret(self) -> str:
        """43 characters of `A-Z a-z 0-9 _ -` that hold 256 random bits: for keys."""
        ...
