"""Which question a short answer answers: the one thing that was asked, or nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ebbing.language.patterns.rule_pack import Pack
from ebbing.language.text.sentences import sentences

LAST_ASKED: Final = 1_000
"""Characters at the end of a message in which its question is looked for."""
_SHORT_IS: Final = re.compile(r"(?i)(?<=what|when)'s\b|(?<=who|how)'s\b|(?<=where)'s\b")
"""What a question in English shortens."""
_JOINT: Final = {
    "en": re.compile(r"(?i)[,;:]\s*(?:and|or)?\s*|\s(?:and|or|plus)\s+|\s[-–—]+\s"),
    "zh": re.compile(r"[,，;；、:：\s]+|(?:和|还有|以及|另外|顺便)"),
}
"""Where a second question may begin within a sentence."""
_ASKS: Final = {
    "en": re.compile(
        r"(?i)(?:what|which|who|whom|whose|when|where|why|how|any|(?:do|does|did|are|is|am|was|were|have|has|had|can"
        r"|could|will|would|should|shall|may) (?:you|your|he|she|it|they|there|this|that|these|those|the|any|we|I"
        r"|his|her|its|their)|got any|anyone|anybody|anything|anywhere)\b"
    ),
    "zh": re.compile(
        r"什么|哪|谁|几[^乎]|几$|多[少大久远高重长]|怎么|怎样|如何|为啥|为何|吗|呢|有没有|是不是|能不能|会不会|要不要|[是有能会喜](?:欢)?不|啥"
    ),
}
"""What shows that a part of a sentence asks; in English at its head."""
_OF_ANOTHER: Final = {
    "en": re.compile(r"(?i)\b(?:he|she|him|his|her|hers|its|they|them|their|theirs)\b"),
    "zh": re.compile(r"(?<![吉其])[他她它]|[那这][只个位条家]"),
}
ADDRESSED: Final = {"en": re.compile(r"(?i)\byou(?:r|rs)?\b"), "zh": re.compile(r"[你您]")}
"""Words for the person who is asked."""
_NAMED: Final = {
    "en": re.compile(
        r"\b(?:(?:[Ww]hat|[Hh]ow) about|[Dd]oes|[Dd]id|[Ii]s|[Ww]as|[Hh]as|[Cc]an|[Cc]ould|[Ww]ill|[Ww]ould) "
        r"(?!I\b)(?P<name>[A-Z][a-z]+)\b|\b(?P<owner>[A-Z][a-z]+)['’]s (?=[a-z])"
    ),
    "zh": re.compile(
        r"^(?:那|对了|话说|所以|哦|嗯)?[,，]?(?P<name>([\u4e00-\u9fff])\2|[小老阿][\u4e00-\u9fff]|[A-Z][a-z]+)"
        r"(?=[喜爱有对是在多几怎能会想吃喝住做养的叫姓怕讨平今现])(?!天天|常常|平平|刚刚|好好|小时|小孩|老家|老板|阿姨)"
    ),
}
"""Somebody with a name whom a question is about: "does Rosie …?", 朵朵喜欢…."""
_NUMBER: Final = re.compile(
    r"(?i)\s*(?:about |around |nearly |just |only |like )*(?:\d|(?:one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|a dozen|twenty)\b"
    r"|[一二两三四五六七八九十百千几俩]+(?:[个位口人只条岁点块元斤次天周月年]|公斤|$))"
)
"""An answer that begins with a number says how many or how much."""
_WANTS_NUMBER: Final = re.compile(
    r"(?i)\bhow (?:many|much|old|tall|long|often|far|big|heavy)\b|\bwhen\b|\bage\b"
    r"|\b(?:what|which) (?:time|days?|year|date)\b"
    r"|birthday|born|height|weight|size|salary|rent|budget|hours|shifts?|\b(?:have|own|keep|got|any)\b(?!.*\ballerg)"
    r"|几|多[少大久远高重长]|什么时候|哪[天年月]|生日|年龄|身高|体重|预算|工资|房租|有没有|[养有]"
)
"""A question of which the answer may be a number, or begin with one."""
_PETS_ZH: Final = re.compile(r"[猫狗犬鸟兔龟鱼]|仓鼠|鹦鹉|宠物")
_WANTS_NO_NUMBER: Final = re.compile(r"(?i)allerg|intoleran|diet|avoid|过敏|忌口|不吃|不能吃")


@dataclass(frozen=True, slots=True)
class Question:
    """The one question of a message, in plain form."""

    text: str
    of_another: str = ""
    """A word for somebody who is not the person asked: the question, or what leads up to it, is about them."""


def the_question(message: str, pack: Pack) -> Question | None:
    """The one thing that a message asks; None where it asks nothing, or more than one thing."""
    spoken = sentences(message[-LAST_ASKED:])
    asking = [place for place, sentence in enumerate(spoken) if sentence.asks]
    if len(asking) != 1:
        return None
    text = _SHORT_IS.sub(" is", spoken[asking[0]].text)
    if len(_asking_parts(text, pack.language)) > 1:
        return None
    before = "" if ADDRESSED[pack.language].search(text) else " ".join(earlier.text for earlier in spoken[: asking[0]])
    other = _other(f"{before} {text}", pack, has_pets=False) or _other(text, pack)
    return Question(text, _named(text, pack) or other)


def is_of_another(question: Question, whole: str, *, answer: str, named: str, pack: Pack) -> bool:
    """Whether a completed sentence speaks of the speaker where the question is about somebody else.

    Args:
        answer: its part that was answered. A pronoun there is of whoever was spoken of, one of the family is meant.
        named: the words of the question that the completed sentence takes up.
    """
    other = question.of_another
    own = whole.replace(answer, "", 1)
    relatives = [match for match in kin_in(answer, pack) if not _is_pet(match.group(), pack)]
    is_told = other in named or other in own or _other(own, pack, has_pets=False) or relatives
    return bool(other) and not is_told


def is_of_others_alone(question: Question, pack: Pack) -> bool:
    """Whether a question is about somebody else, and does not speak to the person who is asked."""
    return bool(question.of_another) and ADDRESSED[pack.language].search(question.text) is None


def has_form(answer: str, question: str) -> bool:
    """Whether an answer that begins with a number is one to a question for a number."""
    if _NUMBER.match(answer) is None:
        return True
    return _WANTS_NO_NUMBER.search(question) is None and _WANTS_NUMBER.search(question) is not None


def _asking_parts(text: str, language: str) -> list[str]:
    """The parts of a sentence that ask by themselves; in English they begin with the word that asks."""
    asks = _ASKS[language]
    find = asks.match if language == "en" else asks.search
    return [part for piece in _JOINT[language].split(text) if find(part := piece.strip())]


def others_in(text: str, pack: Pack) -> list[re.Match[str]]:
    """The words in a text for somebody or something else: pronouns, one of the family, a pet."""
    return [*_OF_ANOTHER[pack.language].finditer(text), *kin_in(text, pack)]


def kin_in(text: str, pack: Pack) -> list[re.Match[str]]:
    """Return the words in a text for one of the family, or a pet."""
    return list(_whole_words(pack.words["kin"].pattern, pack.language).finditer(text))


@lru_cache(maxsize=8)
def _whole_words(pattern: str, language: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})(?:'s|s)?\b" if language == "en" else pattern, re.IGNORECASE)


def _named(question: str, pack: Pack) -> str:
    match = _NAMED[pack.language].search(question)
    return next(filter(None, match.groupdict().values())) if match else ""


def _other(text: str, pack: Pack, *, has_pets: bool = True) -> str:
    """The last word in a text for somebody else; without pets, which may be the answer itself."""
    words = [match for match in others_in(text, pack) if has_pets or not _is_pet(match.group(), pack)]
    return max(words, key=lambda match: match.start()).group() if words else ""


def _is_pet(word: str, pack: Pack) -> bool:
    return _PETS_ZH.search(word) is not None or ("pet" in pack.words and pack.words["pet"].fullmatch(word) is not None)
