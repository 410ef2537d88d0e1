"""An update is planned anew as long as somebody else changes the memory meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ebbing import AsyncMemory
from ebbing.domain.errors import ConflictError
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Change, Revise
from ebbing.remember.add_deps import MAX_ATTEMPTS
from ebbing.wiring.build import build, load_settings

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("rounds", [9, MAX_ATTEMPTS - 1, MAX_ATTEMPTS])
async def test_an_update_outlasts_rounds_that_change_the_memory(
    rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    components = build(load_settings({"path": tmp_path, "embedder": "none", "worker": False}))
    store, left = components.store, iter(range(rounds))
    real_write = store.write

    async def write(scope: Scope, changes: Sequence[Change], **more: Any) -> list[str]:
        if next(left, None) is not None:
            [record] = await store.get(scope, [memory_id])
            await real_write(scope, [Revise(replace(record, version=record.version + 1), Event.NONE)])
        return await real_write(scope, changes, **more)

    async with AsyncMemory(components=components) as memory:
        memory_id = (await memory.add("I live in Paris.", user_id="ada", infer=False))["results"][0]["id"]
        monkeypatch.setattr(store, "write", write)
        if rounds < MAX_ATTEMPTS:
            await memory.update(memory_id, "I live in Rome.")
        else:
            with pytest.raises(ConflictError, match="read it again and retry"):
                await memory.update(memory_id, "I live in Rome.")
        kept = await memory.get(memory_id)
    assert kept is not None
    assert kept["memory"] == ("I live in Rome." if rounds < MAX_ATTEMPTS else "I live in Paris.")


async def test_two_memories_of_one_summary_are_changed_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    components = build(load_settings({"path": tmp_path, "embedder": "none", "worker": False}))
    store = components.store
    real_write = store.write
    async with AsyncMemory(components=components) as memory:
        for number in range(24):
            await memory.add(f"w{number:08x} x{number:08x} y{number:08x}", user_id="ada", infer=False)
        await memory.maintenance.run(user_id="ada")
        before = (await memory.get_all(user_id="ada", limit=100))["results"]
        [first, second, *_] = [item["id"] for item in before if "summary" not in item["tags"]]
        assert len(before) == 25

        async def write(scope: Scope, changes: Sequence[Change], **more: Any) -> list[str]:
            monkeypatch.setattr(store, "write", real_write)
            await memory.update(second, "the second one")
            return await real_write(scope, changes, **more)

        monkeypatch.setattr(store, "write", write)
        await memory.update(first, "the first one")
        after = (await memory.get_all(user_id="ada", limit=100))["results"]
    assert {item["memory"] for item in after} >= {"the first one", "the second one"}
    assert len(after) == 24
