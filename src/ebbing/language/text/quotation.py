"""A person's own words as a memory: who said it, and the words in quotation marks.

What no rule reads for sure stays in the words of the person, and so does what is said in a running talk. Such a memory
names nobody wrongly and invents nothing. What a rule reads from its words is compared with others; where none reads
anything it ends nothing, and no rule ends it. A later message may put it in doubt.
"""

from __future__ import annotations

import re
from typing import Final

_FORMS: Final = {"zh": "{}说：“{}”", "en": "{} said: “{}”"}
_ANSWERS: Final = {"zh": "{}回答：“{}”", "en": "{} answered: “{}”"}
_LED: Final = {"zh": "{}说，接“{}”：“{}”", "en": "{} said, after “{}”: “{}”"}
_QUOTATION: Final = re.compile(
    r"(?P<speaker>[^“”\n]{1,200}?)(?:说| said|(?P<answers>回答| answered))"
    r"(?P<day>（\d{4}-\d\d-\d\d）| \(\d{4}-\d\d-\d\d\))?"
    r"(?P<rest>(?:(?:，接|, after )“(?P<lead>[^“”]*)”)?(?P<colon>：|: ))“(?P<words>[^“”]*)”"
)
_DAYS: Final = {"：": "（{}）", ": ": " ({})"}
_QUESTION_END: Final = re.compile(r"[?？]")
_NAMELESS: Final = frozenset({"User", "用户"})
_INNER_MARKS: Final = str.maketrans({"“": "‘", "”": "’"})


def quotation(words: str, speaker: str, *, language: str) -> str:
    """Return the words on one line, as something that the speaker said; `language` is `zh` or `en`."""
    inner = words.translate(_INNER_MARKS)
    return _FORMS[language].format(speaker.translate(_INNER_MARKS), " ".join(inner.split()))


def answer_quotation(words: str, speaker: str, *, question: str, language: str) -> str:
    """Return the words on one line, behind the question that they answer: alone they would say nothing."""
    inner = f"{question} {words}".translate(_INNER_MARKS)
    return _ANSWERS[language].format(speaker.translate(_INNER_MARKS), " ".join(inner.split()))


def led_quotation(words: str, speaker: str, *, lead: str, language: str) -> str:
    """Return the words on one line, behind what was said before: it names whom they only call "she"."""
    inner = " ".join(words.translate(_INNER_MARKS).split())
    before = " ".join(lead.translate(_INNER_MARKS).split())
    return _LED[language].format(speaker.translate(_INNER_MARKS), before, inner)


def dated(text: str, day: str) -> str:
    """Return a quotation with the day on which it was said; another text, and one that has its day, as it is.

    That somebody said so on that day stays true when what was said is over.
    """
    match = _QUOTATION.fullmatch(text)
    if match is None or match["day"] is not None:
        return text
    place = match.start("rest")
    shown_day = _DAYS[match["colon"]].format(day)
    return text[:place] + shown_day + text[place:]


def undated(text: str) -> str:
    """Return a text as it is without the day that `dated` shows."""
    match = _QUOTATION.fullmatch(text)
    if match is None or match["day"] is None:
        return text
    start, end = match.span("day")
    return text[:start] + text[end:]


def is_answer(text: str) -> bool:
    """Return whether a memory of this text quotes an answer with its question."""
    match = _QUOTATION.fullmatch(text)
    return match is not None and match["answers"] is not None


def lead_in(text: str) -> str:
    """Return what was said before the words that a memory of this text quotes, where they lean on it; else ""."""
    match = _QUOTATION.fullmatch(text)
    return (match["lead"] or "") if match else ""


def leans_on(text: str, message: str) -> bool:
    """Return whether a memory of this text repeats what a message asks or says, to say whom or what it is about."""
    inner, lead = " ".join(message.translate(_INNER_MARKS).split()), lead_in(text)
    if lead:
        return lead in inner
    if not is_answer(text):
        return False
    words = quoted_words(text) or ""
    questions = [match.end() for match in _QUESTION_END.finditer(words)]
    return any(words[:end] in inner for end in questions)


def speaker_in(text: str) -> str | None:
    """Return whom a memory of this text quotes, where that is somebody with a name."""
    match = _QUOTATION.fullmatch(text)
    return match["speaker"] if match and match["speaker"] not in _NAMELESS else None


def quoted_words(text: str) -> str | None:
    """Return the words that a memory of this text quotes, of an answer behind its question; None where it is no
    quotation as a whole.
    """
    match = _QUOTATION.fullmatch(text)
    return match["words"] if match else None
