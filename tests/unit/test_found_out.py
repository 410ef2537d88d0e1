"""The JSON of what a search found: put together from what was written before, it is what would be written anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ebbing import AsyncMemory
from ebbing.interfaces.http.responses import encoded, found_out, memory_out
from ebbing.recall.search import Answer
from ebbing.results import search_answer

pytestmark = pytest.mark.anyio


def anew(found: Answer) -> Any:
    """What is written of it by looking at every value."""
    made: Mapping[str, Any] = search_answer(found, "v1.1", explained=False)
    rest = {name: value for name, value in made.items() if name != "results"}
    return json.loads(encoded({"memories": [memory_out(hit) for hit in made["results"]], **rest}).body)


async def asked(memory: AsyncMemory, **more: Any) -> Answer:
    return await memory.recall("what does Emma drink? 喝什么", user_id="emma", **more)


async def test_an_answer_put_together_is_the_answer_written_anew(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        said = ['Emma drinks "green" tea\n', "艾玛喝绿茶", "Emma drives a car"]
        ids = [(await memory.add(text, user_id="emma", infer=False))["results"][0]["id"] for text in said]
        for _ in range(2):
            found = await asked(memory)
            assert len(found.records) == len(said)
            assert json.loads(bytes(found_out(found).body)) == anew(found)
        await memory.update(ids[0], "Emma drinks coffee")
        for more in ({}, {"as_of": "2999-01-01T00:00:00Z"}, {"top_k": 1}):
            found = await asked(memory, **more)
            body = json.loads(bytes(found_out(found).body))
            assert body == anew(found)
            assert "Emma drinks coffee" in {one["text"] for one in body["memories"]}
        nothing = await memory.recall("tea", user_id="nobody")
        assert json.loads(bytes(found_out(nothing).body)) == anew(nothing)


async def test_repeats_and_dropped_routes_are_told(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        await memory.add("Emma drinks tea", user_id="emma", infer=False)
        found = await asked(memory)
        found.repeat_ids, found.dropped = [("a", "b")], {"semantic": "the embedder was not done"}
        body = json.loads(bytes(found_out(found).body))
        assert body == anew(found)
        assert (body["memories"][0]["repeat_ids"], [*body["dropped"]]) == (["a", "b"], ["semantic"])


async def test_what_was_written_goes_with_the_memory(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        added = await memory.add("Emma drinks tea", user_id="emma", infer=False)
        first = await asked(memory)
        found_out(first)
        assert first.written
        await memory.update(added["results"][0]["id"], "Emma drinks coffee")
        found = await asked(memory)
        assert not found.written
        found_out(found)
        await memory.delete_all(user_id="emma")
        await memory.add("Emma drives a car", user_id="emma", infer=False)
        assert not (await asked(memory)).written
