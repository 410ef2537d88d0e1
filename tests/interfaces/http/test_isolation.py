"""Nobody ever sees a row, a count, an id, a word or the existence of what is another's, by any route."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbing.interfaces.http.request_context import Caller, OwnerParams
from tests.interfaces.http.service import service
from tests.interfaces.http.strangers import Crowd, Person, Request, normal

pytestmark = pytest.mark.anyio

_PROJECT = "/api/v1/orgs/organizations/{org_id}/projects/{project_id}/"
NEVER_DONE = {
    # what is answered truthfully as not possible here, needs a credential of its own, or a job that was given up
    ("POST", "/configure"),
    ("POST", "/api/v1/orgs/organizations/{org_id}/projects/"),
    ("POST", "/v1/reviews/{memory_id}"),  # nothing of theirs waits to be decided
    ("GET", "/v2/profiles/jobs/{job_id}/"),
    ("POST", f"{_PROJECT}members/"),
    ("PUT", f"{_PROJECT}members/"),
    ("GET", "/metrics"),
    ("POST", "/v1/jobs/{job_id}/retry"),
    # the chat proxy has no address of a model here
    ("GET", "/v1/models"),
    ("POST", "/v1/chat/completions"),
}


async def seen(crowd: Crowd, person: Person) -> dict[str, Any]:
    """All that somebody can look at."""
    users = [person.user] if person.user else ["emma", "bob", "chen", "dora", "lilei"]
    found: dict[str, Any] = {}
    for user in users:
        for path in ("/v1/memories", "/v1/export"):
            query = {"user_id": user, "include": "all", "limit": 1_000} if path == "/v1/memories" else {"user_id": user}
            found[f"{path} {user}"] = (await crowd.call(person, Request("GET", path, path, query, None))).text
    whole = ("/v1/stats", "/v1/keys", "/v1/webhooks", "/v1/jobs", "/v1/audit", "/v1/entities/")
    for path in whole if person.role == "admin" else ("/v1/entities/",):
        found[path] = (await crowd.call(person, Request("GET", path, path, {}, None))).text
    return found


async def one_round(crowd: Crowd, *, calls: int) -> None:
    """Somebody looks; strangers do whatever they can, to them above all; they look again, and all is as it was."""
    victim = crowd.someone()
    strangers = [one for one in crowd.people if not _may_touch(one, victim)]
    before = await seen(crowd, victim)
    for _ in range(calls):
        stranger = crowd.chance.choice(strangers)
        request = crowd.request(stranger, victim=victim)
        answer = await crowd.call(stranger, request)
        unknown = crowd.unknown(request)
        if unknown is not None and not request.headers and _is_foreign(crowd, stranger, request):
            told = normal(await crowd.call(stranger, unknown))
            assert normal(answer) == told, f"{stranger} can tell a stranger's id from none: {request}"
        crowd.remember_names(stranger, answer)
    assert await seen(crowd, victim) == before, f"strangers changed what {victim} sees"
    for _ in range(calls // 2):
        person = crowd.someone()
        crowd.remember_names(person, await crowd.call(person, crowd.request(person)))
    await crowd.learn()


def _may_touch(one: Person, other: Person) -> bool:
    return one.tenant == other.tenant and (one.user is None or other.user is None or one.user == other.user)


def _is_foreign(crowd: Crowd, person: Person, request: Request) -> bool:
    named = [owners for one, owners in crowd.owners_of.items() if one in request.path]
    return bool(named) and not any(person.sees(owner) for owners in named for owner in owners)


async def a_crowd_finds_nothing(path: Path, *, calls: int, seed: int) -> Crowd:
    async with service(path, webhook_private_targets=False, service_api_key="root") as client:
        memory = client._transport.app.state.memory  # type: ignore[attr-defined]
        crowd = Crowd(client, memory, seed=seed)
        await crowd.gather()
        while crowd.calls < calls:
            await one_round(crowd, calls=40)
        return crowd


@pytest.mark.extended
async def test_two_thousand_random_calls_show_nobody_anything_of_strangers(tmp_path: Path) -> None:
    crowd = await a_crowd_finds_nothing(tmp_path, calls=2_000, seed=1)
    assert crowd.owners_of


async def test_a_service_that_trusts_what_it_is_told_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gullible(
        self: Caller, user_id: str | None = None, agent_id: str | None = None, *, run_id: str | None = None
    ) -> OwnerParams:
        return {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}

    monkeypatch.setattr(Caller, "owner_ids", gullible)
    with pytest.raises(AssertionError, match=r"was shown|can tell|changed what"):
        await a_crowd_finds_nothing(tmp_path, calls=2_000, seed=1)


@pytest.mark.slow
async def test_twenty_thousand_random_calls_show_nobody_anything_of_strangers(tmp_path: Path) -> None:
    crowd = await a_crowd_finds_nothing(tmp_path, calls=20_000, seed=2)
    assert set(crowd.routes) == set(crowd.statuses)
    often = {route for route, statuses in crowd.statuses.items() if statuses.total() >= 100}
    done = {route for route, statuses in crowd.statuses.items() if any(status < 300 for status in statuses)}
    assert sorted(often - done - NEVER_DONE) == [], "some routes were never really used"
