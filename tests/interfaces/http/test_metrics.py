"""What the service tells of itself: metrics, and a line for each request."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.interfaces.http.routes.service.metrics import counted
from ebbing.testing.clock import ManualClock
from tests.interfaces.http.service import service

pytestmark = pytest.mark.anyio


async def test_metrics_name_routes_and_sizes_and_nobody() -> None:
    async with service(metrics=True) as client:
        added = (await client.post("/v1/memories", json={"user_id": "emma", "text": "green tea"})).json()
        await client.get(f"/v1/memories/{added['id']}")
        await client.get("/v1/memories/emmas-secret")
        await client.get("/nothing/emma")
        text = (await client.get("/metrics")).text
        assert 'ebbing_http_requests_total{method="POST",route="/v1/memories",status="200"} 1.0' in text
        assert 'ebbing_http_requests_total{method="GET",route="/v1/memories/{memory_id}",status="404"} 1.0' in text
        assert 'ebbing_records{kind="memory"} 1.0' in text
        assert 'ebbing_operations_total{operation="add",outcome="ok"} 1.0' in text
        assert "emma" not in text
        assert added["id"] not in text


async def test_what_else_is_known_is_told_where_the_queue_of_jobs_does_not_answer(tmp_path: Path) -> None:
    store = SqliteMemoryStore.open(tmp_path, clock=ManualClock())
    assert (await counted(store)).jobs == {"waiting": 0, "running": 0, "done": 0, "dead": 0}
    other = SqliteMemoryStore.in_memory(clock=ManualClock())
    await other.aclose()
    store.jobs = other.jobs
    counts = await counted(store)
    assert (counts.jobs, counts.by_kind["memory"]) == ({}, 0)
    await store.aclose()


async def test_metrics_are_off_unless_they_are_asked_for() -> None:
    async with service() as client:
        refused = await client.get("/metrics")
        assert (refused.status_code, "EBBING_METRICS" in refused.json()["detail"]) == (404, True)


async def test_a_credential_of_one_user_sees_no_metrics(tmp_path: Path) -> None:
    async with service(tmp_path, metrics=True) as client:
        key = (await client.post("/v1/keys", json={"role": "read", "user_id": "emma"})).json()["key"]
        assert (await client.get("/metrics")).status_code == 401
        assert (await client.get("/metrics", headers={"X-API-Key": key})).status_code == 403


async def test_each_request_is_a_line_in_the_log_that_names_nobody(caplog: pytest.LogCaptureFixture) -> None:
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    with caplog.at_level(logging.INFO, logger="ebbing.access"):
        async with service() as client:
            answer = await client.get("/v1/memories/emmas-id?user_id=emma", headers={"traceparent": trace})
            await client.get("/healthz")
    assert answer.headers["traceparent"].startswith("00-4bf92f3577b34da6a3ce929d0e0e4736-")
    [line] = [record for record in caplog.records if record.name == "ebbing.access"]
    told = vars(line)
    assert (told["method"], told["route"], told["status"]) == ("GET", "/v1/memories/{memory_id}", 404)
    assert told["trace_id"] == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert told["request_id"] == answer.headers["x-request-id"]
    assert "emma" not in str(told)
