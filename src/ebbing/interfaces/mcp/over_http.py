"""`/mcp` of the service: the same server over streamable HTTP, behind the credentials of the service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from ebbing.domain.access_roles import AccessRole
from ebbing.interfaces.mcp.caller import Caller
from ebbing.interfaces.mcp.server import ToolSet, make_server
from ebbing.memory import AsyncMemory

Sender = tuple[AsyncMemory, str | None, AccessRole]
"""The memory of a tenant, a user of it, and what they may do."""


class McpEndpoint:
    """An application that answers at one path. It keeps nothing between two requests."""

    def __init__(self, sender_of: Callable[[Scope], Sender], *, tool_set: ToolSet, max_body_bytes: int) -> None:
        """`sender_of` reads a request that the service has let in."""

        def caller_of(ctx: ServerRequestContext[Any, Any]) -> Caller:
            assert ctx.request is not None  # there is one for every message over HTTP
            memory, user, role = sender_of(ctx.request.scope)
            return Caller(memory, user, role)

        server = make_server(caller_of, tool_set)
        server.streamable_http_app(
            json_response=True,
            stateless_http=True,
            max_request_body_size=max_body_bytes,
            # The service checks Host and Origin itself, by one rule for all its paths.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._sessions = server.session_manager

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Be able to answer as long as the context lasts."""
        async with self._sessions.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._sessions.handle_request(scope, receive, send)
