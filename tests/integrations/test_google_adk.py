"""The Google ADK memory service: a runner with a scripted model, and memories that fail."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.frameworks import need

need("google.adk")

from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types
from pydantic import Field

from ebbing import Memory
from ebbing.client import HostPolicy
from ebbing.errors import StoreClosedError
from ebbing.integrations.google_adk import EbbingMemoryService
from tests.integrations.conftest import FailingStore

PATIENT = HostPolicy(recall_seconds=30, write_seconds=30)


def content(text: str, role: str = "user") -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=text)])


class ScriptedModel(BaseLlm):
    """Says one line, and keeps what it was asked."""

    line: str = "Noted, no nuts."
    asked: list[str] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.asked.append(llm_request.model_dump_json(exclude_none=True))
        yield LlmResponse(content=content(self.line, "model"))


async def converse(service: EbbingMemoryService, text: str, *, user: str = "emma", app: str = "kitchen") -> list[str]:
    """One session: the runner answers, and the session is added to the memory. What the model was asked."""
    model = ScriptedModel(model="scripted")
    agent = LlmAgent(name="chef", model=model, instruction="Be kind.", tools=[PreloadMemoryTool()])
    runner = Runner(app_name=app, agent=agent, session_service=InMemorySessionService(), memory_service=service)
    session = await runner.session_service.create_session(app_name=app, user_id=user)
    async for _ in runner.run_async(user_id=user, session_id=session.id, new_message=content(text)):
        pass
    stored = await runner.session_service.get_session(app_name=app, user_id=user, session_id=session.id)
    assert stored is not None
    await service.add_session_to_memory(stored)
    await service.add_session_to_memory(stored)
    return model.asked


async def test_an_agent_is_given_what_an_earlier_process_remembered(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        [first] = await converse(EbbingMemoryService(memory, policy=PATIENT), "我对花生过敏。")
    with Memory(tmp_path) as memory:
        service = EbbingMemoryService(memory, policy=PATIENT)
        [second] = await converse(service, "What can I not eat?")
        [other_user] = await converse(service, "What can I not eat?", user="liam")
        [other_app] = await converse(service, "What can I not eat?", app="garage")
        stored = [item["memory"] for item in memory.get_all(user_id="emma", include="episodes")["results"]]
    assert "PAST_CONVERSATIONS" not in first
    assert "PAST_CONVERSATIONS" in second
    assert "花生" in second
    assert "花生" not in other_user + other_app
    assert stored.count("我对花生过敏。") == 1
    assert stored.count("Noted, no nuts.") == 3


async def test_events_that_are_not_said_are_left_out(memory: Memory) -> None:
    call = types.Part(function_call=types.FunctionCall(name="look", args={"where": "the cellar"}))
    thought = types.Part(text="a secret thought", thought=True)
    events = [
        Event(author="user", content=content("I drink oolong tea.")),
        Event(author="chef", content=types.Content(role="model", parts=[call])),
        Event(author="chef", content=types.Content(role="model", parts=[thought, types.Part(text="Good choice.")])),
        Event(author="chef", content=content("half a sent", "model"), partial=True),
        Event(author="chef"),
    ]
    service = EbbingMemoryService(memory)
    await service.add_events_to_memory(app_name="kitchen", user_id="emma", events=events, session_id="s1")
    stored = memory.get_all(user_id="emma", include="episodes")["results"]
    assert {(item["memory"], item["role"]) for item in stored} == {
        ("I drink oolong tea.", "user"),
        ("Good choice.", "assistant"),
    }


async def test_an_explicit_memory_is_found_with_its_score(memory: Memory) -> None:
    service = EbbingMemoryService(memory, policy=HostPolicy(min_score=0.1))
    entries = [MemoryEntry(content=content("I drink oolong tea.")), MemoryEntry(content=content("  "))]
    await service.add_memory(app_name="kitchen", user_id="emma", memories=entries)
    found = await service.search_memory(app_name="kitchen", user_id="emma", query="oolong tea")
    assert found.memories
    assert "oolong" in str(found.memories[0].content)
    assert found.memories[0].id
    assert 0.1 <= found.memories[0].custom_metadata["score"] <= 1


async def test_a_run_goes_on_without_a_memory_that_fails(failing_store: FailingStore) -> None:
    began = time.monotonic()
    service = EbbingMemoryService(failing_store, policy=HostPolicy(recall_seconds=0.2, write_seconds=0.2))
    [asked] = await converse(service, "Hello")
    assert "PAST_CONVERSATIONS" not in asked
    assert time.monotonic() - began < 5
    assert failing_store.calls == 3


@pytest.mark.parametrize("user", ["", "  "])
async def test_nobody_has_no_memory(memory: Memory, user: str) -> None:
    service = EbbingMemoryService(memory)
    events: list[Any] = [Event(author="user", content=content("I live in Leeds."))]
    await service.add_events_to_memory(app_name="kitchen", user_id=user, events=events)
    assert (await service.search_memory(app_name="kitchen", user_id=user, query="Leeds")).memories == []
    assert memory.maintenance.list_owners() == []


async def test_a_memory_is_deleted_with_what_it_was_read_from_and_only_for_its_own_user_and_app(memory: Memory) -> None:
    service = EbbingMemoryService(memory, policy=HostPolicy(min_score=0))
    events: list[Any] = [Event(author="user", content=content("I live in Leeds."))]
    await service.add_events_to_memory(app_name="kitchen", user_id="emma", events=events)

    async def found() -> list[str | None]:
        answer = await service.search_memory(app_name="kitchen", user_id="emma", query="Where does she live? Leeds")
        return [entry.id for entry in answer.memories]

    memory_id = memory.get_all(user_id="emma", agent_id="kitchen")["results"][0]["id"]
    assert memory_id in await found()
    for app, user in (("garage", "emma"), ("kitchen", "liam"), ("kitchen", "")):
        await service.delete_memory(app_name=app, user_id=user, memory_id=memory_id)
    await service.delete_memory(app_name="kitchen", user_id="emma", memory_id="nothing")
    await service.delete_memory(app_name="kitchen", user_id="emma")
    assert memory_id in await found()
    await service.delete_memory(app_name="kitchen", user_id="emma", memory_id=memory_id)
    assert await found() == []


async def test_a_deletion_that_failed_is_told(memory: Memory, failing_store: FailingStore) -> None:
    with pytest.raises(NotImplementedError):
        await EbbingMemoryService(failing_store).delete_memory(app_name="a", user_id="emma", memory_id="m")
    memory.close()
    with pytest.raises(StoreClosedError):
        await EbbingMemoryService(memory).delete_memory(app_name="a", user_id="emma", memory_id="m")
