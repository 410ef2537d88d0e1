"""Ebbing as a memory provider of xiaozhi-esp32-server: 把 Ebbing 接入小智服务端的记忆模块。

Copy this file to `core/providers/memory/ebbing/ebbing.py` of the server. It needs httpx, which the server has.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import httpx
from core.providers.memory.base import MemoryProviderBase, logger

TAG = __name__
BLOCK = re.compile(r"<(recalled-memory|memory)>.*?</\1>\s*", re.DOTALL)
FAILED = (httpx.HTTPError, httpx.InvalidURL, ValueError, asyncio.TimeoutError)  # the last is its own in Python 3.10
FAILURES = 3
REST_SECONDS = 30


class MemoryProvider(MemoryProviderBase):
    """Translates the three methods of the server into requests to an Ebbing service."""

    def __init__(self, config: dict[str, Any], summary_memory: str | None = None) -> None:
        super().__init__(config)
        self.base_url = str(config.get("base_url") or "http://127.0.0.1:8830").rstrip("/")
        self.api_key = str(config.get("api_key") or "")
        self.per = str(config.get("per") or "device")
        self.user_id = str(config.get("user_id") or "")
        self.max_tokens = int(config.get("max_tokens") or 300)
        self.recall_seconds = float(config.get("recall_seconds") or 1.0)
        self.agent_id = str(config.get("agent_id") or "")
        self._failures = 0
        self._rest_until = 0.0

    def init_memory(self, role_id: str, llm: Any, **kwargs: Any) -> None:
        """Begin a conversation of a device; `role_id` is its address."""
        super().init_memory(role_id, llm, **kwargs)
        if kwargs.get("agent_id"):
            self.agent_id = str(kwargs["agent_id"])

    async def save_memory(self, msgs: list[Any], context: Any = None) -> None:
        """Remember what was said; the answer of the device never waits for it."""
        messages = [
            {"role": message.role, "content": text}
            for message in msgs
            if message.role in ("user", "assistant") and (text := _spoken(message.content))
        ]
        owner = self._owner()
        if not owner or not any(message["role"] == "user" for message in messages):
            return
        session = context.get("session_id") if isinstance(context, dict) else context
        request = {**owner, "messages": messages} | ({"run_id": str(session)} if session else {})
        await self._ask("/v1/memories", request, seconds=10)

    async def query_memory(self, query: str) -> str:
        """Return what bears on a question, short; nothing if the service does not answer in time."""
        text = _spoken(query)
        owner = self._owner()
        if not owner or not text:
            return ""
        request = {**owner, "query": text, "max_tokens": self.max_tokens}
        answer = await self._recall(request)
        return str((answer or {}).get("context") or "")

    def _owner(self) -> dict[str, str]:
        """Return whose memory it is: of a person by setting, else of the device, or of the device with one agent."""
        name = self.user_id or str(self.role_id or "")
        if name and self.per == "agent" and self.agent_id:
            name = f"{name}:{self.agent_id}"
        return {"user_id": name} if name else {}

    async def _recall(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Ask for a block. After some failures in a row nobody waits for it for a while."""
        loop = asyncio.get_running_loop()
        if loop.time() < self._rest_until:
            return None
        answer = await self._ask("/v1/context", request, seconds=self.recall_seconds)
        self._failures = self._failures + 1 if answer is None else 0
        if self._failures >= FAILURES:
            self._rest_until = loop.time() + REST_SECONDS
        return answer

    async def _ask(self, path: str, request: dict[str, Any], *, seconds: float) -> dict[str, Any] | None:
        """Return the answer of the service, {} if it refuses, None if it gives none: no trouble leaves this plugin."""
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        try:
            async with httpx.AsyncClient(base_url=self.base_url, headers=headers) as client:
                response = await asyncio.wait_for(client.post(path, json=request, timeout=seconds), seconds)
            if response.is_client_error:
                logger.bind(tag=TAG).warning(f"Ebbing 拒绝了 {path}: {response.status_code}")
                return {}
            response.raise_for_status()
            answer = response.json()
        except FAILED as error:
            logger.bind(tag=TAG).warning(f"Ebbing 没有响应 {path}: {type(error).__name__}")
            return None
        return answer if isinstance(answer, dict) else None


def _spoken(content: Any) -> str:
    """Return the words alone: speech recognition may wrap them in JSON with the speaker, the language and the mood."""
    text = content.strip() if isinstance(content, str) else ""
    if text.startswith("{") and text.endswith("}"):
        try:
            spoken = json.loads(text)
        except ValueError:
            spoken = None
        if isinstance(spoken, dict) and isinstance(spoken.get("content"), str):
            text = spoken["content"]
    return BLOCK.sub("", text).strip()
