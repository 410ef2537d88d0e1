"""Words by which a speaker is not sure ("maybe", "I think", 可能, 大概)."""

from __future__ import annotations

import re
from collections.abc import Mapping


def unhedged(clause: str, words: Mapping[str, re.Pattern[str]]) -> tuple[str, bool]:
    """The clause without a hedge at its head, and whether it was hedged anywhere."""
    head = words["hedge_head"].match(clause)
    plain = clause[head.end() :].lstrip(" ,") if head else clause
    return plain, head is not None or words["hedge"].search(plain) is not None
