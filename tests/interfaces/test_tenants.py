"""One store for many tenants: each sees its own rows alone, whatever it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbing.domain.errors import InvalidInputError, MemoryNotFoundError
from ebbing.memory import AsyncMemory
from ebbing.ports.event_bus import MemoryEvent
from ebbing.sync import Memory

SAID = "I live in Leeds."


@pytest.mark.anyio
async def test_a_tenant_sees_nothing_of_another_that_has_the_same_user(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        acme, globex = memory.for_tenant("acme"), memory.for_tenant("globex")
        [added] = (await acme.add("green tea", user_id="emma", infer=False))["results"]
        for other in (memory, globex):
            assert (await other.search("green tea", user_id="emma"))["results"] == []
            assert (await other.get_all(user_id="emma"))["results"] == []
            assert await other.get(added["id"]) is None
            assert await other.history(added["id"]) == []
            assert (await other.maintenance.stats())["memories"] == 0
            with pytest.raises(MemoryNotFoundError):
                await other.update(added["id"], "black tea")
        assert (await acme.get(added["id"]) or {})["memory"] == "green tea"


@pytest.mark.anyio
async def test_resetting_a_tenant_leaves_the_others_alone(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        acme, globex = memory.for_tenant("acme"), memory.for_tenant("globex")
        for one in (acme, globex):
            await one.add("green tea", user_id="emma", infer=False)
        await acme.reset()
        assert ((await acme.maintenance.stats())["memories"], (await globex.maintenance.stats())["memories"]) == (0, 1)


@pytest.mark.anyio
async def test_a_session_is_remembered_in_the_tenant_that_it_was_opened_in(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        acme = memory.for_tenant("acme")
        async with acme.session(user_id="emma", run_id="r1") as talk:
            await talk.add(SAID)
            twin = memory.session(user_id="emma", run_id="r1")
            assert await twin.messages() == []
        assert (await acme.maintenance.stats())["episodes"] == 1
        assert (await memory.maintenance.stats())["episodes"] == 0


@pytest.mark.anyio
async def test_a_session_left_open_is_remembered_in_its_tenant_when_the_memory_closes(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        await memory.for_tenant("acme").session(user_id="emma", run_id="r1").add(SAID)
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        assert (await memory.for_tenant("acme").maintenance.stats())["episodes"] == 1
        assert (await memory.maintenance.stats())["episodes"] == 0


@pytest.mark.anyio
async def test_a_listener_hears_of_its_own_tenant_alone(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        acme, heard, elsewhere = memory.for_tenant("acme"), list[MemoryEvent](), list[MemoryEvent]()
        acme.subscribe("memory.added", heard.append)
        memory.subscribe("memory.added", elsewhere.append)
        await acme.add("green tea", user_id="emma", infer=False)
        assert [one.scope.tenant for one in heard] == ["acme"]
        assert elsewhere == []


@pytest.mark.anyio
async def test_closing_a_view_closes_nothing(tmp_path: Path) -> None:
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        await memory.for_tenant("acme").close()
        assert (await memory.get_all(user_id="emma"))["results"] == []


def test_a_blocking_memory_has_views_as_well(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        with memory.for_tenant("acme") as acme:
            acme.add("green tea", user_id="emma", infer=False)
        assert memory.get_all(user_id="emma")["results"] == []
        assert len(memory.for_tenant("acme").get_all(user_id="emma")["results"]) == 1


@pytest.mark.parametrize("name", ["", "  ", "a\x00b", "x" * 257])
def test_an_unusable_name_of_a_tenant_is_refused(name: str, tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory, pytest.raises(InvalidInputError, match="tenant"):
        memory.for_tenant(name)
