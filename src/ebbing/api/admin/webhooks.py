"""The part of the façade that tells others of what happens: webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from ebbing.api.admin.mem0_events import MEM0_TOPICS, mem0_body, mem0_events
from ebbing.api.threads.background_thread import Host
from ebbing.api.upkeep.jobs import Background
from ebbing.domain.errors import InvalidInputError, NotFoundError
from ebbing.ports.event_bus import MemoryEvent, Topic
from ebbing.ports.job_queue import Job, NewJob
from ebbing.ports.webhook_book import Webhook
from ebbing.results import Item
from ebbing.upkeep.worker.worker import AtWork, Undone, Working
from ebbing.validation import checked_flag, checked_reason
from ebbing.wiring.build import Components

DELIVERY: Final = "webhook"
"""Kind of the job."""
TOPICS: Final = tuple(topic.value for topic in Topic if topic is not Topic.MEMORY_ACCESSED)
"""What can be told of; not each search, since that would be as many messages as searches."""
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the mark of a secret, not one
MAX_WEBHOOKS: Final = 20
"""Of one tenant."""
_ATTEMPTS: Final = 8
_GONE: Final = 410


class Telling(Background):
    """What lets other programs hear of what happens in a tenant.

    Whatever happens is queued for each webhook before the call that it happened in returns, and delivered by whoever
    works: at least once, in any order, signed as Standard Webhooks are.
    """

    def __init__(self, components: Components) -> None:
        super().__init__(components)
        for topic in TOPICS:
            components.events.subscribe(Topic(topic), self._hear, anywhere=True)

    async def add_webhook(self, url: str, *, topics: Sequence[str] | None = None, name: str | None = None) -> Item:
        """Has an address told of what happens in this tenant from now on.

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
        self._components.webhooks.get().check(_text(url))
        now, tenant = self._components.clock.now(), self._components.settings.tenant
        if len(await self._components.store.webhooks.list(tenant)) >= MAX_WEBHOOKS:
            raise InvalidInputError(f"a tenant has at most {MAX_WEBHOOKS} webhooks: remove one first")
        raw = base64.urlsafe_b64decode(self._components.ids.secret() + "=")
        secret = SECRET_PREFIX + base64.b64encode(raw).decode()
        hook = Webhook(
            self._components.ids.new(),
            tenant,
            url,
            _checked_topics(topics),
            secret,
            now,
            now,
            checked_reason(name, "name"),
        )
        await self._components.store.webhooks.put(hook)
        return {**webhook_item(hook), "secret": secret}

    async def webhooks(self) -> list[Item]:
        """The webhooks of this tenant, the oldest first, without their secrets."""
        return [
            webhook_item(hook) for hook in await self._components.store.webhooks.list(self._components.settings.tenant)
        ]

    async def change_webhook(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        topics: Sequence[str] | None = None,
        name: str | None = None,
        is_active: bool | None = None,
    ) -> Item:
        """Gives a webhook of this tenant another address, topics or name, or stops it for a while; returns it.

        Raises:
            NotFoundError: this tenant has no such webhook.
            InvalidInputError: as for `add_webhook`.
        """
        hook = await self._components.store.webhooks.get(self._components.settings.tenant, str(webhook_id))
        if hook is None:
            raise NotFoundError("no webhook with this id")
        if url is not None:
            self._components.webhooks.get().check(_text(url))
        changed = replace(
            hook,
            url=hook.url if url is None else url,
            topics=hook.topics if topics is None else _checked_topics(topics),
            name=hook.name if name is None else checked_reason(name, "name"),
            is_active=hook.is_active if is_active is None else checked_flag(is_active, "is_active"),
            updated_at=self._components.clock.now(),
        )
        await self._components.store.webhooks.put(changed)
        return webhook_item(changed)

    async def remove_webhook(self, webhook_id: str) -> None:
        """Ends a webhook of this tenant for good.

        Raises:
            NotFoundError: this tenant has no such webhook.
        """
        if not await self._components.store.webhooks.remove(self._components.settings.tenant, str(webhook_id)):
            raise NotFoundError("no webhook with this id")

    def _hear(self, happening: MemoryEvent) -> Awaitable[None] | None:
        if happening.topic is Topic.MEMORY_ADDED and self._components.store.webhooks.are_none:
            return None  # a write comes before it
        return self._queue_deliveries(happening)

    async def _queue_deliveries(self, happening: MemoryEvent) -> None:
        tenant, topic = happening.scope.tenant, happening.topic.value
        hooks = await self._components.store.webhooks.list(tenant)
        active = [hook for hook in hooks if hook.is_active]
        wanting = [hook for hook in active if topic in hook.topics]
        by_mem0 = [hook for hook in active if MEM0_TOPICS.get(topic) in hook.topics]
        if not (wanting or by_mem0):
            return
        event = event_of(happening, self._components.ids.new())
        events = [(hook, event) for hook in wanting]
        events += [(hook, one) for hook in by_mem0 for one in mem0_events(happening, event["id"])]
        await self._components.store.jobs.enqueue_all(
            [
                NewJob(
                    DELIVERY,
                    f"{one['id']} {hook.id}",
                    {"webhook": hook.id, "event": one},
                    max_attempts=_ATTEMPTS,
                    whose=happening.scope,
                )
                for hook, one in events
            ]
        )

    async def _working(self, host: Host) -> Working:
        """As of the upkeep, and deliveries."""
        working = await super()._working(host)
        return replace(working, duties={DELIVERY: host.duty(self._deliver), **working.duties})

    async def _deliver(self, job: Job, at_work: AtWork) -> Undone | None:
        del at_work
        hook = await self._components.store.webhooks.get(job.tenant, job.payload["webhook"])
        if hook is None or not hook.is_active:
            return None
        event = job.payload["event"]
        told = await self._in_mem0_shape(job.tenant, event) if "mem0" in event else event
        body = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
        headers = signed(hook, body, event_id=event["id"], at=self._components.clock.now())
        done = await self._components.webhooks.get().send(hook.url, body, headers=headers)
        if done.is_accepted:
            return None
        if done.status == _GONE:
            await self._components.store.webhooks.put(
                replace(hook, is_active=False, updated_at=self._components.clock.now())
            )
            return None
        asked = timedelta(seconds=done.retry_after_seconds or 0.0)
        return Undone(done.reason or f"status {done.status}", asked)

    async def _in_mem0_shape(self, tenant: str, event: Item) -> Item:
        scope = await self._components.store.scope_of(tenant, event["memory_id"])
        found = await self._components.store.get(scope, [event["memory_id"]]) if scope else []
        return mem0_body(event, found[0] if found else None)


_TOPICS: Final = {*TOPICS, *MEM0_TOPICS.values()}


def event_of(happening: MemoryEvent, event_id: str) -> Item:
    """What a receiver is told: ids, never texts."""
    whose = happening.scope
    ids = {"user_id": whose.user_id, "agent_id": whose.agent_id, "run_id": whose.run_id}
    return {
        "id": event_id,
        "type": happening.topic.value,
        "timestamp": happening.at.isoformat(),
        "data": {
            **{name: value for name, value in ids.items() if value is not None},
            "memory_ids": list(happening.memory_ids),
            **({"source_id": happening.source_id} if happening.source_id is not None else {}),
            **({"everything": True} if happening.is_bulk else {}),
        },
    }


def signed(hook: Webhook, body: bytes, *, event_id: str, at: datetime) -> dict[str, str]:
    """The headers of a message: what it is, and that it comes from who knows the secret (Standard Webhooks 1.0.0)."""
    stamp = str(int(at.timestamp()))
    secret = base64.b64decode(hook.secret.removeprefix(SECRET_PREFIX))
    mark = hmac.digest(secret, f"{event_id}.{stamp}.".encode() + body, hashlib.sha256)
    return {
        "content-type": "application/json",
        "user-agent": "Ebbing-Webhooks",
        "webhook-id": event_id,
        "webhook-timestamp": stamp,
        "webhook-signature": f"v1,{base64.b64encode(mark).decode()}",
    }


def webhook_item(hook: Webhook) -> Item:
    """A webhook without its secret."""
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
