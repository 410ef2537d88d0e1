"""The grammar of Chinese time expressions. Traditional characters arrive simplified."""

from __future__ import annotations

import re
from functools import lru_cache

from ebbing.language import dates_zh_calendar, dates_zh_distance
from ebbing.language.dates_rules import Grammar


@lru_cache(maxsize=1)
def grammar() -> Grammar:
    """All rules of Chinese. An expression begins with a character or with figures ("0")."""
    rules = (*dates_zh_calendar.rules(), *dates_zh_distance.rules())
    heads = "".join(sorted({head for rule in rules for head in rule.heads} - {"0"}))
    return Grammar(re.compile(rf"(?<![第每\d])(?:[{heads}]|\d+)"), rules)
