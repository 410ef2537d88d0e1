"""Names and quoted phrases that a text mentions."""

from __future__ import annotations

import re
from typing import Final

_QUOTED: Final = re.compile(r"[“\"「『《]([^”\"」』》\n]{2,60})[”\"」』》]|(?<!\w)'([^'\n]{2,60})'(?!\w)")
_NAME: Final = re.compile(r"(?<=[a-z0-9,;:'’)] )(?!I\b)[A-Z][\w'’-]+(?:\s+(?!I\b)[A-Z][\w'’-]+){0,3}")


def quoted_phrases(text: str) -> list[str]:
    """What stands in quotation marks (Chinese and English ones, 《》 too), 2 to 60 characters each."""
    return [first or second for first, second in _QUOTED.findall(text)]


def names(text: str) -> list[str]:
    """Words with a capital inside a sentence: people, places, things with a name. Chinese names have no such mark."""
    return [match.rstrip("'’").removesuffix("'s").removesuffix("’s") for match in _NAME.findall(text)]
