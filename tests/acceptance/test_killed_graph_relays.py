"""A process that is killed while a graph server follows the store costs no memory and no relation, and doubles none."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio import sleep, to_thread

from ebbing import AsyncMemory
from ebbing.people.graph_follower import JOB, GraphFollower
from ebbing.wiring.build import build, load_settings
from tests.acceptance.child_graph_writer import sentence
from tests.acceptance.killed_relays import doctor
from tests.graph_server import GraphServer, graph_server, needs_bolt, relations_on, skip_waiting_connection
from tests.servers import emptied, needs

KILLS = int(os.environ.get("RELAY_KILLS", "3"))
"""`make test-relays` asks for 50."""
LONGEST_SECONDS = 0.4
TRIES = 100
PASSWORD = "open-sesame-7319"
CHILD = Path(__file__).with_name("child_graph_writer.py")
pytestmark = [pytest.mark.anyio, pytest.mark.stores, needs_bolt, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def server() -> Iterator[GraphServer]:
    with graph_server(PASSWORD) as server:
        yield server


def killed_writer(settings: dict[str, Any], first: int, *, drawn: random.Random) -> list[int]:
    """Have a process write, kill it at some moment, and return the numbers that it acknowledged."""
    command = [sys.executable, str(CHILD), json.dumps(settings), str(first)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        numbers = [int(child.stdout.readline()) for _ in range(drawn.randint(1, 3))]
        time.sleep(drawn.uniform(0, LONGEST_SECONDS))
        child.kill()
        numbers += [int(line) for line in child.stdout if line.endswith("\n")]
    return numbers


async def shown(server: GraphServer, database: str, follower: GraphFollower) -> list[tuple[str, str, str]]:
    """Bring the server up to date and return what is there; where it crashed meanwhile, start it and do that again."""
    for _ in range(TRIES):
        restarts = server.restarts
        server.start_again_if_ended()
        if await follower.catch_up():
            there = relations_on(server, database, password=PASSWORD)
            if server.restarts == restarts:
                return sorted(there)
        await sleep(0.2)
    raise AssertionError(f"the graph server does not catch up, and was started again {server.restarts} times")


@pytest.mark.parametrize("store", ["sqlite", pytest.param("postgres", marks=needs("postgres"))])
async def test_a_graph_whose_relay_is_killed_catches_up_and_lacks_nothing(
    store: str, server: GraphServer, tmp_path: Path
) -> None:
    drawn = random.Random(7)
    url, database = server.url, "kills"
    graph = {"graph_url": url, "graph_user": "falkordb", "graph_password": PASSWORD, "graph_database": database}
    settings = {"path": str(tmp_path), "embedder": "none", "reader": "off", **graph}
    if store != "sqlite":
        settings["store"] = emptied(store)
    acknowledged: list[int] = []
    behind = 0
    for _ in range(KILLS):
        skip_waiting_connection(url)
        acknowledged += killed_writer(settings, max(acknowledged, default=-1) + 2, drawn=drawn)
        before = relations_on(server, database, password=PASSWORD)
        skip_waiting_connection(url)
        async with AsyncMemory(components=build(load_settings(settings))) as memory:
            components = memory.components
            for job in await components.store.jobs.list(kind=JOB):
                await components.store.jobs.release(job)  # who had it was killed: nobody waits five minutes here
            assert components.graph is not None
            answer = await memory.graph(user_id="ada", include_ended=True)
            expected = sorted((item["subject"], item["relation"], item["object"]) for item in answer["relations"])
            behind += sorted(before) != expected
            assert await shown(server, database, components.graph) == expected
            assert await components.store.verify() == []
            everything = await memory.get_all(user_id="ada", limit=1_000)
    memories = {item["memory"] for item in everything["results"]}
    assert {sentence(number).replace("My", "User's").rstrip(".") for number in acknowledged} <= memories
    assert await to_thread.run_sync(doctor, settings) == 0
    print(
        f"over {store}: {KILLS} kills, {behind} with the server behind, {len(acknowledged)} people,"
        f" the server crashed {server.restarts} times"
    )
