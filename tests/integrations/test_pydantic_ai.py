"""The Pydantic AI capability: an agent with a scripted model, and memories that fail."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integrations.frameworks import need

need("pydantic_ai")

from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from ebbing import AsyncMemory, Memory
from ebbing.client import HostPolicy
from ebbing.integrations.pydantic_ai import EbbingMemory
from tests.integrations.conftest import FailingStore

PATIENT = HostPolicy(recall_seconds=30, write_seconds=30)


@dataclass
class Visitor:
    """What a host knows of a request."""

    user_id: str | None


class Script:
    """A model that calls a tool, then answers, and keeps the instructions that it was given."""

    def __init__(self) -> None:
        self.instructions: list[str] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.instructions.append(info.instructions or "")
        if len(self.instructions) % 2:
            return ModelResponse(parts=[ToolCallPart("look", {})])
        return ModelResponse(parts=[TextPart("Noted, no nuts.")])


def agent_with(memory: object, script: Script, policy: HostPolicy = PATIENT) -> Agent[Visitor, str]:
    door = EbbingMemory[Visitor](memory, user_of=lambda deps: deps.user_id, policy=policy)  # type: ignore[arg-type]
    agent = Agent(FunctionModel(script), deps_type=Visitor, instructions="Be kind.", capabilities=[door])

    @agent.tool
    def look(ctx: RunContext[Visitor]) -> str:
        """Look around."""
        return f"It is {ctx.deps.user_id}'s kitchen."

    return agent


def test_an_agent_recalls_in_every_request_what_an_earlier_process_remembered(tmp_path: Path) -> None:
    first, second = Script(), Script()
    with Memory(tmp_path) as memory:
        result = agent_with(memory, first).run_sync("我对花生过敏。", deps=Visitor("emma"))
        assert result.output == "Noted, no nuts."
    with Memory(tmp_path) as memory:
        result = agent_with(memory, second).run_sync("What can I not eat?", deps=Visitor("emma"))
        stored = memory.get_all(user_id="emma", include="episodes")["results"]
    assert first.instructions == ["Be kind.", "Be kind."]
    assert all("花生" in instructions and "Be kind." in instructions for instructions in second.instructions)
    requests = [message for message in result.all_messages() if isinstance(message, ModelRequest)]
    assert all("花生" in (request.instructions or "") for request in requests)
    assert "花生" not in str([request.parts for request in requests])
    assert {"我对花生过敏。", "Noted, no nuts.", "What can I not eat?"} <= {item["memory"] for item in stored}


async def test_runs_side_by_side_see_their_own_user_alone(tmp_path: Path) -> None:
    script = Script()
    async with AsyncMemory(tmp_path, embedder="none") as memory:
        await memory.add("Emma drinks oolong.", user_id="emma", infer=False)
        await memory.add("Liam drinks coffee.", user_id="liam", infer=False)
        agent = agent_with(memory, script)
        for user, drink in (("emma", "oolong"), ("liam", "coffee"), (None, "")):
            script.instructions.clear()
            await agent.run("What drinks?", deps=Visitor(user))
            [instructions, _] = script.instructions
            assert [word for word in ("oolong", "coffee") if word in instructions] == [drink] * bool(drink)
        assert [owner["name"] for owner in await memory.maintenance.list_owners()] == ["emma", "liam"]


def test_a_run_goes_on_without_a_memory_that_fails(failing_store: FailingStore) -> None:
    script, began = Script(), time.monotonic()
    policy = HostPolicy(recall_seconds=0.2, write_seconds=0.2)
    result = agent_with(failing_store, script, policy).run_sync("Hello", deps=Visitor("emma"))
    assert result.output == "Noted, no nuts."
    assert script.instructions == ["Be kind.", "Be kind."]
    assert time.monotonic() - began < 3
    assert failing_store.calls == 2


async def test_a_streamed_run_is_remembered_too(memory: Memory) -> None:
    async def stream(messages: list[ModelMessage], info: AgentInfo):  # type: ignore[no-untyped-def]
        yield "Good "
        yield "choice."

    door = EbbingMemory[Visitor](memory, user_of=lambda deps: deps.user_id)
    agent = Agent(FunctionModel(stream_function=stream), deps_type=Visitor, capabilities=[door])
    async with agent.run_stream("I like oolong tea.", deps=Visitor("emma")) as result:
        assert await result.get_output() == "Good choice."
    stored = memory.get_all(user_id="emma", include="episodes")["results"]
    assert {item["memory"] for item in stored} == {"I like oolong tea.", "Good choice."}


@pytest.mark.parametrize("user", ["", "  ", None])
def test_nobody_has_no_memory_and_the_run_goes_on(memory: Memory, user: str | None) -> None:
    assert agent_with(memory, Script()).run_sync("I live in Leeds.", deps=Visitor(user)).output
    assert memory.maintenance.list_owners() == []


def test_a_function_that_cannot_name_the_user_breaks_no_run(memory: Memory) -> None:
    door = EbbingMemory[Visitor](memory, user_of=lambda deps: deps.name)  # type: ignore[attr-defined]
    agent = Agent(FunctionModel(Script()), deps_type=Visitor, capabilities=[door])
    agent.tool_plain(name="look")(lambda: "a kitchen")
    assert agent.run_sync("I live in Leeds.", deps=Visitor("emma")).output
    assert memory.maintenance.list_owners() == []
