"""Reading and deciding over a real connection to a model that goes wrong in every way: nothing raised, nothing lost."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from ebbing.adapters.chat.openai_chat import OpenAIChatModel
from ebbing.domain.conflict.decision import Add, Fact, Supersede
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.pending_extraction import WriteMode
from ebbing.domain.memory.record import MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.remember.llm.client import LlmOptions
from ebbing.remember.llm.decide import decide_with_model
from ebbing.remember.llm.write_modes import read_facts
from ebbing.resilience import retry as http_waits
from ebbing.testing.models.fake_llm import FakeLlm, Fault, Rule

pytestmark = pytest.mark.anyio

NOW = datetime(2024, 5, 1, tzinfo=UTC)
TALK = [Message("我搬到上海了，还养了一只猫", Role.USER), Message("恭喜！", Role.ASSISTANT)]
FACTS = {
    "facts": [
        {"text": "用户住在上海", "category": "identity", "message": 0, "quote": "搬到上海", "sure": True}
        | {"attribute": "home", "value": "上海"},
        {"text": "用户养了一只猫", "category": "fact", "message": 0, "quote": "养了一只猫", "sure": True}
        | {"attribute": None, "value": None},
    ]
}
DECISIONS = {
    "decisions": [
        {"fact": 0, "action": "DELETE", "memory": 0, "text": None, "reason": "搬家"},
        {"fact": 1, "action": "ADD", "memory": None, "text": None, "reason": "新信息"},
    ]
}
HARMLESS = {None, Fault.THINK, Fault.FENCED, Fault.PROSE, Fault.SLOPPY}
"""After these the answer is as good as without."""
LONGEST = 4.0
"""Seconds; a call is given one, and the wait for a stubborn model one more."""


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_waits, "FIRST_WAIT_SECONDS", 0.01)


@asynccontextmanager
async def asking_of(answer: Any, fault: Fault | None, **more: Any) -> AsyncIterator[LlmOptions]:
    with FakeLlm([Rule(answer=answer, fault=fault, **more)], retry_after=0, hang_seconds=20) as llm:
        model = OpenAIChatModel(llm.url, "fake", timeout_seconds=1)
        try:
            yield LlmOptions(model, timeout_seconds=1, budget_seconds=2)
        finally:
            await model.aclose()


def rules(messages: Any) -> list[Fact]:
    return [Fact("用户在上海", source=0, rule="home")]


@pytest.mark.parametrize("fault", [None, *Fault])
async def test_reading_survives_every_fault(fault: Fault | None) -> None:
    began = time.monotonic()
    async with asking_of(FACTS, fault) as asking:
        found = await read_facts(WriteMode.LLM, TALK, nominate=rules, llm=asking, now=NOW)
    assert time.monotonic() - began < LONGEST
    read = [one.text for one in found.facts]
    if fault in HARMLESS | {Fault.INVENTED_IDS}:
        assert read == ["用户住在上海", "用户养了一只猫"]
        assert {one.source for one in found.facts} == {0}
    elif fault is Fault.TRUNCATED:
        assert read == ["用户在上海", "用户住在上海"]  # what is whole, beside the rules' word for what may be missing
        assert found.failed is not None
        assert (found.failed.reason, found.failed.messages) == ("answer_cut", (0,))
    else:
        assert found.failed is not None
        assert found.failed.messages == (0, 1)
        assert read == ["用户在上海"]  # the rules stand in


@pytest.mark.parametrize("fault", [None, *Fault])
async def test_deciding_survives_every_fault(fault: Fault | None) -> None:
    home = MemoryRecord(
        id="h", belongs_to=Scope("u"), content="用户住在北京", created_at=NOW, recorded_at=NOW, role=Role.USER
    )
    facts = [Fact("用户住在上海"), Fact("用户养了一只猫")]
    began = time.monotonic()
    async with asking_of(DECISIONS, fault) as asking:
        done = await decide_with_model(asking, facts, related=[[home], [home]], said_at=[NOW, NOW])
    assert time.monotonic() - began < LONGEST
    assert len(done.decisions) == 2
    if fault in HARMLESS:
        assert done.decisions == (Supersede(facts[0], "h", "搬家"), Add(facts[1], "新信息"))
    elif fault in {Fault.TRUNCATED, Fault.INVENTED_IDS}:
        assert set(done.decisions) <= {None, Supersede(facts[0], "h", "搬家")}
    else:
        assert done.decisions == (None, None)
        assert done.failed is not None


@pytest.mark.parametrize("mode", [WriteMode.LLM, WriteMode.SUMMARIZE, WriteMode.STRUCTURED])
@pytest.mark.parametrize("fault", [Fault.ERROR, Fault.EMPTY, Fault.RESET])
async def test_a_trouble_that_passes_is_not_noticed(mode: WriteMode, fault: Fault) -> None:
    answer = FACTS | {"should_remember": True, "summary": "用户搬到上海，养了猫", "category": "fact", "confidence": 0.8}
    with FakeLlm([Rule(fault=fault, times=1), Rule(answer=answer)]) as llm:
        model = OpenAIChatModel(llm.url, "fake", timeout_seconds=5)
        found = await read_facts(mode, TALK, nominate=rules, llm=LlmOptions(model), now=NOW)
        await model.aclose()
    assert found.failed is None
    assert found.facts
    assert {one.method for one in found.facts} == {"llm"}
