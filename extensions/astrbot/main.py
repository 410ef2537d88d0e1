"""Ebbing as the memory of AstrBot: 每个发送者、每个群各有自己的记忆。

Copy this folder to `data/plugins/astrbot_plugin_ebbing` of AstrBot.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import Any

import httpx
from astrbot.api import logger
from astrbot.api.event import AstrMessageEvent, filter  # noqa: A004  # the name that AstrBot gives it
from astrbot.api.provider import LLMResponse, ProviderRequest
from astrbot.api.star import Context, Star

BLOCK = re.compile(r"<(recalled-memory|think)>.*?</\1>\s*", re.DOTALL)
FAILED = (httpx.HTTPError, httpx.InvalidURL, ValueError, asyncio.TimeoutError)  # the last is its own in Python 3.10
FAILURES = 3
REST_SECONDS = 30
SHOWN_BLOCKS = 500


class EbbingMemory(Star):
    """Recalls before a model is asked, remembers after it answered."""

    def __init__(self, context: Context, config: dict[str, Any] | None = None) -> None:
        super().__init__(context)
        settings = config or {}
        self.base_url = str(settings.get("base_url") or "http://127.0.0.1:8830").rstrip("/")
        self.api_key = str(settings.get("api_key") or "")
        self.max_tokens = int(settings.get("max_tokens") or 300)
        self.recall_seconds = float(settings.get("recall_seconds") or 1.5)
        self.share_groups = bool(settings.get("share_groups"))
        self._shown: OrderedDict[str, str] = OrderedDict()
        self._failures = 0
        self._rest_until = 0.0
        self._writing: set[asyncio.Task[None]] = set()

    @filter.on_llm_request()
    async def recall(self, event: AstrMessageEvent, req: ProviderRequest) -> None:
        """Put what bears on the message into the system prompt, which AstrBot does not store in a conversation."""
        owner, query = self._owner(event), _plain(event.message_str)
        if not owner or not query:
            return
        request = {"user_id": owner, "query": query, "max_tokens": self.max_tokens, "groups": ["profile", "relevant"]}
        answer = await self._recall(request)
        block = str((answer or {}).get("context") or "")
        self._shown[owner] = block
        self._shown.move_to_end(owner)
        while len(self._shown) > SHOWN_BLOCKS:
            self._shown.popitem(last=False)
        if block:
            req.system_prompt = f"{req.system_prompt or ''}\n\n{block}".strip()

    @filter.on_llm_response()
    async def remember(self, event: AstrMessageEvent, resp: LLMResponse) -> None:
        """Remember the words of the sender and the answer; calls of tools and what they return are left out."""
        owner, text = self._owner(event), _plain(event.message_str)
        if not owner or not text or resp.role != "assistant" or resp.tools_call_name:
            return
        messages = [{"role": "user", "content": text}]
        message_id = str(getattr(event.message_obj, "message_id", "") or "")
        if message_id:
            messages[0]["id"] = f"{event.unified_msg_origin}:{message_id}"
        answer = _plain(resp.completion_text)
        if answer:
            messages.append({"role": "assistant", "content": answer})
        request = {"user_id": owner, "run_id": event.unified_msg_origin, "messages": messages}
        task = asyncio.create_task(self._write(request))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    @filter.command("记忆")
    async def show(self, event: AstrMessageEvent) -> AsyncIterator[Any]:
        """显示上一次回答前放进提示词的记忆 (show the block of the last answer)。"""
        yield event.plain_result(self._shown.get(self._owner(event)) or "上一次没有放进任何记忆。")

    async def terminate(self) -> None:
        """Finish what is being written."""
        await asyncio.gather(*self._writing, return_exceptions=True)

    def _owner(self, event: AstrMessageEvent) -> str:
        """Return whose memory it is: the sender, in this group or in private; never a name that a message claims."""
        sender, group = event.get_sender_id(), event.get_group_id()
        if not sender:
            return ""
        parts = (
            [event.get_platform_id(), sender]
            if self.share_groups or not group
            else [event.get_platform_id(), group, sender]
        )
        return ":".join(str(part) for part in parts)

    async def _write(self, request: dict[str, Any]) -> None:
        await self._ask("/v1/memories", request, seconds=10)

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
                logger.warning(f"Ebbing 拒绝了 {path}: {response.status_code}")
                return {}
            response.raise_for_status()
            answer = response.json()
        except FAILED as error:
            logger.warning(f"Ebbing 没有响应 {path}: {type(error).__name__}")
            return None
        return answer if isinstance(answer, dict) else None


def _plain(text: str | None) -> str:
    """Return words without memories and thoughts."""
    return BLOCK.sub("", text or "").strip()
