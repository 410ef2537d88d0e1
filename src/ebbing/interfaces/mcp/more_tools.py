"""The tools of the set `full`, and the two that ChatGPT's connectors ask for."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp.types import CallToolResult
from pydantic import Field
from typing_extensions import TypedDict

from ebbing.api.answers.items import memory_item
from ebbing.domain.access_roles import AccessRole
from ebbing.domain.errors import MemoryNotFoundError
from ebbing.interfaces.mcp.answers import NOTE, Memories, MemoryView, ProfileLines, quoted, released, view, with_text
from ebbing.interfaces.mcp.caller import current_caller
from ebbing.interfaces.mcp.tools import MemoryId
from ebbing.privacy.guarding.quote import cut, quote
from ebbing.recall.context.usage_policy import is_usable
from ebbing.results import FeedbackAnswer

_PROFILE_SECTIONS = ("facts", "constraints", "preferences", "dislikes")
_TITLE_CHARS = 80


class ConnectorDocument(TypedDict, total=False):
    """A memory as ChatGPT's connectors want it."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


class ConnectorResults(TypedDict):
    """The answer of `search`."""

    results: list[ConnectorDocument]


class UndoResult(TypedDict):
    """How many memories an undoing touched."""

    change_id: str
    restored: int
    deleted: int


async def memory_list(
    *,
    limit: Annotated[int, Field(ge=1, le=200, description="Memories at most.")] = 20,
    cursor: Annotated[str | None, Field(description="next_cursor of the page before.")] = None,
) -> Memories:
    """List memories, the newest first."""
    caller = current_caller()
    page = await caller.memory.get_all(user_id=caller.owner, limit=limit, cursor=cursor)
    memories = [view(item, "id", "memory", "type", "importance", "created_at") for item in released(page["results"])]
    return {"memories": memories, "next_cursor": page["next_cursor"], "note": NOTE}


async def memory_explain(memory_id: MemoryId) -> MemoryView:
    """Say where a memory comes from: the sentence, the rule, and whether it still holds."""
    caller = current_caller()
    item = await caller.memory.explain(memory_id, user_id=caller.owner)
    source = item["provenance"]
    origin = {name: source[name] for name in ("source_text", "method", "reason")}
    return view(item, "id", "memory", "type", "importance", "created_at", "valid_to", "deleted_at", **origin)


async def memory_history(memory_id: MemoryId) -> Memories:
    """Show what happened to a memory, the oldest first."""
    caller = current_caller()
    entries = await caller.memory.history(memory_id, user_id=caller.owner)
    if not entries:
        raise MemoryNotFoundError("no memory with this id")
    changes = ("event", "old_memory", "new_memory", "reason")
    return {
        "memories": [view(entry, *changes, created_at=entry["updated_at"] or entry["created_at"]) for entry in entries]
    }


async def memory_profile() -> ProfileLines:
    """Show who the person is, in short: facts, constraints, likes and dislikes."""
    caller = current_caller()
    answer: Any = await caller.memory.profiles.get(user_id=caller.owner)
    lines = [quoted(entry["text"], answer) for section in _PROFILE_SECTIONS for entry in answer[section]]
    return {"summary": quote(answer["summary"], 2_000), "lines": lines, "note": NOTE}


async def memory_undo(
    change_id: Annotated[str, Field(description="change_id of memory_add, memory_update or memory_forget.")],
) -> UndoResult:
    """Take back a change as a whole."""
    caller = current_caller(AccessRole.WRITE)
    answer = await caller.memory.undo(change_id, user_id=caller.owner)
    return {"change_id": change_id, "restored": len(answer["restored"]), "deleted": len(answer["deleted"])}


async def memory_feedback(
    memory_id: MemoryId,
    signal: Annotated[
        Literal["used", "ignored", "corrected", "up", "down"],
        Field(description="What became of the memory in the answer."),
    ],
) -> FeedbackAnswer:
    """Say that a memory was of use, or was not: what is used fades more slowly."""
    caller = current_caller(AccessRole.WRITE)
    return await caller.memory.feedback(memory_id, signal, user_id=caller.owner)


async def search(query: Annotated[str, Field(min_length=1, description="A question.")]) -> ConnectorResults:
    """Search the memories; `fetch` reads one of them."""
    caller = current_caller()
    results = await caller.memory.search_records(query, user_id=caller.owner, top_k=10)
    return {"results": [_document(memory_item(hit.record)) for hit in results.hits if is_usable(hit.record)]}


async def fetch(
    id: Annotated[str, Field(description="Id from search.")],
) -> Annotated[CallToolResult, ConnectorDocument]:
    """Read one memory whole."""
    caller = current_caller()
    item: Any = await caller.memory.get(id, user_id=caller.owner)
    if item is None:
        raise MemoryNotFoundError("no memory with this id")
    text = quoted(item["memory"], item)
    metadata = {"type": item["type"], "created_at": item["created_at"], "note": NOTE}
    return with_text(text, {**_document(item), "text": text, "metadata": metadata})


def _document(item: Any) -> ConnectorDocument:
    title = cut(quoted(item["memory"], item), _TITLE_CHARS)
    return {"id": item["id"], "title": title, "url": f"memory://{item['id']}"}
