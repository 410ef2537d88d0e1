"""A process that makes the calls it is sent, one JSON line each, and answers each with what it was told.

Usage: child_calls.py DIRECTORY
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ebbing import Memory
from ebbing.domain.errors import EbbingError

DELETED = "deleted"


def stored(memory: Memory, user: str) -> dict[str, str]:
    """Everything of one user by id: its text, or that it is deleted."""
    found: dict[str, str] = {}
    cursor: str | None = None
    while True:
        page = memory.export(user_id=user, cursor=cursor)
        found |= {line["id"]: DELETED if "deleted_at" in line else line["content"] for line in page["records"]}
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def find(memory: Memory, user: str, texts: Sequence[str]) -> bool:
    """Whether a search for each text finds it."""
    found = [memory.search(text, user_id=user, limit=10)["results"] for text in texts]
    return all(text in {item["memory"] for item in items} for text, items in zip(texts, found, strict=True))


def made(memory: Memory, call: Mapping[str, Any]) -> object:
    """What a call gives."""
    user, name = call["user"], call["name"]
    if name == "add":
        added = memory.add(call["texts"], user_id=user, infer=False)["results"]
        return {item["id"]: item["memory"] for item in added}
    if name == "say":
        said = memory.add(call["texts"], user_id=user)
        return {item["id"]: item["memory"] for item in said["results"] if item["event"] == "ADD"} | dict(
            zip(said["episode_ids"], call["texts"], strict=False)
        )
    if name == "update":
        return memory.update(call["id"], call["texts"][0], user_id=user)["memory"]
    if name in {"delete", "remove"}:
        return memory.delete(call["id"], user_id=user, hard=name == "remove")
    if name == "erase":
        return memory.delete_all(user_id=user)["deleted"]["memories"]
    if name == "search":
        return len(memory.search("note", user_id=user)["results"])
    if name == "find":
        return find(memory, user, call["texts"])
    return stored(memory, user)


def main(directory: str) -> None:
    memory = Memory(path=directory, embedder="none")
    print(json.dumps({"gave": "ready"}), flush=True)
    for line in sys.stdin:
        try:
            answer: dict[str, object] = {"gave": made(memory, json.loads(line))}
        except EbbingError as error:
            answer = {"error": f"{type(error).__name__}: {error}", "code": error.code}
        print(json.dumps(answer), flush=True)
    memory.close()


if __name__ == "__main__":
    main(sys.argv[1])
