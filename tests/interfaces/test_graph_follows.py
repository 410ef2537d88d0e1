"""A memory with a graph server: what `graph` answers is there, and goes with `delete_all`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ebbing import Memory
from tests.graph_server import GraphServer, graph_server, needs_bolt, relations_on

pytestmark = [pytest.mark.stores, needs_bolt, pytest.mark.filterwarnings("ignore")]
PASSWORD = "open-sesame-7319"


@pytest.fixture(scope="module")
def server() -> Iterator[GraphServer]:
    with graph_server(PASSWORD) as server:
        yield server


def soon(server: GraphServer, database: str, expected: set[tuple[str, str, str]]) -> None:
    """Wait until these are the relations that are there."""
    end = time.monotonic() + 40
    while (there := set(relations_on(server, database, password=PASSWORD))) != expected:
        assert time.monotonic() < end, f"{there} is not {expected}"
        time.sleep(0.3)


def told(memory: Memory) -> set[tuple[str, str, str]]:
    """The relations that `graph` answers."""
    graph = memory.graph(user_id="ada", include_ended=True)
    return {(item["subject"], item["relation"], item["object"]) for item in graph["relations"]}


def memory_with(server: GraphServer, path: Path, database: str, password: str = PASSWORD) -> Memory:
    config = {"path": str(path), "embedder": "none", "graph_database": database}
    graph = {"provider": "neo4j", "config": {"url": server.url, "username": "falkordb", "password": password}}
    return Memory.from_config({**config, "graph_store": graph})


def finding_of(memory: Memory) -> dict[str, str]:
    """What the doctor says of the graph server."""
    [finding] = [dict(item) for item in memory.maintenance.diagnose()["findings"] if item["part"] == "graph"]
    return finding


def test_what_memories_tell_is_there_and_goes_with_them(server: GraphServer, tmp_path: Path) -> None:
    with memory_with(server, tmp_path, "lives") as memory:
        memory.add("I live in Berlin. My sister is called Ann O'Hara.", user_id="ada")
        assert told(memory)
        soon(server, "lives", told(memory))
        memory.add("I moved to Paris.", user_id="ada")
        soon(server, "lives", told(memory))
        assert finding_of(memory)["state"] == "on"
        receipt = memory.delete_all(user_id="ada")
        assert relations_on(server, "lives", password=PASSWORD) == [], receipt


def test_a_server_that_crashed_and_came_back_empty_is_filled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("LOOK_SECONDS", "REST_SECONDS"):
        monkeypatch.setattr(f"ebbing.people.graph_follower.{name}", 1.0)
    with graph_server(PASSWORD) as own, memory_with(own, tmp_path, "crashed") as memory:
        memory.add("I live in Berlin.", user_id="ada")
        soon(own, "crashed", told(memory))
        own.stop()
        own.start()
        soon(own, "crashed", told(memory))
    assert "all graphs are brought again" in caplog.text


def test_a_server_that_is_away_for_a_while_loses_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with graph_server(PASSWORD) as own:
        own.stop()
        with memory_with(own, tmp_path, "away") as memory:
            memory.add("I live in Berlin.", user_id="ada")
            assert told(memory)
            end = time.monotonic() + 60
            while "the graph server is behind" not in caplog.text:
                assert time.monotonic() < end
                time.sleep(0.2)
            assert finding_of(memory)["state"] == "attention"
            own.start()
            soon(own, "away", told(memory))
    assert PASSWORD not in caplog.text
