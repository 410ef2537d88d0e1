"""What the service keeps beside the memories, for as long as its process lives."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime

from ebbing.domain.memory.scope import Owner, Scope
from ebbing.ports.audit_log import Act
from ebbing.ports.key_ring import ApiKey
from ebbing.ports.request_log import KeptRequest
from ebbing.ports.webhook_book import Webhook

Opened = Callable[[], AbstractContextManager[None]]
"""Locks the store, or says that it is closed."""


class EphemeralKeyRing:
    """A `KeyRing` in the memory of one process."""

    def __init__(self, opened: Opened) -> None:
        self._keys: dict[str, ApiKey] = {}
        self._opened = opened

    async def add(self, key: ApiKey) -> None:
        with self._opened():
            self._keys[key.id] = key

    async def find(self, digest: str) -> ApiKey | None:
        with self._opened():
            return next((key for key in self._keys.values() if key.digest == digest), None)

    async def list(self, tenant: str) -> list[ApiKey]:
        with self._opened():
            mine = [key for key in self._keys.values() if key.tenant == tenant]
        return sorted(mine, key=lambda key: (key.created_at, key.id), reverse=True)

    async def revoke(self, tenant: str, key_id: str, *, at: datetime) -> ApiKey | None:
        with self._opened():
            key = self._keys.get(key_id)
            if key is None or key.tenant != tenant:
                return None
            self._keys[key_id] = revoked = replace(key, revoked_at=key.revoked_at or at)
            return revoked

    async def is_empty(self) -> bool:
        with self._opened():
            return not self._keys


class EphemeralRequestLog:
    """A `RequestLog` in the memory of one process."""

    def __init__(self, opened: Opened) -> None:
        self._requests: dict[tuple[str, str, str], KeptRequest] = {}
        self._opened = opened

    async def begin(self, request: KeptRequest) -> KeptRequest | None:
        with self._opened():
            earlier = self._requests.get(_name(request))
            is_lost = earlier is not None and earlier.status is None and earlier.body is None
            if earlier is not None and not (is_lost and earlier.leased_until <= request.begun_at):
                return earlier
            self._requests[_name(request)] = request
            return None

    async def renew(self, request: KeptRequest, *, until: datetime) -> None:
        with self._opened():
            earlier = self._requests.get(_name(request))
            if earlier is not None and earlier.status is None:
                self._requests[_name(request)] = replace(earlier, leased_until=until)

    async def finish(self, request: KeptRequest, *, status: int, answer: str, whose: Scope | None) -> None:
        with self._opened():
            earlier = self._requests.get(_name(request))
            if earlier is not None and earlier.status is None:
                ended = replace(earlier, status=status, answer=answer, whose=whose, body=None)
                self._requests[_name(request)] = ended

    async def drop(self, request: KeptRequest) -> None:
        with self._opened():
            self._requests.pop(_name(request), None)

    async def get(self, tenant: str, caller: str, *, key: str) -> KeptRequest | None:
        with self._opened():
            return self._requests.get((tenant, caller, key))

    async def to_do(self, *, limit: int = 1_000) -> list[KeptRequest]:
        with self._opened():
            waiting = [request for request in self._requests.values() if request.body is not None]
        return sorted(waiting, key=lambda one: one.begun_at)[:limit]

    def move(self, of: Owner, name: str) -> None:
        """Gives the requests about a user to another one; call it with the store locked."""
        for key, stored in self._requests.items():
            if stored.whose is not None and stored.whose.owner == of:
                self._requests[key] = replace(stored, whose=replace(stored.whose, user_id=name))

    async def drop_answered(self, *, before: datetime) -> int:
        with self._opened():
            return self._drop(lambda one: one.begun_at < before and one.body is None)

    def forget_answers(self, scope: Scope) -> None:
        """Removes the answers about an owner, or about nobody knows whom; the store is locked."""

        def told(one: KeptRequest) -> bool:
            return one.body is None and (one.whose is None or one.whose.owner == scope.owner)

        self._drop(lambda one: one.tenant == scope.tenant and told(one))

    def forget(self, scope: Scope) -> None:
        """Removes those, and what is to be done later about what the scope covers; the store is locked."""
        self.forget_answers(scope)
        self._drop(lambda one: one.whose is not None and scope.covers(one.whose))

    def forget_tenant(self, tenant: str) -> None:
        """Removes every request of a tenant; the store is locked."""
        self._drop(lambda one: one.tenant == tenant)

    def _drop(self, is_gone: Callable[[KeptRequest], bool]) -> int:
        gone = [name for name, stored in self._requests.items() if is_gone(stored)]
        for name in gone:
            del self._requests[name]
        return len(gone)


class EphemeralWebhookBook:
    """A `WebhookBook` in the memory of one process."""

    def __init__(self, opened: Opened) -> None:
        self._webhooks: dict[str, Webhook] = {}
        self._opened = opened

    async def put(self, webhook: Webhook) -> bool:
        with self._opened():
            earlier = self._webhooks.get(webhook.id)
            if earlier is not None and earlier.tenant != webhook.tenant:
                return False
            self._webhooks[webhook.id] = webhook
            return True

    async def get(self, tenant: str, webhook_id: str) -> Webhook | None:
        with self._opened():
            webhook = self._webhooks.get(webhook_id)
            return webhook if webhook is not None and webhook.tenant == tenant else None

    async def list(self, tenant: str) -> list[Webhook]:
        with self._opened():
            mine = [webhook for webhook in self._webhooks.values() if webhook.tenant == tenant]
        return sorted(mine, key=lambda one: (one.created_at, one.id))

    async def remove(self, tenant: str, webhook_id: str) -> bool:
        with self._opened():
            webhook = self._webhooks.get(webhook_id)
            return webhook is not None and webhook.tenant == tenant and self._webhooks.pop(webhook_id) is webhook


class EphemeralAuditLog:
    """An `AuditLog` in the memory of one process."""

    def __init__(self, opened: Opened) -> None:
        self._acts: list[Act] = []
        self._opened = opened

    async def note(self, act: Act) -> None:
        with self._opened():
            self._acts.append(act)

    async def list(self, tenant: str, *, limit: int = 100) -> list[Act]:
        with self._opened():
            return [act for act in reversed(self._acts) if act.tenant == tenant][:limit]


def _name(request: KeptRequest) -> tuple[str, str, str]:
    return request.tenant, request.caller, request.key
