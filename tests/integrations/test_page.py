"""Each block of the page about agent frameworks runs as it stands there, with a scripted model behind its name."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any, Final

import pytest

from tests.integrations.frameworks import need

need("langgraph", "langchain_core", "pydantic_ai", "agents", "google.adk", "llama_index.core")

import agents
import pydantic_ai
from google.adk import agents as adk_agents
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import create_react_agent
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from pydantic_ai.models.test import TestModel

from tests.integrations.test_openai_agents import ScriptedModel, says

PAGE: Final = (Path(__file__).parents[2] / "docs/integrations.md").read_text("utf-8")
SECTIONS: Final = dict(re.findall(r"^## ([^\n]+)\n.*?```python\n(.*?)```", PAGE, re.M | re.S))
Names = dict[str, Any]


@dataclass
class Visitor:
    """What a host knows of a request."""

    user_id: str


class ToolModel(GenericFakeChatModel):
    """Says its lines, whatever tools it is given."""

    def bind_tools(self, *_: Any, **__: Any) -> ToolModel:
        return self


class Gemini(BaseLlm):
    """Says one line."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="Noted.")]))


def langgraph() -> Names:
    builder = StateGraph(MessagesState)
    builder.add_node("start", lambda _: {})
    builder.add_edge(START, "start")
    return {"builder": builder}


def langchain() -> Names:
    model = ToolModel(messages=iter([AIMessage("Noted.")]))
    return {
        "create_agent": lambda _, tools: create_react_agent(model, tools),
        "your_tools": [],
        "messages": [("user", "I drink oolong tea.")],
    }


def pydantic() -> Names:
    def agent(_: str, **options: Any) -> Any:
        return pydantic_ai.Agent(TestModel(), **options)

    return {"Agent": agent, "Visitor": Visitor}


def openai() -> Names:
    def agent(**options: Any) -> Any:
        return agents.Agent(model=ScriptedModel(says("Noted.")), **options)

    return {"Agent": agent, "Runner": agents.Runner, "RunConfig": agents.RunConfig, "Visitor": Visitor}


async def adk() -> Names:
    def agent(*, model: str, **options: Any) -> Any:
        return adk_agents.LlmAgent(model=Gemini(model=model), **options)

    sessions = InMemorySessionService()
    session = await sessions.create_session(app_name="kitchen", user_id="emma")
    return {"LlmAgent": agent, "Runner": Runner, "sessions": sessions, "session": session}


def llama_index() -> Names:
    model = MockFunctionCallingLLM(response_generator=lambda _, **__: ChatMessage(role="assistant", content="Noted."))
    return {"agent": FunctionAgent(llm=model, tools=[])}


PRELUDES: Final[dict[str, Callable[[], Any]]] = {
    "LangGraph": langgraph,
    "LangChain": langchain,
    "Pydantic AI": pydantic,
    "OpenAI Agents": openai,
    "Google ADK": adk,
    "LlamaIndex": llama_index,
}


def test_every_framework_of_the_page_has_a_block() -> None:
    assert list(SECTIONS) == list(PRELUDES)


@pytest.mark.parametrize("framework", PRELUDES)
def test_the_block_of_a_framework_runs(framework: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EBBING_EMBEDDER", "none")
    made = PRELUDES[framework]()
    names: Names = asyncio.run(made) if inspect.iscoroutine(made) else made
    code: CodeType = compile(
        SECTIONS[framework], f"<{framework}>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
    )
    running = eval(code, names)
    if inspect.iscoroutine(running):
        asyncio.run(running)
    if framework == "LangGraph":
        state = {"messages": [AIMessage("What may she eat?")]}
        names["answer"](state, {"configurable": {"user_id": "emma"}}, store=names["graph"].store)
        [item] = names["graph"].store.search(("memories", "emma"))
        assert item.value["text"] == "She is allergic to peanuts."
