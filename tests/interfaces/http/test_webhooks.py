"""Who wants to be told is told: signed, at least once, and without anybody's words."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ebbing.domain.errors import InvalidInputError
from ebbing.memory import AsyncMemory
from ebbing.ports.webhook_sender import Delivered
from ebbing.wiring.components.webhooks import SenderSlot
from tests.interfaces.http.service import service

pytestmark = pytest.mark.anyio

HOOK = "https://example.org/hook"


class Letterbox:
    """A `WebhookSender` that keeps what it is given, and answers as it is told."""

    def __init__(self, *answers: Delivered) -> None:
        self.sent: list[tuple[str, bytes, dict[str, str]]] = []
        self._answers = list(answers)

    def check(self, url: str) -> None:
        if "inside" in url:
            raise InvalidInputError("a webhook's address must be reachable from the internet")

    async def send(self, url: str, body: bytes, *, headers: Mapping[str, str]) -> Delivered:
        self.sent.append((url, body, dict(headers)))
        return self._answers.pop(0) if self._answers else Delivered(200)

    async def aclose(self) -> None:
        pass


def memory_with(letterbox: Letterbox, path: Path) -> AsyncMemory:
    """A memory whose messages go into the box."""
    memory = AsyncMemory(path, embedder="none")
    slot: SenderSlot = memory.components.webhooks
    slot.sender = letterbox
    return memory


async def test_what_happens_is_told_signed_and_without_anybodys_words(tmp_path: Path) -> None:
    box = Letterbox()
    async with memory_with(box, tmp_path) as memory:
        hook = await memory.webhooks.create(HOOK, topics=["memory.added", "memory.deleted"])
        [added] = (await memory.add("green-tea leaves", user_id="emma", infer=False))["results"]
        await memory.update(added["id"], "black-tea leaves")
        await memory.delete(added["id"])
        await memory.jobs.run_worker(until_idle=True)
        events = [json.loads(body) for _, body, _ in box.sent]
        assert sorted(event["type"] for event in events) == ["memory.added", "memory.deleted"]
        assert all(event["data"] == {"user_id": "emma", "memory_ids": [added["id"]]} for event in events)
        assert "tea leaves" not in str(box.sent)
        for url, body, headers in box.sent:
            assert url == HOOK
            said = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
            secret = base64.b64decode(hook["secret"].removeprefix("whsec_"))
            mark = base64.b64encode(hmac.digest(secret, said, hashlib.sha256)).decode()
            assert headers["webhook-signature"] == f"v1,{mark}"


async def test_a_message_that_is_not_taken_is_sent_again_later_under_the_same_id(tmp_path: Path) -> None:
    box = Letterbox(Delivered(500), Delivered(None, "unreachable"))
    async with memory_with(box, tmp_path) as memory:
        await memory.webhooks.create(HOOK, topics=["memory.added"])
        await memory.add("green tea", user_id="emma", infer=False)
        await memory.jobs.run_worker(until_idle=True)
        [job] = (await memory.jobs.list(kind="webhook"))["jobs"]
        assert (job["state"], job["last_error"], len(box.sent)) == ("waiting", "status 500", 1)
        assert "tea" not in str(job)


async def test_a_receiver_that_is_gone_or_stopped_hears_nothing_more(tmp_path: Path) -> None:
    box = Letterbox(Delivered(410))
    async with memory_with(box, tmp_path) as memory:
        gone = await memory.webhooks.create(HOOK, topics=["memory.added"])
        await memory.add("green tea", user_id="emma", infer=False)
        await memory.jobs.run_worker(until_idle=True)
        [hook] = await memory.webhooks.list()
        assert (hook["id"], hook["is_active"]) == (gone["id"], False)
        await memory.add("black tea", user_id="emma", infer=False)
        await memory.jobs.run_worker(until_idle=True)
        assert len(box.sent) == 1
        await memory.webhooks.update(gone["id"], is_active=True)
        await memory.add("white tea", user_id="emma", infer=False)
        await memory.webhooks.delete(gone["id"])
        await memory.jobs.run_worker(until_idle=True)
        assert len(box.sent) == 1


async def test_a_tenant_is_told_of_its_own_alone(tmp_path: Path) -> None:
    box = Letterbox()
    async with memory_with(box, tmp_path) as memory:
        acme = memory.for_tenant("acme")
        await acme.webhooks.create(f"{HOOK}/acme", topics=["memory.added"])
        await memory.webhooks.create(f"{HOOK}/default", topics=["memory.added"])
        await acme.add("green tea", user_id="emma", infer=False)
        await memory.jobs.run_worker(until_idle=True)
        assert [url for url, _, _ in box.sent] == [f"{HOOK}/acme"]


async def test_erasing_somebody_is_told_and_takes_what_waits_along(tmp_path: Path) -> None:
    box = Letterbox()
    async with memory_with(box, tmp_path) as memory:
        await memory.webhooks.create(HOOK, topics=["memory.added", "memory.deleted"])
        await memory.add("green tea", user_id="emma", infer=False)
        await memory.delete_all(user_id="emma")
        await memory.jobs.run_worker(until_idle=True)
        [event] = [json.loads(body) for _, body, _ in box.sent]
        assert (event["type"], event["data"]["everything"]) == ("memory.deleted", True)


async def test_webhooks_are_kept_over_http_by_who_administers() -> None:
    async with service(service_api_key="root", webhook_private_targets=False) as client:
        root = {"authorization": "Bearer root"}
        made = await client.post("/v1/webhooks", json={"url": HOOK, "name": "chat"}, headers=root)
        assert made.status_code == 201
        assert made.json()["secret"].startswith("whsec_")
        path = f"/v1/webhooks/{made.json()['id']}"
        [listed] = (await client.get("/v1/webhooks", headers=root)).json()["webhooks"]
        assert "secret" not in listed
        changed = await client.put(path, json={"topics": ["memory.deleted"], "is_active": False}, headers=root)
        assert (changed.json()["topics"], changed.json()["url"]) == (["memory.deleted"], HOOK)
        wrong: list[dict[str, Any]] = [
            {"url": "http://example.org"},
            {"url": "https://localhost/"},
            {"url": HOOK, "topics": ["memory.accessed"]},
            {"url": HOOK, "topics": []},
        ]
        for body in wrong:
            assert (await client.post("/v1/webhooks", json=body, headers=root)).status_code == 400
        assert (await client.put(path, json={"url": "https://10.0.0.1/"}, headers=root)).status_code == 400
        assert (await client.delete(path, headers=root)).status_code == 200
        assert (await client.delete(path, headers=root)).status_code == 404
        writer = (await client.post("/v1/keys", json={}, headers=root)).json()["key"]
        refused = await client.get("/v1/webhooks", headers={"authorization": f"Bearer {writer}"})
        assert refused.status_code == 403


async def test_a_webhook_by_mem0s_names_gets_one_message_a_memory_in_its_shape(tmp_path: Path) -> None:
    box = Letterbox()
    async with memory_with(box, tmp_path) as memory:
        await memory.webhooks.create(HOOK, topics=["memory_add", "memory_update", "memory_delete"])
        [added] = (await memory.add("green tea", user_id="emma", infer=False))["results"]
        await memory.jobs.run_worker(until_idle=True)
        await memory.update(added["id"], "black tea")
        await memory.jobs.run_worker(until_idle=True)
        await memory.delete(added["id"])
        await memory.jobs.run_worker(until_idle=True)
    details = [json.loads(body)["event_details"] for _, body, _ in box.sent]
    assert [(one["event"], one["data"]["memory"]) for one in details] == [
        ("ADD", "green tea"),
        ("UPDATE", "black tea"),
        ("DELETE", None),
    ]
    assert {one["id"] for one in details} == {added["id"]}
