"""Makes any `str` safe for a tokenizer or an endpoint: the step before every embedding."""

from __future__ import annotations

import unicodedata

MAX_CHARACTERS = 16_000
"""What lies beyond is not embedded (about 4,000 English tokens, or 10,000 Chinese ones)."""

_CONTROL: dict[int, str | None] = dict.fromkeys((*range(0x20), 0x7F, 0x8F, 0x9F))
# What the SentencePiece model behind e5 and USE treats as a space, down to U+2581, its own word mark.
_SPACES = (0x09, 0x0A, 0x0C, 0x0D, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD)
_REPLACEMENTS = {**_CONTROL, **dict.fromkeys(_SPACES, " "), **dict.fromkeys(range(0xD800, 0xE000), " ")}


def clean(text: str, max_characters: int = MAX_CHARACTERS) -> str:
    """`text` in NFKC, without control characters or lone surrogates, single spaces, at most `max_characters` long.

    The cut comes before and after the normalisation, because one character may become eighteen.
    """
    normal = unicodedata.normalize("NFKC", text[:max_characters])
    return " ".join(normal[:max_characters].translate(_REPLACEMENTS).split())
