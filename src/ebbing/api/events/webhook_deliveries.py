"""Delivery of events to webhooks: queued with the call, sent by a worker."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from ebbing.api.threads.background_thread import Host
from ebbing.domain.errors import StoreClosedError, StoreError
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import MemoryEvent, Topic
from ebbing.ports.job_queue import Job, NewJob
from ebbing.ports.stores.webhook_book import Webhook
from ebbing.recall.context.render import memory_text
from ebbing.upkeep.worker.worker import JobContext, JobFailure, JobHandler
from ebbing.wiring.build import Components

# Webhook events in mem0's shape, for webhooks that ask for them by mem0's names.

MEM0_TOPICS: Final = {
    Topic.MEMORY_ADDED.value: "memory_add",
    Topic.MEMORY_UPDATED.value: "memory_update",
    Topic.MEMORY_DELETED.value: "memory_delete",
}
"""mem0's name of each topic that it has."""
_EVENTS: Final = {"memory_add": "ADD", "memory_update": "UPDATE", "memory_delete": "DELETE"}


def mem0_events(event: MemoryEvent, event_id: str) -> list[dict[str, Any]]:
    """Return an event for each memory: ids alone, since the text is read when the event is sent."""
    topic = MEM0_TOPICS.get(event.topic.value)
    if topic is None:
        return []
    return [{"id": f"{event_id}-{memory_id}", "mem0": topic, "memory_id": memory_id} for memory_id in event.memory_ids]


def mem0_body(payload: dict[str, Any], record: MemoryRecord | None) -> dict[str, Any]:
    """Return what a receiver of mem0's webhooks reads; `memory` is null where the memory is gone."""
    text = None if record is None else memory_text(record)
    return {"event_details": {"id": payload["memory_id"], "data": {"memory": text}, "event": _EVENTS[payload["mem0"]]}}


DELIVERY: Final = "webhook"
"""Kind of the job."""
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the mark of a secret, not one
_ATTEMPTS: Final = 8
_GONE: Final = 410


class WebhookDeliveries:
    """Queues each event for the webhooks of its tenant, and sends what is queued."""

    def __init__(self, components: Components) -> None:
        self._components = components
        for topic in Topic:
            if topic is not Topic.MEMORY_ACCESSED:
                components.events.subscribe(topic, self._queue_deliveries)

    async def job_handlers(self, host: Host) -> dict[str, JobHandler]:
        """Return the handler that a worker delivers with."""
        return {DELIVERY: host.duty(self._deliver)}

    async def _queue_deliveries(self, event: MemoryEvent) -> None:
        tenant, topic = event.scope.tenant, event.topic.value
        hooks = await self._components.store.webhooks.list(tenant)
        active = [hook for hook in hooks if hook.is_active]
        wanting = [hook for hook in active if topic in hook.topics]
        by_mem0 = [hook for hook in active if MEM0_TOPICS.get(topic) in hook.topics]
        if not (wanting or by_mem0):
            return
        payload = event_of(event, self._components.ids.new())
        jobs = [_delivery(hook.id, payload, scope=event.scope) for hook in wanting]
        for hook in by_mem0:
            jobs += [_delivery(hook.id, item, scope=event.scope) for item in mem0_events(event, payload["id"])]
        await self._enqueue(jobs)

    async def _enqueue(self, jobs: Sequence[NewJob]) -> None:
        """Queue deliveries; where a separate queue does not answer, in the store, from where a worker moves them."""
        separate = self._components.separate_jobs
        try:
            await self._components.store.jobs.enqueue_all(jobs)
        except StoreError as error:
            if separate is None or isinstance(error, StoreClosedError):
                raise
            await separate.former.enqueue_all(jobs)

    async def _deliver(self, job: Job, at_work: JobContext) -> JobFailure | None:
        del at_work
        hook = await self._components.store.webhooks.get(job.tenant, job.payload["webhook"])
        if hook is None or not hook.is_active:
            return None
        payload = job.payload["event"]
        sent = await self._in_mem0_shape(job.tenant, payload) if "mem0" in payload else payload
        body = json.dumps(sent, ensure_ascii=False, separators=(",", ":")).encode()
        headers = signed(hook, body, event_id=payload["id"], at=self._components.clock.now())
        done = await self._components.webhooks.get().send(hook.url, body, headers=headers)
        if done.is_accepted:
            return None
        if done.status == _GONE:
            await self._components.store.webhooks.put(
                replace(hook, is_active=False, updated_at=self._components.clock.now())
            )
            return None
        delay = timedelta(seconds=done.retry_after_seconds or 0.0)
        return JobFailure(done.reason or f"status {done.status}", delay)

    async def _in_mem0_shape(self, tenant: str, payload: dict[str, Any]) -> dict[str, Any]:
        scope = await self._components.store.scope_of(tenant, payload["memory_id"])
        records = await self._components.store.get(scope, [payload["memory_id"]]) if scope else []
        return mem0_body(payload, records[0] if records else None)


def event_of(event: MemoryEvent, event_id: str) -> dict[str, Any]:
    """Return what a receiver is told: ids, never texts."""
    scope = event.scope
    ids = {"user_id": scope.user_id, "agent_id": scope.agent_id, "run_id": scope.run_id}
    return {
        "id": event_id,
        "type": event.topic.value,
        "timestamp": event.at.isoformat(),
        "data": {
            **{name: value for name, value in ids.items() if value is not None},
            "memory_ids": list(event.memory_ids),
            **({"source_id": event.source_id} if event.source_id is not None else {}),
            **({"everything": True} if event.is_bulk else {}),
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


def _delivery(webhook_id: int | str, item: Mapping[str, Any], *, scope: Scope) -> NewJob:
    payload = {"webhook": webhook_id, "event": item}
    return NewJob(DELIVERY, f"{item['id']} {webhook_id}", payload, max_attempts=_ATTEMPTS, belongs_to=scope)
