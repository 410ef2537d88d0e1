"""Long text in parts that end where a sentence ends."""

from __future__ import annotations

import re
from typing import Final

MAX_TEXT_LENGTH: Final = 4_000
"""Characters that one memory may hold."""
_EDGES: Final = (re.compile(r"\n\s*\n"), re.compile(r"[。！？!?…]+[”」』\"']?|\.(?=\s)|\n"), re.compile(r"[，,;；\s]"))


def split_text(text: str, limit: int = MAX_TEXT_LENGTH) -> list[str]:
    """The text in parts of at most `limit` characters, none lost but the white space at the seams.

    A seam is put at the last paragraph, else sentence, else word edge of the second half of a part, else at the limit.
    """
    parts: list[str] = []
    rest = text.strip()
    while len(rest) > limit:
        cut = _last_edge(rest, limit)
        parts.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    if rest:
        parts.append(rest)
    return parts


def _last_edge(text: str, limit: int) -> int:
    for edge in _EDGES:
        ends = [match.end() for match in edge.finditer(text, limit // 2, limit)]
        if ends:
            return ends[-1]
    return limit
