"""Hosts of the Model Context Protocol inside a test: the SDK's own client, in process, on a pipe or over HTTP."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

from ebbing.interfaces.mcp.caller import Caller
from ebbing.interfaces.mcp.server import ToolSet, make_server
from ebbing.memory import AsyncMemory
from ebbing.wiring.build import build, load_settings

Mode = Literal["auto", "legacy"]
REVISIONS: dict[Mode, str] = {"auto": "2026-07-28", "legacy": "2025-11-25"}
"""The revision that a client of each mode agrees on."""
PROGRAM = "from ebbing.interfaces.cli.app import main; main()"


@asynccontextmanager
async def host(
    *, user: str | None = "emma", tools: ToolSet = "full", mode: Mode = "auto", memory: AsyncMemory | None = None
) -> AsyncIterator[Client]:
    """A host in this process, on a memory in RAM that is searched by keywords alone."""
    made = memory or AsyncMemory(components=build(load_settings({"store": "ephemeral", "embedder": "none"})))
    try:
        async with Client(make_server(lambda _: Caller(made, user), tools), mode=mode) as client:
            yield client
    finally:
        if memory is None:
            await made.close()


@asynccontextmanager
async def stdio_host(path: Path, *options: str, mode: Mode = "auto", **settings: str) -> AsyncIterator[Client]:
    """A host that starts `ebbing mcp` itself, as desktop programs do."""
    async with Client(stdio_server(path, *options, **settings), mode=mode) as client:
        yield client


def stdio_server(path: Path, *options: str, **settings: str) -> StdioServerParameters:
    """How such a host starts it."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith("EBBING_")}
    python_path = os.pathsep.join(filter(None, sys.path))
    environment = {**usual, "PYTHONPATH": python_path, "EBBING_EMBEDDER": "none", **settings}
    return StdioServerParameters(
        command=sys.executable, args=["-c", PROGRAM, "mcp", "--path", str(path), *options], env=environment
    )


@asynccontextmanager
async def http_host(address: str, *, key: str | None = None, mode: Mode = "auto") -> AsyncIterator[Client]:
    """A host that reaches the service with a key."""
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    http = httpx2.AsyncClient(headers=headers, timeout=30)
    async with http, Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client:
        yield client


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a tool that did what it was asked."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool said that did not do what it was asked."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    return text_of(result)


def text_of(result: Any) -> str:
    """What a model reads of an answer."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))
