"""Resources and prompts: what a person can put into a conversation without the model's doing."""

from __future__ import annotations

from typing import Annotated, Any, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from pydantic import Field

from ebbing.interfaces.mcp.answers import block, lines_of, released
from ebbing.interfaces.mcp.caller import current_caller, explained, failing_as
from ebbing.interfaces.mcp.more_tools import memory_profile
from ebbing.privacy.guarding.quote import BULLET

RECENT: Final = 20
"""Memories in the resource of that name."""


async def profile() -> str:
    """Who the person is: facts, constraints, likes and dislikes."""
    with failing_as(ResourceError):
        return block([f"{BULLET}{line}" for line in (await memory_profile())["lines"]])


async def recent() -> str:
    """The newest memories."""
    with failing_as(ResourceError):
        caller = current_caller()
        page = await caller.memory.get_all(user_id=caller.owner, limit=RECENT)
        return block(lines_of(released(page["results"])))


async def one_memory(memory_id: str) -> str:
    """One memory, by its id."""
    with failing_as(ResourceError):
        caller = current_caller()
        item: Any = await caller.memory.get(memory_id, user_id=caller.owner)
    if item is None:
        raise ResourceNotFoundError("no memory with this id: call memory_search first")
    return block(lines_of([item]))


async def recall(topic: Annotated[str, Field(description="What it is about.")]) -> str:
    """Bring what is known about a topic into the conversation."""
    try:
        caller = current_caller()
        context = (await caller.memory.get_context(topic, user_id=caller.owner))["context"]
    except Exception as error:  # the SDK would log it with its text
        context = f"Nothing could be recalled: {explained(error)}"
    return f"{context or 'Nothing is known about it yet.'}\n\nTake this into account for: {topic}"


def remember(text: Annotated[str, Field(description="What to remember.")]) -> str:
    """Ask that something be remembered."""
    return f"Remember this with memory_add, as one plain statement about me:\n\n{text}"


def review() -> str:
    """Go through the memories together."""
    return (
        "Read the resource memory://recent. Show me each memory with its date, and ask which are wrong. Correct those "
        "with memory_update, and take out with memory_forget what I no longer want to be known."
    )


def add_resources(server: MCPServer[Any]) -> None:
    """Give the server its resources."""
    server.resource("memory://profile", title="Profile", mime_type="text/plain")(profile)
    server.resource("memory://recent", title="Recent memories", mime_type="text/plain")(recent)
    server.resource("memory://{memory_id}", title="One memory", mime_type="text/plain")(one_memory)


def add_prompts(server: MCPServer[Any]) -> None:
    """Give the server its prompts."""
    server.prompt("recall", title="Recall")(recall)
    server.prompt("remember", title="Remember this")(remember)
    server.prompt("review", title="Review memories")(review)
