"""Three replicas on one PostgreSQL and Redis: under load, killed, the database restarted and migrated beneath them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ebbing import Memory
from ebbing.adapters.sql.connection.schema import LAYOUTS, VERSION_TABLE
from tests import redis_server
from tests.acceptance import child_next_version
from tests.acceptance.fleet import Crowd, agree, expected, fleet
from tests.live_service import served
from tests.own_servers import DATABASE, Ending, OwnServer, needs_program, own_server

pytestmark = [pytest.mark.stores, pytest.mark.anyio, needs_program("postgres")]

IS_FULL = os.environ.get("EBBING_TEST_REPLICAS") == "full"
"""As `make test-replicas` asks for; else a short form."""
SECONDS, CLIENTS, ROUNDS = (60, 64, 10_000) if IS_FULL else (3, 16, 200)
OWNERS = 20
NEXT_VERSION = child_next_version.__file__
NEXT_PROGRAM = f"import runpy; runpy.run_path({NEXT_VERSION!r}, run_name='__main__')"
SETTINGS = {
    "EBBING_EMBEDDER": os.environ.get("EBBING_TEST_REPLICAS_EMBEDDER", "none"),
    "EBBING_OWNER_TEXT_LIMIT_BYTES": "0",  # nothing is shortened by the upkeep: every word can be compared
    "EBBING_WORKER_PROCESS": str(IS_FULL),
}


def address_of(server: OwnServer) -> str:
    """What a service is told of its store."""
    return server.address.render_as_string(hide_password=False)


@pytest.fixture(scope="module")
def database() -> Iterator[OwnServer]:
    """A server with something stored for the upkeep to look after."""
    with own_server("postgres", "-c", "max_connections=200") as server:
        with Memory(address_of(server), embedder="none") as memory:
            for number in range(OWNERS):
                memory.add(f"tea number {number}", user_id=f"owner-{number}", infer=False)
        yield server


@pytest.fixture(scope="module")
def settings(database: OwnServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What all replicas are told: the database, and a Redis where that is installed."""
    told = {**SETTINGS, "EBBING_STORE": address_of(database)}
    if redis_server.PROGRAM is None:
        yield told
        return
    with redis_server.own_server(tmp_path_factory.mktemp("redis")) as (address, _):
        yield {**told, "EBBING_REDIS_URL": address}


@pytest.fixture(scope="module")
def replicas(settings: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    with fleet(3, folder=tmp_path_factory.mktemp("replicas"), settings=settings) as services:
        addresses = [service.address for service in services]
        asyncio.run(agree(addresses, rounds=24, name="warm"))
        yield addresses


async def test_the_upkeep_of_an_owner_is_done_once_by_three_replicas(replicas: list[str]) -> None:
    async with asyncio.timeout(120), httpx.AsyncClient(timeout=60) as http:
        while True:
            jobs = expected(await http.get(f"{replicas[0]}/v1/jobs?limit=1000"))["jobs"]
            if len(jobs) > OWNERS and all(job["state"] == "done" for job in jobs):
                break
            await asyncio.sleep(0.2)
        others = [expected(await http.get(f"{address}/v1/jobs?limit=1000"))["jobs"] for address in replicas[1:]]
        worker = (await http.get(f"{replicas[0]}/readyz")).json()["worker"]
    assert worker == ("subprocess" if IS_FULL else "in_process")
    assert all(other == jobs for other in others)
    assert {job["attempts"] for job in jobs} == {1}
    assert len({(job["kind"], job["key"]) for job in jobs}) == len(jobs)
    rounds = [job["user_id"] for job in jobs if job["kind"] == "daily" and job.get("user_id")]
    assert len(rounds) == len(set(rounds))
    assert {f"owner-{number}" for number in range(OWNERS)} <= set(rounds)


async def test_no_client_of_three_replicas_sees_an_error_beside_rounds_of_upkeep(replicas: list[str]) -> None:
    crowd = Crowd(replicas, CLIENTS, "peace")
    await crowd.visit(SECONDS, upkeep=True)
    assert not crowd.experience.repeated
    for address in replicas:
        print(crowd.experience, await crowd.check(address))


async def test_a_write_through_one_replica_is_found_through_another_at_once(replicas: list[str]) -> None:
    counts = await agree(replicas, rounds=ROUNDS, name="agree")
    print(dict(counts))
    assert counts.total() == ROUNDS
    assert counts.keys() == {"add", "update", "delete"}


async def test_a_running_conversation_is_known_to_every_replica(replicas: list[str]) -> None:
    path = "/v1/sessions/chat/messages"
    async with httpx.AsyncClient(timeout=60) as http:
        for number in range(9):
            text = f"remark {number}"
            body = {"user_id": "talker", "messages": [{"role": "user", "content": text}]}
            expected(await http.post(replicas[number % 3] + path, json=body))
            answer = await http.get(replicas[(number + 1) % 3] + path, params={"user_id": "talker"})
            assert expected(answer)["messages"][-1]["content"] == text


@pytest.mark.parametrize("ending", ["fast", "immediate"])
async def test_replicas_outlive_a_restart_of_the_database(
    database: OwnServer, replicas: list[str], ending: Ending
) -> None:
    crowd = Crowd(replicas, CLIENTS, ending)
    visit = asyncio.create_task(crowd.visit(SECONDS))
    await asyncio.sleep(SECONDS / 2)
    await asyncio.to_thread(database.restart, ending)
    await visit
    print(crowd.experience)
    for address in replicas:
        await crowd.check(address)
    assert crowd.experience.repeated["store"]
    assert not crowd.experience.most_lost


async def test_a_replica_that_is_killed_costs_its_clients_a_repeated_request(
    settings: dict[str, str], replicas: list[str], tmp_path: Path
) -> None:
    with fleet(1, folder=tmp_path, settings=settings) as [victim]:
        await agree([victim.address, victim.address], rounds=8, name="warm-victim")
        crowd = Crowd([victim.address, *replicas[:2]], CLIENTS, "killed")
        visit = asyncio.create_task(crowd.visit(SECONDS))
        await asyncio.sleep(SECONDS / 2)
        victim.process.kill()
        await visit
    print(crowd.experience)
    for address in replicas:
        await crowd.check(address)
    assert crowd.experience.repeated["lost"]
    assert crowd.experience.most_lost == 1


async def test_one_step_of_a_rolling_upgrade_disturbs_nobody(
    database: OwnServer, settings: dict[str, str], replicas: list[str], tmp_path: Path
) -> None:
    with (
        pytest.raises(AssertionError, match="needs 9999: run `ebbing migrate` once"),
        served(tmp_path, settings=settings, program=NEXT_PROGRAM),
    ):
        pass
    crowd = Crowd(replicas, CLIENTS, "upgrade")
    visit = asyncio.create_task(crowd.visit(SECONDS))
    migrate = [sys.executable, NEXT_VERSION, "migrate"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **settings}
    try:
        done = await asyncio.to_thread(subprocess.run, migrate, env=environment, capture_output=True, text=True)
        assert f"has layout {child_next_version.NEXT} now" in done.stdout, done.stderr
        with served(tmp_path, settings=settings, log=tmp_path / "next.log", program=NEXT_PROGRAM) as next_version:
            await visit
            assert not crowd.experience.repeated
            for address in (next_version.address, *replicas):
                await crowd.check(address)
            await agree([next_version.address, *replicas], rounds=24, name="mixed")
    finally:
        database.run(f"UPDATE {VERSION_TABLE} SET version_num = '{LAYOUTS[-1]}'", database=DATABASE)
