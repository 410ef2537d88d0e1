"""Chat exports of other programs, read one item at a time. Each reader takes an item and its line number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ebbing.transfer.imported_turn import Exported, Read, Turn, Unreadable
from ebbing.transfer.record_lines import FORMAT_KEY
from ebbing.transfer.times import message_time, read_time

_ROLES: Final = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "gpt", "ai", "bot", "chatgpt", "bard", "bing"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "observation"), "tool"),
}
_OWNER_FIELDS: Final = {
    **dict.fromkeys(("user_id", "userId"), "user_id"),
    **dict.fromkeys(("agent_id", "agentId"), "agent_id"),
    **dict.fromkeys(("run_id", "runId", "session_id", "session", "conversation_id"), "run_id"),
}


def read_own(item: Mapping[str, Any], line: int) -> Iterator[Read]:
    """A line of `ebbing export`."""
    yield Exported(line, item)


def read_message(item: Mapping[str, Any], line: int) -> Iterator[Read]:
    """`{"role", "content", …}`, or `{"messages": [...]}` as fine-tuning files have it."""
    owner_ids = {
        _OWNER_FIELDS[key]: value for key, value in item.items() if key in _OWNER_FIELDS and isinstance(value, str)
    }
    metadata = item.get("metadata")
    if not isinstance(metadata, Mapping):
        metadata = {}
    many = item.get("messages")
    if not isinstance(many, list):
        yield _turn(item, line, owner_ids=owner_ids, metadata=metadata)
        return
    if "run_id" not in owner_ids and isinstance(item.get("id"), str):
        owner_ids["run_id"] = item["id"]
    for message in many:
        yield _turn(message, line, owner_ids=owner_ids, metadata=metadata)


def read_sharegpt(item: Mapping[str, Any], line: int) -> Iterator[Read]:
    """`{"id", "conversations": [{"from": "human", "value": "…"}]}`."""
    owner_ids = {"run_id": item["id"]} if isinstance(item.get("id"), str) else {}
    turns = item.get("conversations")
    for message in turns if isinstance(turns, list) else [None]:
        yield _turn(_from_sharegpt(message), line, owner_ids=owner_ids, metadata={})


def read_sillytavern(item: Mapping[str, Any], line: int) -> Iterator[Read]:
    """`{"name", "is_user", "mes", "send_date"}`; the file's first line describes the chat and holds no message."""
    if "mes" not in item:
        if "user_name" not in item and "chat_metadata" not in item:
            yield Unreadable(line, "no message: 'mes' is missing")
        return
    if item.get("is_system"):
        return  # hidden from the model in the chat itself: notices and comments
    role = "user" if item.get("is_user") else "assistant"
    message = {"role": role, "content": item["mes"], "name": item.get("name"), "timestamp": item.get("send_date")}
    yield _turn(message, line, owner_ids={}, metadata={})


def read_chatgpt(item: Mapping[str, Any], line: int) -> Iterator[Read]:
    """One conversation of `conversations.json`: a tree of messages, of which the branch last shown is read."""
    tree = item.get("mapping")
    if not isinstance(tree, Mapping):
        yield Unreadable(line, "no conversation: 'mapping' is missing")
        return
    run = item.get("conversation_id") or item.get("id")
    owner_ids = {"run_id": run} if isinstance(run, str) else {}
    metadata = {"title": item["title"]} if isinstance(item.get("title"), str) and item["title"] else {}
    for node in _branch(tree, item.get("current_node")):
        message = _chatgpt_message(node.get("message"), begun=item.get("create_time"))
        if message is not None:
            yield _turn(message, line, owner_ids=owner_ids, metadata=metadata)


def _from_sharegpt(message: object) -> object:
    if not isinstance(message, Mapping):
        return message
    return {**message, "role": message.get("from"), "content": message.get("value")}


def _branch(tree: Mapping[str, Any], last: object) -> list[Mapping[str, Any]]:
    """The nodes from the root to `last`, or to the end of the newest branch where that is unknown."""
    if not isinstance(last, str) or last not in tree:
        last = _newest_leaf(tree)
    nodes: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while isinstance(last, str) and last not in seen and isinstance(node := tree.get(last), Mapping):
        seen.add(last)
        nodes.append(node)
        last = node.get("parent")
    return nodes[::-1]


def _newest_leaf(tree: Mapping[str, Any]) -> str | None:
    leaves = [name for name, node in tree.items() if isinstance(node, Mapping) and not node.get("children")]
    return max(leaves, key=lambda name: _time_of(tree[name]), default=None)


def _time_of(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    moment = message.get("create_time") if isinstance(message, Mapping) else None
    return float(moment) if isinstance(moment, int | float) else 0.0


def _chatgpt_message(message: object, *, begun: object) -> dict[str, Any] | None:
    """A message of words or pictures, or None for the tree's root, hidden notes and code runs.

    Without a time of its own it has that of its conversation (`begun`).
    """
    if not isinstance(message, Mapping):
        return None
    author, content = message.get("author"), message.get("content")
    role = author.get("role") if isinstance(author, Mapping) else None
    if role not in {"user", "assistant"} or not isinstance(content, Mapping):
        return None
    if content.get("content_type") not in {"text", "multimodal_text"}:
        return None
    parts = [_chatgpt_part(part) for part in content.get("parts") or () if part]
    if not any(part["type"] != "text" or part["text"].strip() for part in parts):
        return None
    moment = message.get("create_time")
    return {"id": message.get("id"), "role": role, "content": parts, "timestamp": begun if moment is None else moment}


def _chatgpt_part(part: object) -> dict[str, str]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    kind = part.get("content_type") if isinstance(part, Mapping) else None
    return {"type": kind if isinstance(kind, str) else "other"}


def _turn(
    message: object, line: int, *, owner_ids: Mapping[str, str], metadata: Mapping[str, Any]
) -> Turn | Unreadable:
    if not isinstance(message, Mapping):
        return Unreadable(line, "a message must be an object with 'role' and 'content'")
    role = _ROLES.get(str(message.get("role", "")).strip().lower())
    if role is None:
        return Unreadable(line, "'role' is missing or unknown")
    content = message.get("content")
    if not isinstance(content, str | list):
        return Unreadable(line, "'content' is missing or no text")
    clean: dict[str, Any] = {"role": role, "content": content}
    for key in ("id", "name"):
        if isinstance(message.get(key), str) and message[key]:
            clean[key] = message[key]
    time_key, value = message_time(message)
    if time_key is not None:
        moment = read_time(value)
        if moment is None:
            return Unreadable(line, f"the time under {time_key!r} is in no form we know: use ISO 8601 or epoch seconds")
        clean["timestamp"] = moment
    return Turn(line, clean, owner_ids, metadata)


def looks_like(item: object) -> str | None:
    """Name of the format that an item is in, or None."""
    if not isinstance(item, Mapping):
        return None
    signs = (
        ("ebbing", FORMAT_KEY in item and "id" in item),
        ("chatgpt", "mapping" in item),
        ("sharegpt", "conversations" in item),
        ("sillytavern", "mes" in item or ("user_name" in item and "character_name" in item) or "chat_metadata" in item),
        ("messages", "messages" in item or ("role" in item and "content" in item)),
    )
    return next((name for name, matches in signs if matches), None)


READERS: Final = {
    "ebbing": read_own,
    "messages": read_message,
    "chatgpt": read_chatgpt,
    "sillytavern": read_sillytavern,
    "sharegpt": read_sharegpt,
}
