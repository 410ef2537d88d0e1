"""The LlamaIndex memory block: an agent with a scripted model, and memories that fail."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.frameworks import need

need("llama_index.core")

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory as ShortTermMemory

from ebbing import Memory
from ebbing.client import HostPolicy
from ebbing.integrations.llama_index import EbbingMemoryBlock
from tests.integrations.conftest import FailingStore

PATIENT = HostPolicy(recall_seconds=30, write_seconds=30)


async def converse(block: EbbingMemoryBlock, text: str) -> str:
    """One conversation: the agent answers, and its messages are remembered. What the model was asked."""
    asked: list[str] = []

    def answer(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        asked.append("\n".join(str(message) for message in messages))
        return ChatMessage(role="assistant", content="Noted, no nuts.")

    short_term = ShortTermMemory.from_defaults(memory_blocks=[block])
    agent = FunctionAgent(llm=MockFunctionCallingLLM(response_generator=answer), tools=[], system_prompt="Be kind.")
    response = await agent.run(text, memory=short_term)
    assert "Noted" in str(response)
    await block.aput(await short_term.aget_all())
    await block.aput(await short_term.aget_all())
    return asked[0]


async def test_an_agent_is_given_what_an_earlier_process_remembered(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        first = await converse(EbbingMemoryBlock(memory, user_id="emma", policy=PATIENT), "我对花生过敏。")
    with Memory(tmp_path) as memory:
        second = await converse(EbbingMemoryBlock(memory, user_id="emma", policy=PATIENT), "What can I not eat?")
        other = await converse(EbbingMemoryBlock(memory, user_id="liam", policy=PATIENT), "What can I not eat?")
        stored = [item["memory"] for item in memory.get_all(user_id="emma", include="episodes")["results"]]
    assert first.count("花生") == 1
    assert "<LongTermMemory>" in second
    assert "花生" in second
    assert "花生" not in other
    assert stored.count("我对花生过敏。") == 1


async def test_what_leaves_the_short_term_memory_is_remembered(memory: Memory) -> None:
    block = EbbingMemoryBlock(memory, user_id="emma", policy=PATIENT)
    short_term = ShortTermMemory.from_defaults(
        memory_blocks=[block], token_limit=60, chat_history_token_ratio=0.5, token_flush_size=20
    )
    for text in (
        "I drink oolong tea.",
        "I live in Leeds by the canal.",
        "My sister is a plumber.",
        "I sing on Mondays.",
    ):
        await short_term.aput(ChatMessage(role="user", content=text))
        await short_term.aput(ChatMessage(role="assistant", content=f"You said: {text}"))
    stored = {item["memory"] for item in memory.get_all(user_id="emma", include="episodes")["results"]}
    assert "I drink oolong tea." in stored


async def test_a_run_goes_on_without_a_memory_that_fails(failing_store: FailingStore) -> None:
    began = time.monotonic()
    policy = HostPolicy(recall_seconds=0.2, write_seconds=0.2)
    asked = await converse(EbbingMemoryBlock(failing_store, user_id="emma", policy=policy), "Hello")
    assert "Hello" in asked
    assert time.monotonic() - began < 5
    assert failing_store.calls == 4


@pytest.mark.parametrize("user", ["", "  "])
async def test_nobody_has_no_memory(memory: Memory, user: str) -> None:
    block = EbbingMemoryBlock(memory, user_id=user)
    await block.aput([ChatMessage(role="user", content="I live in Leeds.")])
    assert await block.aget([ChatMessage(role="user", content="Leeds?")]) == ""
    assert memory.maintenance.list_owners() == []


async def test_what_is_said_again_later_is_another_message(memory: Memory) -> None:
    block = EbbingMemoryBlock(memory, user_id="emma", policy=PATIENT)
    messages: list[ChatMessage] = []
    for text in ("I live in Porto.", "I moved to Lisbon.", "I live in Porto."):
        messages.append(ChatMessage(role="user", content=text))
        for _ in range(2):
            await block.aput(messages)
    assert ["Porto" in item["memory"] for item in memory.get_all(user_id="emma")["results"]] == [True]
    assert len(memory.get_all(user_id="emma", include="episodes")["results"]) == 3
