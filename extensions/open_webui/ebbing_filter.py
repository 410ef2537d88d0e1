"""
title: Ebbing memory
author: Ebbing contributors
version: 0.1.0
license: Apache-2.0
description: Long-term memory for each user, from your own Ebbing service. Recalls before an answer, remembers after it.
requirements: httpx
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from pydantic import BaseModel, Field

BLOCK = re.compile(r"\s*<recalled-memory>.*?</recalled-memory>", re.DOTALL)
DETAILS = re.compile(r"<details\b[^>]*>.*?</details>|<think>.*?</think>", re.DOTALL)
SHOWN_MEMORIES = 3
FAILURES = 3
REST_SECONDS = 30

Body = dict[str, Any]
Emitter = Callable[[Body], Awaitable[None]]


class Filter:
    """Puts what is remembered of a user behind their last message, and remembers the turn after the answer."""

    class Valves(BaseModel):
        """What an administrator sets."""

        base_url: str = Field(default="http://127.0.0.1:8830", description="Where the Ebbing service answers.")
        api_key: str = Field(default="", description="A key for the whole tenant (`ebbing keys create`). Empty: none.")
        recall_seconds: float = Field(default=1.5, description="How long a chat waits for its memories at most.")
        max_tokens: int = Field(default=600, description="How long the block of memories may be.")
        priority: int = Field(default=0, description="The order among filters.")

    class UserValves(BaseModel):
        """What each user sets."""

        recall: bool = Field(default=True, description="Put memories before the model.")
        remember: bool = Field(default=True, description="Remember what is said.")
        show_status: bool = Field(default=True, description="Show above an answer what was recalled.")

    def __init__(self) -> None:
        self.valves = self.Valves()
        self._failures = 0
        self._rest_until = 0.0
        self._writing: set[asyncio.Task[None]] = set()

    async def inlet(
        self,
        body: Body,
        *,
        __user__: Body | None = None,
        __metadata__: Body | None = None,
        __event_emitter__: Emitter | None = None,
    ) -> Body:
        """Put memories behind the last message of the user; leave the body as it is where there are none."""
        message = _last(body, "user")
        user, wishes = _person(__user__)
        if message is None or not user or not wishes.recall or (__metadata__ or {}).get("task"):
            return body
        query = _text(message)
        request = {"user_id": user, "query": query, "max_tokens": self.valves.max_tokens}
        answer = await self._recall(request) if query else None
        block = (answer or {}).get("context")
        if block:
            _append(message, f"\n\n{block}")
        if wishes.show_status and __event_emitter__ is not None:
            status = _status(answer) if query else ""
            if status:
                event = {"type": "status", "data": {"description": status, "done": True}}
                await _quietly(__event_emitter__(event))
        return body

    async def outlet(self, body: Body, __user__: Body | None = None) -> Body:
        """Remember the last turn, behind the conversation; the answer is shown as it is."""
        user, wishes = _person(__user__)
        turn = [_last(body, "user"), _last(body, "assistant")]
        messages = [
            {"role": message["role"], "content": text} | ({"id": message["id"]} if message.get("id") else {})
            for message in turn
            if message is not None and (text := _text(message))
        ]
        chat = str(body.get("chat_id") or "")
        if user and wishes.remember and messages and not chat.startswith("local:"):  # a temporary chat leaves no trace
            request = {"user_id": user, "messages": messages} | ({"run_id": chat} if chat else {})
            task = asyncio.create_task(self._write(request))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)
        return body

    async def _write(self, request: Body) -> None:
        await self._ask("/v1/memories", request, seconds=10)

    async def _recall(self, request: Body) -> Body | None:
        """Ask for a block. After some failures in a row nobody waits for it for a while."""
        loop = asyncio.get_running_loop()
        if loop.time() < self._rest_until:
            return None
        answer = await self._ask("/v1/context", request, seconds=self.valves.recall_seconds)
        self._failures = self._failures + 1 if answer is None else 0
        if self._failures >= FAILURES:
            self._rest_until = loop.time() + REST_SECONDS
        return answer

    async def _ask(self, path: str, request: Body, *, seconds: float) -> Body | None:
        """Return the answer of the service, {} if it refuses, None if it gives none: no trouble leaves this filter."""
        key = self.valves.api_key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            async with httpx.AsyncClient(base_url=self.valves.base_url.rstrip("/"), headers=headers) as client:
                response = await asyncio.wait_for(client.post(path, json=request, timeout=seconds), seconds)
            if response.is_client_error:
                return {}
            response.raise_for_status()
            answer = response.json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, TimeoutError):
            return None
        return answer if isinstance(answer, dict) else None


def _person(user: Body | None) -> tuple[str, Filter.UserValves]:
    """Return who is signed in, never whom a message names, and what they want."""
    wishes = (user or {}).get("valves")
    if not isinstance(wishes, Filter.UserValves):
        wishes = Filter.UserValves(**(wishes if isinstance(wishes, dict) else {}))
    return str((user or {}).get("id") or ""), wishes


def _last(body: Body, role: str) -> Body | None:
    messages = [each for each in body.get("messages") or [] if isinstance(each, dict)]
    return next((each for each in reversed(messages) if each.get("role") == role), None)


def _text(message: Body) -> str:
    """Return the words of a message, without memories, thoughts and calls of tools."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = "\n".join(part for part in parts if isinstance(part, str))
    return DETAILS.sub("", BLOCK.sub("", content)).strip() if isinstance(content, str) else ""


def _append(message: Body, text: str) -> None:
    content = message["content"]
    if isinstance(content, list):
        message["content"] = [*content, {"type": "text", "text": text.strip()}]
    else:
        message["content"] = content + text


def _status(answer: Body | None) -> str:
    """Return the line above the answer: what was recalled, or that the memory is away."""
    if not answer:
        return "Memory is not available; the chat goes on without it · 记忆服务暂不可用，对话照常"
    texts = [str(memory.get("text")) for memory in answer.get("memories") or []]
    if not texts:
        return ""
    more = f" (+{len(texts) - SHOWN_MEMORIES})" if len(texts) > SHOWN_MEMORIES else ""
    return f"Recalled · 想起了: {'; '.join(texts[:SHOWN_MEMORIES])}{more}"


async def _quietly(event: Awaitable[None]) -> None:
    """Send an event; a browser that left breaks nothing."""
    try:
        await event
    except (OSError, RuntimeError, ValueError, KeyError):
        return
