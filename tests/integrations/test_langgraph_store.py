"""The LangGraph store answers as LangGraph's own store in memory does, and what it holds survives."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.integrations.frameworks import need

need("langgraph")

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from ebbing import Memory
from ebbing.errors import InvalidInputError, TooLargeError
from ebbing.integrations.langgraph import EbbingStore
from ebbing.testing.clock import ManualClock

SEQUENCES = 2_000
LABELS = ("users", "user", "emma", "林晓", "a/b", "%", "a b", "Users", "*")
KEYS = ("k1", "K1", "键", "", "a/b", "k%")
VALUES: tuple[dict[str, Any], ...] = (
    {"n": 7},
    {"n": 1},
    {"n": 2.5, "flag": True},
    {"n": -3, "text": "likes oolong", "tags": ["a", "b"]},
    {"n": 10**20, "text": "喜欢乌龙茶", "deep": {"x": {"y": [1, {"z": None}]}}},
    {"n": 0, "text": '\0 \ud800 " \\ 😀', "flag": None},
    {"n": 1, "tags": ["a"], "flag": False},
)
FILTERS: tuple[dict[str, Any] | None, ...] = (
    None,
    {},
    {"n": 1},
    {"n": {"$gte": 1}},
    {"n": {"$lt": 2, "$gt": -5}},
    {"n": {"$ne": 1}, "flag": True},
    {"flag": None},
    {"flag": {"$eq": False}},
    {"tags": ["a", "b"]},
    {"deep": {"x": {"y": [1, {"z": None}]}}},
    {"text": "likes oolong"},
    {"text": "' OR 1=1 --"},
)


def seen(result: Any) -> Any:
    """What must be equal of an answer: everything but the times, which are those of two stores, and the scores."""
    if isinstance(result, list):
        return [seen(item) for item in result]
    return (result.namespace, result.key, result.value) if hasattr(result, "namespace") else result


def without_empty_namespaces(reference: InMemoryStore) -> None:
    """The reference lists a namespace that was only asked for, or is empty again, as LangGraph's servers do not."""
    for namespace in [name for name, items in reference._data.items() if not items]:
        del reference._data[namespace]


def sorted_namespaces(reference: InMemoryStore) -> None:
    """The order of namespaces is nobody's promise: ours is alphabetical."""
    for namespace in sorted(reference._data):
        reference._data[namespace] = reference._data.pop(namespace)


def random_operation(chance: random.Random) -> Any:
    namespace = tuple(chance.choice(LABELS) for _ in range(chance.randint(1, 3)))
    kind, key = chance.random(), chance.choice(KEYS)
    if kind < 0.45:
        index = chance.choice([None, False, ["text"]])
        return PutOp(namespace, key, chance.choice(VALUES), index=index)
    if kind < 0.55:
        return PutOp(namespace, key, None)
    if kind < 0.7:
        return GetOp(namespace, key)
    if kind < 0.88:
        prefix = namespace[: chance.randint(0, 2)]
        return SearchOp(
            prefix, chance.choice(FILTERS), limit=chance.choice([1, 3, 10]), offset=chance.choice([0, 0, 2])
        )
    conditions = tuple(
        MatchCondition(match_type=chance.choice(["prefix", "suffix"]), path=(chance.choice([*LABELS, "*"]),))
        for _ in range(chance.randint(0, 2))
    )
    depth = chance.choice([None, None, 1, 2])
    return ListNamespacesOp(conditions, depth, limit=chance.choice([2, 100]), offset=chance.choice([0, 1]))


def sequence_is_answered_alike(memory: Memory, seed: int) -> int:
    """Play one sequence of batches on both stores, and compare every answer; the number of operations."""
    chance, operations = random.Random(seed), 0
    store, reference = EbbingStore(memory, tenant=f"tenant {seed}"), InMemoryStore()
    for _ in range(chance.randint(4, 10)):
        batch = [random_operation(chance) for _ in range(chance.randint(1, 4))]
        batch.sort(key=lambda operation: isinstance(operation, GetOp))  # the reference lists what it looked for
        without_empty_namespaces(reference)
        sorted_namespaces(reference)
        assert seen(store.batch(batch)) == seen(reference.batch(batch)), (seed, batch)
        operations += len(batch)
    return operations


def test_two_thousand_random_sequences_are_answered_as_the_store_in_memory_does() -> None:
    operations = 0
    for start in range(0, SEQUENCES, 25):  # opening a memory takes longer than a sequence
        with Memory.from_config({"store": "ephemeral", "embedder": "none"}) as memory:
            operations += sum(sequence_is_answered_alike(memory, seed) for seed in range(start, start + 25))
    assert operations > 5 * SEQUENCES


def test_items_survive_a_restart_with_their_exact_values_and_times(tmp_path: Path) -> None:
    namespace = ("memories", "林晓")
    with Memory(tmp_path, embedder="none") as memory:
        store = EbbingStore(memory)
        for number, value in enumerate(VALUES):
            store.put(namespace, f"k{number}", value)
        before = store.search(namespace, limit=100)
    with Memory(tmp_path, embedder="none") as memory:
        store = EbbingStore(memory)
        assert store.search(namespace, limit=100) == before
        assert [item.value for item in before] == [*VALUES]
        assert store.list_namespaces() == [namespace]


def test_code_that_awaits_gets_the_same_answers_and_many_at_once(memory: Memory) -> None:
    async def calls(store: EbbingStore) -> None:
        await asyncio.gather(*(store.aput(("a", "b"), f"k{number}", {"n": number}) for number in range(20)))
        item = await store.aget(("a", "b"), "k7")
        assert item is not None
        assert item.value == {"n": 7}
        assert len(await store.asearch(("a",), filter={"n": {"$lt": 5}})) == 5
        await store.adelete(("a", "b"), "k7")
        assert await store.aget(("a", "b"), "k7") is None
        assert await store.alist_namespaces(prefix=("a",), max_depth=1) == [("a",)]

    asyncio.run(calls(EbbingStore(memory)))


def test_a_put_over_an_item_keeps_when_it_was_created(memory: Memory) -> None:
    store = EbbingStore(memory)
    store.put(("a",), "k", {"n": 1})
    first = store.get(("a",), "k")
    store.put(("a",), "k", {"n": 2})
    second = store.get(("a",), "k")
    assert first is not None
    assert second is not None
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    assert second.value == {"n": 2}


def test_a_deleted_item_leaves_nothing_on_the_disk(memory: Memory, tmp_path: Path) -> None:
    store = EbbingStore(memory)
    store.put(("a",), "k", {"text": "a sentence about marzipan"})
    store.delete(("a",), "k")
    store.delete(("a",), "never there")
    assert store.list_namespaces() == []
    memory.close()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"marzipan" in path.read_bytes()]


def test_a_question_finds_by_meaning_in_both_languages(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        store = EbbingStore(memory, fields=["text"])
        namespace = ("memories", "emma")
        texts = {
            "diet": "她对花生过敏",
            "home": "She lives in Leeds",
            "work": "She is a plumber",
            "pet": "她养了一只猎犬",
        }
        for key, text in texts.items():
            store.put(namespace, key, {"text": text, "source": "chat"})
        store.put(namespace, "hidden", {"text": "She must not eat peanuts"}, index=False)
        assert store.search(namespace, query="what must she not eat?")[0].key == "diet"
        assert store.search(namespace, query="她住在哪里？")[0].key == "home"
        hits = store.search(("memories",), query="她有什么宠物？", limit=10)
        assert (hits[0].key, hits[-1].key) == ("pet", "hidden")
        assert [hit.score for hit in hits] == [*sorted((h.score for h in hits[:-1] if h.score), reverse=True), None]
        assert store.search(namespace, query="what must she not eat?", filter={"source": "mail"}) == []


def test_equal_texts_are_all_found_and_upkeep_takes_none_of_them(tmp_path: Path) -> None:
    clock = ManualClock()
    with Memory(tmp_path, clock=clock) as memory:
        store = EbbingStore(memory)
        for number in range(30):
            store.put(("log",), f"k{number}", {"text": "User bought a latte on the way to work", "n": number % 3})
        before = store.search(("log",), limit=100)
        for days in (1, 8, 30, 400):
            clock.advance(timedelta(days=days))
            memory.maintenance.run()
        assert store.search(("log",), limit=100) == before
        assert len(store.search(("log",), query="coffee", limit=30)) == 30
        assert all(hit.score is not None for hit in store.search(("log",), query="coffee", limit=30))


def test_an_item_ends_when_its_time_to_live_is_over_unless_it_is_read(tmp_path: Path) -> None:
    clock = ManualClock()
    with Memory(tmp_path, embedder="none", clock=clock) as memory:
        store = EbbingStore(memory, ttl={"default_ttl": 10, "refresh_on_read": True})
        store.put(("a",), "read", {"n": 1})
        store.put(("a",), "unread", {"n": 2})
        store.put(("b",), "lasting", {"n": 3}, ttl=None)
        clock.advance(timedelta(minutes=6))
        assert store.get(("a",), "read") is not None
        clock.advance(timedelta(minutes=6))
        assert [item.key for item in store.search(("a",), refresh_ttl=False)] == ["read"]
        assert store.get(("a",), "unread") is None
        clock.advance(timedelta(minutes=6))
        assert store.list_namespaces() == [("b",)]
        store.put(("a",), "unread", {"n": 4})
        again = store.get(("a",), "unread")
        assert again is not None
        assert again.created_at == clock.now()


def test_keys_put_from_many_threads_all_arrive_and_the_last_word_on_a_key_is_whole(memory: Memory) -> None:
    store = EbbingStore(memory)

    def put(number: int) -> None:
        for turn in range(10):
            store.put(("own",), f"{number}-{turn}", {"n": number})
            store.put(("shared",), "k", {"n": number, "same": number})

    threads = [Thread(target=put, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.search(("own",), limit=100)) == 40
    shared = store.get(("shared",), "k")
    assert shared is not None
    assert shared.value["n"] == shared.value["same"]


def test_a_large_value_is_compressed_and_one_that_is_too_large_is_refused(memory: Memory) -> None:
    store = EbbingStore(memory)
    page = "一页很长的文字。" * 20_000
    store.put(("files",), "page", {"text": page})
    item = store.get(("files",), "page")
    assert item is not None
    assert item.value == {"text": page}
    noise = random.Random(1).randbytes(80_000).hex()
    with pytest.raises(TooLargeError, match="store it elsewhere"):
        store.put(("files",), "noise", {"bytes": noise})
    with pytest.raises(InvalidInputError, match="JSON values only"):
        store.batch([PutOp(("files",), "page", {"text": "changed"}), PutOp(("files",), "set", {"set": {1}})])
    assert store.get(("files",), "page") == item
    with pytest.raises(InvalidInputError, match="shorter labels"):
        store.put(("x" * 300,), "k", {})
    assert store.get(("files",), "noise") is None


def test_two_tenants_and_the_users_of_a_memory_never_see_each_others_items(memory: Memory) -> None:
    memory.add("I live in Leeds.", user_id="emma")
    acme, zenith = EbbingStore(memory, tenant="acme"), EbbingStore(memory, tenant="zenith")
    acme.put(("emma",), "k", {"n": 1})
    zenith.put(("emma",), "k", {"n": 2})
    assert [item.value for item in acme.search(())] == [{"n": 1}]
    assert [item.value for item in zenith.search(())] == [{"n": 2}]
    assert EbbingStore(memory).search(()) == []
    assert "n: 1" not in str(memory.get_all(user_id="emma"))


def test_wrong_operations_are_refused_by_name(memory: Memory) -> None:
    store = EbbingStore(memory)
    store.put(("a",), "k", {"n": 1})
    with pytest.raises(ValueError, match="unknown operator"):
        store.search(("a",), filter={"n": {"$regex": "1"}})
    with pytest.raises(InvalidNamespaceError):
        store.put(("langgraph",), "k", {})
    with pytest.raises(InvalidNamespaceError):
        store.put(("a.b",), "k", {})


def test_an_agent_remembers_in_another_thread_and_after_a_restart_what_it_was_told(tmp_path: Path) -> None:
    """A graph with a scripted model: the node reads the store before the model is asked, and writes it after."""
    asked: list[str] = []

    class ScriptedModel(GenericFakeChatModel):
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
            asked.append("\n".join(str(message.content) for message in messages))
            return super()._generate(messages, *args, **kwargs)

    def turn(store: EbbingStore, text: str, thread: str) -> str:
        model = ScriptedModel(messages=iter([AIMessage("Noted.")]))

        def answer(state: MessagesState, config: RunnableConfig, *, store: BaseStore) -> dict[str, Any]:
            namespace = ("memories", config["configurable"]["user_id"])
            question = str(state["messages"][-1].content)
            known = "\n".join(item.value["text"] for item in store.search(namespace, query=question, limit=3))
            reply = model.invoke([SystemMessage(f"Known:\n{known}"), *state["messages"]])
            store.put(namespace, f"m{len(asked)}", {"text": question})
            return {"messages": [reply]}

        graph = StateGraph(MessagesState)
        graph.add_node("answer", answer)
        graph.add_edge(START, "answer")
        compiled = graph.compile(store=store, checkpointer=InMemorySaver())
        config: RunnableConfig = {"configurable": {"user_id": "emma", "thread_id": thread}}
        state = asyncio.run(compiled.ainvoke({"messages": [HumanMessage(text)]}, config))
        return str(state["messages"][-1].content)

    with Memory(tmp_path) as memory:
        assert turn(EbbingStore(memory), "我对花生过敏。", "one") == "Noted."
    with Memory(tmp_path) as memory:
        turn(EbbingStore(memory), "What can I not eat?", "two")
    assert "花生" not in asked[0].split("Known:")[1].split("我对")[0]
    assert "我对花生过敏" in asked[1]


@pytest.mark.parametrize("ttl", [0, -1, 1e12, float("nan"), float("inf")], ids=["zero", "below", "huge", "nan", "inf"])
def test_a_time_to_live_that_cannot_be_is_refused_before_anything_is_written(memory: Memory, ttl: float) -> None:
    store = EbbingStore(memory)
    store.put(("a",), "lasting", {"v": 1})
    with pytest.raises(InvalidInputError, match="ttl"):
        store.batch([PutOp(("a",), "first", {"v": 1}), PutOp(("a",), "second", {"v": 1}, ttl=ttl)])
    assert [item.key for item in store.search(("a",))] == ["lasting"]
