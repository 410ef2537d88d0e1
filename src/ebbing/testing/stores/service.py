"""That a store keeps what the service needs, tenant by tenant, and lets go of it with what it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ebbing.domain.access_roles import AccessRole
from ebbing.domain.errors import StoreClosedError
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.audit_log import Act
from ebbing.ports.stores.key_ring import ApiKey
from ebbing.ports.stores.memory_store import Erase, MemoryStore
from ebbing.ports.stores.request_log import KeptRequest
from ebbing.ports.stores.webhook_book import Webhook
from ebbing.testing.stores.case import ADA, BOB, StoreCase

LEASE = timedelta(seconds=30)


class ServiceSuite(StoreCase):
    """Keys, remembered requests, webhooks and administrative acts."""

    def key(self, name: str, *, tenant: str = "acme", **fields: Any) -> ApiKey:
        """A key that was just made."""
        return ApiKey(name, f"digest of {name}", tenant, AccessRole.WRITE, self.now, **fields)

    def request(self, key: str, *, tenant: str = "default", **fields: Any) -> KeptRequest:
        """A request that is about to be answered."""
        now = self.now
        return KeptRequest(tenant, "k1", key, "digest", now, now + LEASE, **fields)

    def webhook(self, name: str, *, tenant: str = "acme") -> Webhook:
        """An address that wants to be told."""
        now = self.now
        return Webhook(name, tenant, "https://example.org/hook", ("memory.added",), "whsec", now, now, name="mine")

    async def answered(self, store: MemoryStore, request: KeptRequest, *, belongs_to: Scope | None) -> KeptRequest:
        """A request that was answered."""
        await store.requests.begin(request)
        await store.requests.finish(request, status=200, answer="told", belongs_to=belongs_to)
        return request

    async def earlier(self, store: MemoryStore, request: KeptRequest) -> KeptRequest | None:
        """What is remembered of a request."""
        return await store.requests.get(request.tenant, request.caller, key=request.key)

    async def test_a_key_is_found_by_its_digest_until_it_is_revoked(self, store: MemoryStore) -> None:
        assert await store.keys.is_empty()
        key = self.key("k1", user_id="ada", note="for tests", expires_at=self.now + LEASE)
        await store.keys.add(key)
        assert await store.keys.find(key.digest) == key
        assert await store.keys.find("another") is None
        self.clock.advance(LEASE)
        ended = replace(key, revoked_at=self.now)
        assert await store.keys.revoke("acme", "k1", at=self.now) == ended
        self.clock.advance(LEASE)
        assert await store.keys.revoke("acme", "k1", at=self.now) == ended
        assert await store.keys.find(key.digest) == ended
        assert not await store.keys.is_empty()

    async def test_a_tenant_knows_its_own_keys_alone(self, store: MemoryStore) -> None:
        first, other = self.key("k1"), self.key("k2", tenant="globex")
        self.clock.advance(LEASE)
        second = self.key("k3")
        for key in (first, other, second):
            await store.keys.add(key)
        assert await store.keys.list("acme") == [second, first]
        assert await store.keys.revoke("acme", "k2", at=self.now) is None
        assert await store.keys.find(other.digest) == other

    async def test_a_request_is_noted_once_and_remembers_its_answer(self, store: MemoryStore) -> None:
        request = self.request("r1", belongs_to=ADA)
        assert await store.requests.begin(request) is None
        assert await store.requests.begin(self.request("r1")) == request
        await store.requests.finish(request, status=200, answer="told", belongs_to=ADA)
        answered_request = replace(request, status=200, answer="told")
        assert await store.requests.begin(self.request("r1")) == answered_request
        await store.requests.finish(request, status=500, answer="again", belongs_to=ADA)
        assert await self.earlier(store, request) == answered_request

    async def test_the_names_of_requests_are_their_callers_own(self, store: MemoryStore) -> None:
        request = self.request("r1")
        await store.requests.begin(request)
        for other in (replace(request, caller="k2"), replace(request, tenant="acme"), replace(request, key="r2")):
            assert await store.requests.begin(other) is None

    async def test_a_request_whose_answerer_died_may_be_answered_by_another(self, store: MemoryStore) -> None:
        request = self.request("r1")
        await store.requests.begin(request)
        self.clock.advance(LEASE / 2)
        await store.requests.renew(request, until=self.now + LEASE)
        self.clock.advance(LEASE / 2)
        assert await store.requests.begin(self.request("r1")) is not None
        self.clock.advance(LEASE)
        again = self.request("r1")
        assert await store.requests.begin(again) is None
        assert await self.earlier(store, request) == again

    async def test_what_is_to_be_done_later_waits_as_long_as_it_takes(self, store: MemoryStore) -> None:
        later = self.request("r1", body='{"text": "tea"}', belongs_to=ADA)
        await store.requests.begin(later)
        self.clock.advance(100 * LEASE)
        assert await store.requests.begin(self.request("r1")) == later
        newer = self.request("r0", body="{}", belongs_to=Scope(user_id="bob", tenant="acme"), tenant="acme")
        await store.requests.begin(newer)
        assert await store.requests.to_do() == [later, newer]
        assert await store.requests.to_do(limit=1) == [later]
        assert await store.requests.drop_answered(before=self.now) == 0
        await store.requests.finish(later, status=200, answer="told", belongs_to=ADA)
        assert await self.earlier(store, later) == replace(later, body=None, status=200, answer="told")
        assert await store.requests.to_do() == [newer]

    async def test_a_request_can_be_dropped_and_asked_anew(self, store: MemoryStore) -> None:
        request = self.request("r1")
        await store.requests.begin(request)
        await store.requests.drop(request)
        assert await store.requests.begin(request) is None

    async def test_old_answers_are_dropped_by_age(self, store: MemoryStore) -> None:
        old = await self.answered(store, self.request("r1"), belongs_to=ADA)
        self.clock.advance(LEASE)
        new = await self.answered(store, self.request("r2"), belongs_to=ADA)
        assert await store.requests.drop_answered(before=self.now) == 1
        assert await self.earlier(store, old) is None
        assert await self.earlier(store, new) is not None

    async def test_erasing_an_owner_takes_the_answers_along(self, store: MemoryStore) -> None:
        hers = await self.answered(store, self.request("r1"), belongs_to=ADA)
        run = await self.answered(store, self.request("r2"), belongs_to=Scope(user_id="ada", run_id="r"))
        unclear = await self.answered(store, self.request("r3"), belongs_to=None)
        his = await self.answered(store, self.request("r4"), belongs_to=BOB)
        elsewhere = await self.answered(store, self.request("r5", tenant="acme"), belongs_to=None)
        under_way = self.request("r6")
        await store.requests.begin(under_way)
        await store.erase(ADA)
        for gone in (hers, run, unclear, under_way):
            assert await self.earlier(store, gone) is None
        for request in (his, elsewhere):
            assert await self.earlier(store, request) is not None
        await store.requests.finish(under_way, status=200, answer="told", belongs_to=ADA)
        assert await self.earlier(store, under_way) is None

    async def test_erasing_a_part_leaves_what_is_to_be_done_about_the_rest(self, store: MemoryStore) -> None:
        monday, tuesday = (Scope(user_id="ada", run_id=run) for run in ("monday", "tuesday"))
        gone = self.request("r1", body="{}", belongs_to=monday)
        remaining = self.request("r2", body="{}", belongs_to=tuesday)
        for item in (gone, remaining):
            await store.requests.begin(item)
        await store.erase(monday)
        assert [await self.earlier(store, item) for item in (gone, remaining)] == [None, remaining]

    async def test_erasing_one_memory_takes_its_owners_answers_along(self, store: MemoryStore) -> None:
        record = await self.stored(ADA, "x")
        hers = await self.answered(store, self.request("r1"), belongs_to=ADA)
        his = await self.answered(store, self.request("r2"), belongs_to=BOB)
        later = self.request("r3", body="{}", belongs_to=ADA)
        await store.requests.begin(later)
        await store.write(ADA, [Erase(record.id)])
        assert await self.earlier(store, hers) is None
        assert await self.earlier(store, his) is not None
        assert await self.earlier(store, later) == later

    async def test_resetting_a_tenant_takes_its_requests_along(self, store: MemoryStore) -> None:
        mine = await self.answered(store, self.request("r1"), belongs_to=ADA)
        other = await self.answered(store, self.request("r1", tenant="acme"), belongs_to=None)
        await store.reset("default")
        assert await self.earlier(store, mine) is None
        assert await self.earlier(store, other) is not None

    async def test_a_webhook_is_kept_changed_and_removed_by_its_tenant_alone(self, store: MemoryStore) -> None:
        hook = self.webhook("w1")
        assert await store.webhooks.put(hook)
        changed = replace(hook, is_active=False, topics=("memory.added", "memory.deleted"), name=None)
        assert await store.webhooks.put(changed)
        assert not await store.webhooks.put(replace(hook, tenant="globex"))
        assert await store.webhooks.get("acme", "w1") == changed
        assert await store.webhooks.get("globex", "w1") is None
        assert await store.webhooks.list("globex") == []
        assert not await store.webhooks.remove("globex", "w1")
        self.clock.advance(LEASE)
        second = self.webhook("w0")
        await store.webhooks.put(second)
        assert await store.webhooks.list("acme") == [changed, second]
        assert await store.webhooks.remove("acme", "w1")
        assert not await store.webhooks.remove("acme", "w1")

    async def test_acts_are_told_newest_first_and_to_their_tenant_alone(self, store: MemoryStore) -> None:
        acts = [Act(self.now, "acme", "cli", f"keys {verb}", "k1") for verb in ("create", "revoke")]
        for act in (*acts, Act(self.now, "globex", "open", "DELETE /v1/tenant", outcome="200")):
            await store.audit.note(act)
        assert await store.audit.list("acme") == acts[::-1]
        assert await store.audit.list("acme", limit=1) == acts[1:]

    async def test_a_closed_store_keeps_nothing_for_the_service(self, store: MemoryStore) -> None:
        await store.aclose()
        with pytest.raises(StoreClosedError):
            await store.keys.find("x")
        with pytest.raises(StoreClosedError):
            await store.requests.begin(self.request("r1"))
        with pytest.raises(StoreClosedError):
            await store.webhooks.list("acme")
        with pytest.raises(StoreClosedError):
            await store.audit.note(Act(self.now, "acme", "cli", "x"))
