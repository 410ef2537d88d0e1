"""Putting recalled memories into the messages for a model, without touching what stands there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ebbing.domain.filters.query import Hit
from ebbing.privacy.guarding.quote import BULLET, CLOSE, OPEN, block, footer
from ebbing.recall.base.usage_policy import DEFAULT, Policy

MAX_INJECTED: Final = 1_500
"""Characters of an injected block, at most."""
_SYSTEM: Final = frozenset({"system", "developer"})
_GAP: Final = "\n\n"


def injection(hits: Iterable[Hit], *, language: str = "en", policy: Policy = DEFAULT) -> str:
    """The best hits as a list under "Relevant long-term memory:" (相关长期记忆：), within the policy's bounds; "" for
    none."""
    texts = [hit.record.content for hit in hits if hit.score >= policy.min_score]
    return block(texts[: policy.top_k], language=language, max_chars=policy.max_chars)


def inject(
    messages: Sequence[Mapping[str, Any]], context: str, *, max_chars: int = MAX_INJECTED
) -> list[dict[str, Any]]:
    """A copy of the messages with a block of memories behind the first system message that says something, or as one
    of its own in front.

    Nothing else is changed, and the messages given stay as they are. A block that an earlier call put there is
    replaced, so that injecting twice is injecting once; a blank context takes it out. Of a block over `max_chars`
    characters the last memories are left out.
    """
    clean = [one for message in messages if (one := _without_block(message)) is not None]
    fitting = shortened(context.strip(), max_chars)
    if not fitting:
        return clean
    for at, message in enumerate(clean):
        content = message.get("content")
        if message.get("role") in _SYSTEM and content:
            clean[at] = {**message, "content": _with_block(content, fitting)}
            return clean
    return [{"role": "system", "content": fitting}, *clean]


def shortened(context: str, max_chars: int = MAX_INJECTED) -> str:
    """A block of memories without as many of its last ones as it takes to have at most `max_chars` characters; "" if
    none is left."""
    if len(context) <= max_chars:
        return context
    lines = context.removesuffix(CLOSE).rstrip().split("\n")
    while lines and (len("\n".join(lines)) + 1 + len(footer()) > max_chars or not lines[-1].startswith(BULLET)):
        lines.pop()
    return "\n".join([*lines, footer()]) if lines else ""


def _with_block(content: Any, context: str) -> Any:
    """Text with the block behind it; a list of parts gets a part more."""
    if isinstance(content, str):
        return f"{content}{_GAP}{context}"
    return [*content, {"type": "text", "text": context}]


def _without_block(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """The message without injected blocks; None if it was nothing else."""
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
    """The text without its blocks. One opens at the last mark before its end: a lone mark is the host's own text."""
    at = 0
    while (end := text.find(CLOSE, at)) >= 0:
        begin, after = text.rfind(OPEN, 0, end), end + len(CLOSE)
        if begin < 0:
            at = after
            continue
        before = text[:begin].removesuffix(_GAP)
        text, at = before + text[after:], len(before)
    return text


def _is_block(part: Any) -> bool:
    text = part.get("text") if isinstance(part, Mapping) else None
    return isinstance(text, str) and text.startswith(OPEN) and text.endswith(CLOSE)
