"""Put recalled memories into the messages for a model, and change nothing else in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from ebbing.domain.filters.query import Hit
from ebbing.privacy.guarding.quote import BULLET, CLOSE, OPEN, block, footer
from ebbing.recall.context.render import memory_text
from ebbing.recall.context.usage_policy import DEFAULT, Policy

AgentKind = Literal["general", "recommendation", "personal", "tool"]
"""What an assistant is for: `general` answers anything, `recommendation` and `personal` live from knowing the person,
`tool` asks for memories itself."""
MAX_BLOCK_CHARS: Final = 1_500
"""Characters of an injected block, at most."""
SHORT_LIST: Final = Policy(top_k=5, min_score=0.3)
"""What `format_hits` shows unless told otherwise: a few lines that are likely to the point."""
_SYSTEM: Final = frozenset({"system", "developer"})
_GAP: Final = "\n\n"


def hits_to_inject(hits: Sequence[Hit], agent: AgentKind = "general", *, policy: Policy = DEFAULT) -> list[Hit]:
    """Return what to put before a model unasked; an empty list leaves recall to the tools of the model.

    A general assistant gets only what scores above `inject_above`, one that recommends or is personal always gets
    everything, one with memory tools gets nothing unasked.
    """
    if agent in {"recommendation", "personal"}:
        return list(hits)
    if agent == "tool":
        return []
    return [hit for hit in hits if hit.score > policy.inject_above]


def format_hits(hits: Iterable[Hit], *, language: str = "en", policy: Policy = SHORT_LIST) -> str:
    """Return the best hits as a list under "Relevant long-term memory:" (相关长期记忆：), within the policy's bounds.

    Return "" for none.
    """
    texts = [memory_text(hit.record) for hit in hits if hit.score >= policy.min_score]
    return block(texts[: policy.top_k], language=language, max_chars=policy.max_chars)


def inject(
    messages: Sequence[Mapping[str, Any]], context: str, *, max_chars: int = MAX_BLOCK_CHARS
) -> list[dict[str, Any]]:
    """Return a copy of the messages with a block of memories behind the first system message that says something.

    Without such a message, the block is a system message of its own in front. Nothing else is changed, and the messages
    of the caller stay as they are. A block that an earlier call put there is replaced, so that injecting twice is
    injecting once; a blank context takes it out. Of a block over `max_chars` characters the last memories are left out.
    """
    stripped = [_without_block(message) for message in messages]
    clean = [message for message in stripped if message is not None]
    memories = shorten_block(context.strip(), max_chars)
    if not memories:
        return clean
    for place, message in enumerate(clean):
        content = message.get("content")
        if message.get("role") in _SYSTEM and content:
            clean[place] = {**message, "content": _with_block(content, memories)}
            return clean
    return [{"role": "system", "content": memories}, *clean]


def inject_behind_question(
    messages: Sequence[Mapping[str, Any]], context: str, *, max_chars: int = MAX_BLOCK_CHARS
) -> list[dict[str, Any]]:
    """Return a copy of the messages with a block of memories behind the last user message.

    Everything before that message keeps its bytes, so that a model's prompt cache lives. Parts that are no text stay as
    they are. Without a user message nothing is changed. The block is shortened as `inject` does it.
    """
    copies = [dict(message) for message in messages]
    memories = shorten_block(context.strip(), max_chars)
    place = next((at for at in reversed(range(len(copies))) if copies[at].get("role") == "user"), None)
    if memories and place is not None:
        content = copies[place].get("content")
        if content and isinstance(content, str | list):
            copies[place]["content"] = _with_block(content, memories)
    return copies


def shorten_block(context: str, max_chars: int = MAX_BLOCK_CHARS) -> str:
    """Return a block without as many of its last memories as it takes to have at most `max_chars` characters.

    Return "" if none is left.
    """
    if len(context) <= max_chars:
        return context
    lines = context.removesuffix(CLOSE).rstrip().split("\n")
    while lines and (len("\n".join(lines)) + 1 + len(footer()) > max_chars or not lines[-1].startswith(BULLET)):
        lines.pop()
    return "\n".join([*lines, footer()]) if lines else ""


def _with_block(content: Any, context: str) -> Any:
    """Return the text with the block behind it; a list of parts gets a part more."""
    if isinstance(content, str):
        return f"{content}{_GAP}{context}"
    return [*content, {"type": "text", "text": context}]


def _without_block(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the message without injected blocks; None if it was nothing else."""
    content = message.get("content")
    if message.get("role") not in _SYSTEM:
        return dict(message)
    if isinstance(content, str):
        text = _cut_out(content)
        return {**message, "content": text} if text or not content else None
    if isinstance(content, Sequence):
        parts = [part for part in content if not _is_block(part)]
        return {**message, "content": parts} if parts or not content else None
    return dict(message)


def _cut_out(text: str) -> str:
    """Return the text without its blocks. One opens at the last mark before its end: a lone mark is the host's text."""
    start = 0
    while (close := text.find(CLOSE, start)) >= 0:
        end = close + len(CLOSE)
        begin = text.rfind(OPEN, 0, close)
        if begin < 0:
            start = end
            continue
        before = text[:begin].removesuffix(_GAP)
        text = before + text[end:]
        start = len(before)
    return text


def _is_block(part: Any) -> bool:
    text = part.get("text") if isinstance(part, Mapping) else None
    return isinstance(text, str) and text.startswith(OPEN) and text.endswith(CLOSE)
