"""What a type checker knows of the public API. mypy checks this file; nothing runs it."""

from __future__ import annotations

from typing import assert_type

from ebbing import AsyncMemory, AsyncSession, Memory, MemoryEvent, Session, errors
from ebbing.results import (
    AddAnswer,
    ContextAnswer,
    ForgetAnswer,
    GraphAnswer,
    HitItem,
    JobList,
    ListAnswer,
    MaintenanceAnswer,
    MemoryItem,
    NewWebhook,
    ProfileAnswer,
    SearchAnswer,
    SessionSearchAnswer,
    UndoAnswer,
)


def blocking_answers_are_typed(memory: Memory) -> None:
    """Each verb of `Memory` returns its own shape."""
    assert_type(memory.add("I like tea.", user_id="emma", tags=["drinks"]), AddAnswer)
    assert_type(memory.search("tea?", user_id="emma", top_k=3, explain=True), SearchAnswer)
    assert_type(memory.search("tea?", user_id="emma")["results"][0], HitItem)
    assert_type(memory.get("id"), MemoryItem | None)
    assert_type(memory.get_all(user_id="emma"), ListAnswer)
    assert_type(memory.get_context("tea?", user_id="emma"), ContextAnswer)
    assert_type(memory.forget("tea", user_id="emma"), ForgetAnswer)
    assert_type(memory.graph(user_id="emma"), GraphAnswer)
    assert_type(memory.graph_dot(user_id="emma"), str)
    assert_type(memory.undo(user_id="emma"), UndoAnswer)


def namespaces_are_typed(memory: Memory) -> None:
    """So does each verb of a namespace."""
    assert_type(memory.profiles.get(user_id="emma"), ProfileAnswer)
    assert_type(memory.maintenance.run(dry_run=True), MaintenanceAnswer)
    assert_type(memory.jobs.list(state="waiting"), JobList)
    assert_type(memory.webhooks.create("https://example.org"), NewWebhook)


async def awaited_answers_are_the_same(memory: AsyncMemory) -> None:
    """`AsyncMemory` returns what `Memory` returns."""
    assert_type(await memory.add("I like tea.", user_id="emma"), AddAnswer)
    assert_type((await memory.search("tea?", user_id="emma"))["results"], list[HitItem])
    assert_type(await memory.profiles.get(user_id="emma"), ProfileAnswer)


async def sessions_are_typed(memory: Memory, async_memory: AsyncMemory) -> None:
    """Sessions return turns beside stored memories."""
    assert_type(memory.session(user_id="emma"), Session)
    assert_type(async_memory.session(user_id="emma"), AsyncSession)
    assert_type(memory.session(user_id="emma").search("tea?"), SessionSearchAnswer)


def wrong_calls_are_errors(memory: Memory) -> None:
    """An unused ignore is an error, so each of these lines is known to be wrong."""
    memory.search("tea?", user_id="emma", topk=3)  # type: ignore[call-arg]
    memory.add("tea", user_id=5)  # type: ignore[arg-type]
    memory.get_all(user_id="emma")["result"]  # type: ignore[misc]
    memory.profiles.get(user="emma")  # type: ignore[call-arg]


def handlers_are_typed(memory: Memory) -> None:
    """A handler gets a `MemoryEvent`."""

    def handle(event: MemoryEvent) -> None:
        assert_type(event.memory_ids, tuple[str, ...])

    memory.subscribe("memory.added", handle)()


def errors_are_public(memory: Memory) -> str:
    """Errors have one home and a code."""
    try:
        memory.undo("unknown")
    except errors.ChangeNotFoundError as error:
        return error.code
    except errors.EbbingError:
        return ""
    return ""
