"""What a wording says, without the words that two wordings of one statement may differ in.

Lets two questions be answered by words alone, in Chinese and English: does one text hold all that another says, and
how much does it say that the other does not. The words are data (`packs/gist.toml`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from typing import Final

from ebbing.language.claims.change_patterns import changes
from ebbing.language.claims.normalize_values import NUMBER
from ebbing.language.signals.mentions import names
from ebbing.language.text.analyzer import normalise, query_terms
from ebbing.language.text.caches import bounded_text_cache
from ebbing.language.text.numbers import dated, figures, numbered

MAX_READ: Final = 4_000
"""Characters of a text that are read."""
_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"
_SIGNS: Final = ("negated", "over", "past")


@dataclass(frozen=True, slots=True)
class Gist:
    """The content of a text, in its order."""

    units: tuple[str, ...]
    """Stems of spaced scripts, numbers, known Chinese words in one spelling, and else single Chinese characters."""
    goes_on: tuple[bool, ...]
    """For each unit whether it is a Chinese character that continues the word before it, as far as can be seen."""
    numbers: frozenset[str]
    names: frozenset[str]
    """Words with a capital inside a sentence."""
    signs: frozenset[str]
    """Whether it denies something, tells of the past, or of what is over."""
    turns: frozenset[str]
    """Words that make the statement another one: negations, conditions, doubt, wishes."""

    @property
    def parts(self) -> frozenset[str]:
        """The units without their order."""
        return frozenset(self.units)


@bounded_text_cache(16_384)
def gist_of(text: str) -> Gist:
    """Reads the first 4,000 characters of a text."""
    pack, head = _pack(), text[:MAX_READ]
    normal = _plain(head)
    units: list[str] = []
    goes_on: list[bool] = []
    turns: set[str] = set()
    end = -1
    for match in pack.word.finditer(normal):
        for unit in _units(match.group(), pack):
            is_character = _is_character(unit)
            units.append(unit)
            goes_on.append(is_character and match.start() == end)
            end = match.end() if "\u3400" <= match.group()[0] <= "\u9fff" else -1
        if match.group() in pack.turns:
            turns.add(match.group())
    return Gist(
        units=tuple(units),
        goes_on=tuple(goes_on),
        numbers=figures(normalise(head)),
        names=frozenset(name.lower() for name in names(head)),
        signs=frozenset(name for name in _SIGNS if changes().signs[name].search(normal)),
        turns=frozenset(turns),
    )


def has_units(text: str, least: int) -> bool:
    """Whether a text has at least so many units, 1 or more: reads no further than that."""
    pack = _pack()
    unit_text = (unit for word in pack.word.finditer(_plain(text[:MAX_READ])) for unit in _units(word.group(), pack))
    return next(islice(unit_text, least - 1, None), None) is not None


def comparable(left: Gist, right: Gist) -> bool:
    """Whether two texts may say the same at all: the same numbers, names and signs."""
    return left.numbers == right.numbers and left.names == right.names and left.signs == right.signs


def holds(whole: Gist, part: Gist) -> bool:
    """Whether `whole` says all that `part` says: its units, in its order, Chinese words unbroken and not continued.

    Nothing turns one of them that does not turn the other. 我妈妈是护士，在北京工作 holds 我妈妈是护士;
    我爸爸是护士 does not, nor does 我妈妈是护士长.
    """
    if not part.units or part.turns != whole.turns or not part.parts <= whole.parts:
        return False
    at = done = 0
    while done < len(part.units):
        place, length = _longest(whole.units, part.units[done:], start=at)
        if not length or _is_torn(whole, part, place=place, done=done, length=length):
            return False
        done, at = done + length, place + length
    return True


def news(of: Gist, other: Gist) -> float:
    """Share of the different units of one text that another does not have, in [0, 1]; 0 for an empty text."""
    return len(of.parts - other.parts) / len(of.parts) if of.units else 0.0


def _plain(head: str) -> str:
    return dated(numbered(normalise(head)))


def _longest(units: tuple[str, ...], sought: tuple[str, ...], *, start: int) -> tuple[int, int]:
    """Place and length of the longest run of units, from `start` on, that begins like `wanted`."""
    best = (0, 0)
    for place in range(start, len(units)):
        length = 0
        while length < len(sought) and place + length < len(units) and units[place + length] == sought[length]:
            length += 1
        if length > best[1]:
            best = (place, length)
    return best


def _is_torn(whole: Gist, part: Gist, *, place: int, done: int, length: int) -> bool:
    """Whether a run begins or ends in the middle of a Chinese word of one of the texts."""
    after, rest = place + length, done + length
    begins = whole.goes_on[place] != part.goes_on[done]
    goes_on = after < len(whole.units) and whole.goes_on[after]
    return begins or goes_on != (rest < len(part.units) and part.goes_on[rest])


def _is_character(unit: str) -> bool:
    return len(unit) == 1 and "\u3400" <= unit <= "\u9fff"


def _units(word: str, pack: _Pack) -> Iterator[str]:
    if word in pack.filler:
        return
    if word in pack.same:
        yield f"={pack.same[word]}"
    elif word[0].isascii() and word[0].isalpha():
        yield from (f"={term}" for term in query_terms(word) or [word])
    else:
        yield word


@dataclass(frozen=True, slots=True)
class _Pack:
    word: re.Pattern[str]
    filler: frozenset[str]
    same: Mapping[str, str]
    turns: frozenset[str]


@lru_cache(maxsize=1)
def _pack() -> _Pack:
    data = tomllib.loads((files("ebbing.language") / "packs" / "gist.toml").read_text("utf-8"))
    filler = frozenset(word for language in data.values() for word in language["filler"].split())
    same = {word: word for word in data["zh"]["words"].split()}
    same |= {word: group.split()[0] for group in _lines(data) for word in group.split()}
    turns = frozenset(word for language in data.values() for word in language["turns"].split())
    chinese = {word for word in (*filler, *same, *turns) if not word.isascii()}
    longest_first = "|".join(map(re.escape, sorted(chinese, key=lambda word: (-len(word), word))))
    word = re.compile(rf"{longest_first}|[{_HAN}]|[a-z][a-z'&.+-]*[a-z]|[a-z]|{NUMBER.pattern}")
    return _Pack(word, filler, same, turns)


def _lines(data: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for language in data.values():
        yield from (line for line in language["same"].splitlines() if line.strip())
