"""The grammar of English time expressions."""

from __future__ import annotations

import re
from functools import lru_cache

from ebbing.language.dates import calendar_en as dates_en_calendar
from ebbing.language.dates import numeric as dates_figures
from ebbing.language.dates import relative_en as dates_en_distance
from ebbing.language.dates.grammar import Grammar


@lru_cache(maxsize=1)
def grammar() -> Grammar:
    """All rules of English, and those of figures. An expression begins with a word or with figures ("0")."""
    rules = (*dates_figures.rules(), *dates_en_calendar.rules(), *dates_en_distance.rules())
    figures = r"\d+(?=\s{0,3}[a-z/.:'’–—-])|\d{4}(?!\d)"
    return Grammar(
        re.compile(rf"{dates_figures.START}(?:[a-z]+|{figures})"), rules, glance=re.compile(r"[a-z]+|\d").findall
    )
