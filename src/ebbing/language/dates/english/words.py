"""English words of time: their patterns, what they count, and which way a sentence looks."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ebbing.language.dates.calendar import Direction
from ebbing.language.dates.grammar import DateContext, Tense, pack

WORDS: Final = pack()["en"]
MONTH: Final = WORDS["month_pattern"]
WEEKDAY: Final = WORDS["weekday_pattern"]
SEASON: Final = "|".join(WORDS["seasons"])
ORDINAL: Final = "|".join(WORDS["ordinals"])
MONTHS: Final = tuple(MONTH.split("|"))
WEEKDAYS: Final = tuple(WEEKDAY.split("|"))
NUMERALS: Final = (*WORDS["numbers"].split()[1:], *WORDS["tens"])
RELATIVE: Final = r"last|this\s+past|past|previous|this\s+coming|this|current|next|coming|upcoming|following"
RELATIVES: Final = ("last", "past", "previous", "this", "current", "next", "coming", "upcoming", "following")
UNIT: Final = "minute|min|hour|day|week|weekend|month|quarter|year|decade"
_TENS: Final = "|".join(WORDS["tens"])
_ONES: Final = "|".join(WORDS["numbers"].split()[1:10])
NUMBER: Final = rf"\d{{1,4}}(?:\.5)?|(?:{_TENS})-(?:{_ONES})|{'|'.join(NUMERALS)}"
COUNT: Final = (
    rf"(?P<n>{NUMBER}|(?:a\s+)?couple(?:\s+of)?|(?:a\s+|the\s+)?few|several|half\s+an?|an?)"
    rf"(?P<half>\s+and\s+a\s+half)?\s+(?P<unit>{UNIT})s?\b(?P<half_after>\s+and\s+a\s+half)?"
)
COUNTS: Final = ("0", *NUMERALS, "a", "an", "the", "couple", "few", "several", "half")
"""Words that a `COUNT` can begin with; "0" stands for figures."""
YEAR: Final = r"(?:,?\s+(?:of\s+)?(?P<y>(?:1[89]|20)\d\d)(?![\d:])|,?\s+(?:of\s+)?(?P<ry>last|this|next)\s+year\b)"
"""A year behind what it belongs to: "May 2023", "the summer of last year"."""
_SHIFTS: Final = {"last": -1, "previous": -1, "past": -1, "this": 0, "current": 0}


@lru_cache(maxsize=1)
def tense() -> Tense:
    """The words that tell whether a sentence looks back or ahead."""
    return Tense(re.compile(rf"\b(?P<past>{WORDS['past']})\b|(?:\b|(?='))(?P<future>{WORDS['future']})\b"))


def looks(match: re.Match[str], context: DateContext) -> Direction:
    """Which way the sentence around a match looks."""
    return tense().at(context, match.start(), finish=match.end())


def follows(pattern: re.Pattern[str], match: re.Match[str], *, context: DateContext) -> bool:
    """Whether what stands before a match ends in a pattern."""
    return bool(pattern.search(context.folded, max(0, match.start() - 20), match.start()))


def shift(word: str) -> int:
    """How far "last", "this" or "next" leads: -1, 0 or 1."""
    return _SHIFTS.get(word.rsplit(maxsplit=1)[-1], 1)


def month_number(name: str) -> int:
    """1 to 12."""
    return int(WORDS["months"].index(name[:3])) + 1


def weekday_number(name: str) -> int:
    """0 for Monday to 6 for Sunday."""
    return int(WORDS["weekdays"].index(name[:3]))


def bounds(word: str) -> tuple[float, float]:
    """The lowest and the highest number that a word can mean."""
    word = re.sub(r"^(?:the\s+|a\s+)(?=couple|few)", "", word)
    first = word.split(maxsplit=1)[0]
    if word[0].isdigit():
        return float(word), float(word)
    vague = {"few": (2, 5), "several": (3, 7), "couple": (2, 3), "half": (0.5, 0.5), "a": (1, 1), "an": (1, 1)}
    if first in vague:
        return vague[first]
    tens, _, ones = word.partition("-")
    numbers = WORDS["numbers"].split()
    value = float((WORDS["tens"].get(tens) or numbers.index(tens)) + numbers.index(ones or "zero"))
    return value, value


def quantity(match: re.Match[str]) -> tuple[tuple[float, float], str]:
    """The lowest and highest count, and the unit, of a match of `COUNT`."""
    low, high = bounds(match["n"])
    half = 0.5 if match["half"] or match["half_after"] else 0
    return (low + half, high + half), {"min": "minute"}.get(match["unit"], match["unit"])
