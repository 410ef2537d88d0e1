"""What a text holds that may be worth keeping, as far as the text alone tells."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from ebbing.language.claims.normalize_values import NUMBER
from ebbing.language.text.caches import bounded_text_cache

_OWNED: Final = re.compile(r"\b(?:[Mm]y|[Oo]ur) (?:\w+ )?[A-Z][\w'-]+")
"""Somebody or something of the speaker's that has a name: "my Corsa", "our neighbour Ada"."""
NAME: Final = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][\w'-]+")


@dataclass(frozen=True, slots=True)
class _Pack:
    dates: re.Pattern[str]
    titles: re.Pattern[str]
    states: re.Pattern[str]
    lasting: re.Pattern[str]


@lru_cache(maxsize=1)
def _pack() -> _Pack:
    data = tomllib.loads((files("ebbing.language") / "packs" / "substance.toml").read_text("utf-8"))
    return _Pack(**{name: re.compile(pattern, re.VERBOSE) for name, pattern in data.items()})


@dataclass(frozen=True, slots=True)
class Holding:
    """The signals of one text."""

    specifics: int
    """Names, numbers, dates and titles."""
    states: bool
    """It states something of whoever speaks."""
    lasts: bool
    """It names what lasts of whoever speaks: body, origin, family, home, belongings, standing arrangements."""
    asks: bool
    size: int
    """UTF-8 bytes."""


@bounded_text_cache(65_536)
def holding(text: str) -> Holding:
    """Looks at a text once; what was looked at lately is remembered."""
    pack, small = _pack(), text.lower()
    details = {*NAME.findall(text), *NUMBER.findall(text), *pack.titles.findall(text)}
    dates = set(pack.dates.findall(small))
    return Holding(
        specifics=len(details) + len(dates),
        states=pack.states.search(small) is not None,
        lasts=(pack.lasting.search(small) or _OWNED.search(text)) is not None,
        asks=text.rstrip().endswith(("?", "？")) or "吗" in text[-4:],
        size=len(text.encode("utf-8", "surrogatepass")),
    )
