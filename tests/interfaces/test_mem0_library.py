"""Programs written for mem0's library: its arguments, its defaults, its answers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ebbing import Memory
from ebbing.domain.errors import InvalidInputError
from ebbing.mem0 import AsyncMemory as Mem0AsyncMemory
from ebbing.mem0 import Memory as Mem0Memory

QUIET: dict[str, Any] = {"store": "ephemeral", "embedder": "none"}
SAID = [{"role": "user", "content": "I am allergic to peanuts."}, {"role": "assistant", "content": "Noted."}]


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.from_config(config_dict=QUIET) as opened:
        yield opened


def test_a_list_takes_top_k_and_an_update_takes_data(memory: Memory) -> None:
    for number in range(4):
        memory.add(f"tea {number}", user_id="ada", infer=False)
    assert len(memory.get_all(filters={"user_id": "ada"}, top_k=2)["results"]) == 2
    [newest] = memory.get_all(user_id="ada", top_k=1)["results"]
    assert memory.update(newest["id"], data="green tea")["memory"] == "green tea"
    with pytest.raises(InvalidInputError, match="data"):
        memory.update(newest["id"], "a", data="b")


def test_a_search_asked_in_mem0s_shape_returns_facts_alone(memory: Memory) -> None:
    memory.add(SAID, user_id="ada")
    kinds = {hit["kind"] for hit in memory.search("peanuts", filters={"user_id": "ada"})["results"]}
    assert kinds == {"memory"}
    both = {hit["kind"] for hit in memory.search("peanuts", user_id="ada")["results"]}
    assert both == {"memory", "episode"}
    asked = {hit["kind"] for hit in memory.search("peanuts", filters={"user_id": "ada"}, include="all")["results"]}
    assert asked == {"memory", "episode"}


@pytest.mark.parametrize("name", ["created_at", "timestamp"])
def test_the_time_of_a_message_is_when_it_was_said(memory: Memory, name: str) -> None:
    memory.add([{"role": "user", "content": "soup", name: "2024-05-06T07:08:09+00:00"}], user_id="ada", infer=False)
    [item] = memory.get_all(user_id="ada")["results"]
    assert item["created_at"] == "2024-05-06T07:08:09+00:00"


def test_a_timestamp_of_the_call_is_that_of_messages_without_one(memory: Memory) -> None:
    memory.add(
        ["soup", {"role": "user", "content": "stew", "timestamp": 1_600_000_000}],
        user_id="ada",
        infer=False,
        timestamp=1_700_000_000,
    )
    times = {item["memory"]: item["created_at"] for item in memory.get_all(user_id="ada")["results"]}
    assert times["soup"] == datetime.fromtimestamp(1_700_000_000, UTC).isoformat()
    assert times["stew"] == datetime.fromtimestamp(1_600_000_000, UTC).isoformat()


def test_what_expired_is_shown_on_demand_alone(memory: Memory) -> None:
    memory.add("old soup", user_id="ada", infer=False, expiration_date="2020-01-01")
    memory.add("new soup", user_id="ada", infer=False, expiration_date="2199-01-01")
    for found in (memory.get_all(user_id="ada"), memory.search("soup", user_id="ada")):
        assert [item["memory"] for item in found["results"]] == ["new soup"]
    shown = memory.get_all(user_id="ada", show_expired=True)["results"]
    assert {item["memory"] for item in shown} == {"old soup", "new soup"}
    hits = memory.search("soup", user_id="ada", show_expired=True)["results"]
    assert {item["memory"] for item in hits} == {"old soup", "new soup"}
    with pytest.raises(InvalidInputError, match="expiration_date"):
        memory.add("x", user_id="ada", expiration_date="soon")


def test_arguments_that_need_what_is_not_there_are_refused_by_name(memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match="prompt"):
        memory.add("x", user_id="ada", prompt="extract facts")
    with pytest.raises(InvalidInputError, match="memory_type"):
        memory.add("x", user_id="ada", memory_type="semantic")
    [kept] = memory.add("click save", agent_id="bot", memory_type="procedural_memory")["results"]
    assert "procedural_memory" in memory.get(kept["id"])["tags"]  # type: ignore[index]


def test_a_reranker_may_be_asked_for_where_there_is_none(memory: Memory) -> None:
    memory.add("soup", user_id="ada", infer=False)
    assert memory.search("soup", user_id="ada", rerank=True)["results"]
    assert memory.search("soup", user_id="ada", rerank=False)["results"]


def test_the_shim_answers_as_mem0_does() -> None:
    with Mem0Memory.from_config(QUIET) as memory:
        added = memory.add(SAID, user_id="ada", metadata={"chat": 1})
        [fact] = added["results"]
        assert fact.keys() == {"id", "memory", "event"}
        assert memory.add(SAID, user_id="ada")["results"] == []
        [hit] = memory.search("peanuts", filters={"user_id": "ada"})["results"]
        assert {"id", "memory", "hash", "metadata", "score", "created_at", "user_id"} <= hit.keys()
        assert "kind" not in hit
        assert memory.get_all(filters={"user_id": "ada"}, top_k=5)["results"][0]["id"] == fact["id"]
        assert memory.update(fact["id"], data="no nuts") == {"message": "Memory updated successfully!"}
        assert memory.update(fact["id"], expiration_date="2199-01-01")["message"]
        assert [entry["event"] for entry in memory.history(fact["id"])] == ["ADD", "UPDATE", "UPDATE"]
        assert "deleted successfully" in memory.delete(fact["id"])["message"]
        assert "message" in memory.delete_all(user_id="ada")


@pytest.mark.anyio
async def test_the_asynchronous_shim_answers_alike() -> None:
    async with Mem0AsyncMemory(QUIET) as memory:
        [fact] = (await memory.add(SAID, user_id="ada"))["results"]
        [hit] = (await memory.search("peanuts", filters={"user_id": "ada"}))["results"]
        assert hit["id"] == fact["id"]
        assert (await memory.update(fact["id"], "no nuts"))["message"]
        assert len((await memory.get_all(filters={"user_id": "ada"}))["results"]) == 1


def test_the_shim_takes_no_name_of_mem0s_own_package(tmp_path: Path) -> None:
    program = "import sys, ebbing.mem0; sys.exit('mem0' in sys.modules)"
    paths = [path for path in sys.path if path]
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env={"PYTHONPATH": ":".join(paths)}, check=False, timeout=60
    )
    assert ended.returncode == 0
