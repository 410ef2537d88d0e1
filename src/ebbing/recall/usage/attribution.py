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
class _TextTerms:
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
    answer_terms, question_terms = _read(answer[:MAX_ANSWER]), _read(question)
    memory_terms = {memory_id: _read(text) for memory_id, text in memories.items()}
    counts = Counter(word for terms in memory_terms.values() for word in terms.words)
    max_count = max(2, len(memory_terms) / 2)
    return [
        memory_id
        for memory_id, terms in memory_terms.items()
        if _is_used(terms, answer_terms, question=question_terms, counts=counts, max_count=max_count)
    ]


def _is_used(
    memory: _TextTerms, answer: _TextTerms, *, question: _TextTerms, counts: Counter[str], max_count: float
) -> bool:
    own = memory.words - question.words
    shared = {word for word in own & answer.words if counts[word] <= max_count}
    answer_weight = _weight(answer.words - question.words, answer, counts=counts)
    smaller = min(_weight(own, memory, counts=counts), answer_weight)
    if not shared or not smaller:
        return False
    share = _weight(shared, memory, counts=counts) / smaller
    is_telling = any(word in memory.telling and counts[word] == 1 for word in shared)
    return share >= (SHARE_WITH_TELLING if is_telling else SHARE)


def _weight(words: Collection[str], text: _TextTerms, *, counts: Counter[str]) -> float:
    """Return what words tell: less the more memories have them."""
    return sum((TELLING_WEIGHT if word in text.telling else 1.0) / max(counts[word], 1) for word in words)


def _read(text: str) -> _TextTerms:
    normal = normalise(text)
    numbers = figures(normal)
    names = frozenset(term for name in _NAME.findall(text) for term in query_terms(name))
    terms = query_terms(text)
    content = frozenset(terms)  # a pair of characters tells nothing if one of them alone is a stop word
    words = frozenset(term for term in terms if not _HAN.match(term) or (len(term) > 1 and content.issuperset(term)))
    return _TextTerms(words | numbers, numbers | names)
