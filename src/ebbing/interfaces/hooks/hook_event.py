"""What a host says when it runs a hook, and what it wants to hear."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

RECALLING: Final = frozenset({"session-start", "prompt"})
"""Hooks that give the model something to read."""
HOOKS: Final = ("session-start", "prompt", "stop", "pre-compact", "session-end")


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One call of a hook. What a host leaves out is None."""

    hook: str
    host_name: str | None = None
    """What the host calls the event, such as `UserPromptSubmit`."""
    session: str | None = None
    prompt: str | None = None
    transcript: str | None = None
    """Path of the file in which the host writes the conversation down."""


def read_event(hook: str, text: str) -> HookEvent:
    """Read what a host wrote on standard input.

    Raises:
        ValueError: it is no JSON object.
    """
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("the input of a hook must be a JSON object")
    return HookEvent(
        hook,
        host_name=_text(data, "hook_event_name"),
        session=_text(data, "session_id") or _text(data, "conversation_id"),
        prompt=_text(data, "prompt"),
        transcript=_text(data, "transcript_path"),
    )


def output_of(event: HookEvent, context: str) -> str:
    """Return what a host reads on standard output; "" where there is nothing to say.

    Claude Code and Codex read `hookSpecificOutput`, Cursor (whose events begin with a small letter) reads
    `additional_context`. A host that names no event gets the bare text.
    """
    if not context:
        return ""
    if event.host_name is None:
        return context + "\n"
    if event.host_name[:1].islower():
        return json.dumps({"additional_context": context}, ensure_ascii=False) + "\n"
    output = {"hookEventName": event.host_name, "additionalContext": context}
    return json.dumps({"hookSpecificOutput": output}, ensure_ascii=False) + "\n"


def _text(data: Mapping[str, Any], key: str) -> str | None:
    value = data.get(key)
    return value if isinstance(value, str) and value.strip() else None
