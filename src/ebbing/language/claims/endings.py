"""What a statement says is over: which words, attributes and topics a memory must hold to be closed by it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from ebbing.domain.conflict.claim import STATE, End, Words
from ebbing.language.claims.change_patterns import Changes, changes
from ebbing.language.claims.normalize_values import object_of, words_of
from ebbing.language.text.analyzer import normalise
from ebbing.language.text.caches import kept
from ebbing.language.text.normalize_numbers import numbered

MAX_ENDING: Final = 120
"""Characters in which a statement says that something is over: more would keep the patterns busy."""
SELF: Final = {"en": "User", "zh": "用户"}
"""Whom a statement is about where that is the person."""


@kept(512)
def ends_of(text: str, *, over: bool, language: str) -> tuple[End, ...]:
    """The ends that a statement makes; `over` where it says that something is not so any more."""
    pack, text = changes(), text[:MAX_ENDING]
    short = pack.trailing[language].sub("", text)
    found = _over(short, language, pack=pack) if over else []
    for part in _parts(text, language):
        found += _ended(part, language, pack=pack)
    return tuple(dict.fromkeys(found))


def _parts(text: str, language: str) -> list[str]:
    """The text, and what an English one says of the same person after a comma ("sold the house, gave up the car")."""
    after = _COMMA.split(text)[1:] if language == "en" and text.startswith(SELF["en"]) else []
    return [text, *(f"{SELF['en']} {part}" for part in after)]


def _ended(text: str, language: str, *, pack: Changes) -> list[End]:
    found: list[End] = []
    short = pack.trailing[language].sub("", text)
    for ending, pattern in pack.endings[language].found_in(*dict.fromkeys((text, short))):
        match = pattern.made.search(text) or (short != text and pattern.made.search(short))
        if not match or (ending.unless and ending.unless.made.search(text)):
            continue
        if pack.unsettled[language].search(text[: match.start()]):
            continue
        thing = next((part for part in match.groupdict().values() if part), "")
        thing = pack.trailing[language].sub("", thing)
        thing = numbered(thing) if language == "en" else pack.vague_zh.sub("", thing) or thing
        if thing.strip() == SELF[language]:
            continue
        words = _bare(thing, pack)
        words = ((words - _vague(pack)) or words) - _MEASURES
        needs = STATE if ending.occasions else ""
        besides = _before(text[: match.start()], language, pack=pack) if ending.attributes else frozenset()
        limit = End(
            besides=besides,
            within=ending.within,
            ongoing=ending.ongoing,
            planned=ending.planned,
            needs=needs,
            own=ending.own,
        )
        if words or ending.attributes:
            head, _ = object_of(thing, language)
            found.append(replace(limit, words=words, attributes=ending.attributes, object=head))
        named = [words_of(word, pack) for word in ending.or_words]
        found += [replace(limit, words=words, within=limit.within or words, needs=STATE) for words in named]
    return found


def _before(head: str, language: str, *, pack: Changes) -> Words:
    """What stands before the end of an attribute: who else than the person quit, or where they were."""
    plain = (
        _LY.sub(" ", _SUBJECT.sub("", head)) if language == "en" else pack.turn_aside.sub(" ", _SUBJECT.sub("", head))
    )
    plain = pack.slight_zh.sub(" ", plain) if language == "zh" else plain
    return _bare(plain, pack) - _vague(pack) - pack.light - _MOMENTS


def _over(text: str, language: str, *, pack: Changes) -> list[End]:
    """What a sentence says is not so any more, where nothing else tells what that is."""
    text = next((part for part in _parts(text, language)[1:] if pack.signs["over"].search(part)), text)
    text = _NOISE.sub("", text)
    words = _bare(text, pack)
    words = (words - _vague(pack)) or words
    if not words:
        return []
    thing = pack.signs["over"].sub(_without_marks, _SUBJECT.sub("", text))
    head, _ = object_of(pack.signs["negated"].sub(" ", thing), language)
    return [End(words, object=head)]


def _bare(text: str, pack: Changes) -> Words:
    """The content words of what is over, without the words that say so."""
    plain = pack.signs["over"].sub(_without_marks, normalise(text))
    return words_of(pack.signs["negated"].sub(" ", plain), pack) - _PARTICLES


@lru_cache(maxsize=1)
def _vague(pack: Changes) -> Words:
    return words_of(" ".join(pack.vague), pack)


_COMMA: Final = re.compile(r", (?:and |so |but |then )?(?=[a-z])")
_NOISE: Final = re.compile(
    r"决定(?=不)|(?<=不)(?:怎么|太|大|常|咋)(?=[打玩吃喝看听去用学练做跑])|(?<=用户)[^,，不没]{2,10}(?:之后|以后|后)(?=(?:就|也|都|再|我)*[不没])|(?:(?:好几|很多|好多|[半\d一二两三四五六七八九十几]+)多?个?(?:年|月|天|周|星期)|好久|很久|许久|多年)都?(?=[不没])|"
    r"[这那上下本]个?(?:学期|周末?|星期|月|年|阵子)|一?[点口滴根支]儿?(?=[^,，]{1,8}[不没])|[都也全](?=[不没])|(?<=[不没])当"
)
"""When it ended, and how completely."""
_SUBJECT: Final = re.compile(
    r"^(?:User|用户)(?:的|'s\b)?(?:现在|已经|早就?|最近|目前)*\s*(?:(?:does|do|is|has|can|will)\b)?"
)
_LY: Final = re.compile(r"\b\w+ly\b")
_MOMENTS: Final = frozenset("刚正天周日月年号前后上下早晚去昨今从因被由全都")
"""Characters that tell when, and from where."""
_PARTICLES: Final = frozenset({"up", "down", "off", "out", "away", "back", "over", "lost", "late"})
_MEASURES: Final = frozenset("个只条台辆套份张本件家间块把")
"""What is counted by them is not named: 有一套卖了."""
_MARKS: Final = re.compile(
    r"no longer|any ?more|any longer|\bno more\b|\bdecided (?:not to|against)\b|\b(?:has|have) not\b|\bafter all\b"
    r"|\bnot going to\b|不再|再也不|已经|现在|早就?|早(?=不|没)|[都全](?=[不没])|没再|"
    r"(?:已经|都)?(?:好几|很多|[半\d一二两三四五六七八九十几]+)多?个?(?:年|月|天|周|星期)(?:都)?(?=[不没])|"
    r"一?[点口滴根支]儿?(?=[^,，]{1,8}[不没])|[不没了]"
)


def _without_marks(found: re.Match[str]) -> str:
    return _MARKS.sub(" ", found.group())
