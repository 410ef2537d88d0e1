"""The service over a Redis: replicas count requests together, and go on while it is away."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.http.service import service
from tests.redis_server import ADDRESS, NEEDS_REDIS, emptied, free_port

pytestmark = [pytest.mark.anyio, pytest.mark.extended]


@NEEDS_REDIS
async def test_replicas_count_the_requests_of_a_credential_together(tmp_path: Path) -> None:
    shared = {"path": tmp_path, "redis_url": ADDRESS, "http_rate_per_minute": 6}
    async with emptied(), service(**shared) as one, service(**shared) as two:
        answers = [await (one, two)[at % 2].get("/v1/owners") for at in range(8)]
        assert [answer.status_code for answer in answers] == [200] * 6 + [429] * 2
        assert {answer.headers["Retry-After"] for answer in answers[6:]} <= {"9", "10"}


async def test_while_redis_is_away_only_what_needs_it_is_refused(tmp_path: Path) -> None:
    away = f"redis://:s3cret@127.0.0.1:{free_port()}/0"
    async with service(tmp_path, redis_url=away, http_rate_per_minute=100, metrics=True) as client:
        added = await client.post("/v1/memories", json={"user_id": "ada", "text": "I live in Berlin"})
        said = await client.post("/v1/sessions/monday/messages", json={"user_id": "ada", "messages": "I like tea"})
        asked = await client.post("/v1/sessions/monday/search", json={"user_id": "ada", "query": "Where do I live?"})
        assert (added.status_code, said.status_code, asked.status_code) == (200, 503, 200)
        assert "Retry-After" in said.headers
        assert "cannot be reached" in said.json()["detail"]
        assert "s3cret" not in said.text
        assert asked.json()["memories"][0]["text"] == "I live in Berlin"
        assert "ebbing_rate_limit_outages_total 1.0" in (await client.get("/metrics")).text
