"""The routes of mem0's platform and of its open-source server, in their shapes."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.http.mem0.owner_params import said_filters
from tests.interfaces.http.service import service

pytestmark = pytest.mark.anyio

NOTHING = "Nothing was erased: no memories fit"
PEANUTS = [{"role": "user", "content": "I am allergic to peanuts."}]


async def told(client: httpx.AsyncClient, user: str = "emma", **more: Any) -> str:
    """The id of the one memory that an add by the platform's route made."""
    answer = await client.post("/v3/memories/add/", json={"messages": PEANUTS, "user_id": user, **more})
    assert answer.status_code == 200, answer.text
    assert answer.json()["status"] == "SUCCEEDED"
    [result] = answer.json()["results"]
    return str(result["id"])


async def found(client: httpx.AsyncClient, filters: Any, **more: Any) -> list[str]:
    answer = await client.post("/v3/memories/search/", json={"query": "peanuts", "filters": filters, **more})
    assert answer.status_code == 200, answer.text
    return [hit["user_id"] for hit in answer.json()["results"]]


async def test_the_ping_tells_what_the_clients_need() -> None:
    async with service() as client:
        told_of = (await client.get("/v1/ping/", headers={"Authorization": "Token m0-anything"})).json()
        assert told_of.keys() == {"status", "org_id", "project_id", "user_email"}
        assert told_of["status"] == "ok"


async def test_a_found_memory_has_the_platforms_fields() -> None:
    async with service() as client:
        await told(client, metadata={"chat": 7}, app_id="kitchen")
        answer = await client.post("/v3/memories/search/", json={"query": "peanuts", "filters": {"user_id": "emma"}})
        [hit] = answer.json()["results"]
        assert hit["memory"] == "User is allergic to peanuts"
        assert (hit["user_id"], hit["app_id"], hit["metadata"]) == ("emma", "kitchen", {"chat": 7})
        assert hit["score_breakdown"].keys() == {"semantic", "bm25", "entity"}
        assert 0 < hit["score"] <= 1


@pytest.mark.parametrize(
    "filters",
    [
        {"user_id": "emma"},
        {"userId": "emma"},
        {"AND": [{"user_id": "emma"}]},
        {"AND": [{"AND": [{"userId": "emma"}]}, {"created_at": {"gte": "2000-01-01"}}]},
        {"OR": [{"user_id": "emma"}]},
        {"user_id": {"eq": "emma"}},
        {"user_id": {"in": ["emma"]}},
        {"user_id": "emma", "metadata": {"mood": "calm"}},
        {"user_id": "emma", "NOT": [{"categories": {"in": ["spam"]}}]},
        {"user_id": "emma", "keywords": {"icontains": "PEANUT"}},
        {"user_id": "emma", "app_id": "kitchen"},
    ],
)
async def test_the_platforms_filters_mean_what_they_say(filters: dict[str, Any]) -> None:
    async with service() as client:
        await told(client, metadata={"mood": "calm"}, app_id="kitchen")
        await told(client, "bob")
        assert await found(client, filters) == ["emma"]


async def test_an_or_of_owners_and_a_list_of_ids_ask_each_of_them() -> None:
    async with service() as client:
        for user in ("emma", "bob", "eve"):
            await told(client, user)
        assert sorted(await found(client, {"OR": [{"user_id": "emma"}, {"user_id": "bob"}]})) == ["bob", "emma"]
        assert sorted(await found(client, {"user_id": {"in": ["emma", "eve"]}})) == ["emma", "eve"]


async def test_an_id_beside_an_or_of_owners_asks_that_owner_once() -> None:
    async with service() as client:
        for user in ("emma", "bob"):
            await told(client, user)
        for name in ("user_id", "userId"):
            either = {"OR": [{name: "bob"}, {name: "emma"}]}
            body = {"query": "peanuts", "user_id": "emma", "filters": either}
            for path in ("/search", "/v3/memories/search/"):
                hits = (await client.post(path, json=body)).json()["results"]
                assert [hit["user_id"] for hit in hits] == ["emma"]
            others = {**body, "filters": {"OR": [{name: "bob"}, {name: "eve"}]}}
            assert (await client.post("/search", json=others)).status_code == 400


async def test_what_fits_two_parts_of_an_or_comes_back_once() -> None:
    async with service() as client:
        await told(client, metadata={"mood": "calm"})
        either = {"OR": [{"user_id": "emma"}, {"user_id": "emma", "metadata": {"mood": "calm"}}]}
        assert await found(client, either) == ["emma"]
        listed = (await client.post("/v3/memories/", json={"filters": either})).json()
        assert listed["count"] == 1


@pytest.mark.parametrize(
    "filters", [None, {}, {"user_id": "*"}, {"categories": {"in": ["x"]}}, {"OR": []}, {"NOT": []}]
)
async def test_filters_that_name_nobody_are_refused(filters: Any) -> None:
    async with service() as client:
        await told(client)
        for path in ("/v3/memories/search/", "/v3/memories/"):
            query = {"query": "peanuts"} if "search" in path else {}
            answer = await client.post(path, json={**query, "filters": filters})
            assert (answer.status_code, answer.json()["code"]) == (400, "missing_owner")


async def test_a_listing_counts_and_leads_from_page_to_page() -> None:
    async with service() as client:
        for number in range(5):
            said = [{"role": "user", "content": f"fact number {number}"}]
            await client.post("/v3/memories/add/", json={"messages": said, "user_id": "emma", "infer": False})
        path, seen = "/v3/memories/?page=1&page_size=2", []
        while path:
            page = (await client.post(path, json={"filters": {"user_id": "emma"}})).json()
            assert page["count"] == 5
            seen += [item["memory"] for item in page["results"]]
            path = page["next"]
        assert seen == [f"fact number {number}" for number in (4, 3, 2, 1, 0)]
        wrong = await client.post("/v3/memories/?page=0", json={"filters": {"user_id": "emma"}})
        assert wrong.status_code == 400


@pytest.mark.parametrize("text", ["{'user_id': 'alice'}", '{"user_id": "alice"}', ' {"user_id":"alice"}'])
def test_filters_in_a_query_are_read_as_python_writes_them_and_as_json(text: str) -> None:
    assert said_filters(text) == {"user_id": "alice"}


@pytest.mark.parametrize(
    "text", ["", "alice", "[1]", "{", "{1: 2}", "__import__('os')", "{'a': " * 99, "{'a':open('x')}"]
)
def test_what_is_no_filter_is_never_taken_for_no_filter(text: str) -> None:
    with pytest.raises(InvalidInputError):
        said_filters(text)


async def test_an_erasure_by_pythons_own_words_erases_that_user_and_nobody_else() -> None:
    async with service() as client:
        await told(client)
        await told(client, "bob")
        for wrong in ("", "?filters=everything", "?filters={}", "?user_id=*"):
            refused = await client.delete(f"/v1/memories/{wrong}")
            assert refused.status_code == 400, wrong
        gone = await client.delete("/v1/memories/", params={"filters": "{'user_id': 'emma'}"})
        assert gone.json()["deleted"]["memories"] == 1
        assert await found(client, {"user_id": "bob"}) == ["bob"]
        assert await found(client, {"user_id": "emma"}) == []


async def test_one_memory_is_read_changed_and_deleted() -> None:
    async with service() as client:
        memory_id = await told(client)
        assert (await client.get(f"/v1/memories/{memory_id}/")).json()["memory"] == "User is allergic to peanuts"
        changed = await client.put(
            f"/v1/memories/{memory_id}/", json={"text": "no nuts", "expiration_date": "2199-01-31"}
        )
        assert (changed.json()["memory"], changed.json()["expiration_date"]) == ("no nuts", "2199-01-31")
        changed = await client.put(f"/v1/memories/{memory_id}/", json={"metadata": {"a": 1}, "expiration_date": None})
        assert (changed.json()["metadata"], changed.json()["expiration_date"]) == ({"a": 1}, None)
        history = (await client.get(f"/v1/memories/{memory_id}/history/")).json()
        assert [entry["event"] for entry in history] == ["ADD", "UPDATE", "UPDATE"]
        assert history[0]["input"] == [{"role": "user", "content": "User is allergic to peanuts"}]
        assert (await client.delete(f"/v1/memories/{memory_id}/")).status_code == 200
        assert (await client.get(f"/v1/memories/{memory_id}/")).status_code == 404


async def test_what_has_ended_is_in_no_answer() -> None:
    async with service() as client:
        await told(client, expiration_date="2020-01-01")
        assert await found(client, {"user_id": "emma"}) == []
        refused = await client.post(
            "/v3/memories/add/", json={"messages": PEANUTS, "user_id": "emma", "expiration_date": "soon"}
        )
        assert refused.status_code == 400


async def test_several_memories_are_changed_and_deleted_at_once_and_what_fails_is_named() -> None:
    async with service() as client:
        one, other = await told(client), await told(client, "bob")
        batch = [{"memory_id": one, "text": "no nuts"}, {"memory_id": "unknown", "text": "x"}]
        answer = (await client.put("/v1/batch/", json={"memories": batch})).json()
        assert (answer["updated"], [failure["memory_id"] for failure in answer["failed"]]) == (1, ["unknown"])
        gone = await client.request(
            "DELETE", "/v1/batch/", json={"memories": [{"memory_id": one}, {"memory_id": other}]}
        )
        assert gone.json()["deleted"] == 2


async def test_entities_are_those_who_own_memories_and_go_with_them() -> None:
    async with service() as client:
        await told(client)
        await client.post("/v3/memories/add/", json={"messages": PEANUTS, "agent_id": "chef", "infer": False})
        known = (await client.get("/v1/entities/")).json()
        assert {(one["type"], one["name"]) for one in known["results"]} == {("user", "emma"), ("agent", "chef")}
        assert (known["count"], known["total_users"]) == (2, 1)
        assert (await client.delete("/v2/entities/user/emma/")).status_code == 200
        assert [one["name"] for one in (await client.get("/v1/entities/")).json()["results"]] == ["chef"]
        gone = (await client.delete("/v2/entities/app/x/")).json()
        assert (gone["message"], gone["deleted"]) == (NOTHING, {"memories": 0, "episodes": 0})


async def test_events_feedback_and_exports_tell_what_was_done() -> None:
    async with service() as client:
        answer = (await client.post("/v3/memories/add/", json={"messages": PEANUTS, "user_id": "emma"})).json()
        memory_id = answer["results"][0]["id"]
        event = (await client.get(f"/v1/event/{answer['event_id']}/")).json()
        assert (event["status"], event["results"]) == ("SUCCEEDED", [{"id": memory_id, "event": "ADD"}])
        assert (await client.get("/v1/event/unknown/")).status_code == 404
        said = {"memory_id": memory_id, "feedback": "POSITIVE", "feedback_reason": "right"}
        assert (await client.post("/v1/feedback/", json=said)).json()["feedback"] == "POSITIVE"
        asked = {"schema": {"type": "object"}, "filters": {"user_id": "emma"}}
        export = await client.post("/v1/exports/", json=asked)
        assert export.status_code == 201
        got = (await client.post("/v1/exports/get/", json={"memory_export_id": export.json()["id"]})).json()
        assert [item["id"] for item in got["results"]] == [memory_id]
        listed = (await client.get("/v1/events/")).json()
        assert [one["event_type"] for one in listed["results"]] == ["EXPORT", "ADD"]


async def test_what_has_no_meaning_here_says_so() -> None:
    async with service() as client:
        mine = (await client.get("/v1/ping/")).json()
        path = f"/api/v1/orgs/organizations/{mine['org_id']}/projects/{mine['project_id']}/"
        assert (await client.get(path)).json()["id"] == mine["project_id"]
        refused = await client.delete(path)
        assert (refused.status_code, refused.json()["code"]) == (409, "configuration")
        assert (await client.get("/api/v1/orgs/organizations/other/projects/other/")).status_code == 404
        refused = await client.post("/configure", json={"llm": {}})
        assert refused.status_code == 409


async def test_the_older_routes_answer_in_their_older_shapes() -> None:
    async with service() as client:
        added = (await client.post("/v1/memories/", json={"messages": PEANUTS, "user_id": "emma"})).json()
        assert [one["event"] for one in added] == ["ADD"]
        assert len((await client.get("/v1/memories/", params={"user_id": "emma"})).json()) == 1
        assert len((await client.post("/v2/memories/", json={"filters": {"user_id": "emma"}})).json()) == 1
        asked = {"query": "peanuts", "user_id": "emma"}
        for path in ("/v1/memories/search/", "/v2/memories/search/"):
            assert [hit["user_id"] for hit in (await client.post(path, json=asked)).json()] == ["emma"]
            versioned = await client.post(path, json={**asked, "output_format": "v1.1"})
            assert len(versioned.json()["results"]) == 1


async def test_the_open_source_servers_routes_answer_in_its_shapes() -> None:
    async with service() as client:
        added = (await client.post("/memories", json={"messages": PEANUTS, "user_id": "emma"})).json()
        [result] = added["results"]
        assert result.keys() == {"id", "memory", "event"}
        listed = (await client.get("/memories", params={"user_id": "emma"})).json()["results"]
        assert listed[0]["memory"] == "User is allergic to peanuts"
        asked = {"query": "peanuts", "filters": {"user_id": "emma"}}
        [hit] = (await client.post("/search", json=asked)).json()["results"]
        assert hit["score"] > 0
        assert (await client.get("/memories/unknown")).json() is None
        changed = await client.put(f"/memories/{hit['id']}", json={"text": "no nuts"})
        assert changed.json() == {"message": "Memory updated successfully!"}
        assert len((await client.get(f"/memories/{hit['id']}/history")).json()) == 2
        assert (await client.get("/entities")).json() == [{"id": "emma", "type": "user", "total_memories": 1}]
        assert (await client.delete(f"/memories/{hit['id']}")).status_code == 200
        assert (await client.delete("/memories")).status_code == 400
        assert (await client.delete("/memories", params={"user_id": "emma"})).status_code == 200
        assert (await client.post("/reset")).status_code == 200
        assert (await client.get("/configure")).status_code == 200


async def test_a_credential_of_one_user_reaches_nobody_else_by_any_of_these_routes(tmp_path: Any) -> None:
    async with service(tmp_path) as client:
        memory_id = await told(client)
        key = (await client.post("/v1/keys", json={"role": "write", "user_id": "bob"})).json()["key"]
        client.headers["Authorization"] = f"Token {key}"
        assert (await client.get(f"/v1/memories/{memory_id}/")).status_code == 404
        assert (await client.get(f"/memories/{memory_id}")).json() is None
        assert (await client.get("/v1/entities/")).json()["results"] == []
        assert (await client.get("/v1/events/")).json()["count"] == 0
        for filters in ({"user_id": "emma"}, {"OR": [{"user_id": "bob"}, {"user_id": "emma"}]}):
            asked = {"query": "peanuts", "filters": filters}
            assert (await client.post("/v3/memories/search/", json=asked)).status_code == 403
        assert (await client.delete("/v1/memories/", params={"user_id": "emma"})).status_code == 403
        assert (await client.delete("/v2/entities/user/emma/")).status_code == 403
        assert (await client.delete("/v2/entities/agent/chef/")).status_code == 403
        assert (await client.post("/reset")).status_code == 403
        batch = await client.request("DELETE", "/v1/batch/", json={"memories": [{"memory_id": memory_id}]})
        assert batch.json()["deleted"] == 0


async def test_webhooks_and_profiles_are_ours_in_the_platforms_shape() -> None:
    async with service() as client:
        path = "/api/v1/webhooks/projects/default/"
        hook = {"url": "https://hooks.example.org/in", "name": "n", "event_types": ["memory_add"]}
        made = (await client.post(path, json=hook)).json()
        assert (made["event_types"], made["project"]) == (["memory_add"], "default")
        [listed] = (await client.get(path)).json()
        assert (listed["webhook_id"], "secret" in listed) == (made["webhook_id"], False)
        one = f"/api/v1/webhooks/{made['webhook_id']}/"
        assert (await client.put(one, json={"event_types": ["memory_delete"]})).json()["event_types"] == [
            "memory_delete"
        ]
        assert (await client.put(one, json={"event_types": ["memory_categorize"]})).status_code == 400
        assert (await client.delete(one)).status_code == 200
        assert (await client.get(path)).json() == []
        await told(client)
        known = (await client.get("/v2/entities/user/emma/profile/")).json()
        assert (known["status"], known["entity_id"]) == ("succeeded", "emma")
        assert "peanuts" in str(known["profile"])


async def test_errors_of_mem0_paths_are_plain_json_with_a_detail() -> None:
    async with service() as client:
        for method, path in (
            ("GET", "/v1/memories/00000000-0000-0000-0000-000000000000/"),
            ("POST", "/v3/memories/"),
            ("DELETE", "/memories"),
            ("GET", "/v2/nowhere/"),
        ):
            answer = await client.request(method, path)
            assert answer.status_code in {400, 404}, answer.text
            assert answer.headers["content-type"] == "application/json"
            assert isinstance(answer.json()["detail"], str)
        ours = await client.get("/v1/memories/00000000-0000-0000-0000-000000000000?user_id=emma")
        assert ours.headers["content-type"] == "application/problem+json"


async def test_an_id_that_is_no_uuid_is_a_bad_request_on_the_platform_routes() -> None:
    async with service() as client:
        answer = await client.get("/v1/memories/nonexistent-memory-id-12345/")
        assert answer.status_code == 400, answer.text


async def a_kitchen(client: httpx.AsyncClient) -> None:
    """Two users with an agent, a run and an app that own nothing, and one memory beside them."""
    for user in ("emma", "bob"):
        for number in range(3):
            said = [{"role": "user", "content": f"{user} says {number}"}]
            ids = {"user_id": user, "agent_id": "chef", "run_id": "monday", "app_id": "kitchen"}
            await client.post("/v3/memories/add/", json={"messages": said, "infer": False, **ids})
    await client.post("/v3/memories/add/", json={"messages": PEANUTS, "user_id": "eve", "infer": False})


@pytest.mark.parametrize("ids", [{"agent_id": "chef"}, {"run_id": "monday"}, {"app_id": "kitchen"}])
async def test_an_agent_run_or_app_that_owns_nothing_filters_across_owners(ids: dict[str, str]) -> None:
    async with service() as client:
        await a_kitchen(client)
        listed = (await client.post("/v3/memories/?page=1&page_size=4", json={"filters": ids})).json()
        assert (listed["count"], len(listed["results"])) == (6, 4)
        answer = await client.post("/v3/memories/search/", json={"query": "says", "filters": ids, "top_k": 50})
        assert len(answer.json()["results"]) == 6
        one = {**ids, "user_id": "bob"}
        assert (await client.post("/v3/memories/", json={"filters": one})).json()["count"] == 3
        gone = (await client.delete("/v1/memories/", params=ids)).json()
        assert gone["deleted"]["memories"] == 6
        again = (await client.delete("/v1/memories/", params=ids)).json()
        assert (again["deleted"]["memories"], again["message"]) == (0, NOTHING)
        assert (await client.post("/v3/memories/", json={"filters": {"user_id": "eve"}})).json()["count"] == 1


async def test_an_agent_with_memories_of_its_own_is_asked_for_those_alone() -> None:
    async with service() as client:
        await a_kitchen(client)
        own = [{"role": "user", "content": "the oven is hot"}]
        await client.post("/v3/memories/add/", json={"messages": own, "agent_id": "chef", "infer": False})
        listed = (await client.post("/v3/memories/", json={"filters": {"agent_id": "chef"}})).json()
        assert [item["memory"] for item in listed["results"]] == ["the oven is hot"]


async def test_entities_are_all_that_memories_name_with_their_counts() -> None:
    async with service() as client:
        await a_kitchen(client)
        known = (await client.get("/v1/entities/")).json()["results"]
        assert [(one["type"], one["name"], one["total_memories"]) for one in known] == [
            ("user", "emma", 3),
            ("user", "bob", 3),
            ("user", "eve", 1),
            ("agent", "chef", 6),
            ("run", "monday", 6),
            ("app", "kitchen", 6),
        ]
        for one in reversed(known):
            erased = await client.delete(f"/v2/entities/{one['type']}/{one['name']}/")
            assert erased.status_code == 200, erased.text
        assert (await client.get("/v1/entities/")).json()["count"] == 0


async def test_a_key_for_one_user_never_reaches_across_owners(tmp_path: Any) -> None:
    async with service(tmp_path) as client:
        await a_kitchen(client)
        key = (await client.post("/v1/keys", json={"role": "write", "user_id": "bob"})).json()["key"]
        client.headers["Authorization"] = f"Token {key}"
        for ids in ({"agent_id": "chef"}, {"run_id": "monday"}, {"app_id": "kitchen"}):
            assert (await client.post("/v3/memories/", json={"filters": ids})).json()["count"] == 3
            asked = {"query": "says", "filters": ids, "top_k": 50}
            hits = (await client.post("/v3/memories/search/", json=asked)).json()["results"]
            assert {hit["user_id"] for hit in hits} == {"bob"}
            [kind] = ids
            named = f"/v2/entities/{kind.removesuffix('_id')}/{ids[kind]}/"
            assert (await client.delete(named)).status_code == 403
        known = (await client.get("/v1/entities/")).json()["results"]
        assert [(one["type"], one["name"]) for one in known] == [("user", "bob")]
        assert (await client.delete("/v1/memories/", params={"run_id": "monday"})).json()["deleted"]["memories"] == 3
        client.headers["Authorization"] = ""


async def test_what_narrows_a_listing_or_a_search_is_honoured() -> None:
    async with service() as client:
        soup = {"messages": [{"role": "user", "content": "soup on Mondays"}], "user_id": "emma", "infer": False}
        await client.post("/v3/memories/add/", json={**soup, "timestamp": 1_700_000_000, "metadata": {"mood": "calm"}})
        await client.post("/v1/memories", json={"user_id": "emma", "text": "tea on Sundays", "tags": ["drink"]})
        over = {"messages": [{"role": "user", "content": "cake is over"}], "user_id": "emma", "infer": False}
        await client.post("/v3/memories/add/", json={**over, "expiration_date": "2020-01-01"})
        for more, wanted in (
            ({}, {"soup", "tea"}),
            ({"categories": ["drink"]}, {"tea"}),
            ({"metadata": {"mood": "calm"}}, {"soup"}),
            ({"end_date": "2023-12-31"}, {"soup"}),
            ({"start_date": "2024-01-01"}, {"tea"}),
            ({"keywords": "SUNDAY"}, {"tea"}),
            ({"show_expired": True}, {"soup", "tea", "cake"}),
        ):
            body = {"filters": {"user_id": "emma"}, **more}
            found = (await client.post("/v3/memories/", json=body)).json()
            assert {item["memory"].split()[0] for item in found["results"]} == wanted, more
            assert found["count"] == len(wanted), more
            asked = {**body, "query": "soup tea cake", "top_k": 50}
            hits = (await client.post("/v3/memories/search/", json=asked)).json()["results"]
            assert {item["memory"].split()[0] for item in hits} == wanted, more
            if not {"keywords", "metadata"} & more.keys():
                query = {name: ",".join(value) if isinstance(value, list) else value for name, value in more.items()}
                older = await client.get("/v1/memories/", params={"user_id": "emma", **query})
                assert {item["memory"].split()[0] for item in older.json()} == wanted, more


async def test_fields_choose_what_each_result_holds() -> None:
    async with service() as client:
        await told(client)
        body = {"filters": {"user_id": "emma"}, "fields": ["memory"]}
        [item] = (await client.post("/v3/memories/", json=body)).json()["results"]
        assert item.keys() == {"id", "memory"}
        refused = await client.post("/v3/memories/", json={**body, "fields": ["nonsense"]})
        assert refused.status_code == 400
        assert "nonsense" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v3/memories/search/", {"query": "x", "filters": {"user_id": "emma"}, "categroies": ["a"]}),
        ("POST", "/v3/memories/", {"filters": {"user_id": "emma"}, "categroies": ["a"]}),
        ("POST", "/v3/memories/?categroies=a", {"filters": {"user_id": "emma"}}),
        ("POST", "/v2/memories/search/", {"query": "x", "user_id": "emma", "categroies": "a"}),
        ("GET", "/v1/memories/?user_id=emma&categroies=a", None),
        ("DELETE", "/v1/memories/?user_id=emma&categroies=a", None),
        ("DELETE", "/memories?user_id=emma&categroies=a", None),
        ("POST", "/search", {"query": "x", "user_id": "emma", "categroies": "a"}),
        ("GET", "/v1/memories?user_id=emma&categroies=a", None),
        ("DELETE", "/v1/memories?user_id=emma&categroies=a", None),
        ("POST", "/v1/memories/search", {"query": "x", "user_id": "emma", "categroies": "a"}),
        ("POST", "/v1/memories/forget", {"about": "x", "user_id": "emma", "categroies": "a"}),
    ],
)
async def test_an_unknown_argument_that_could_widen_an_answer_is_refused_by_its_name(
    method: str, path: str, body: Any
) -> None:
    async with service() as client:
        await told(client)
        answer = await client.request(method, path, json=body)
        assert answer.status_code == 400, answer.text
        assert "categroies" in answer.json()["detail"]
        assert (await client.post("/v3/memories/", json={"filters": {"user_id": "emma"}})).json()["count"] == 1


async def test_an_add_names_the_arguments_that_had_no_effect() -> None:
    async with service() as client:
        body = {"messages": PEANUTS, "user_id": "emma", "immutable": True, "version": "v2", "zzz": 1}
        added = (await client.post("/v3/memories/add/", json=body)).json()
        assert added["ignored"] == ["immutable", "version", "zzz"]


async def test_no_answer_speaks_of_success_where_nothing_was_done() -> None:
    async with service() as client:
        for method, path, body in (
            ("DELETE", "/v1/memories/?user_id=nobody", None),
            ("DELETE", "/v2/entities/user/nobody/", None),
            ("DELETE", "/memories?user_id=nobody", None),
            ("DELETE", "/v1/batch/", {"memories": [{"memory_id": "x"}]}),
            ("PUT", "/v1/batch/", {"memories": [{"memory_id": "x", "text": "y"}]}),
        ):
            answer = await client.request(method, path, json=body)
            assert answer.status_code == 200, answer.text
            assert "success" not in answer.text.lower(), path


async def test_project_settings_are_kept_until_they_are_removed() -> None:
    async with service() as client:
        path = "/api/v1/orgs/organizations/default/projects/default/"
        changed = await client.patch(path, json={"custom_instructions": "names only", "decay": False})
        assert changed.json()["ignored"] == ["decay", "custom_instructions (no language model is set)"]
        shown = (await client.get(path, params={"fields": ["custom_instructions", "decay"]})).json()
        assert shown == {"custom_instructions": "names only", "decay": False}
        await client.patch(path, json={"custom_instructions": None})
        assert (await client.get(path)).json()["custom_instructions"] is None
        for wrong in ({}, {"custom_instruction": "x"}):
            assert (await client.patch(path, json=wrong)).status_code == 400
        assert (await client.get(path, params={"fields": "nonsense"})).status_code == 400


async def test_profile_jobs_are_done_and_settings_are_kept() -> None:
    async with service() as client:
        await told(client)
        job = (await client.post("/v2/profiles/jobs/", json={"operation": "trigger", "entity_id": "emma"})).json()
        assert (job["status"], job["operation"]) == ("succeeded", "trigger")
        assert (await client.get(job["status_url"])).json()["job"]["succeeded"] == 1
        sample = (await client.post("/v2/profiles/jobs/", json={"operation": "sample", "limit": 5})).json()
        assert sample["entity_ids"] == ["emma"]
        assert (await client.get("/v2/profiles/jobs/unknown/")).status_code == 404
        settings = {"entities": {"user": {"custom_instructions": "short"}}}
        changed = (await client.post("/v2/profiles/settings/", json=settings)).json()
        assert (changed["entities"], changed["ignored"]) == (settings["entities"], ["custom_instructions"])
        assert (await client.get("/v2/profiles/settings/")).json()["enabled"] is True
        assert (await client.post("/v2/profiles/settings/", json={"enabled": False})).status_code == 409
