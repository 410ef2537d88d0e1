"""The memory provider of xiaozhi-esp32-server, in a tree laid out like the server's, with a live service."""

from __future__ import annotations

import asyncio
import importlib
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import pytest

from tests.extensions.slow_service import dead_service, silent_service

pytestmark = pytest.mark.extended

FILE = Path(__file__).parents[2] / "extensions" / "xiaozhi" / "ebbing.py"
# The documented interface of the server, which is no package: the base class with what providers get from it.
BASE = """
from abc import ABC, abstractmethod
import logging


class Logger:
    def bind(self, **names):
        return logging.getLogger("xiaozhi")


logger = Logger()


class MemoryProviderBase(ABC):
    def __init__(self, config):
        self.config = config
        self.role_id = None

    @abstractmethod
    async def save_memory(self, msgs, context=None): ...

    @abstractmethod
    async def query_memory(self, query): ...

    def init_memory(self, role_id, llm, agent_id=None, **kwargs):
        self.role_id = role_id
        self.llm = llm
        if agent_id:
            self.agent_id = agent_id
"""


@pytest.fixture
def provider_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    folder = tmp_path / "core" / "providers" / "memory" / "ebbing"
    folder.mkdir(parents=True)
    (folder.parent / "base.py").write_text(BASE)
    shutil.copy(FILE, folder / "ebbing.py")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("core.providers.memory.ebbing.ebbing").MemoryProvider
    for name in [name for name in sys.modules if name.split(".")[0] == "core"]:
        del sys.modules[name]


def begun(kind: Any, device: str, **config: object) -> Any:
    agent = config.pop("agent", None)
    made = kind(config)
    made.init_memory(device, None, agent_id=agent, summary_memory=None, save_to_file=True)
    return made


def spoken(*texts: str) -> list[Any]:
    roles = ("user", "assistant")
    words = [SimpleNamespace(role=roles[at % 2], content=text) for at, text in enumerate(texts)]
    tools = [SimpleNamespace(role="tool", content="我对小麦过敏"), SimpleNamespace(role="assistant", content=None)]
    return [SimpleNamespace(role="system", content="你是小智，我对大豆过敏"), *words, *tools]


def test_a_device_recalls_what_was_said_in_an_earlier_conversation(provider_class: Any, address: str) -> None:
    async def story() -> str:
        wrapped = json.dumps({"speaker": "小雨", "content": "我对花生过敏。"}, ensure_ascii=False)
        patient = {"base_url": address, "recall_seconds": 20}  # the machine of the tests may be busy
        await begun(provider_class, "aa:bb:01", **patient).save_memory(spoken(wrapped, "记住了。"), "s1")
        later = begun(provider_class, "aa:bb:01", **patient)
        return str(await later.query_memory(json.dumps({"content": "我能吃花生吗？"}, ensure_ascii=False)))

    block = asyncio.run(story())
    assert "花生过敏" in block
    assert "小麦" not in block
    assert "大豆" not in block
    assert len(block) < 600


def test_devices_and_with_a_setting_agents_have_memories_of_their_own(provider_class: Any, address: str) -> None:
    async def story() -> list[bool]:
        first = begun(provider_class, "aa:bb:02", base_url=address, per="agent", agent="cook")
        await first.save_memory(spoken("我对芒果过敏。", "好的。"), {"session_id": "s1"})
        others = [("aa:bb:02", "cook"), ("aa:bb:02", "teacher"), ("aa:bb:03", "cook")]
        made = [begun(provider_class, device, base_url=address, per="agent", agent=agent) for device, agent in others]
        return ["芒果" in await each.query_memory("我能吃芒果吗？") for each in made]

    assert asyncio.run(story()) == [True, False, False]


def test_a_conversation_goes_on_where_nobody_listens(provider_class: Any) -> None:
    async def story() -> str:
        made = begun(provider_class, "aa:bb:04", base_url=dead_service())
        await made.save_memory(spoken("你好", "你好呀"))
        return str(await made.query_memory("你好"))

    assert asyncio.run(story()) == ""


def test_a_voice_waits_for_a_silent_service_no_longer_than_its_setting(provider_class: Any) -> None:
    async def story() -> float:
        with silent_service() as address:
            made = begun(provider_class, "aa:bb:05", base_url=address, recall_seconds=0.2)
            start = perf_counter()
            assert [await made.query_memory("你好") for _ in range(20)] == [""] * 20
            return perf_counter() - start

    assert asyncio.run(story()) < 3
