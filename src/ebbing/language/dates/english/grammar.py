"""The grammar of English time expressions."""

from __future__ import annotations

import re
from functools import lru_cache

from ebbing.language.dates import numeric
from ebbing.language.dates.english import calendar, relative
from ebbing.language.dates.grammar import Grammar


@lru_cache(maxsize=1)
def grammar() -> Grammar:
    """All rules of English, and those of figures. An expression begins with a word or with figures ("0")."""
    rules = (*numeric.rules(), *calendar.rules(), *relative.rules())
    figures = r"\d+(?=\s{0,3}[a-z/.:'’–—-])|\d{4}(?!\d)"
    return Grammar(re.compile(rf"{numeric.START}(?:[a-z]+|{figures})"), rules, glance=re.compile(r"[a-z]+|\d").findall)
