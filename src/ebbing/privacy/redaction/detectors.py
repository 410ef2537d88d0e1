"""What is looked for in a text: `patterns.toml`, read and compiled."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

from ebbing.privacy.redaction.checksums import CHECKS, Check


class Category(StrEnum):
    """What a find is. Names of people are none of these, on purpose."""

    EMAIL = "email"
    PHONE = "phone"
    ID_CARD = "id_card"
    BANK_CARD = "bank_card"
    IBAN = "iban"
    US_SSN = "us_ssn"
    PASSPORT = "passport"
    API_KEY = "api_key"
    PASSWORD = "password"  # noqa: S105 - a category's name
    PRIVATE_KEY = "private_key"
    URL_CREDENTIALS = "url_credentials"
    IP_ADDRESS = "ip_address"


@dataclass(frozen=True, slots=True)
class Detector:
    """One entry of `patterns.toml`."""

    category: Category
    pattern: re.Pattern[str]
    group: str | int
    """The group of the pattern that is the find."""
    need: frozenset[str] = frozenset()
    digits: int = 0
    word: int = 0
    check: Check | None = None
    not_reference: bool = False


@dataclass(frozen=True, slots=True)
class Reference:
    """What makes the number behind it that of a thing: an order, a book, a sum."""

    words: tuple[str, ...]
    labels: tuple[str, ...]
    signs: tuple[str, ...]
    between: str

    def ends(self, before: str) -> bool:
        """Whether the text directly before a number ends so."""
        if _INSIDE.fullmatch(before[-2:]):
            return True
        plain = before.lower().rstrip(" ")
        words = plain.rstrip(self.between)
        if plain.endswith(self.signs) or words.endswith(self.words):
            return True
        label = next((label for label in self.labels if words.endswith(label)), None)
        return label is not None and words.removesuffix(label).rstrip(self.between).endswith(self.words)


_INSIDE: Final = re.compile(r"[0-9][.,:/]|[A-Za-z]/")
"""The last characters before what is the rest of a decimal number, a time or a path."""


@lru_cache(maxsize=64)
def detectors(allowed: frozenset[Category]) -> tuple[Detector, ...]:
    """All detectors, but for the last ones whose finds would be let through anyway."""
    chosen = _all_detectors()
    while chosen and chosen[-1].category in allowed:
        chosen = chosen[:-1]
    return chosen


_MARKS: Final = "_-.:@([/+="


@lru_cache(maxsize=1)
def literals() -> tuple[Mapping[str, tuple[str, ...]], tuple[str, ...]]:
    """Everything that some detector needs, in ASCII and in other scripts.

    Those in ASCII stand behind a part that they share, a mark or a shorter one of them: no part, none of them.
    """
    needed = sorted(frozenset[str]().union(*(detector.need for detector in _all_detectors())), key=len)
    in_ascii = [literal for literal in needed if literal.isascii()]
    behind: defaultdict[str, list[str]] = defaultdict(list)
    for literal in in_ascii:
        shared = (part for part in (*_MARKS, *in_ascii) if part in literal)
        behind[next(shared)].append(literal)
    groups = {part: tuple(group) for part, group in behind.items()}
    return MappingProxyType(groups), tuple(literal for literal in needed if not literal.isascii())


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    return tomllib.loads((files("ebbing.privacy") / "patterns.toml").read_text("utf-8"))


@lru_cache(maxsize=1)
def reference() -> Reference:
    """What stands before the numbers of things."""
    entry = _data()["reference"]
    return Reference(
        words=tuple(entry["words"].split()),
        labels=tuple(entry["labels"].split()),
        signs=tuple(entry["signs"]),
        between=entry["between"],
    )


@lru_cache(maxsize=1)
def _all_detectors() -> tuple[Detector, ...]:
    flags = re.VERBOSE | re.IGNORECASE | re.ASCII
    return tuple(
        Detector(
            category=Category(entry["category"]),
            pattern=(pattern := re.compile(entry["pattern"], flags)),
            group="value" if "value" in pattern.groupindex else 0,
            need=frozenset(entry.get("need", ())),
            digits=entry.get("digits", 0),
            word=entry.get("word", 0),
            check=CHECKS[entry["check"]] if "check" in entry else None,
            not_reference=entry.get("not_reference", False),
        )
        for entry in _data()["detector"]
    )
