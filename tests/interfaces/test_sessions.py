"""A conversation in a session: at hand at once, remembered at its end, and nothing said is lost."""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import threading
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ebbing import AsyncMemory, Memory
from ebbing.adapters.system.working_memory import InProcessWorkingMemory
from ebbing.api.sessions.session import AsyncSession, as_given
from ebbing.api.threads.blocking import Session
from ebbing.domain.errors import BlockedContentError, ConfigurationError, InvalidInputError, StoreClosedError
from ebbing.ports.event_bus import MemoryEvent
from ebbing.ports.models.embedder import Embedder, Vectors
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import Components, build, load_settings
from ebbing.wiring.components.models import EmbedderSlot

pytestmark = pytest.mark.anyio
NOW = datetime(2024, 5, 8, 12, tzinfo=UTC)
Item = dict[str, Any]


class Counting(FakeEmbedder):
    """Counts how often it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked += 1
        return await super().embed_passages(texts)


class Broken:
    """An embedder that does not load as long as it is told to, so that nothing can be added."""

    def __init__(self) -> None:
        self.is_down = True

    def __call__(self) -> Embedder:
        if self.is_down:
            raise ConfigurationError("no such model: ask Ada")
        return FakeEmbedder()


def components_of(path: Path, *, load: Broken | None = None, **more: Any) -> Components:
    settings = load_settings({"store": "ephemeral", "path": path, **more.pop("settings", {})})
    components = build(settings, clock=ManualClock(NOW), **{"embedder": FakeEmbedder(), **more})
    return components if load is None else replace(components, embedder=EmbedderSlot(load=load))


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[AsyncMemory]:
    async with AsyncMemory(components=components_of(tmp_path)) as opened:
        yield opened


async def kept(memory: AsyncMemory, include: Any = "episodes", **scope: str) -> list[str]:
    """What is in the long-term memory, oldest first."""
    found = await memory.get_all(**{"user_id": "ada", **scope}, include=include, limit=1_000)
    return [item["memory"] for item in reversed(found["results"])]


async def settled(memory: AsyncMemory) -> None:
    """Waits until nothing is under way beside the conversation."""
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        pending = [task for task in others if "_let_leave" in repr(task) or "SessionBuffer" in repr(task)]
        if not pending:
            return
        await asyncio.wait(pending)


# ── while it runs ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_what_is_said_is_at_hand_at_once_without_embedding_or_writing(tmp_path: Path) -> None:
    embedder = Counting()
    async with AsyncMemory(components=components_of(tmp_path, embedder=embedder)) as memory:
        session = memory.session(user_id="ada", run_id="monday")
        await session.add("I live in Berlin")
        await session.add([{"role": "assistant", "content": "A lively place!", "name": "Max"}])
        assert await session.messages() == [
            {"role": "user", "content": "I live in Berlin"},
            {"role": "assistant", "content": "A lively place!", "name": "Max"},
        ]
        assert embedder.asked == 0
        assert await kept(memory, "all") == []


async def test_two_sessions_of_one_name_are_one_conversation_and_others_are_not(memory: AsyncMemory) -> None:
    await memory.session(user_id="ada", run_id="monday").add("I live in Berlin")
    assert len(await memory.session(user_id="ada", run_id="monday").messages()) == 1
    for others in ({"user_id": "bob", "run_id": "monday"}, {"user_id": "ada", "run_id": "tuesday"}, {"user_id": "ada"}):
        assert await memory.session(**others).messages() == []
    assert memory.session(user_id="ada").run_id != memory.session(user_id="ada").run_id


async def test_a_session_gives_back_the_last_rounds_within_its_limits(tmp_path: Path) -> None:
    limits = {"session_turns": 2, "session_tokens": 100}
    async with AsyncMemory(components=components_of(tmp_path, settings=limits)) as memory:
        session = memory.session(user_id="ada")
        for number in range(4):
            await session.add([f"question {number}", {"role": "assistant", "content": f"answer {number}"}])
        said = [message["content"] for message in await session.messages()]
        assert said == ["question 2", "answer 2", "question 3", "answer 3"]
        await session.add("茶" * 99)
        assert [message["content"] for message in await session.messages()] == ["茶" * 99]


async def test_what_leaves_the_last_rounds_is_remembered_before_it_goes(tmp_path: Path) -> None:
    async with AsyncMemory(components=components_of(tmp_path, settings={"session_turns": 2})) as memory:
        session = memory.session(user_id="ada", run_id="monday")
        for number in range(12):
            await session.add([f"My number {number} is tea", {"role": "assistant", "content": f"noted {number}"}])
            await settled(memory)
            stored, here = await kept(memory), await memory.components.working.read(session._scope)
            everything = {*stored, *(turn.message.content for turn in here)}
            assert everything >= {f"My number {one} is tea" for one in range(number + 1)}
            assert len(here) <= 5  # the two rounds, and the last message before them
        assert await session.end()
        stored = await kept(memory)
        assert len(stored) == len(set(stored)) == 24


async def test_an_answer_is_read_with_its_question_although_a_round_lies_between(tmp_path: Path) -> None:
    async with AsyncMemory(components=components_of(tmp_path, settings={"session_turns": 1})) as memory:
        session = memory.session(user_id="ada")
        for asked, told in [("Do you have any pets?", "Two cats"), ("Where do you live?", "In Berlin"), ("Ok.", "Hm")]:
            await session.add({"role": "assistant", "content": asked})
            await session.add(told)
            await settled(memory)
        await session.end()
        facts = " ".join(await kept(memory, "memories"))
        assert "cats" in facts
        assert "Berlin" in facts


async def test_a_message_that_is_edited_while_it_runs_is_remembered_as_it_reads_then(memory: AsyncMemory) -> None:
    async with memory.session(user_id="ada") as session:
        await session.add({"role": "user", "content": "I live in Berlin", "id": "m1"})
        await session.add({"role": "user", "content": "I live in Hamburg", "id": "m1"})
        assert [message["content"] for message in await session.messages()] == ["I live in Hamburg"]
    assert await kept(memory) == ["I live in Hamburg"]


@pytest.mark.parametrize("infer", [True, False])
async def test_a_turn_that_is_here_and_stored_already_is_told_once(memory: AsyncMemory, infer: bool) -> None:
    session = memory.session(user_id="ada", infer=infer)
    await session.add("My train leaves at ten")
    [turn] = await memory.components.working.read(session._scope)
    await memory.add(as_given([turn.message]), user_id="ada", run_id=session.run_id, infer=infer)
    await memory.add("My train left at nine", user_id="ada", run_id="long ago", infer=False)
    found = (await session.search("When does my train leave?"))["results"]
    assert [item["kind"] for item in found if item["memory"] == "My train leaves at ten"] == ["working"]
    assert "My train left at nine" in [item["memory"] for item in found]


@pytest.mark.parametrize("messages", [None, 7, "", [], {"role": "owner", "content": "x"}])
async def test_what_is_no_message_is_refused_and_nothing_is_kept(memory: AsyncMemory, messages: Any) -> None:
    session = memory.session(user_id="ada")
    with pytest.raises(InvalidInputError):
        await session.add(messages)
    assert await session.messages() == []


async def test_a_session_names_an_owner_and_an_outcome_that_exist(memory: AsyncMemory) -> None:
    with pytest.raises(InvalidInputError):
        memory.session(user_id=" ")
    with pytest.raises(InvalidInputError):
        memory.session(user_id="ada", infer="yes")  # type: ignore[arg-type]


# ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_what_was_just_said_comes_first_and_what_is_known_behind_it(memory: AsyncMemory) -> None:
    await memory.add("My train to Munich left at nine", user_id="ada", run_id="long ago", infer=False)
    session = memory.session(user_id="ada", run_id="monday")
    await session.add(
        ["My train to Munich leaves at ten", "The weather is fine", "When does my train to Munich leave?"]
    )
    found = (await session.search("When does my train to Munich leave?"))["results"]
    assert [item["kind"] for item in found[:2]] == ["working", "memory"]
    assert found[0]["memory"] == "My train to Munich leaves at ten"
    assert found[0]["retriever_scores"]["working"] > 0.5
    assert found[1]["memory"] == "My train to Munich left at nine"
    assert len((await session.search("train to Munich", top_k=1))["results"]) == 1
    for narrowed in ({"include": "memories"}, {"filters": {"type": "fact"}}, {"as_of": NOW}, {"threshold": 1.0}):
        items = (await session.search("When does my train to Munich leave?", **narrowed))["results"]
        assert "working" not in {item["kind"] for item in items}


async def test_the_bare_list_of_the_older_shape_has_the_session_in_it_too(tmp_path: Path) -> None:
    async with AsyncMemory(components=components_of(tmp_path, settings={"api_version": "v1.0"})) as memory:
        session = memory.session(user_id="ada")
        await session.add("My train leaves at ten")
        [found] = await session.search("When does my train leave?")
        assert found["kind"] == "working"


async def test_a_context_comes_with_the_last_rounds_and_is_understood_by_them(memory: AsyncMemory) -> None:
    await memory.add("I am allergic to peanuts", user_id="ada")
    session = memory.session(user_id="ada")
    assert (await session.get_context())["messages"] == []
    await session.add(["I am cooking tonight", "Am I allergic to peanuts?"])
    made = await session.get_context()
    assert made["messages"] == await session.messages()
    assert "peanuts" in made["context"]
    assert made["query_strategy"] != "none"


async def test_a_session_without_a_user_is_asked_about_its_own_run(memory: AsyncMemory) -> None:
    async with memory.session(run_id="monday") as session:
        await session.add("I live in Berlin")
    found = (await memory.session(run_id="monday").search("Where do I live?"))["results"]
    assert "Berlin" in found[0]["memory"]


# ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_ending_remembers_the_session_with_the_times_of_its_words(memory: AsyncMemory) -> None:
    session = memory.session(user_id="ada", run_id="monday", agent_id="max")
    await session.add("I live in Berlin")
    memory.components.clock.advance(timedelta(minutes=5))  # type: ignore[attr-defined]
    assert await session.end()
    assert await session.messages() == []
    [told] = (await memory.get_all(user_id="ada", include="episodes"))["results"]
    assert (told["memory"], told["run_id"], told["agent_id"]) == ("I live in Berlin", "monday", "max")
    assert told["created_at"] == NOW.isoformat()
    assert any("Berlin" in text for text in await kept(memory, "memories"))


async def test_without_inferring_the_messages_themselves_become_memories(memory: AsyncMemory) -> None:
    async with memory.session(user_id="ada", infer=False) as session:
        await session.add(["I live in Berlin", {"role": "assistant", "content": "Oh!"}])
    assert await kept(memory, "memories") == ["I live in Berlin", "Oh!"]


async def test_ending_twice_and_ending_nothing_happens_once_only(memory: AsyncMemory) -> None:
    ended: list[MemoryEvent] = []
    memory.subscribe("session.end", ended.append)
    session = memory.session(user_id="ada", run_id="monday")
    assert await session.end()
    assert ended == []
    await session.add("I live in Berlin")
    assert await session.end()
    assert await session.end()
    assert [event.scope.run_id for event in ended] == ["monday"]
    await session.add("I like tea")
    assert await session.end()
    assert len(ended) == 2
    assert await kept(memory) == ["I live in Berlin", "I like tea"]


async def test_a_block_that_raises_ends_its_session_all_the_same(memory: AsyncMemory) -> None:
    async def talk() -> None:
        async with memory.session(user_id="ada") as session:
            await session.add("I live in Berlin")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await talk()
    assert await kept(memory) == ["I live in Berlin"]


async def test_a_session_that_cannot_be_remembered_is_kept_and_raises_only_if_asked(tmp_path: Path) -> None:
    broken = Broken()
    async with AsyncMemory(components=components_of(tmp_path, load=broken)) as memory:
        async with memory.session(user_id="ada", run_id="monday") as session:
            await session.add("I live in Berlin")
        assert not await session.end()
        with pytest.raises(ConfigurationError, match="no such model"):
            await session.end(strict=True)
        assert len(await session.messages()) == 1
        broken.is_down = False
        assert await session.end(strict=True)
        assert await kept(memory) == ["I live in Berlin"]


async def test_closing_ends_what_is_still_open_even_without_the_embedder(tmp_path: Path) -> None:
    on_disk = {"settings": {"store": "sqlite"}}
    async with AsyncMemory(components=components_of(tmp_path, load=Broken(), **on_disk)) as memory:
        await memory.session(user_id="ada").add("I live in Berlin")
        await memory.session(user_id="bob", infer=False).add("I like tea")
    async with AsyncMemory(components=components_of(tmp_path, **on_disk)) as memory:
        assert await kept(memory) == ["I live in Berlin"]
        assert await kept(memory, "memories", user_id="bob") == ["I like tea"]


async def test_a_closed_memory_hears_nothing_more_and_closes_twice(tmp_path: Path) -> None:
    memory = AsyncMemory(components=components_of(tmp_path, settings={"store": "sqlite"}))
    session = memory.session(user_id="ada")
    await session.add("I live in Berlin")
    await memory.close()
    await memory.close()
    with pytest.raises(StoreClosedError, match="closed"):
        await session.add("I like tea")
    assert await session.end()


async def test_of_sessions_that_cannot_be_stored_at_all_closing_says_so(tmp_path: Path) -> None:
    memory = AsyncMemory(components=components_of(tmp_path, settings={"store": "sqlite"}))
    await memory.session(user_id="ada").add("I live in Berlin")
    await memory.components.store.aclose()
    with pytest.raises(StoreClosedError):
        await memory.close()


async def test_one_session_too_many_ends_the_one_that_is_idle_for_longest(tmp_path: Path) -> None:
    components = components_of(tmp_path)
    two = InProcessWorkingMemory(components.clock, most_sessions=2)
    async with AsyncMemory(components=replace(components, working=two)) as memory:
        sessions = [memory.session(user_id="ada", run_id=str(number)) for number in range(3)]
        for session in sessions:
            await session.add(f"I live in house {session.run_id}")
        assert [len(await session.messages()) for session in sessions] == [0, 1, 1]
        assert await kept(memory) == ["I live in house 0"]


async def test_while_nothing_can_be_stored_a_session_holds_what_it_can_and_then_says_so(tmp_path: Path) -> None:
    broken, accepted = Broken(), 0
    limits = {"session_turns": 1, "session_tokens": 100}
    async with AsyncMemory(components=components_of(tmp_path, load=broken, settings=limits)) as memory:
        session = memory.session(user_id="ada")

        async def talk() -> None:
            nonlocal accepted
            for number in range(100):
                await session.add([f"{number:02} " + "茶" * 48, {"role": "assistant", "content": f"ok {number}"}])
                accepted += 1

        with pytest.raises(ConfigurationError):
            await talk()
        assert 10 < accepted < 40
        broken.is_down = False
        assert await session.end()
        stored = await kept(memory)
        assert {f"ok {number}" for number in range(accepted)} <= set(stored)
        assert len(stored) == len(set(stored))


async def test_a_blocked_message_is_left_out_and_keeps_nothing_else_out(tmp_path: Path) -> None:
    blocking = {"redaction": {"email": "block"}}
    async with AsyncMemory(components=components_of(tmp_path, settings=blocking)) as memory:
        with pytest.raises(BlockedContentError):
            await memory.add("Write to ada@example.org", user_id="ada")
        async with memory.session(user_id="ada") as session:
            await session.add(["I live in Berlin", "Write to ada@example.org", "I like tea"])
        assert await session.messages() == []
        assert await kept(memory) == ["I live in Berlin", "I like tea"]


async def test_a_session_that_seems_forgotten_is_ended_by_the_next_that_speaks(memory: AsyncMemory) -> None:
    forgotten, other = memory.session(user_id="ada"), memory.session(user_id="bob")
    await forgotten.add("I live in Berlin")
    memory.components.clock.advance(timedelta(minutes=59))  # type: ignore[attr-defined]
    await other.add("Hello")
    await settled(memory)
    assert len(await forgotten.messages()) == 1
    memory.components.clock.advance(timedelta(minutes=2))  # type: ignore[attr-defined]
    await other.add("Hello again")
    await settled(memory)
    assert await forgotten.messages() == []
    assert await kept(memory) == ["I live in Berlin"]
    assert len(await other.messages()) == 2


async def test_erasing_a_person_erases_what_is_still_being_said(memory: AsyncMemory) -> None:
    mine, its = memory.session(user_id="ada", run_id="monday"), memory.session(user_id="bob")
    for session in (mine, its):
        await session.add("I live in Berlin")
    await memory.delete_all(user_id="ada", run_id="tuesday")
    assert len(await mine.messages()) == 1
    await memory.delete_all(user_id="ada")
    assert await mine.messages() == []
    assert len(await its.messages()) == 1
    await memory.reset()
    assert await its.messages() == []
    assert await mine.end()
    assert await kept(memory) == []


async def test_no_words_of_a_person_are_logged_when_a_session_fails(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="ebbing")
    memory = AsyncMemory(components=components_of(tmp_path, load=Broken()))
    async with memory, memory.session(user_id="ada-lovelace") as session:
        await session.add("I live in Berlin")
    assert "session.end failed: ConfigurationError" in caplog.text
    for private in ("Berlin", "lovelace", "ask Ada"):
        assert private not in caplog.text


# ── listening ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_whoever_listens_hears_of_every_change_by_its_id(memory: AsyncMemory) -> None:
    heard: list[tuple[str, tuple[str, ...], bool]] = []

    async def listen(event: MemoryEvent) -> None:
        heard.append((event.topic.value, event.memory_ids, event.is_bulk))

    ends = [
        memory.subscribe(topic, listen)
        for topic in ("memory.added", "memory.updated", "memory.deleted", "memory.accessed")
    ]
    [one] = (await memory.add("I like tea", user_id="ada", infer=False))["results"]
    await memory.update(one["id"], "I like green tea")
    await memory.search("tea", user_id="ada")
    await memory.search("tea", user_id="bob")
    await memory.delete(one["id"])
    await memory.restore(one["id"])
    await memory.delete_all(user_id="ada")
    ids = (one["id"],)
    assert heard == [
        ("memory.added", ids, False),
        ("memory.updated", ids, False),
        ("memory.accessed", ids, False),
        ("memory.deleted", ids, False),
        ("memory.updated", ids, False),
        ("memory.deleted", (), True),
    ]
    for end in ends:
        end()
    await memory.add("I like rain", user_id="ada", infer=False)
    assert len(heard) == 6


async def test_what_took_the_place_of_another_is_heard_as_an_addition_and_a_change(memory: AsyncMemory) -> None:
    heard: list[MemoryEvent] = []
    for topic in ("memory.added", "memory.updated"):
        memory.subscribe(topic, heard.append)
    await memory.add("I live in Berlin", user_id="ada")
    [old] = heard.pop().memory_ids
    await memory.add("I moved to Hamburg", user_id="ada")
    assert [event.topic.value for event in heard] == ["memory.added", "memory.updated"]
    assert heard[1].memory_ids == (old,)


async def test_a_failing_listener_fails_no_call_and_no_session(memory: AsyncMemory) -> None:
    def fail(event: MemoryEvent) -> None:
        raise RuntimeError

    for topic in ("memory.added", "session.end"):
        memory.subscribe(topic, fail)
    await memory.add("I like tea", user_id="ada", infer=False)
    session = memory.session(user_id="ada")
    await session.add("I live in Berlin")
    assert await session.end(strict=True)
    assert await kept(memory) == ["I live in Berlin"]


async def test_only_known_topics_and_real_handlers_are_taken(memory: AsyncMemory) -> None:
    with pytest.raises(InvalidInputError, match="one of session"):
        memory.subscribe("session.start", print)
    with pytest.raises(InvalidInputError):
        memory.subscribe("session.end", "print")  # type: ignore[arg-type]


# ── the blocking twin ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_blocking_session_has_the_same_methods_and_documentation() -> None:
    public = [{name for name in dir(twin) if not name.startswith("_")} for twin in (Session, AsyncSession)]
    assert public[0] == public[1]
    for name in public[0] - {"run_id", "private"}:
        mine, its = getattr(Session, name), getattr(AsyncSession, name)
        assert inspect.signature(mine) == inspect.signature(its)
        assert mine.__doc__ == its.__doc__
        assert not inspect.iscoroutinefunction(mine)
    session, twin = inspect.signature(Memory.session), inspect.signature(AsyncMemory.session)
    assert list(session.parameters.values()) == list(twin.parameters.values())
    assert Memory.session.__doc__ == AsyncMemory.session.__doc__


def test_a_blocking_session_works_like_the_other(tmp_path: Path) -> None:
    with Memory(components=components_of(tmp_path)) as memory:
        with memory.session(user_id="ada", run_id="monday") as session:
            session.add("My train leaves at ten")
            assert session.messages() == [{"role": "user", "content": "My train leaves at ten"}]
            assert session.search("When does my train leave?")["results"][0]["kind"] == "working"
            assert session.get_context("When?")["messages"] == session.messages()
        assert session.run_id == "monday"
        assert session.messages() == []
        assert session.end()
        assert len(memory.get_all(user_id="ada", include="episodes")["results"]) == 1


def test_a_memory_that_is_closed_inside_a_session_has_remembered_it(tmp_path: Path) -> None:
    memory = Memory(tmp_path, embedder=FakeEmbedder())
    with memory.session(user_id="ada") as session:
        session.add("I live in Berlin")
        memory.close()
    with Memory(tmp_path, embedder=FakeEmbedder()) as again:
        assert len(again.get_all(user_id="ada", include="episodes")["results"]) == 1


def test_a_handler_of_a_blocking_memory_may_use_the_memory(tmp_path: Path) -> None:
    with Memory(components=components_of(tmp_path)) as memory:
        found: list[tuple[bool, Item | None]] = []

        def look(event: MemoryEvent) -> None:
            on_the_loop = threading.current_thread().name == "ebbing-loop"
            found.append((on_the_loop, memory.get(event.memory_ids[0])))

        memory.subscribe("memory.added", look)
        memory.add("I like tea", user_id="ada", infer=False)
        [(on_the_loop, item)] = found
        assert item is not None
        assert item["memory"] == "I like tea"
        assert not on_the_loop


def test_threads_may_talk_in_one_session_and_nothing_is_lost(tmp_path: Path) -> None:
    with Memory(components=components_of(tmp_path, settings={"session_turns": 2})) as memory:

        def talk(who: int) -> None:
            for number in range(20):
                memory.session(user_id="ada", run_id="monday").add(
                    [f"said {who} {number}", {"role": "assistant", "content": f"heard {who} {number}"}]
                )

        threads = [threading.Thread(target=talk, args=[who]) for who in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert memory.session(user_id="ada", run_id="monday").end(strict=True)
        texts = [item["memory"] for item in memory.get_all(user_id="ada", include="episodes", limit=500)["results"]]
        assert len(texts) == len(set(texts)) == 160
    gc.collect()
