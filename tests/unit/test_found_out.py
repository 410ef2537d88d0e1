"""The JSON of what a search found: put together from what was written before, it is what would be written anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ebbing import AsyncMemory
from ebbing.interfaces.http import answers
from ebbing.interfaces.http.answers import encoded, found_out, memory_out
from ebbing.language.kept import let_go

pytestmark = pytest.mark.anyio


def anew(found: dict[str, Any]) -> bytes:
    """What is written of it by looking at every value."""
    rest = {name: value for name, value in found.items() if name != "results"}
    return bytes(encoded({"memories": [memory_out(hit) for hit in found["results"]], **rest}).body)


async def asked(memory: AsyncMemory, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = await memory.search("what does Emma drink? 喝什么", user_id="emma", **more)
    return found


async def test_an_answer_put_together_is_the_answer_written_anew(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        said = ['Emma drinks "green" tea\n', "艾玛喝绿茶", "Emma drives a car"]
        ids = [(await memory.add(text, user_id="emma", infer=False))["results"][0]["id"] for text in said]
        for _ in range(2):
            found = await asked(memory)
            assert len(found["results"]) == len(said)
            assert found_out(found).body == anew(found)
        await memory.update(ids[0], "Emma drinks coffee")
        for more in ({}, {"explain": True}, {"expand": 1}, {"as_of": "2999-01-01T00:00:00Z"}):
            found = await asked(memory, **more)
            body = bytes(found_out(found).body)
            assert body == anew(found)
            assert "Emma drinks coffee" in {one["text"] for one in json.loads(body)["memories"]}
        nothing = await memory.search("tea", user_id="nobody")
        assert found_out(nothing).body == anew(nothing)


async def test_what_was_written_goes_with_what_is_kept_of_texts(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        await memory.add("Emma drinks tea", user_id="emma", infer=False)
        found_out(await asked(memory))
        assert answers._WRITTEN
        let_go()
        assert not answers._WRITTEN
