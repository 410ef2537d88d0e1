"""What knows the keys of the service."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ebbing.domain.access_roles import AccessRole


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One key. What it looks like is kept nowhere: `digest` is the SHA-256 of it, in hex."""

    id: str
    digest: str
    tenant: str
    role: AccessRole
    created_at: datetime
    user_id: str | None = None
    """The one user whose memory it opens; None for every user of the tenant."""
    note: str | None = None
    """What it is for, in its maker's words."""
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


class KeyRing(Protocol):
    """Keys of all tenants. What one process adds or revokes holds for every process at once.

    Raises:
        StoreError: the ring could not do it; nothing was changed.
        StoreClosedError: after the store was closed.
    """

    async def add(self, key: ApiKey) -> None:
        """Keeps a new key; durable on return."""
        ...

    async def find(self, digest: str) -> ApiKey | None:
        """The key with this digest, revoked and expired ones too; microseconds, since every request asks."""
        ...

    async def list(self, tenant: str) -> list[ApiKey]:
        """The keys of a tenant, the newest first, revoked and expired ones too."""
        ...

    async def revoke(self, tenant: str, key_id: str, *, at: datetime) -> ApiKey | None:
        """Ends a key for good; None where the tenant has none of this id. Revoked again, the first time stays."""
        ...

    async def is_empty(self) -> bool:
        """Whether no key was ever made, in any tenant; of keys that another process makes it may hear 5 ms later."""
        ...
