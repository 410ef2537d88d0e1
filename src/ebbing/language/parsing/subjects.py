"""Whom and what a statement is about: whether its sentence says so, and the words that tell the thing.

What is read here decides whether a statement may end a memory (`domain.conflict.closing`).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from ebbing.domain.conflict.claim import About, Words
from ebbing.domain.conflict.replacement import TIMES
from ebbing.language.claims.change_patterns import Changes, changes
from ebbing.language.text.analyzer import normalise, stems
from ebbing.language.text.detect_language import detect
from ebbing.language.text.numbers import numbered

_RUN: Final = re.compile(r"[\u4e00-\u9fff]+")
_CLAUSE: Final = re.compile(r"[,，。;；!！?？\s]+")
_PUT: Final = re.compile(r"^(?:user |assistant )?(?:is|has) (?:an? |the )?", re.IGNORECASE)
"""The verbs that are put before a sentence that has none."""
_VERB: Final = re.compile(r"\b(?:am|is|are|has|have|got)\b|['’](?:m|s|re|ve)\b", re.IGNORECASE)
_ORDER: Final = re.compile(r"^(?:user's rule|用户要求)\s*:")
_HEALTH: Final = frozenset({"health", "diet", "allergy", "safety"})
"""Tags of what warns of harm."""
_HEAD: Final = re.compile(r"^(?:user|assistant)(?:'s)?\b|^(?:用户|助手)的?")


def about_of(text: str, words: Words, *, value: str | None, sentence: str | None, tags: Collection[str]) -> About:
    """Read whom and what a statement is about; `sentence` is the one that it was read from."""
    language, normal = "zh" if detect(text) == "zh" else "en", numbered(normalise(text))
    return About(
        named=is_named(text, sentence),
        literal=is_literal(text, sentence),
        bare=is_bare(text, value),
        foreign=changes().foreign[language].search(text) is not None,
        joint=changes().signs["joint"].search(normal) is not None,
        family=changes().signs["family"].search(normal) is not None,
        content=content_of(normal, words, language=language),
        safety=warned_of(normal, words, language=language) if warns(normal, tags) else frozenset(),
    )


def is_named(text: str, source: str | None) -> bool:
    """Whether the clause that a statement was read from says whom it is about; an order is the speaker's."""
    normal = normalise(text)
    if source is None or _ORDER.search(normal):
        return True
    own, normal_source, bare = changes().signs["own"], normalise(source), _HEAD.sub("", normal).strip()
    clauses = [clause for clause in _CLAUSE.split(normal_source) if clause and (bare in clause or clause in bare)]
    return any(own.search(clause) for clause in (clauses if clauses and not bare.isascii() else (normal_source,)))


def is_literal(text: str, source: str | None) -> bool:
    """Whether the verb of a statement was said, and not put before a sentence that has none."""
    put = _PUT.match(text)
    return source is None or put is None or _VERB.search(source) is not None or not source.isascii()


def is_bare(text: str, value: str | None) -> bool:
    """Whether a statement is a value and nothing else: 12斤, "8 years old"."""
    rest = _PUT.sub("", _HEAD.sub("", normalise(text)).strip()).strip()
    return value is not None and rest.replace(normalise(value), "").strip() in {"", "了", "years old", "old"}


def warns(normal: str, tags: Collection[str]) -> bool:
    """Whether a statement tells of an allergy, an illness, a medicine, a diet or a danger."""
    return not _HEALTH.isdisjoint(tags) or changes().signs["safety"].search(normal) is not None


def content_of(normal: str, words: Words, *, language: str) -> Words:
    """What tells a statement's thing: stems that are neither slight verbs nor times; in Chinese pairs of characters."""
    pack = changes()
    if language == "en":
        return words - pack.light - slight(pack.slight_en) - TIMES
    return _pairs(pack.slight_zh.sub(" ", normal)) | _nouns(words, pack) | frozenset(pack.meeting_zh.findall(normal))


def warned_of(normal: str, words: Words, *, language: str) -> Words:
    """The thing that a statement warns of, without the words that only say that it is a matter of health."""
    pack = changes()
    if language == "en":
        thing = words - pack.light - slight(pack.slight_en) - slight(pack.harm_en) - TIMES
        return frozenset(word for word in thing if not word[:1].isdigit()) or words
    nouns = _nouns(words, pack)
    pairs = _pairs(pack.slight_zh.sub(" ", pack.harm_zh.sub(" ", normal)))
    return frozenset(pair for pair in pairs if nouns.isdisjoint(pair)) | nouns or words


def _pairs(normal: str) -> Words:
    runs = _RUN.findall(_HEAD.sub(" ", normal))
    return frozenset(run[at : at + 2] for run in runs for at in range(len(run) - 1))


def _nouns(words: Words, pack: Changes) -> Words:
    """Words in Latin letters, and characters that are a word by themselves."""
    return frozenset(word for word in words if (word.isascii() and not word.isdecimal()) or word in pack.nouns_zh)


@lru_cache(maxsize=2)
def slight(words: str) -> Words:
    """The stems of English words that name no thing."""
    return frozenset(stem for word in words.split() for stem in stems(word))
