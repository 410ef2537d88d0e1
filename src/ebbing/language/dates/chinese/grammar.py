"""The grammar of Chinese time expressions. Traditional characters arrive simplified."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ebbing.language.dates.chinese import calendar, relative
from ebbing.language.dates.chinese.words import NUMERALS
from ebbing.language.dates.grammar import Grammar

# What must stand behind a number, or it is none of ours: most of them count other things.
_COUNTED: Final = r"(?=(?:\.5)?\s?[年月日号天周星礼季个半点时分小钟世到至–—~-])"

_FEAST: Final = (
    "五(?=一(?:劳动|节|假|期间|长假|小长假|那|当天|黄金周|前|后))|十(?=一(?:假|期间|长假|黄金周|国庆))|七(?=夕)"
)
"""Feasts that are written as numbers, where it shows that they are none."""
_BEGUN: Final = {"去": "年", "过": "去年", "大": "前后年早", "未": "来", "接": "下", "往": "后", "随": "后", "最": "近"}
"""Common characters that begin an expression only before these."""


@lru_cache(maxsize=1)
def grammar() -> Grammar:
    """All rules of Chinese. An expression begins with a character or with figures ("0")."""
    rules = (*calendar.rules(), *relative.rules())
    numerals = NUMERALS.replace("0", "")
    heads = "".join(sorted({head for rule in rules for head in rule.heads} - set(NUMERALS) - set(_BEGUN)))
    begun = "|".join(f"{first}(?=[{then}])" for first, then in _BEGUN.items())
    numbers = rf"[{numerals}](?=[{numerals}]{{0,6}}{_COUNTED})|\d+{_COUNTED}"
    return Grammar(re.compile(rf"(?<![第每\d])(?:[{heads}]|{begun}|{numbers}|{_FEAST})"), rules, glance=iter)
