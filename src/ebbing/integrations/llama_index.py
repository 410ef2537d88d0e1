"""LlamaIndex: a memory block for `Memory.from_defaults(memory_blocks=[…])`."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

from ebbing.errors import MissingExtraError

try:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.memory import BaseMemoryBlock
except ImportError as error:
    raise MissingExtraError("the LlamaIndex door needs llama-index-core: pip install 'ebbing[llama-index]'") from error

from ebbing.client import HostPolicy, MemoryService
from ebbing.integrations.host_memory import AnyMemory, known_user, service_of

_ROLES = {MessageRole.USER: "user", MessageRole.ASSISTANT: "assistant"}


class EbbingMemoryBlock(BaseMemoryBlock[str]):
    """A memory block of one user. It raises nothing, and keeps to the time of its policy.

    What fits the last message of the user is given to the prompt. What leaves the short-term memory is remembered; call
    `aput` with the messages of a finished run to remember them at once. A message that is given again in a session is
    not stored twice.
    """

    name: str = Field(default="LongTermMemory", description="The name of the block in the prompt.")
    user_id: str = Field(description="Whose memory it is.")
    agent_id: str | None = Field(default=None, description="Narrows the memory to this agent.")
    _service: MemoryService = PrivateAttr()

    def __init__(self, memory: AnyMemory, *, policy: HostPolicy | None = None, **fields: Any) -> None:
        """Open the block over a memory.

        Args:
            memory: a `Memory` or `AsyncMemory`, or a service or client of `ebbing.client`.
            policy: how much is recalled, and how long anybody waits.
            fields: `user_id`, and what a block has: `agent_id`, `name`, `priority`.
        """
        super().__init__(**fields)
        self._service = service_of(memory, policy)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        users = (message for message in reversed(messages or []) if message.role == MessageRole.USER)
        question, user = next(map(_text_of, users), ""), known_user(self.user_id)
        if not question or user is None:
            return ""
        return await self._service.recall_context(user, question, agent_id=self.agent_id) or ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        user = known_user(self.user_id)
        spoken = [message for message in messages if message.role in _ROLES and _text_of(message)]
        if spoken and user is not None:
            await self._service.maybe_write_messages(user, _numbered(spoken), agent_id=self.agent_id)


def _numbered(messages: list[ChatMessage]) -> list[dict[str, Any]]:
    """Return messages under ids that are the same whenever a conversation is given from its beginning.

    What is said again later on is another message: "I live in Porto" may be true again.
    """
    times: Counter[str] = Counter()
    numbered: list[dict[str, Any]] = []
    for message in messages:
        role, text = _ROLES[message.role], _text_of(message)
        named = json.dumps([str(message.additional_kwargs.get("session_id", "")), role, text])
        times[named] += 1
        if times[named] > 1:
            named = json.dumps([named, times[named]])
        digest = hashlib.blake2b(named.encode(), digest_size=16)
        numbered.append({"role": role, "content": text, "id": digest.hexdigest()})
    return numbered


def _text_of(message: ChatMessage) -> str:
    return "\n".join(block.text for block in message.blocks if isinstance(block, TextBlock)).strip()
