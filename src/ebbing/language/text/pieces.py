"""A text in pieces that end where a sentence ends, every character of it kept."""

from __future__ import annotations

import re
from typing import Final

_PIECE: Final = re.compile(r"[^.!?。！？\n;；]*(?:[.!?。！？\n;；]+[\"”’')）]*\s*|$)")


def pieces(text: str) -> list[str]:
    """Return the pieces in order; joined they are the text."""
    return [piece for piece in _PIECE.findall(text) if piece]
