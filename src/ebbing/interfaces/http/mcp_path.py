"""`/mcp`: the path at which the service hands requests to the MCP door, which is opened by the first of them."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any, Final

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ebbing.domain.access_roles import AccessRole
from ebbing.interfaces.http.request_context import Memories, caller_in
from ebbing.memory import AsyncMemory
from ebbing.wiring.config.settings import Settings
from ebbing.wiring.optional_extras import mcp_endpoint

PATH: Final = "/mcp"


class McpPath:
    """An application that opens the door when it is first asked for: its packages take most of a second to load."""

    def __init__(self, memories: Memories, settings: Settings) -> None:
        self._memories, self._settings = memories, settings
        self._opening = asyncio.Lock()
        self._endpoint: Any = None
        self._closed = asyncio.Event()
        self._run: asyncio.Task[None] | None = None
        # GET would hold a stream open for messages that this server never sends, and a place among all requests.
        self.route = Route(PATH, self, methods=["POST"], include_in_schema=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request.

        Raises:
            MissingExtraError: the packages of the extra `mcp` are not installed.
        """
        scope["route"] = self.route
        async with self._opening:
            if self._endpoint is None:
                await self._open()
        await self._endpoint(scope, receive, send)

    async def close(self) -> None:
        """End what is under way."""
        self._closed.set()
        if self._run is not None:
            await self._run

    async def _open(self) -> None:
        max_body_bytes = self._settings.http_max_body_kib * 1_024
        endpoint = await asyncio.to_thread(
            mcp_endpoint, self._sender_of, tool_set=self._settings.mcp_tools, max_body_bytes=max_body_bytes
        )
        is_open = asyncio.Event()
        self._run = asyncio.create_task(self._keep_open(endpoint, is_open))
        await is_open.wait()
        self._endpoint = endpoint

    async def _keep_open(self, endpoint: Any, is_open: asyncio.Event) -> None:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(endpoint.running())
            is_open.set()
            await self._closed.wait()

    def _sender_of(self, scope: Scope) -> tuple[AsyncMemory, str | None, AccessRole]:
        """The user of the credential; where it names none, the user of the settings, in the settings' own tenant."""
        caller = caller_in(scope, self._memories, role=AccessRole.READ)
        principal = caller.principal
        user = principal.user
        if user is None and principal.tenant == self._settings.tenant:
            user = self._settings.user
        return caller.memory, user, principal.role
