"""LangChain: the tools `recall_memory` and `remember`, and a retriever."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from ebbing.errors import MissingExtraError

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool, StructuredTool
    from pydantic import PrivateAttr
except ImportError as error:
    raise MissingExtraError("the LangChain door needs langchain-core: pip install 'ebbing[langchain]'") from error

from ebbing import Memory
from ebbing.client import BlockingMemoryService, HostPolicy, MemoryItem, MemoryStore
from ebbing.integrations.host_memory import BY_MODEL, blocking_service_of, known_user

NOTHING_RECALLED: Final = "Nothing about this is remembered."
REMEMBERED: Final = "Remembered."
NOT_REMEMBERED: Final = "It is not certain that this is stored."
_MOST: Final = 50
"""Documents of one question, at most."""

_RECALL: Final = (
    "Search the long-term memory of the current user. Use it before you answer what depends on who the user is:"
    " preferences, plans, people, earlier conversations. Ask one plain question."
)
_REMEMBER: Final = (
    "Store something that the current user said and that will matter later, as one plain sentence in the user's words."
    " Do not store passwords or what the user asked not to store."
)


def memory_tools(
    memory: Memory | BlockingMemoryService | MemoryStore,
    *,
    user_id: str | None = None,
    policy: HostPolicy | None = None,
) -> list[BaseTool]:
    """Return the tools `recall_memory` and `remember`, for any agent that calls tools.

    The model never names the user: it is `user_id`, else `configurable.user_id` of the run's config.

    Args:
        memory: a `Memory`, or a service or client of `ebbing.client`.
        user_id: whose memory it is; of the config unless given.
        policy: how much is recalled, and how long anybody waits.
    """
    service = blocking_service_of(memory, policy)

    def recall_memory(query: str, config: RunnableConfig) -> str:
        user = known_user(_user_of(config, user_id))
        context = None if user is None else service.recall_context(user, query)
        return context or NOTHING_RECALLED

    def remember(text: str, config: RunnableConfig) -> str:
        user = known_user(_user_of(config, user_id))
        is_stored = user is not None and service.maybe_write(user, text, metadata={"source": "tool"}, **BY_MODEL)
        return REMEMBERED if is_stored else NOT_REMEMBERED

    async def recall_in_thread(query: str, config: RunnableConfig) -> str:
        return await asyncio.to_thread(recall_memory, query, config)

    async def remember_in_thread(text: str, config: RunnableConfig) -> str:
        return await asyncio.to_thread(remember, text, config)

    return [
        StructuredTool.from_function(
            func=recall_memory, coroutine=recall_in_thread, name="recall_memory", description=_RECALL
        ),
        StructuredTool.from_function(
            func=remember, coroutine=remember_in_thread, name="remember", description=_REMEMBER
        ),
    ]


class EbbingRetriever(BaseRetriever):
    """A retriever over the memory of one user; an empty list where the memory has no answer in time.

    The metadata of each document holds `id`, `score` in [0, 1], `created_at` and `source_ids`.
    """

    memory: Any
    """A `Memory`, or a service or client of `ebbing.client`."""
    user_id: str
    """Whose memory it is."""
    k: int = 5
    """How many documents at most; a service of your own gives no more than its `HostPolicy.top_k`."""
    min_score: float = 0.0
    """Least relevance of a document, in [0, 1]."""
    seconds: float = 5.0
    """How long a question may take."""

    _service: BlockingMemoryService = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Open the service once."""
        super().model_post_init(context)
        policy = HostPolicy(top_k=_MOST, min_score=self.min_score, recall_seconds=self.seconds)
        self._service = blocking_service_of(self.memory, policy)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        user = known_user(self.user_id)
        items = [] if user is None else self._service.recall(user, query)
        relevant = [item for item in items if item.score >= self.min_score]
        limit = self.k if k is None else k
        return [Document(page_content=item.text, metadata=_metadata(item)) for item in relevant[:limit]]


def _metadata(item: MemoryItem) -> dict[str, Any]:
    """Return what a reader of a document may want to know of the memory that it shows."""
    created_at = None if item.created_at is None else item.created_at.isoformat()
    return {"id": item.id, "score": item.score, "created_at": created_at, "source_ids": item.raw.get("source_ids", [])}


def _user_of(config: RunnableConfig, user_id: str | None) -> object:
    return user_id if user_id is not None else config.get("configurable", {}).get("user_id")
