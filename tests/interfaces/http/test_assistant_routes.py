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


ROOT = {"authorization": "Bearer root"}


async def test_a_key_reaches_nobody_elses_policy() -> None:
    async with service(service_api_key="root") as client:
        keys = {}
        for user in ("emma", "liam"):
            made = await client.post("/v1/keys", json={"user_id": user, "role": "write"}, headers=ROOT)
            keys[user] = {"authorization": f"Bearer {made.json()['key']}"}
        for sentence in SAYS:
            await client.post("/v1/memories", json={"messages": sentence}, headers=keys["emma"])
        bodies = {
            "recall": {"query": "What am I allergic to?", "agent": "personal"},
            "route": {"workers": {"science fiction": "scifi"}, "default": "movies"},
            "rank": {"items": [{"text": "Peanut soup"}]},
        }
        for path, body in bodies.items():
            own = await client.post(f"/v1/assistant/{path}", json=body, headers=keys["emma"])
            other = await client.post(f"/v1/assistant/{path}", json=body, headers=keys["liam"])
            assert (own.status_code, other.status_code) == (200, 200)
            assert "eanut" in own.text.replace("Peanut soup", "") or "scifi" in own.text
            assert not {"allergic", "scifi", "peanuts"} & {*other.text.replace('"', " ").split()}
            foreign = await client.post(f"/v1/assistant/{path}", json={**body, "user_id": "emma"}, headers=keys["liam"])
            assert foreign.status_code == 403
        style = {"user_id": "emma"}
        assert (await client.get("/v1/assistant/style", params=style, headers=keys["liam"])).status_code == 403
        assert (await client.get("/v1/assistant/style", params=style)).status_code == 401


async def test_chinese_limits_bound_what_is_offered() -> None:
    async with service() as client:
        for sentence in ("我从不看超过两个小时的电影", "我对花生过敏", "我喜欢科幻电影"):
            await client.post("/v1/memories", json={"user_id": "wang", "messages": sentence})
        route = {"user_id": "wang", "workers": {"科幻": "scifi"}, "default": "movies", "topic": "电影"}
        routed = (await client.post("/v1/assistant/route", json=route)).json()
        assert (routed["worker"], routed["filters"]) == ("scifi", {"max_duration": 120.0})
        items = [{"text": "科幻长片", "duration": 150}, {"text": "科幻短片", "duration": 90}, {"text": "花生汤"}]
        ranked = (await client.post("/v1/assistant/rank", json={"user_id": "wang", "items": items})).json()
        assert [(offer["item"]["text"], offer["score"]) for offer in ranked["offers"]] == [("科幻短片", 1.2)]
        assert [item["reason"] for item in ranked["dropped"]] == ["max_duration", "花生"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e400", "1" + "0" * 400, "true", '"90"'])
@pytest.mark.parametrize("field", ["score", "duration"])
async def test_a_number_that_cannot_be_compared_is_refused(field: str, number: str) -> None:
    async with service() as client:
        body = f'{{"user_id": "emma", "items": [{{"text": "A film", "{field}": {number}}}]}}'
        headers = {"content-type": "application/json"}
        answered = await client.post("/v1/assistant/rank", content=body, headers=headers)
    assert (answered.status_code, answered.json()["code"]) == (400, "invalid_input")


async def test_a_favourite_stands_first_where_scores_are_below_zero() -> None:
    async with service() as client:
        await client.post("/v1/memories", json={"user_id": "emma", "messages": SAYS[0]})
        items = [{"text": "A western", "score": -1}, {"text": "A science fiction film", "score": -1}]
        ranked = (await client.post("/v1/assistant/rank", json={"user_id": "emma", "items": items})).json()
    assert [offer["favourite"] for offer in ranked["offers"]] == ["science fiction", None]


async def test_a_worker_without_a_topic_is_refused() -> None:
    async with service() as client:
        for workers, default in (({"": "x"}, "m"), ({"films": " "}, "m"), ({"films": "x"}, "")):
            body = {"user_id": "emma", "workers": workers, "default": default}
            assert (await client.post("/v1/assistant/route", json=body)).status_code == 400


async def test_what_does_not_fit_is_refused_with_what_to_do() -> None:
    async with service() as client:
        assert (await client.post("/v1/assistant/recall", json={"query": "x"})).status_code == 400
        assert (await client.post("/v1/assistant/rank", json={"user_id": "e", "items": [{}]})).status_code == 400
        unknown = await client.post("/v1/assistant/recall", json={"user_id": "e", "query": "x", "agent": "spy"})
        assert unknown.status_code == 400
