"""The host kit of `ebbing.client` over whatever memory a program has, for doors that must never break a run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar, Unpack

from ebbing import AsyncMemory, Memory
from ebbing.client import (
    BlockingMemoryService,
    HostPolicy,
    LocalStore,
    MemoryItem,
    MemoryService,
    MemoryStore,
    items_of,
)
from ebbing.client.service import named_by_host
from ebbing.client.store import Messages, Reading

_log: Final = logging.getLogger("ebbing.integrations")

_Context = TypeVar("_Context")

BY_MODEL: Final[Reading] = {"mode": "statement", "trust": "assistant"}
"""How a text is read that a model stores with a tool: it is the model's word for what the person said."""
AnyMemory = Memory | AsyncMemory | MemoryService | MemoryStore
"""What a door takes: a memory of this process, a service with a policy of its own, or a client of a server."""


class ThreadedStore:
    """A `Memory` of this process for code that awaits, on any event loop. Whoever opened the memory closes it."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def recall(
        self, query: str, *, user_id: str, agent_id: str | None = None, run_id: str | None = None, top_k: int = 5
    ) -> list[MemoryItem]:
        """Return what `search` finds."""
        answer = await asyncio.to_thread(
            self._memory.search, query, user_id=user_id, agent_id=agent_id, run_id=run_id, top_k=top_k
        )
        return items_of(answer)

    async def remember(
        self,
        messages: Messages,
        *,
        user_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        **reading: Unpack[Reading],
    ) -> str | None:
        """Store what `add` reads in messages."""
        add = partial(self._memory.add, messages, user_id=user_id, agent_id=agent_id, run_id=run_id)
        await asyncio.to_thread(add, metadata=metadata, **reading)
        return None

    async def forget(self, memory_id: str, *, user_id: str, agent_id: str | None = None) -> bool:
        """Delete a memory of this user, and agent, with the messages that it was read from; whether there was one."""
        item = await asyncio.to_thread(self._memory.get, memory_id, user_id=user_id)
        if item is None or (agent_id is not None and item["agent_id"] != agent_id):
            return False
        await asyncio.to_thread(self._memory.delete, memory_id, user_id=user_id, with_messages=True)
        return True

    async def is_well(self) -> bool:
        """Return whether the store can be read."""
        await asyncio.to_thread(self._memory.maintenance.stats)
        return True

    async def aclose(self) -> None:
        """The memory stays open."""


def service_of(memory: AnyMemory, policy: HostPolicy | None = None) -> MemoryService:
    """Return the service that keeps a memory from breaking its host; one that has its own policy as it is."""
    return memory if isinstance(memory, MemoryService) else MemoryService(_store_of(memory), policy)


def blocking_service_of(
    memory: Memory | BlockingMemoryService | MemoryStore, policy: HostPolicy | None = None
) -> BlockingMemoryService:
    """Return the same service for code that does not await."""
    if isinstance(memory, BlockingMemoryService):
        return memory
    return BlockingMemoryService(_store_of(memory), policy)


def user_from(user_of: Callable[[_Context], object], context: _Context) -> str | None:
    """Return the user's name that the program's function gives; None where it names nobody, or fails."""
    return known_user(named_by_host(user_of, context))


def known_user(user_id: object) -> str | None:
    """Return the user's name; None, with a line in the log, where the host names nobody: then there is no memory."""
    if isinstance(user_id, str) and user_id.strip():
        return user_id
    _log.warning("the host names no user: nothing is recalled or remembered")
    return None


def fitting(items: list[MemoryItem], policy: HostPolicy) -> list[MemoryItem]:
    """Return the memories that are relevant enough to stand in a prompt."""
    return [item for item in items if item.score >= policy.min_score]


def _store_of(memory: Memory | AsyncMemory | MemoryStore) -> MemoryStore:
    if isinstance(memory, Memory):
        return ThreadedStore(memory)
    return LocalStore(memory) if isinstance(memory, AsyncMemory) else memory
