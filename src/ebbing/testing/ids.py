"""Identifiers that a test can foresee."""

from __future__ import annotations

from itertools import count
from uuid import UUID


class SequentialIds:
    """`Ids` that count: 00000000-0000-7000-8000-000000000001, …2, …3."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def new(self) -> str:
        return str(UUID(int=7 << 76 | 2 << 62 | next(self._numbers)))

    def secret(self) -> str:
        return f"secret{next(self._numbers):037}"
