"""The host kit: whatever the memory does, the conversation goes on in time."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from ebbing import AsyncMemory
from ebbing.client import (
    AsyncRememberingChat,
    BlockingMemoryService,
    HostPolicy,
    LocalStore,
    MemoryItem,
    MemoryService,
    NullStore,
    RememberingChat,
    service_from_env,
)
from ebbing.domain.errors import ConfigurationError, InvalidInputError, StoreError
from ebbing.resilience.circuit_breaker import Breaker
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings

pytestmark = pytest.mark.anyio
QUICK = HostPolicy(recall_seconds=0.1, write_seconds=0.1, pause_seconds=0.2)
Behaviour = Callable[[], Awaitable[Any]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Store:
    """A store that does what it is told to, and notes what it was asked."""

    def __init__(self, behaviour: Behaviour | None = None) -> None:
        self.behaviour = behaviour or answers()
        self.asked = 0
        self.written: list[Any] = []
        self.tried = 0

    async def recall(self, query: str, **_: Any) -> Any:
        self.asked += 1
        return await self.behaviour()

    async def remember(self, messages: Any, **_: Any) -> Any:
        await self.behaviour()
        self.written.append(messages)
        return "m1"

    async def is_well(self) -> bool:
        self.tried += 1
        await self.behaviour()
        return True

    async def aclose(self) -> None:
        await self.behaviour()


def answers(*items: Any) -> Behaviour:
    async def behave() -> Any:
        return list(items) or [MemoryItem("m1", "User is allergic to peanuts.", 0.9)]

    return behave


async def hangs() -> Any:
    await asyncio.Event().wait()


async def hangs_and_does_not_listen() -> Any:
    give_up = time.monotonic() + 1.0
    while time.monotonic() < give_up:
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            continue


def raises(error: BaseException) -> Behaviour:
    async def behave() -> Any:
        raise error

    return behave


def gives(value: Any) -> Behaviour:
    async def behave() -> Any:
        return value

    return behave


async def test_what_fits_comes_as_a_block_that_says_how_far_to_trust_it() -> None:
    store = Store(answers(MemoryItem("a", "User likes tea.", 0.7), MemoryItem("b", "It rained.", 0.04)))
    context = await MemoryService(store).recall_context("emma", "what does she drink?")
    assert context is not None
    assert "User likes tea." in context
    assert "It rained." not in context
    assert "must not override" in context


async def test_a_chinese_question_gets_a_chinese_block() -> None:
    context = await MemoryService(Store(answers(MemoryItem("a", "用户对花生过敏", 0.9)))).recall_context(
        "emma", "她不能吃什么？"
    )
    assert context is not None
    assert "相关长期记忆" in context
    assert "用户对花生过敏" in context


FAULTS = {
    "hung": hangs,
    "hung and deaf": hangs_and_does_not_listen,
    "refusing": raises(ConnectionRefusedError("no")),
    "failing": raises(StoreError("disk full")),
    "talking nonsense": gives("nonsense"),
    "talking half nonsense": gives([None, 3, MemoryItem("a", "x", math.nan), {"text": "x"}]),
    "giving nothing": gives(None),
    "exiting": raises(SystemError("bug")),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
async def test_no_fault_raises_or_takes_longer_than_its_budget(fault: Behaviour) -> None:
    service = MemoryService(Store(fault), QUICK)
    began = time.monotonic()
    assert await service.recall_context("emma", "tea?") is None
    await service.maybe_write("emma", "I like tea", assistant_message="Noted.")
    assert time.monotonic() - began < 0.2 + 0.15
    began = time.monotonic()
    await service.aclose()
    assert time.monotonic() - began < 0.2 + 0.15


async def test_after_five_failures_nobody_waits_until_the_memory_is_well_again() -> None:
    store = Store(hangs)
    service = MemoryService(store, QUICK)
    for _ in range(5):
        await service.recall_context("emma", "tea?")
    assert not service.is_available
    took = []
    for _ in range(50):
        began = time.perf_counter()
        assert await service.recall_context("emma", "tea?") is None
        took.append(time.perf_counter() - began)
    assert store.asked == 5
    assert sorted(took)[len(took) // 2] < 0.001
    store.behaviour = answers()
    await asyncio.sleep(0.25)
    assert await service.recall_context("emma", "tea?") is None  # this one only sets off the trial
    await asyncio.sleep(0.05)
    assert store.tried == 1
    assert await service.recall_context("emma", "tea?") is not None


async def test_a_trial_that_fails_makes_nobody_wait_either() -> None:
    store = Store(hangs)
    service = MemoryService(store, QUICK)
    for _ in range(5):
        await service.recall_context("emma", "tea?")
    await asyncio.sleep(0.25)
    began = time.perf_counter()
    assert await service.recall_context("emma", "tea?") is None
    assert time.perf_counter() - began < 0.02
    await asyncio.sleep(0.3)
    assert store.tried == 1
    assert not service.is_available
    await service.aclose()


async def test_what_one_caller_does_wrong_takes_the_memory_from_nobody() -> None:
    service = MemoryService(Store(raises(InvalidInputError("no"))), QUICK)
    for _ in range(9):
        assert await service.recall_context("emma", "tea?") is None
    assert service.is_available


async def test_a_slow_write_goes_on_after_its_caller() -> None:
    async def slow() -> None:
        await asyncio.sleep(0.15)

    store = Store(slow)
    service = MemoryService(store, QUICK)
    began = time.monotonic()
    assert not await service.maybe_write("emma", "I like tea")
    assert time.monotonic() - began < 0.145
    await service.aclose()
    assert store.written == [[{"role": "user", "content": "I like tea"}]]


async def test_writes_under_way_are_bounded_and_what_is_dropped_is_counted() -> None:
    policy = HostPolicy(write_seconds=0.01, most_writes=2, failures=100)
    service = MemoryService(Store(hangs), policy)
    for _ in range(5):
        await service.maybe_write("emma", "I like tea")
    assert service.dropped_writes == 3
    await service.aclose()


async def test_writing_can_be_switched_off_and_blank_words_are_not_written() -> None:
    store = Store()
    assert not await MemoryService(store, HostPolicy(write=False)).maybe_write("emma", "I like tea")
    assert not await MemoryService(store).maybe_write("emma", "  ")
    assert await MemoryService(store).recall_context("emma", "") is None
    assert (store.asked, store.written) == (0, [])


async def test_several_messages_are_remembered_once_however_often_they_are_given(local: AsyncMemory) -> None:
    service = MemoryService(LocalStore(local), HostPolicy(write_seconds=30))
    messages = [
        {"role": "user", "content": "I live in Leeds.", "id": "m1"},
        {"role": "assistant", "content": "A fine town.", "id": "m2"},
    ]
    assert await service.maybe_write_messages("emma", messages)
    assert await service.maybe_write_messages("emma", messages)
    assert not await service.maybe_write_messages("emma", [])
    stored = (await local.get_all(user_id="emma", include="episodes"))["results"]
    assert sorted(item["memory"] for item in stored) == ["A fine town.", "I live in Leeds."]


async def test_a_cancelled_caller_is_cancelled_and_its_write_goes_on() -> None:
    release = asyncio.Event()
    store = Store(release.wait)
    service = MemoryService(store, HostPolicy(write_seconds=5))
    writing = asyncio.create_task(service.maybe_write("emma", "I like tea"))
    await asyncio.sleep(0.01)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    release.set()
    await asyncio.sleep(0.01)
    assert len(store.written) == 1


async def test_the_breaker_may_be_shared() -> None:
    breaker = Breaker(1, pause_seconds=60)
    await MemoryService(Store(raises(OSError())), QUICK, breaker=breaker).recall_context("emma", "tea?")
    other = Store()
    assert await MemoryService(other, QUICK, breaker=breaker).recall_context("emma", "tea?") is None
    assert other.asked == 0


async def test_without_a_memory_set_up_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EBBING_CLIENT_BASE_URL", "MEM0_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    service = service_from_env()
    assert await service.recall_context("emma", "tea?") is None
    assert await service.maybe_write("emma", "I like tea")
    assert await NullStore().recall("tea?") == []


async def test_a_setting_that_does_not_fit_is_named_and_its_value_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_TOP_K", "5000secret")
    with pytest.raises(ConfigurationError, match="TOP_K") as refused:
        service_from_env()
    assert "secret" not in str(refused.value)


# ── with the real memory, in this process ────────────────────────────────────────────────────────────────────────────


@pytest.fixture
async def local() -> AsyncIterator[AsyncMemory]:
    settings = load_settings({"store": "ephemeral", "embedder": "none"})
    async with AsyncMemory(components=build(settings, embedder=FakeEmbedder())) as memory:
        yield memory


class Completions:
    """What an OpenAI-compatible client has under `chat.completions`; notes what it was sent."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    async def create(self, **request: Any) -> Any:
        self.sent.append(request["messages"])
        if request.get("stream"):
            return self._chunks()
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content="Then no satay."))])

    async def _chunks(self) -> AsyncIterator[Any]:
        for part in ("Then ", "no ", "satay."):
            yield {"choices": [{"delta": {"content": part}}]}


class BlockingCompletions(Completions):
    """The same without awaiting."""

    def create(self, **request: Any) -> Any:  # type: ignore[override]
        self.sent.append(request["messages"])
        if request.get("stream"):
            return iter([{"choices": [{"delta": {"content": "Hi."}}]}, {"choices": []}])
        return {"choices": [{"message": {"content": "Hi."}}]}


def client_with(completions: Completions) -> Any:
    return SimpleNamespace(chat=SimpleNamespace(completions=completions))


async def test_a_chat_recalls_before_it_asks_and_remembers_after_it_was_answered(local: AsyncMemory) -> None:
    await local.add("I am allergic to peanuts.", user_id="emma")
    completions = Completions()
    service = MemoryService(LocalStore(local), HostPolicy(min_score=0.0))
    chat = AsyncRememberingChat(client_with(completions), service, user_id="emma")
    asked = [{"role": "user", "content": "I moved to Leeds. What about peanuts?"}]
    answer = await chat.create(model="m", messages=asked)
    assert answer.choices[0].message.content == "Then no satay."
    assert "allergic to peanuts" in completions.sent[0][0]["content"]
    assert asked == [{"role": "user", "content": "I moved to Leeds. What about peanuts?"}]
    kept = [item["memory"] for item in (await local.get_all(user_id="emma", include="all"))["results"]]
    assert "Then no satay." in kept
    assert any("Leeds" in memory for memory in kept)


async def test_a_stream_comes_as_it_is_and_is_remembered_at_its_end(local: AsyncMemory) -> None:
    chat = AsyncRememberingChat(client_with(Completions()), MemoryService(LocalStore(local)), user_id="emma")
    chunks = [chunk async for chunk in await chat.create(messages=[{"role": "user", "content": "Hello"}], stream=True)]
    assert len(chunks) == 3
    kept = [item["memory"] for item in (await local.get_all(user_id="emma", include="episodes"))["results"]]
    assert sorted(kept) == ["Hello", "Then no satay."]


@pytest.fixture
def blocking() -> Iterator[tuple[Store, BlockingMemoryService]]:
    store = Store()
    service = BlockingMemoryService(store, QUICK)
    yield store, service
    service.close()
    service.close()


def test_a_host_that_does_not_await_has_the_same_kit(blocking: tuple[Store, BlockingMemoryService]) -> None:
    store, service = blocking
    completions = BlockingCompletions()
    chat = RememberingChat(client_with(completions), service, user_id="emma")
    asked = [{"role": "user", "content": [{"type": "text", "text": "What can I eat?"}]}]
    assert [item.id for item in blocking[1].recall("emma", "What can I not eat?")] == ["m1"]
    assert chat.create(messages=asked) == {"choices": [{"message": {"content": "Hi."}}]}
    assert "peanuts" in completions.sent[0][0]["content"]
    assert len(list(chat.create(messages=asked, stream=True))) == 2
    round_ = [{"role": "user", "content": "What can I eat?"}, {"role": "assistant", "content": "Hi."}]
    assert store.written == [round_, round_]


def test_a_hung_memory_holds_no_blocking_host_up(blocking: tuple[Store, BlockingMemoryService]) -> None:
    store, service = blocking
    store.behaviour = hangs
    began = time.monotonic()
    assert service.recall_context("emma", "tea?") is None
    assert time.monotonic() - began < 0.3
