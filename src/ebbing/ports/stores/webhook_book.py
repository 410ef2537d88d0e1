"""What knows who wants to be told of what happens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that hears of what happens in one tenant."""

    id: str
    tenant: str
    url: str
    topics: tuple[str, ...]
    """See `ports.event_bus.Topic`."""
    secret: str
    """What its messages are signed with; it has to be kept as it is, since signing needs it."""
    created_at: datetime
    updated_at: datetime
    name: str | None = None
    is_active: bool = True


class WebhookBook(Protocol):
    """The webhooks of all tenants; no call reaches beyond the tenant that it names.

    Raises:
        StoreError: the book could not do it; nothing was changed.
        StoreClosedError: after the store was closed.
    """

    async def put(self, webhook: Webhook) -> bool:
        """Keeps a webhook, in place of the one of the same id; False where another tenant has that id."""
        ...

    async def get(self, tenant: str, webhook_id: str) -> Webhook | None:
        """One webhook of a tenant."""
        ...

    async def list(self, tenant: str) -> list[Webhook]:
        """The webhooks of a tenant, the oldest first."""
        ...

    async def remove(self, tenant: str, webhook_id: str) -> bool:
        """Removes one; False where the tenant has none of this id."""
        ...
