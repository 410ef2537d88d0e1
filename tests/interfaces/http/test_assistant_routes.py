"""The policy of recall over HTTP answers what the library answers, for whom the credential allows."""

from __future__ import annotations

import pytest

from tests.interfaces.http.service import service

pytestmark = pytest.mark.anyio

SAYS = ["I love science fiction films.", "I'm allergic to peanuts.", "I never watch films longer than 2 hours."]


async def test_the_routes_answer_what_the_library_answers() -> None:
    async with service() as client:
        for sentence in SAYS:
            await client.post("/v1/memories", json={"user_id": "emma", "messages": sentence})
        asked = {"user_id": "emma", "query": "What am I allergic to?"}
        recalled = (await client.post("/v1/assistant/recall", json=asked)).json()
        assert (recalled["inject"], recalled["reason"]) == (True, "sure")
        assert "peanuts" in recalled["memories"][0]["text"]
        for agent, reason in (("personal", "always"), ("tool", "tools")):
            answer = (await client.post("/v1/assistant/recall", json={**asked, "agent": agent})).json()
            assert answer["reason"] == reason

        workers = {"workers": {"science fiction": "scifi"}, "default": "movies", "topic": "films"}
        routed = (await client.post("/v1/assistant/route", json={"user_id": "emma", **workers})).json()
        assert (routed["worker"], routed["filters"]) == ("scifi", {"max_duration": 120})

        items = [{"text": "Peanut soup"}, {"text": "Tomato soup"}]
        ranked = (await client.post("/v1/assistant/rank", json={"user_id": "emma", "items": items})).json()
        assert [offer["item"] for offer in ranked["offers"]] == [{"text": "Tomato soup"}]
        assert ranked["dropped"] == [{"item": {"text": "Peanut soup"}, "reason": "peanuts"}]

        style = (await client.get("/v1/assistant/style", params={"user_id": "emma", "language": "zh"})).json()
        assert style["hints"] == []


async def test_what_does_not_fit_is_refused_with_what_to_do() -> None:
    async with service() as client:
        assert (await client.post("/v1/assistant/recall", json={"query": "x"})).status_code == 400
        assert (await client.post("/v1/assistant/rank", json={"user_id": "e", "items": [{}]})).status_code == 400
        unknown = await client.post("/v1/assistant/recall", json={"user_id": "e", "query": "x", "agent": "spy"})
        assert unknown.status_code == 400
