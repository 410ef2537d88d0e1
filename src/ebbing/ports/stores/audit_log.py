"""What remembers who administered what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Act:
    """One administrative act; nothing in it is anybody's personal data."""

    at: datetime
    tenant: str
    who: str
    """Name of the credential, such as `key:01a1…`, `cli` or `open`."""
    action: str
    """Such as `DELETE /v1/webhooks/{id}` or `keys revoke`."""
    target: str | None = None
    """Id of what it was done to, where that is no person."""
    outcome: str = "ok"
    """An HTTP status, or `ok`."""


class AuditLog(Protocol):
    """Acts, in order. Nothing is ever taken out of it but by age.

    Raises:
        StoreError: the log could not do it.
        StoreClosedError: after the store was closed.
    """

    async def note(self, act: Act) -> None:
        """Keeps an act; durable on return."""
        ...

    async def list(self, tenant: str, *, limit: int = 100) -> list[Act]:
        """What was done in a tenant, the newest first."""
        ...
