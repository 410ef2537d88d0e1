"""Tells a memory something and looks what is known then."""

from __future__ import annotations

from ebbing import Memory


def current(memory: Memory, *said: str) -> list[str]:
    """What is known after messages that come one by one, oldest first."""
    for text in said:
        memory.add(text, user_id="ann")
    return [item["memory"] for item in reversed(memory.get_all(user_id="ann")["results"])]
