"""The filter for Open WebUI, called as its own `process_filter_functions` calls it, with a live service."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Coroutine
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from tests.extensions.slow_service import dead_service, silent_service

pytestmark = pytest.mark.extended

FILE = Path(__file__).parents[2] / "extensions" / "open_webui" / "ebbing_filter.py"
Body = dict[str, Any]


def new_filter(address: str, **valves: object) -> Any:
    """Load the file as Open WebUI loads a function: by its text, with no package around it."""
    specification = importlib.util.spec_from_file_location("function_ebbing", FILE)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    made = module.Filter()
    made.valves = made.Valves(base_url=address, **valves)
    return made


def person(name: str, made: Any, **wishes: bool) -> Body:
    return {"id": name, "name": name, "role": "user", "valves": made.UserValves(**wishes)}


async def said(made: Any, user: Body, *texts: str, chat: str = "chat-1") -> None:
    """Let a turn end, and wait until it is remembered."""
    roles = ("user", "assistant")
    messages = [{"id": f"{chat}-{at}", "role": roles[at], "content": text} for at, text in enumerate(texts)]
    body = {"model": "m", "messages": messages, "chat_id": chat}
    assert await made.outlet(body, __user__=user) is body
    await asyncio.gather(*made._writing)


async def asked(made: Any, user: Body, content: Any, **more: Any) -> tuple[Any, list[Body]]:
    """What the model gets for the content of a last message, and the events that the browser gets."""
    events: list[Body] = []

    async def emit(event: Body) -> None:
        events.append(event)

    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    answer = await made.inlet(body, __user__=user, __event_emitter__=emit, **more)
    return answer["messages"][-1]["content"], events


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)


def test_a_new_chat_recalls_what_an_earlier_one_said_and_shows_it(address: str) -> None:
    async def story() -> None:
        made = new_filter(address)
        emma = person("webui-emma", made)
        await said(made, emma, "I'm allergic to peanuts. 我住在杭州。", "Noted.")
        content, events = await asked(made, emma, "peanuts: can I eat them?")
        assert content.startswith("peanuts: can I eat them?\n\n<recalled-memory>")
        assert "allergic to peanuts" in content
        [event] = events
        assert event["type"] == "status"
        assert "allergic to peanuts" in event["data"]["description"]
        parts, _ = await asked(made, emma, [{"type": "text", "text": "我住在哪里？"}])
        assert "杭州" in parts[-1]["text"]

    run(story())


def test_a_filter_works_without_a_press_of_a_chip() -> None:
    """Open WebUI leaves a filter with a true `toggle` out of every chat in which nobody pressed its chip."""
    assert not getattr(new_filter(dead_service()), "toggle", None)


def test_nobody_sees_the_memory_of_another_user(address: str) -> None:
    async def story() -> None:
        made = new_filter(address)
        await said(made, person("webui-anna", made), "I'm allergic to walnuts.", "Noted.")
        content, events = await asked(made, person("webui-ben", made), "walnuts: can I eat them?")
        assert content == "walnuts: can I eat them?"
        assert events == []

    run(story())


def test_what_was_recalled_and_thought_is_not_remembered_again(address: str) -> None:
    async def story() -> None:
        made = new_filter(address)
        carl = person("webui-carl", made)
        recalled = "What now?\n\n<recalled-memory>\n- I'm allergic to hazelnuts\n</recalled-memory>"
        await said(made, carl, recalled, "<think>I'm allergic to cashews</think>Nothing.")
        content, _ = await asked(made, carl, "hazelnuts or cashews?")
        assert "allergic" not in content

    run(story())


def test_a_user_can_switch_either_half_off_and_a_temporary_chat_leaves_nothing(address: str) -> None:
    async def story() -> None:
        made = new_filter(address)
        await said(made, person("webui-dora", made, remember=False), "I'm allergic to lupins.", "Noted.")
        await said(made, person("webui-dora", made), "I'm allergic to lentils.", "Noted.", chat="local:1")
        assert (await asked(made, person("webui-dora", made), "lupins or lentils?"))[0] == "lupins or lentils?"
        await said(made, person("webui-dora", made), "I'm allergic to barley.", "Noted.")
        assert (await asked(made, person("webui-dora", made, recall=False), "barley?"))[0] == "barley?"
        title = {"__metadata__": {"task": "title_generation"}}
        assert (await asked(made, person("webui-dora", made), "barley?", **title))[0] == "barley?"
        assert "allergic to barley" in (await asked(made, person("webui-dora", made), "barley?"))[0]

    run(story())


def test_a_chat_goes_on_where_nobody_listens() -> None:
    async def story() -> None:
        made = new_filter(dead_service())
        content, [event] = await asked(made, person("emma", made), "hello")
        assert content == "hello"
        assert "without it" in event["data"]["description"]
        await said(made, person("emma", made), "hello", "hi")

    run(story())


def test_a_chat_waits_for_a_silent_service_no_longer_than_the_valve_says_and_then_leaves_it_alone() -> None:
    async def story() -> None:
        with silent_service() as address:
            made = new_filter(address, recall_seconds=0.2)
            start = perf_counter()
            for _ in range(20):
                assert (await asked(made, person("emma", made), "hello"))[0] == "hello"
            assert perf_counter() - start < 3

    run(story())


def test_a_service_that_recalls_too_slowly_still_remembers(address: str) -> None:
    async def story() -> None:
        made = new_filter(address, recall_seconds=0.000_001)
        eve = person("webui-eve", made)
        for _ in range(5):
            await asked(made, eve, "hello")
        await said(made, eve, "I'm allergic to celery.", "Noted.")
        content, _ = await asked(new_filter(address), eve, "celery: can I eat it?")
        assert "allergic to celery" in content

    run(story())


def test_a_message_that_is_refused_makes_nobody_wait_for_their_memories(address: str) -> None:
    async def story() -> None:
        made = new_filter(address)
        for _ in range(5):
            await asked(made, person("x" * 300, made), "hello")
        finn = person("webui-finn", made)
        await said(made, finn, "I'm allergic to mustard.", "Noted.")
        assert "allergic to mustard" in (await asked(made, finn, "mustard: can I eat it?"))[0]

    run(story())
