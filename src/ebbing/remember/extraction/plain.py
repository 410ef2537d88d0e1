"""Sentences put so that each holds one thing: notes in the third person, and lists of different kinds of things."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from ebbing.language.parsing.third_person import bare_verb
from ebbing.language.patterns.rule_pack import Pack
from ebbing.language.text.statement import Sentence

_NOTE: Final = {
    "en": re.compile(r"(?:The u|U|u)ser(?P<owns>'s)? (?=[a-z])"),
    "zh": re.compile(r"用户(?P<owns>的)?(?![名体群端们界反需量数]|[^,，]{0,6}(?:反馈|投诉|量|数|群|们))"),
}
"""How a note about the user begins that somebody else wrote."""
_FIRST_PERSON: Final = re.compile(r"\b(?:I|my|me|we|our)\b|[我咱]", re.IGNORECASE)
_BETWEEN: Final = re.compile(r",\s*(?:and\s+|plus\s+)?|\s+(?:and|plus|&)\s+")
_HEAD: Final = re.compile(r"(?:I am |I'm |im )?(?=\w)", re.IGNORECASE)
_VOWEL: Final = re.compile(r"[aeiou]", re.IGNORECASE)


def as_first_person(said: Sequence[Sentence], *, pack: Pack) -> list[Sentence]:
    """The sentences of a note about the user, told by the user: "User likes jazz" says "I like jazz"."""
    find = _NOTE[pack.language]
    if not said or any(_FIRST_PERSON.search(one.text) or find.match(one.text) is None for one in said):
        return list(said)
    return [replace(one, text=_told_by_themselves(one.text, pack), literal=one.evidence) for one in said]


def _told_by_themselves(text: str, pack: Pack) -> str:
    found = _NOTE[pack.language].match(text)
    if found is None:
        return text
    rest = text[found.end() :]
    if pack.language == "zh":
        return f"我的{rest}" if found["owns"] else f"我{rest}"
    return f"my {rest}" if found["owns"] else f"I {bare_verb(rest, pack.tables['bare'], third=True)}"


def with_lists_apart(said: Sequence[Sentence], *, pack: Pack) -> list[Sentence]:
    """The sentences, with a list of one's work, people and pets as one sentence each: "plumber, two kids, a beagle"."""
    if pack.language != "en":
        return list(said)
    return [part for sentence in said for part in _apart(sentence, pack)]


def _apart(sentence: Sentence, pack: Pack) -> list[Sentence]:
    head = _HEAD.match(sentence.text)
    items = _BETWEEN.split(sentence.text[head.end() if head else 0 :].strip(" ."))
    role, possession = _kinds(
        pack.words["role_noun"].pattern, pack.words["family"].pattern, pet=pack.words["pet"].pattern
    )
    kinds = ["am" if role.fullmatch(item) else "have" if possession.fullmatch(item) else "" for item in items]
    if len(items) < 2 or "" in kinds or len(set(kinds)) < 2 or kinds[0] != "am" or sentence.asks:
        return [sentence]
    literal = sentence.evidence
    return [
        Sentence(f"I {kind} {_with_article(item) if kind == 'am' else item}", literal=literal)
        for kind, item in zip(kinds, items, strict=True)
    ]


def _with_article(role: str) -> str:
    if re.match(r"(?:an?|the) ", role, re.IGNORECASE):
        return role
    return f"{'an' if _VOWEL.match(role) else 'a'} {role}"


@lru_cache(maxsize=8)
def _kinds(role: str, family: str, *, pet: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What is a role, and what is one of the family or a pet that somebody has."""
    count = r"(?:an?|one|two|three|four|five|six|\d{1,2})"
    return (
        re.compile(rf"(?:an? )?(?:[\w-]+ ){{0,2}}{role}s?", re.IGNORECASE),
        re.compile(rf"{count} (?:[\w-]+ ){{0,2}}(?:{family}|{pet})(?: (?:named|called) \w+)?", re.IGNORECASE),
    )
