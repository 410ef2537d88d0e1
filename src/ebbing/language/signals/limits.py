"""Numbers in statements about a person that bound what they want: how long, how dear, how far."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from ebbing.language.text.analyzer import normalise
from ebbing.language.text.numbers import number_of, numbered, ungrouped

_LATIN: Final = r"\d+(?:\.\d+)?"
_HAN: Final = "[〇零一二两三四五六七八九十百千万半]+"
_HALF_HOUR: Final = re.compile(r"\bhalf an hour\b|半个?小时|半个?钟头")
_AN_HOUR: Final = re.compile(r"\ban hour\b")


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound that somebody named."""

    name: str
    """`max_duration` in minutes, `max_price` in the money that they spoke of, `max_distance` in kilometres."""
    value: float
    statement: str
    """What says so."""


def read_limits(statements: Iterable[str]) -> list[Limit]:
    """Return every limit that the statements name, in their order.

    A number without such a word ("runs 30 minutes a day") bounds nothing.
    """
    return [limit for statement in statements for limit in _limits_of(statement)]


def strictest(limits: Sequence[Limit]) -> dict[str, float]:
    """Return the lowest value of each limit, by its name."""
    values: dict[str, float] = {}
    for limit in limits:
        values[limit.name] = min(limit.value, values.get(limit.name, limit.value))
    return values


def _limits_of(statement: str) -> list[Limit]:
    text = _AN_HOUR.sub("1 hour", _HALF_HOUR.sub("30 minutes", normalise(statement)))
    text = ungrouped(numbered(text) if text.isascii() else text)
    return [
        Limit(kind.name, round(value * factor, 4), statement)
        for kind in _kinds()
        for pattern, factor in kind.patterns
        for match in pattern.finditer(text)
        if (value := number_of(next(filter(None, match.groups())))) is not None
    ]


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    patterns: Sequence[tuple[re.Pattern[str], float]]


@lru_cache(maxsize=1)
def _kinds() -> list[_Kind]:
    pack = limit_pack()
    before = "|".join((*pack["before"]["zh"], *pack["before"]["en"]))
    after = "|".join((*pack["after"]["zh"], *pack["after"]["en"]))
    kinds = []
    for limit in pack["limit"]:
        patterns = []
        for unit, factor in limit["units"].items():
            number = f"({_LATIN}|{_HAN})"
            quantity = rf"(?:{number}\s*(?:{unit})(?![a-z])|(?:{unit})\s*{number}(?![\d.]))"
            pattern = rf"(?:{before})\s*{quantity}|{quantity}\s*(?:{after})"
            patterns.append((re.compile(pattern), float(factor)))
        kinds.append(_Kind(limit["name"], patterns))
    return kinds


def limit_pack() -> dict[str, Any]:
    """Return the rules, with their examples."""
    pack: dict[str, Any] = tomllib.loads((files("ebbing.language") / "packs" / "limits.toml").read_text("utf-8"))
    return pack
