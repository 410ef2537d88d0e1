"""The memory as a chat back-end sees it: two verbs, wherever it lives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack

from ebbing.client.items import MemoryItem, id_of, items_of

if TYPE_CHECKING:
    from ebbing.memory import AsyncMemory

Messages = str | Sequence[Mapping[str, Any]]


class Reading(TypedDict, total=False):
    """How messages are read; see `AddOptions`."""

    mode: str
    trust: str


class MemoryStore(Protocol):
    """What `MemoryService` needs of a memory. It may raise anything and take its time: the service copes."""

    async def recall(
        self, query: str, *, user_id: str, agent_id: str | None = None, run_id: str | None = None, top_k: int = 5
    ) -> list[MemoryItem]:
        """Return the memories that answer a question, best first."""
        ...

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
        """Store what was said and what it says; an id, if there is one to tell.

        `reading` is given for what a model chose to store with a tool: it is the model's word, and not the person's.
        """
        ...

    async def is_well(self) -> bool:
        """Return whether it answers; asked after failures, before anybody is made to wait for it again."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...


class NullStore:
    """A memory that knows nothing and keeps nothing: for hosts where none is set up."""

    async def recall(self, *_: Any, **__: Any) -> list[MemoryItem]:
        """Nothing."""
        return []

    async def remember(self, *_: Any, **__: Any) -> str | None:
        """None: nothing is stored."""
        return None

    async def is_well(self) -> bool:
        """True: it never fails."""
        return True

    async def aclose(self) -> None:
        """Nothing to close."""


class LocalStore:
    """A memory of this process, for a host that needs no server. It does not close the memory: whoever opened it does.

    Args:
        memory: the memory, on the event loop of the host.
    """

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory

    async def recall(
        self, query: str, *, user_id: str, agent_id: str | None = None, run_id: str | None = None, top_k: int = 5
    ) -> list[MemoryItem]:
        """Return what `search` finds."""
        answer = await self._memory.search(query, user_id=user_id, agent_id=agent_id, run_id=run_id, top_k=top_k)
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
        """Store what `add` keeps, with the conversation as episodes."""
        added = await self._memory.add(
            messages, user_id=user_id, agent_id=agent_id, run_id=run_id, metadata=metadata, **reading
        )
        return id_of(added)

    async def forget(self, memory_id: str, *, user_id: str, agent_id: str | None = None) -> bool:
        """Delete a memory of this user, and agent, with the messages that it was read from; whether there was one."""
        item = await self._memory.get(memory_id, user_id=user_id)
        if item is None or (agent_id is not None and item["agent_id"] != agent_id):
            return False
        await self._memory.delete(memory_id, user_id=user_id, with_messages=True)
        return True

    async def is_well(self) -> bool:
        """Return whether the store can be read."""
        await self._memory.maintenance.stats()
        return True

    async def aclose(self) -> None:
        """Return the memory stays open."""
