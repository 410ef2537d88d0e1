"""Webhooks of a tenant, as its administrators manage them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from ebbing.api.calls.call_context import CallContext
from ebbing.api.events.webhook_deliveries import MEM0_TOPICS, SECRET_PREFIX
from ebbing.domain.errors import InvalidInputError, NotFoundError
from ebbing.ports.event_bus import Topic
from ebbing.ports.stores.webhook_book import Webhook
from ebbing.results import NewWebhook, WebhookItem
from ebbing.validation import checked_flag, checked_reason

TOPICS: Final = tuple(topic.value for topic in Topic if topic is not Topic.MEMORY_ACCESSED)
"""What can be told of; not each search, since that would be as many messages as searches."""
MAX_WEBHOOKS: Final = 20
"""Of one tenant."""
_TOPICS: Final = {*TOPICS, *MEM0_TOPICS.values()}


class WebhooksApi:
    """`memory.webhooks`: addresses that are told of the events of this tenant.

    Each event is queued before the call that it happened in returns. A worker delivers it at least once, in any
    order, signed as Standard Webhooks are.
    """

    def __init__(self, context: CallContext) -> None:
        self._context = context

    async def create(self, url: str, *, topics: Sequence[str] | None = None, name: str | None = None) -> NewWebhook:
        """Have an address told of what happens in this tenant from now on.

        Args:
            url: an https address that the internet can reach, unless `EBBING_WEBHOOK_PRIVATE_TARGETS` allows others.
            topics: of `session.end`, `memory.added`, `memory.updated`, `memory.deleted`, `schedule.daily`; all of
                these unless given. `memory_add`, `memory_update` and `memory_delete` send mem0's events instead, which
                hold the text of the memory.
            name: what it is for, at most 1,000 characters.

        Returns:
            `{"id", "secret", "url", "topics", "name", "is_active", "created_at", "updated_at"}`; the secret, by which
            the receiver checks who speaks, is told now and never again.

        Raises:
            InvalidInputError: an address that is not allowed, an unknown topic, or too many webhooks.
            MissingExtraError: the packages of the extra `server` are not installed.
        """
        self._context.components.webhooks.get().check(_text(url))
        now, tenant = self._context.clock.now(), self._context.tenant
        if len(await self._context.store.webhooks.list(tenant)) >= MAX_WEBHOOKS:
            raise InvalidInputError(f"a tenant has at most {MAX_WEBHOOKS} webhooks: remove one first")
        raw = base64.urlsafe_b64decode(self._context.ids.secret() + "=")
        secret = SECRET_PREFIX + base64.b64encode(raw).decode()
        hook = Webhook(
            self._context.ids.new(),
            tenant,
            url,
            _checked_topics(topics),
            secret,
            now,
            now,
            checked_reason(name, "name"),
        )
        await self._context.store.webhooks.put(hook)
        return {**webhook_item(hook), "secret": secret}

    async def list(self) -> list[WebhookItem]:
        """Return the webhooks of this tenant, the oldest first, without their secrets."""
        return [webhook_item(hook) for hook in await self._context.store.webhooks.list(self._context.tenant)]

    async def update(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        topics: Sequence[str] | None = None,
        name: str | None = None,
        is_active: bool | None = None,
    ) -> WebhookItem:
        """Give a webhook of this tenant another address, topics or name, or stop it for a while; return it.

        Raises:
            NotFoundError: this tenant has no such webhook.
            InvalidInputError: as for `create`.
        """
        hook = await self._context.store.webhooks.get(self._context.tenant, str(webhook_id))
        if hook is None:
            raise NotFoundError("no webhook with this id")
        if url is not None:
            self._context.components.webhooks.get().check(_text(url))
        changed = replace(
            hook,
            url=hook.url if url is None else url,
            topics=hook.topics if topics is None else _checked_topics(topics),
            name=hook.name if name is None else checked_reason(name, "name"),
            is_active=hook.is_active if is_active is None else checked_flag(is_active, "is_active"),
            updated_at=self._context.clock.now(),
        )
        await self._context.store.webhooks.put(changed)
        return webhook_item(changed)

    async def delete(self, webhook_id: str) -> None:
        """End a webhook of this tenant for good.

        Raises:
            NotFoundError: this tenant has no such webhook.
        """
        if not await self._context.store.webhooks.remove(self._context.tenant, str(webhook_id)):
            raise NotFoundError("no webhook with this id")


def webhook_item(hook: Webhook) -> WebhookItem:
    """Return a webhook without its secret."""
    return {
        "id": hook.id,
        "url": hook.url,
        "topics": list(hook.topics),
        "name": hook.name,
        "is_active": hook.is_active,
        "created_at": hook.created_at.isoformat(),
        "updated_at": hook.updated_at.isoformat(),
    }


def _checked_topics(topics: Any) -> tuple[str, ...]:
    if topics is None:
        return TOPICS
    if not isinstance(topics, Sequence) or isinstance(topics, str) or not topics or not set(topics) <= _TOPICS:
        raise InvalidInputError(f"topics must be a list of {', '.join(TOPICS)}")
    return tuple(dict.fromkeys(topics))


def _text(url: object) -> str:
    if not isinstance(url, str):
        raise InvalidInputError("url must be a string")
    return url
