"""Which of the recalled memories an answer was made with, judged by its words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from ebbing.language.text.analyzer import normalise, query_terms
from ebbing.language.text.numbers import figures

MAX_ANSWER: Final = 20_000
"""Characters of an answer that are read."""
SHARE: Final = 0.34
"""Part of the smaller of the two, by weight, that memory and answer must share: of what the memory says, or of what a
short answer says."""
SHARE_WITH_TELLING: Final = 0.2
"""The same, when they share a number or a name that neither the question nor another memory has."""
TELLING_WEIGHT: Final = 2.0
"""A number or a name counts so many times a word."""

_NAME: Final = re.compile(r"(?<![.!?:\n])[ (\"'“‘]([A-Z][\w'’-]+)")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class _Said:
    """What a text says: its words, and which of them are numbers or names."""

    words: frozenset[str]
    telling: frozenset[str]


def used_memories(answer: str, memories: Mapping[str, str], *, question: str = "") -> list[str]:
    """Ids of the memories that an answer says something of, in the order of `memories`; Chinese and English.

    A memory counts as used when the answer repeats enough of the words that set it apart: what the question says
    already, and what all the memories share, proves nothing. An answer that gives a memory's content in entirely
    other words is not recognised; `feedback` is there for that.

    Args:
        answer: what the assistant said; 20,000 characters of it are read.
        memories: id and text of what was recalled.
        question: what was asked, so that an answer that repeats it credits nothing for that.
    """
    said, asked = _read(answer[:MAX_ANSWER]), _read(question)
    held = {memory_id: _read(text) for memory_id, text in memories.items()}
    among = Counter(word for text in held.values() for word in text.words)
    few = max(2, len(held) / 2)
    return [memory_id for memory_id, text in held.items() if _is_used(text, said, asked=asked, among=among, few=few)]


def _is_used(text: _Said, said: _Said, *, asked: _Said, among: Counter[str], few: float) -> bool:
    own = text.words - asked.words
    shared = {word for word in own & said.words if among[word] <= few}
    smaller = min(_weight(own, text, among=among), _weight(said.words - asked.words, said, among=among))
    if not shared or not smaller:
        return False
    share = _weight(shared, text, among=among) / smaller
    telling = any(word in text.telling and among[word] == 1 for word in shared)
    return share >= (SHARE_WITH_TELLING if telling else SHARE)


def _weight(words: Collection[str], text: _Said, *, among: Counter[str]) -> float:
    """What words tell: less the more memories have them."""
    return sum((TELLING_WEIGHT if word in text.telling else 1.0) / max(among[word], 1) for word in words)


def _read(text: str) -> _Said:
    normal = normalise(text)
    numbers = figures(normal)
    names = frozenset(term for name in _NAME.findall(text) for term in query_terms(name))
    terms = query_terms(text)
    content = frozenset(terms)  # a pair of characters tells nothing if one of them alone is a stop word
    words = frozenset(term for term in terms if not _HAN.match(term) or (len(term) > 1 and content.issuperset(term)))
    return _Said(words | numbers, numbers | names)
