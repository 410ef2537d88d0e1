"""Google ADK: a memory service for `Runner(memory_service=…)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ebbing.errors import MissingExtraError

try:
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai import types
except ImportError as error:
    raise MissingExtraError("the Google ADK door needs google-adk: pip install 'ebbing[google-adk]'") from error

from ebbing.client import AsyncClient, HostPolicy, LocalStore, MemoryItem
from ebbing.integrations.host_memory import AnyMemory, ThreadedStore, fitting, known_user, service_of

_USER = "user"
"""Author of what the user says."""


class EbbingMemoryService(BaseMemoryService):
    """A `BaseMemoryService` over an Ebbing memory. But for `delete_memory` it raises nothing and keeps to its time.

    The user is the session's `user_id`, and the app's name is the `agent_id`: no app sees what another one was told. A
    session may be added as often as you like: events that are stored already are not stored twice.

    Args:
        memory: a `Memory` or `AsyncMemory`, or a service or client of `ebbing.client`.
        policy: how much a search gives, and how long anybody waits.
    """

    def __init__(self, memory: AnyMemory, *, policy: HostPolicy | None = None) -> None:
        self._service = service_of(memory, policy)

    async def add_session_to_memory(self, session: Session) -> None:
        """Remember what was said in a session so far."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember what some events say; tool calls and their results are left out."""
        messages = [message for event in events if (message := _message_of(event)) is not None]
        user = known_user(user_id)
        if messages and user is not None:
            await self._service.maybe_write_messages(
                user, messages, metadata=custom_metadata, agent_id=app_name, run_id=session_id
            )

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember explicit texts as if the user had said them."""
        texts = (_text_of(entry.content) for entry in memories)
        messages = [{"role": "user", "content": text} for text in texts if text]
        user = known_user(user_id)
        if messages and user is not None:
            await self._service.maybe_write_messages(user, messages, metadata=custom_metadata, agent_id=app_name)

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete a memory that a search gave, with the messages that it was read from; it can be restored.

        Deleting what is not there is no error. Whoever deletes must hear that it failed: this alone raises.

        Raises:
            NotImplementedError: the store of a policy of your own cannot delete.
            EbbingError: it could not be deleted.
        """
        store, user = self._service.store, known_user(user_id)
        if not isinstance(store, AsyncClient | LocalStore | ThreadedStore):
            raise NotImplementedError("this store deletes nothing: delete in the memory itself")
        if memory_id and user is not None:
            await store.forget(memory_id, user_id=user, agent_id=app_name)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the memories that answer a question, best first; none where there is no answer in time."""
        user = known_user(user_id)
        items = [] if user is None else await self._service.recall(user, query, agent_id=app_name)
        return SearchMemoryResponse(memories=[_entry_of(item) for item in fitting(items, self._service.policy)])


def _message_of(event: Event) -> dict[str, Any] | None:
    """Return an event as a message; None for what is not said, or not said to the end."""
    text = _text_of(event.content)
    if not text or event.partial:
        return None
    message: dict[str, Any] = {
        "role": "user" if event.author == _USER else "assistant",
        "content": text,
        "timestamp": datetime.fromtimestamp(event.timestamp, UTC).isoformat(),
    }
    return {**message, "id": event.id} if event.id else message


def _text_of(content: types.Content | None) -> str:
    """Return what a content says; the model's thoughts are left out."""
    parts = (content.parts or []) if content is not None else []
    return "\n".join(part.text for part in parts if part.text and not part.thought).strip()


def _entry_of(item: MemoryItem) -> MemoryEntry:
    content = types.Content(role=_USER, parts=[types.Part(text=item.text)])
    timestamp = None if item.created_at is None else item.created_at.isoformat()
    return MemoryEntry(id=item.id, content=content, timestamp=timestamp, custom_metadata={"score": item.score})
