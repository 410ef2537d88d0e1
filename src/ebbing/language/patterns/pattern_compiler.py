"""How the patterns of a pack are written: `{name}` for an entry of its words, and repeats with an end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from ebbing.domain.errors import ConfigurationError
from ebbing.language.patterns.lazy_pattern import Late

_PLACE: Final = re.compile(r"\{([a-z_][a-z_0-9]*)\}")
_UNBOUNDED: Final = re.compile(r"(?<!\\)\)([*+])(?![+])")
MAX_REPEATS: Final = 6
"""How often `*` and `+` repeat a group in a pack. Words that can be cut up in several ways ("真的" as 真 and 的) would
else cost exponential time on hostile text."""
_DEPTH: Final = 6
"""How deep words may stand inside words."""


class Compiler:
    """Makes the patterns of one pack."""

    def __init__(self, language: str, words: Mapping[str, str | list[str]], *, at_once: bool) -> None:
        """`at_once`: patterns are compiled, and refused, when they are read, and not when they are first asked."""
        self._language = language
        self._words = words
        self._at_once = at_once

    def __call__(self, pattern: str, where: str) -> Late:
        late = Late(_UNBOUNDED.sub(_bounded, self._expand(pattern, where)))
        if self._at_once:
            self._compiled(late, where)
        return late

    def made(self, pattern: str, where: str) -> re.Pattern[str]:
        """The pattern, compiled."""
        return self._compiled(self(pattern, where), where)

    def _compiled(self, late: Late, where: str) -> re.Pattern[str]:
        try:
            return late.made
        except re.error as error:
            raise ConfigurationError(f"language pack {self._language}, {where}: {error}") from error

    def _expand(self, pattern: str, where: str) -> str:
        for _ in range(_DEPTH):
            expanded = _PLACE.sub(lambda match: self._word(match.group(1), where), pattern)
            if expanded == pattern:
                return pattern
            pattern = expanded
        raise ConfigurationError(f"language pack {self._language}, {where}: words refer to each other in a circle")

    def _word(self, name: str, where: str) -> str:
        if name not in self._words:
            raise ConfigurationError(f"language pack {self._language}, {where}: no words named {name!r}")
        return alternation(self._words[name])


def _bounded(repeat: re.Match[str]) -> str:
    return ")" + ("{0," if repeat.group(1) == "*" else "{1,") + f"{MAX_REPEATS}}}"


def alternation(words: str | Iterable[str]) -> str:
    """One group that matches any of the words, the longest first; a string is taken as a pattern."""
    if isinstance(words, str):
        return f"(?:{words})"
    return f"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


def filled(put: str, groups: Mapping[str, str | None]) -> str:
    """A plain wording with what was found put into it."""
    return _PLACE.sub(lambda place: groups.get(place.group(1)) or "", put)
