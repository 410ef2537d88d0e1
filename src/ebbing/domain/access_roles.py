"""The roles of credentials."""

from __future__ import annotations

import hashlib
from enum import IntEnum
from typing import Final

from ebbing.domain.errors import InvalidInputError


class AccessRole(IntEnum):
    """What a credential may do; each may do what those before it may."""

    READ = 1
    """Search, list and show."""
    WRITE = 2
    """Change memories, and erase a user's."""
    ADMIN = 3
    """What is about the whole tenant."""

    @property
    def word(self) -> str:
        """Its name outside: `read`, `write` or `admin`."""
        return self.name.lower()


ROLES: Final = {role.word: role for role in AccessRole}


def role_named(word: object) -> AccessRole:
    """Return the role of this name.

    Raises:
        InvalidInputError: there is none.
    """
    role = ROLES.get(word) if isinstance(word, str) else None
    if role is None:
        raise InvalidInputError(f"role must be one of {', '.join(ROLES)}")
    return role


def key_digest(key: str) -> str:
    """Return what is kept of a key: its SHA-256, in hex. A key holds 256 random bits, so nothing slower is needed."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
