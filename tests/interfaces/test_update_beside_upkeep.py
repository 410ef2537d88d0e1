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
