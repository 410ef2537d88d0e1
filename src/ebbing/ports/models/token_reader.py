"""What checks tokens that others made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ebbing.domain.access_roles import AccessRole


@dataclass(frozen=True, slots=True)
class Bearer:
    """Whom a token speaks for."""

    user_id: str
    role: AccessRole = AccessRole.WRITE
    tenant: str | None = None
    """None for the service's own."""


class TokenReader(Protocol):
    """Knows what a token must be signed with, by whom, and for whom."""

    def read(self, token: str) -> Bearer:
        """Whom the token speaks for.

        Raises:
            UnauthorizedError: it does not hold; the message says why without repeating any of it.
        """
        ...
