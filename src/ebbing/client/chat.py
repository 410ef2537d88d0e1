"""An OpenAI-compatible chat client that recalls before it asks and remembers after it was answered."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Unpack

from ebbing.assistant.inject import inject
from ebbing.client.blocking import BlockingMemoryService
from ebbing.client.service import MemoryService, Where, last_user_text


class AsyncRememberingChat:
    """`await chat.create(model=…, messages=…)` in the place of `await client.chat.completions.create(…)`.

    What fits the last user message stands in the system message of what is sent; the messages given stay as they are.
    The answer comes back as the client gives it, also as a stream. Memory failing changes nothing but that.

    Args:
        client: an `openai.AsyncOpenAI`, or anything with its `chat.completions.create`.
        service: the memory.
        user_id: whose conversation it is.
    """

    def __init__(self, client: Any, service: MemoryService, *, user_id: str, **where: Unpack[Where]) -> None:
        self._client, self._service, self._user_id, self._where = client, service, user_id, where

    async def create(self, *, messages: Sequence[Mapping[str, Any]], **options: Any) -> Any:
        """Return the client's answer."""
        question = last_user_text(messages)
        context = await self._service.recall_context(self._user_id, question, **self._where)
        sent = inject(messages, context) if context else [*messages]
        answer = await self._client.chat.completions.create(messages=sent, **options)
        if options.get("stream"):
            return self._remembered(answer, question)
        await self._remember(question, said_in(answer))
        return answer

    async def _remembered(self, chunks: Any, question: str) -> AsyncIterator[Any]:
        parts: list[str] = []
        async for chunk in chunks:
            parts.append(_delta(chunk))
            yield chunk
        await self._remember(question, "".join(parts))

    async def _remember(self, question: str, answer: str) -> None:
        await self._service.maybe_write(self._user_id, question, assistant_message=answer, **self._where)


class RememberingChat:
    """The same for code that does not await: `chat.create(model=…, messages=…)`.

    Args:
        client: an `openai.OpenAI`, or anything with its `chat.completions.create`.
        service: the memory.
        user_id: whose conversation it is.
    """

    def __init__(self, client: Any, service: BlockingMemoryService, *, user_id: str, **where: Unpack[Where]) -> None:
        self._client, self._service, self._user_id, self._where = client, service, user_id, where

    def create(self, *, messages: Sequence[Mapping[str, Any]], **options: Any) -> Any:
        """Return the client's answer."""
        question = last_user_text(messages)
        context = self._service.recall_context(self._user_id, question, **self._where)
        sent = inject(messages, context) if context else [*messages]
        answer = self._client.chat.completions.create(messages=sent, **options)
        if options.get("stream"):
            return self._remembered(answer, question)
        self._remember(question, said_in(answer))
        return answer

    def _remembered(self, chunks: Any, question: str) -> Iterator[Any]:
        parts: list[str] = []
        for chunk in chunks:
            parts.append(_delta(chunk))
            yield chunk
        self._remember(question, "".join(parts))

    def _remember(self, question: str, answer: str) -> None:
        self._service.maybe_write(self._user_id, question, assistant_message=answer, **self._where)


def said_in(answer: Any) -> str:
    """Return the text of a chat completion, an object or a dict; "" where it has none."""
    return _text(_of(_first(_of(answer, "choices")), "message"))


def _delta(chunk: Any) -> str:
    return _text(_of(_first(_of(chunk, "choices")), "delta"))


def _text(message: Any) -> str:
    content = _of(message, "content")
    return content if isinstance(content, str) else ""


def _first(several: Any) -> Any:
    return several[0] if isinstance(several, Sequence) and several else None


def _of(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
