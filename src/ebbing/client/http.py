"""A memory behind HTTP, for code that awaits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Self, TypedDict, Unpack
from urllib.parse import quote

import httpx

from ebbing.client.items import MemoryItem, id_of, items_of
from ebbing.client.store import Messages, Reading
from ebbing.client.wire import Wire, WireRequest
from ebbing.domain.errors import MemoryNotFoundError, MemoryServerError
from ebbing.wiring.config.client_settings import fresh_ids

Item = dict[str, Any]


class OwnerIds(TypedDict, total=False):
    """Whose memory a call means; a credential for one user needs none of it."""

    user_id: str | None
    agent_id: str | None
    run_id: str | None


class AddOptions(OwnerIds, Reading, total=False):
    """Whose memory an add means, and how the messages are read."""


class SearchOptions(OwnerIds, total=False):
    """What a search may be given beside its question; see `Memory.search`."""

    filters: Mapping[str, Any] | None
    include: str
    threshold: float | None
    precise: bool
    explain: bool
    context_turns: int
    as_of: datetime | str | float | None
    reference_date: datetime | str | float | None


@dataclass(frozen=True, slots=True)
class Paths:
    """Where a server answers; those of mem0-like servers differ."""

    add: str = "/v1/memories"
    search: str = "/v1/memories/search"


_PATHS: Final = Paths()


class AsyncClient:
    """Ebbing's service, or a server like mem0's, over a pool of connections.

    Reads, and adds (which carry an idempotency key), are repeated when the server is briefly away; nothing else is.
    After five failures in a row the server is left alone for half a minute.

    Args:
        base_url: where the service answers, for example `http://localhost:8830`.
        api_key: made with `ebbing keys create`.
        seconds: how long a call takes at most.
        paths: of a server that is not ours; adds to it are sent once.
        transport: for a service in the same process.

    Raises:
        EbbingError: from every method: a refusal, as one of `ebbing.domain.errors`.
        ServerUnavailableError: from every method: no usable answer in time.
    """

    def __init__(
        self,
        base_url: str = "http://localhost:8830",
        *,
        api_key: str | None = None,
        seconds: float = 10.0,
        paths: Paths = _PATHS,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._wire = Wire(base_url, api_key=api_key, seconds=seconds, transport=transport)
        self._paths, self._ids = paths, fresh_ids()

    async def add(
        self,
        messages: Messages,
        *,
        metadata: Mapping[str, Any] | None = None,
        infer: bool = True,
        private: bool = False,
        **owner: Unpack[AddOptions],
    ) -> Item:
        """Remember what a conversation says; `{"id", "results": [{"id", "text", "event", "reason"}], …}`.

        Args:
            messages: a text, or messages with `role` and `content`.
            infer: read facts and keep the messages as evidence; False keeps each message as a memory.
            private: off the record; nothing of it is written.
        """
        message_list = [{"role": "user", "content": messages}] if isinstance(messages, str) else [*messages]
        body = {
            "messages": message_list,
            "infer": infer,
            **_given_values(metadata=metadata, private=private or None, **owner),
        }
        # Another server may not know the key, and would store a repeated message twice.
        key = {"Idempotency-Key": self._ids.new()} if self._paths == _PATHS else {}
        return await self._object(WireRequest("POST", self._paths.add, body, headers=key, repeatable=bool(key)))

    async def search(self, query: str, *, top_k: int = 5, **options: Unpack[SearchOptions]) -> list[MemoryItem]:
        """Return the memories that answer a question, best first."""
        body = {"query": query, "top_k": top_k, "limit": top_k, **_given_values(**options)}
        return items_of(await self._wire.ask(WireRequest("POST", self._paths.search, body, repeatable=True)))

    async def get_all(
        self, *, limit: int = 100, cursor: str | None = None, **owner: Unpack[OwnerIds]
    ) -> tuple[list[MemoryItem], str | None]:
        """Return memories, the newest first, and where the next page begins (None: there is none)."""
        params = _given_values(limit=limit, cursor=cursor, **owner)
        page = await self._wire.ask(WireRequest("GET", self._paths.add, params=params, repeatable=True))
        after = page.get("next_cursor") if isinstance(page, dict) else None
        return items_of(page), after if isinstance(after, str) else None

    async def get(self, memory_id: str, *, user_id: str | None = None) -> MemoryItem:
        """Return one memory.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
        """
        return _memory_of(await self._wire.ask(self._about(memory_id, "GET", user_id=user_id)))

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        user_id: str | None = None,
    ) -> MemoryItem:
        """Give a memory another text, other metadata, or both; return it."""
        request = self._about(memory_id, "PUT", body=_given_values(text=text, metadata=metadata), user_id=user_id)
        return _memory_of(await self._wire.ask(request))

    async def delete(
        self,
        memory_id: str,
        *,
        hard: bool = False,
        reason: str | None = None,
        user_id: str | None = None,
        with_messages: bool = False,
    ) -> None:
        """Take a memory out of every answer; it can be restored unless `hard`.

        `with_messages` takes out the messages that it was read from, too.
        """
        options: dict[str, Any] = {"hard": hard or None, "reason": reason, "with_messages": with_messages or None}
        await self._wire.ask(self._about(memory_id, "DELETE", user_id=user_id, **options))

    async def forget(self, memory_id: str, *, user_id: str, agent_id: str | None = None) -> bool:
        """Delete a memory of this user, and agent, with the messages that it was read from; whether there was one."""
        try:
            item = await self.get(memory_id, user_id=user_id)
            if agent_id is not None and item.raw.get("agent_id") != agent_id:
                return False
            await self.delete(memory_id, user_id=user_id, with_messages=True)
        except MemoryNotFoundError:
            return False
        return True

    async def restore(self, memory_id: str, *, user_id: str | None = None) -> MemoryItem:
        """Bring a deleted memory back and return it."""
        return _memory_of(await self._wire.ask(self._about(memory_id, "POST", part="/restore", user_id=user_id)))

    async def history(self, memory_id: str, *, user_id: str | None = None) -> list[Item]:
        """Return what happened to a memory, oldest first."""
        answer = await self._wire.ask(self._about(memory_id, "GET", part="/history", user_id=user_id))
        entries = answer.get("history") if isinstance(answer, dict) else answer
        return [item for item in entries if isinstance(item, dict)] if isinstance(entries, list) else []

    async def explain(self, memory_id: str, *, user_id: str | None = None) -> Item:
        """Why a memory is kept: its source, every decision about it, and what became of it."""
        return await self._object(self._about(memory_id, "GET", part="/explain", user_id=user_id))

    async def get_context(
        self,
        query: str | None = None,
        *,
        messages: Sequence[Mapping[str, Any]] | None = None,
        max_tokens: int = 1_000,
        **owner: Unpack[OwnerIds],
    ) -> Item:
        """Profile, relevant and recent memories as a block for a prompt: `{"context", "profile_summary", …}`."""
        body = _given_values(query=query, messages=messages, max_tokens=max_tokens, **owner)
        return await self._object(WireRequest("POST", "/v1/context", body, repeatable=True))

    async def recall(
        self, query: str, *, user_id: str, agent_id: str | None = None, run_id: str | None = None, top_k: int = 5
    ) -> list[MemoryItem]:
        """`search`, as the host kit asks it."""
        return await self.search(query, top_k=top_k, user_id=user_id, agent_id=agent_id, run_id=run_id)

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
        """`add`, as the host kit asks it: the id of what was stored, if there is one to tell."""
        added = await self.add(
            messages, metadata=metadata, user_id=user_id, agent_id=agent_id, run_id=run_id, **reading
        )
        return id_of(added)

    async def is_well(self) -> bool:
        """Return whether the service is there."""
        await self._wire.ask(WireRequest("GET", "/healthz", repeatable=True))
        return True

    async def aclose(self) -> None:
        """Close the connections; idempotent."""
        await self._wire.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _object(self, request: WireRequest) -> Item:
        answer = await self._wire.ask(request)
        if isinstance(answer, dict):
            return answer
        return {"results": answer if isinstance(answer, list) else []}

    def _about(self, memory_id: str, method: str, *, part: str = "", body: Any = None, **params: Any) -> WireRequest:
        path = f"{self._paths.add}/{quote(memory_id, safe='')}{part}"
        return WireRequest(method, path, body, params=_given_values(**params), repeatable=method == "GET")


def _given_values(**values: Any) -> Item:
    """Return what is not None, moments in ISO 8601."""
    given_values = {name: value for name, value in values.items() if value is not None}
    for name, value in given_values.items():
        if isinstance(value, datetime):
            given_values[name] = value.isoformat()
    return given_values


def _memory_of(answer: Any) -> MemoryItem:
    items = items_of([answer]) or items_of(answer)
    if not items:
        raise MemoryServerError("the memory server answered with something that is no memory")
    return items[0]
