"""How a profile is worded in Chinese and English, and what is asked of somebody: `packs/profile.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from ebbing.language.claims.change_patterns import changes

LANGUAGES: Final = ("en", "zh")
_PERSON: Final = {"en": "User", "zh": "用户"}
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")
_NEVER: Final = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Question:
    """Something to ask."""

    about: str
    wording: Mapping[str, str]
    """By language."""
    attributes: frozenset[str]
    """Attributes of which one tells the answer."""
    signs: re.Pattern[str]
    """What tells in a statement, in lower case, that the answer is known."""


def questions() -> Sequence[Question]:
    """Everything that can be asked, the most useful first."""
    return _pack().questions


def attribute_sentence(attribute: str, value: str, *, language: str) -> str | None:
    """What a value of an attribute says, as a sentence in `zh` or `en`; None where the attribute has no name there."""
    pack = _pack()
    owner, kind, name = _taken_apart(attribute)
    subject = _subject(owner, language)
    if subject is None:
        return None
    template = pack.sentences.get(name, {}).get(language) if not kind else pack.plain[f"{kind}_{language}"]
    called = attribute_name(name, language)
    if template is None:
        if called is None:
            return None
        template = pack.plain[language]
    slots = {"subject": subject, "owner": _owner(subject, language), "value": value, "attribute": called or name}
    return str(template.format_map(slots))


def attribute_is_known(name: str) -> bool:
    """Whether there is a sentence for it."""
    return name in _pack().sentences


def plain_sentence(kind: str, value: str, *, language: str) -> str:
    """`likes` or `dislikes` with its object, as a sentence in `zh` or `en`."""
    return str(_pack().plain[f"{kind}_{language}"].format_map({"value": value}))


def rule_sentence(value: str, language: str) -> str:
    """A rule as the person put it, as a sentence about them in `zh` or `en`."""
    pack = _pack()
    text = pack.first_person.sub("", value, count=1) or value
    fitting = (sentence for head, sentence in pack.rules[language] if head.search(text))
    return str(next(fitting, pack.plain[f"rule_{language}"]).format_map({"value": text}))


def attribute_name(name: str, language: str) -> str | None:
    """What an attribute is called in a language; None where nobody knows."""
    chinese = _CHINESE.search(name) is not None
    if language == "en":
        return None if chinese else name.replace(".", " ").replace("_", " ")
    if chinese:
        return name
    same = changes().same
    return next((word for word, first in same.items() if first == name and _CHINESE.search(word)), None)


def _taken_apart(attribute: str) -> tuple[str, str, str]:
    """Owner ("sister", "" for the person), `favourite` or "", and name."""
    owner, _, name = attribute.rpartition(".")
    head, _, last = owner.rpartition(".")
    if last == "favourite":
        return head, "favourite", name
    return owner, "", name


def _subject(owner: str, language: str) -> str | None:
    person = _PERSON[language]
    if not owner:
        return person
    chinese = _CHINESE.search(owner) is not None
    if language == "en":
        english = _pack().people_en.get(owner) if chinese else owner
        return None if english is None else f"{person}'s {english}"
    called = owner if chinese else _pack().people_zh.get(owner)
    return None if called is None else f"{person}的{called}"


def _owner(subject: str, language: str) -> str:
    return f"{subject}的" if language == "zh" else f"{subject}'s"


@dataclass(frozen=True, slots=True)
class _Pack:
    plain: Mapping[str, Any]
    sentences: Mapping[str, Mapping[str, str]]
    """By attribute, then by language."""
    rules: Mapping[str, Sequence[tuple[re.Pattern[str], str]]]
    """By language, what a rule begins with, and its sentence."""
    first_person: re.Pattern[str]
    people_zh: Mapping[str, str]
    people_en: Mapping[str, str]
    questions: Sequence[Question]


@lru_cache(maxsize=1)
def _pack() -> _Pack:
    data: dict[str, Any] = tomllib.loads((files("ebbing.language") / "packs" / "profile.toml").read_text("utf-8"))
    words = data["sentence"]
    return _Pack(
        plain=words,
        sentences={item["name"]: item for item in data["attribute"]},
        rules={
            language: [(re.compile(head, re.IGNORECASE), sentence) for head, sentence in words[f"rules_{language}"]]
            for language in LANGUAGES
        },
        first_person=re.compile(words["first_person"], re.IGNORECASE),
        people_zh=data["people"],
        people_en={chinese: english for english, chinese in data["people"].items()},
        questions=[
            Question(
                item["about"],
                {language: item[language] for language in LANGUAGES},
                frozenset(item.get("known", ())),
                re.compile(item["signs"]) if "signs" in item else _NEVER,
            )
            for item in data["question"]
        ],
    )
