"""OpenAI Agents SDK: recall into the instructions, remember after the run, tools, and a session that is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from ebbing.errors import MissingExtraError

try:
    from agents import AgentHookContext, RunContextWrapper, RunHooks, Tool, function_tool
    from agents.items import TResponseInputItem
    from agents.memory import SessionABC
    from agents.run import CallModelData, ModelInputData
except ImportError as error:
    raise MissingExtraError(
        "the OpenAI Agents door needs openai-agents: pip install 'ebbing[openai-agents]'"
    ) from error

from ebbing import Memory
from ebbing.client import HostPolicy
from ebbing.integrations.host_memory import BY_MODEL, AnyMemory, service_of, user_from
from ebbing.integrations.item_records import ItemRecords
from ebbing.integrations.stored_items import StoredItem

NOTHING_RECALLED: Final = "Nothing about this is remembered."
REMEMBERED: Final = "Remembered."
NOT_REMEMBERED: Final = "It is not certain that this is stored."


class EbbingMemory:
    """Long-term memory for runs of agents. Nothing of it raises, or takes longer than the policy allows.

    Args:
        memory: a `Memory` or `AsyncMemory`, or a service or client of `ebbing.client`.
        user_of: gives the user's name out of the run's `context`; None for nobody, who has no memory.
        agent_id: narrows the memory to this agent; all that is known of the user unless given.
        policy: how much is recalled, and how long anybody waits.
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        user_of: Callable[[Any], str | None],
        agent_id: str | None = None,
        policy: HostPolicy | None = None,
    ) -> None:
        self._service = service_of(memory, policy)
        self._user_of = user_of
        self._agent_id = agent_id

    async def recall(self, data: CallModelData[Any]) -> ModelInputData:
        """Put the recalled memories behind the instructions: `RunConfig(call_model_input_filter=memory.recall)`."""
        request = data.model_data
        context = await self._context(data.context, question_of(request.input))
        if context is None:
            return request
        return replace(request, instructions="\n\n".join(filter(None, [request.instructions, context])))

    def hooks(self) -> RunHooks[Any]:
        """Return hooks that remember the question and the answer of a run: `Runner.run(…, hooks=memory.hooks())`."""
        return _RememberingHooks(self)

    def tools(self) -> list[Tool]:
        """Return the tools `recall_memory` and `remember`; the model never names the user."""

        @function_tool
        async def recall_memory(wrapper: RunContextWrapper[Any], query: str) -> str:
            """Search the long-term memory of the current user: preferences, plans, people, earlier conversations.

            Args:
                query: one plain question.
            """
            return await self._context(wrapper.context, query) or NOTHING_RECALLED

        @function_tool
        async def remember(wrapper: RunContextWrapper[Any], text: str) -> str:
            """Store something that the current user said and that will matter later. Never store passwords.

            Args:
                text: one plain sentence in the user's words.
            """
            user = user_from(self._user_of, wrapper.context)
            is_stored = user is not None and await self._service.maybe_write(
                user, text, metadata={"source": "tool"}, agent_id=self._agent_id, **BY_MODEL
            )
            return REMEMBERED if is_stored else NOT_REMEMBERED

        return [recall_memory, remember]

    async def remember(
        self, context: Any, question: str, *, answer: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> bool:
        """Remember a round of a conversation; return whether that is known to be done."""
        user = user_from(self._user_of, context)
        if user is None:
            return False
        return await self._service.maybe_write(
            user, question, assistant_message=answer, metadata=metadata, agent_id=self._agent_id
        )

    async def _context(self, context: Any, question: str) -> str | None:
        user = user_from(self._user_of, context)
        if user is None or not question:
            return None
        return await self._service.recall_context(user, question, agent_id=self._agent_id)


class _RememberingHooks(RunHooks[Any]):
    def __init__(self, memory: EbbingMemory) -> None:
        self._memory = memory

    async def on_agent_end(self, context: AgentHookContext[Any], *agent_and_output: Any) -> None:
        question, output = question_of(context.turn_input), agent_and_output[-1]
        if question:
            answer = output if isinstance(output, str) else None
            await self._memory.remember(context.context, question, answer=answer)


class EbbingSession(SessionABC):
    """The items of one conversation, stored exactly and in order in an Ebbing memory: they survive a restart.

    A history that cannot be read or written raises, as every session does. It is not long-term memory: use
    `EbbingMemory` beside it.

    Args:
        session_id: names the conversation.
        memory: the memory that holds the items; whoever opened it closes it.
        tenant: whose items; give it here rather than a memory that `for_tenant` returned.
    """

    def __init__(self, session_id: str, memory: Memory, *, tenant: str | None = None) -> None:
        self.session_id = session_id
        self._records = ItemRecords(memory, host="openai-agents", tenant=tenant)
        self._namespace = (session_id,)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items in the order in which they were added; with a limit, the last ones."""
        items = await asyncio.to_thread(self._records.all, self._namespace)
        return [*map(_input_item, items if limit is None else items[max(0, len(items) - limit) :])]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store items behind the others."""
        await asyncio.to_thread(self._add, items)

    async def pop_item(self) -> TResponseInputItem | None:
        """Erase the last item and return it; None where there is none."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Erase all items."""
        await asyncio.to_thread(self._records.clear, self._namespace)

    def _add(self, items: Sequence[TResponseInputItem]) -> None:
        stored: list[StoredItem] = []
        for item in items:
            now = self._records.next_time()
            stored.append(StoredItem(self._namespace, self._records.new_key(), dict(item), now, now))
        self._records.put(stored)

    def _pop(self) -> TResponseInputItem | None:
        items = self._records.all(self._namespace)
        if not items:
            return None
        self._records.erase(self._namespace, items[-1].key)
        return _input_item(items[-1])


def _input_item(item: StoredItem) -> TResponseInputItem:
    return cast("TResponseInputItem", item.value)


def question_of(items: str | Sequence[TResponseInputItem]) -> str:
    """Return the text of the last message of the user; "" where there is none."""
    if isinstance(items, str):
        return items
    messages = (item for item in reversed(items) if isinstance(item, Mapping))
    for item in messages:
        if item.get("role") == "user":
            content = item.get("content")
            parts = content if isinstance(content, list) else []
            texts = (str(part.get("text", "")) for part in parts if isinstance(part, Mapping))
            return content if isinstance(content, str) else "\n".join(filter(None, texts))
    return ""
