"""From text to keyword terms: one analyser for all languages, on the way in and on the way out.

Latin and other spaced scripts give lower-case words, English ones stemmed (Snowball), without a short list of words
that carry no topic. Chinese, Japanese and Korean runs give every character and every pair of neighbours: for ranking
that equals a dictionary segmenter, and it knows every new name. Chinese dates give one term a part ("5月", "8日").
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum, IntFlag
from functools import lru_cache
from importlib.resources import files
from operator import add
from typing import Any, Final

import Stemmer

from ebbing.language.text.caches import text_cache
from ebbing.language.text.detect_language import detect
from ebbing.language.text.numbers import figures

_RULES: Final = 3
"""Rises when the code below would give other terms, numbers or flags for the same text."""
MAX_ANALYSED: Final = 100_000
"""Characters of a text that are analysed; what follows cannot be found by keyword."""

_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_TOKEN: Final = re.compile(rf"(?P<cjk>[{_CJK}]+)|(?P<word>(?:(?![{_CJK}])[^\W_])+(?:['’](?:(?![{_CJK}])[^\W\d_])+)?)")
_ASCII_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?", re.ASCII)
"""The same for a text in ASCII."""
_CHINESE_DATE: Final = re.compile(r"(\d{1,2})(月)|(\d{1,2})([日号])")
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)


_CLAUSE: Final = re.compile(r"[^.!?。！？,，;；\n]+[.!?。！？,，;；]*")
_LONGEST_QUESTION: Final = 120
"""Characters; a longer question tells what it asks about."""
_SHORT_CHINESE: Final = 5
"""Characters of a clause that tells nothing ("对了，"), its mark counted."""
_SHORT_ENGLISH: Final = 3
"""Words of such a clause ("By the way,")."""


class TextFlag(IntFlag):
    """What kind of utterance a text is, as far as its surface shows."""

    QUESTION = 1
    INSTRUCTION = 2
    PREFERENCE = 8
    """Somebody's wish or dislike in their own words."""
    UTTERANCE = 4
    """A message as it was said: what was said before and after it gives it context. Set by who stores it."""
    ANSWER = 16
    """It followed a question of somebody else, which is gone. Set by the upkeep, before the question goes."""
    CHINESE = 32
    ENGLISH = 64
    """The language of the text, where its script decides it."""
    ASKING = 128
    """It asks and says nothing else."""


LANGUAGE_FLAGS: Final = {"zh": TextFlag.CHINESE, "en": TextFlag.ENGLISH}


@dataclass(frozen=True, slots=True)
class Analysis:
    """The searchable content of one record."""

    text: Mapping[str, int]
    """Term frequencies of the text."""
    length: int
    """Terms in the text, repeats included."""
    speaker: Collection[str] = ()
    date: Collection[str] = ()
    question: Collection[str] = ()
    """Terms of the question that it answers, where that is gone."""
    flags: TextFlag = TextFlag(0)
    numbers: frozenset[str] = frozenset()


def analyse(text: str, *, speaker: str | None = None, said_at: datetime | None = None) -> Analysis:
    """Terms of a text to be stored, with its speaker and its date as fields of their own."""
    normal = _bounded(text)
    terms = _terms(normal)
    return Analysis(
        text=Counter(terms),
        length=len(terms),
        speaker=frozenset(_terms(normalise(speaker))) if speaker else (),
        date=date_terms(said_at) if said_at else (),
        flags=flags_of(normal),
        numbers=figures(normal),
    )


def query_terms(text: str) -> list[str]:
    """Distinct terms of a question, in order."""
    return list(dict.fromkeys(_terms(_bounded(text))))


def stems(normal: str) -> list[str]:
    """Stems of the words in Latin and other spaced scripts, in order, those without a topic too."""
    return [_stem(_bare(match["word"])) for match in _TOKEN.finditer(normal) if match["word"]]


def normalise(text: str) -> str:
    """Compatibility-composed, lower-case, with straight apostrophes."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower().replace("’", "'")


@text_cache(8)
def _bounded(text: str) -> str:
    """The text to analyse, normal and of bounded length: one character may become eighteen on the way.

    Kept for a few calls, since a question is looked at three times.
    """
    head = text[:MAX_ANALYSED]
    return normalise(head)[: 2 * len(head) + 64]


def date_terms(moment: datetime) -> frozenset[str]:
    """The terms under which a date is found: year, English month, Chinese month and day."""
    return _day_terms(moment.date())


@text_cache(1_024)
def _day_terms(day: date) -> frozenset[str]:
    return frozenset((str(day.year), _stem(_MONTHS[day.month - 1]), f"{day.month}月", str(day.day), f"{day.day}日"))


def flags_of(normal: str) -> TextFlag:
    """The language of a normalised text, and whether it asks, lays down an instruction, or tells a preference."""
    pack = _pack()
    stands = normal.__contains__
    flags = LANGUAGE_FLAGS.get(detect(normal), TextFlag(0))
    if any(map(stands, pack.question)):
        flags |= TextFlag.QUESTION | (TextFlag.ASKING if only_asks(normal) else TextFlag(0))
    if any(map(stands, pack.of_instruction)) and pack.instruction.search(normal):
        flags |= TextFlag.INSTRUCTION
    if any(map(stands, pack.of_preference)) and pack.preference.search(normal):
        flags |= TextFlag.PREFERENCE
    return flags


def only_asks(normal: str) -> bool:
    """Whether a normalised text asks and tells nothing beside: each of its clauses asks, or is a few words long."""
    clauses = [clause for part in _CLAUSE.findall(normal) if any(map(str.isalnum, clause := part.strip()))]
    return all(_is_question(clause) or _is_short(clause) for clause in clauses) and any(map(_is_question, clauses))


def _is_question(clause: str) -> bool:
    """Whether it ends in a question mark, or holds a word that asks."""
    pack = _pack()
    if clause.endswith(pack.marks):
        return len(clause) <= _LONGEST_QUESTION
    return any(map(clause.__contains__, pack.asking))


def _is_short(clause: str) -> bool:
    return len(clause) <= _SHORT_CHINESE if not clause.isascii() else len(clause.split()) <= _SHORT_ENGLISH


def wants_advice(text: str) -> bool:
    """Whether a question asks for a recommendation, for help or how to go about something."""
    return _pack().advice.search(_bounded(text)) is not None


def asks_for_value(text: str) -> bool:
    """Whether a question asks for something that has one current value: a number, a date, a state."""
    return _pack().value.search(_bounded(text)) is not None


class AskedTime(Enum):
    """For which time a question wants its answer."""

    PAST = "past"
    """What was, or what happened: nothing that came later changes it."""
    PRESENT = "present"
    """How things stand now, or how they came out."""
    OPEN = "open"
    """It does not say."""


def asked_time(text: str) -> AskedTime:
    """Return for which time a question wants its answer, by its own words."""
    pack, normal = _pack(), _bounded(text)
    if pack.past.search(normal):
        return AskedTime.PAST
    if pack.present.search(normal):
        return AskedTime.PRESENT
    return AskedTime.PAST if pack.happened.search(normal) else AskedTime.OPEN


@dataclass(frozen=True, slots=True)
class _Pack:
    stop: frozenset[str]
    question: tuple[str, ...]
    marks: tuple[str, ...]
    asking: tuple[str, ...]
    """Words of which one in a sentence without a mark makes it a question."""
    instruction: re.Pattern[str]
    of_instruction: tuple[str, ...]
    """One of these stands in whatever the pattern finds."""
    preference: re.Pattern[str]
    of_preference: tuple[str, ...]
    advice: re.Pattern[str]
    value: re.Pattern[str]
    past: re.Pattern[str]
    present: re.Pattern[str]
    happened: re.Pattern[str]


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    return tomllib.loads((files("ebbing.language") / "packs" / "analyser.toml").read_text("utf-8"))


def version_under(pack: Mapping[str, Any]) -> int:
    """Another number whenever the same text could get other terms, numbers or flags: by code or by the pack's words.

    In [0, 2³²). What only questions are read with is not part of it: nothing of that is stored.
    """
    stored = {name: pack[name] for name in ("en", "zh", "question", "instruction", "preference")}
    read_by = json.dumps([_RULES, stored], sort_keys=True).encode()
    return int.from_bytes(hashlib.blake2b(read_by, digest_size=4).digest(), "little")


ANALYZER_VERSION: Final = version_under(_data())
"""Stored with each index entry; an entry with another number is built again (`upkeep.repair.reindex`)."""


@lru_cache(maxsize=1)
def _pack() -> _Pack:
    data = _data()
    return _Pack(
        stop=frozenset(data["en"]["stop"].split()) | frozenset(data["zh"]["stop"].split()),
        question=(*data["question"]["marks"], *data["question"]["zh"]),
        marks=tuple(data["question"]["marks"]),
        asking=tuple(data["question"]["asking"]),
        instruction=_any_of(data["instruction"]),
        of_instruction=tuple(data["glance"]["instruction"]),
        preference=_any_of(data["preference"]),
        of_preference=tuple(data["glance"]["preference"]),
        advice=_any_of(data["advice"]),
        value=_any_of(data["value"]),
        past=_any_of(data["past"]),
        present=_any_of(data["present"]),
        happened=_any_of(data["happened"]),
    )


def _any_of(patterns: Mapping[str, list[str]]) -> re.Pattern[str]:
    return re.compile("|".join(pattern for group in patterns.values() for pattern in group))


def _terms(normal: str) -> list[str]:
    if normal.isascii():
        return list(filter(None, map(_term, _ASCII_WORD.findall(normal))))
    stop = _pack().stop
    terms: list[str] = []
    for run, word in _TOKEN.findall(normal):
        if word:
            terms += filter(None, (_term(word),))
            continue
        terms += [char for char in run if char not in stop]
        terms += map(add, run, run[1:])
    if "月" in normal or "日" in normal or "号" in normal:
        for month, month_mark, day, _ in _CHINESE_DATE.findall(normal):
            terms.append(f"{int(month)}月" if month_mark else f"{int(day)}日")
    return terms


@text_cache(65_536)
def _term(word: str) -> str:
    """The term of a word; empty where the word carries no topic."""
    bare = _bare(word)
    return "" if bare in _pack().stop else _stem(bare)


def _bare(word: str) -> str:
    head, apostrophe, tail = word.partition("'")
    if not apostrophe:
        return word
    return head if tail in {"s", "re", "ve", "ll", "d", "m"} else head + tail


@text_cache(65_536)
def _stem(word: str) -> str:
    return str(Stemmer.Stemmer("english").stemWord(word)) if word.isascii() and word.isalpha() else word
