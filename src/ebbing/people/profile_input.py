"""What is told of a person all at once (by their own hand, in a file, for a whole tenant), as facts to remember."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.errors import InvalidInputError, TooLargeError
from ebbing.domain.forgetting.curves import PINNED
from ebbing.domain.memory.profile import Origin, Section
from ebbing.domain.memory.record import MemoryType
from ebbing.domain.nesting import check_nesting
from ebbing.language.signals.preferences import Manner, read_tastes
from ebbing.language.text.analyzer import normalise
from ebbing.language.text.detect_language import detect
from ebbing.language.wording.profile_phrases import (
    attribute_is_known,
    attribute_sentence,
    plain_sentence,
    rule_sentence,
)

MAX_ENTRIES: Final = 500
"""Entries of one call."""
MAX_KEY: Final = 80
MAX_VALUE: Final = 400
IMPORTANCE: Final = 0.9
_WORKED_OUT: Final = frozenset({"stats", "version", "updated_at", "created_at", "summary", "language", "user_id"})
"""What stands in a profile that is shown and cannot be told."""
_RENAMED: Final = {"display_name": "name", "location": "home", "city": "home", "occupation": "job"}
_ALLERGIES: Final = frozenset({"allergy", "allergies", "过敏"})
_EXCLUDING: Final = ("exclude", "avoid", "no_", "without", "不要", "排除")
_IDENTITY: Final = frozenset({"name", "preferred_name", "age", "birthday", "gender", "pronouns"})


@dataclass(frozen=True, slots=True)
class ProfileInput:
    """One thing that is told."""

    section: Section
    key: str | None
    """The attribute of a fact."""
    value: str
    text: str | None = None
    """The statement in full, where it has one."""


def parse_profile_input(values: object) -> list[ProfileInput]:
    """What a mapping tells: `{"home": "Berlin"}`, or by sections, as `profile` shows it or as a plain list of words.

    Raises:
        InvalidInputError: it is no mapping of JSON values, or holds nothing to tell.
        TooLargeError: more than 500 things, a key over 80 or a value over 400 characters.
    """
    check_nesting(values, "a profile")
    if not isinstance(values, Mapping) or not all(isinstance(key, str) for key in values):
        raise InvalidInputError('a profile is a dict, such as {"home": "Berlin", "preferences": ["jazz"]}')
    inputs = list(dict.fromkeys(entry for key, value in values.items() for entry in _read_value(key.strip(), value)))
    if not inputs:
        raise InvalidInputError('nothing to tell: give values, such as {"home": "Berlin", "preferences": ["jazz"]}')
    if len(inputs) > MAX_ENTRIES:
        raise TooLargeError(f"more than {MAX_ENTRIES} entries in one call: pass them in several")
    return inputs


def fact_of(entry: ProfileInput, *, method: str, place: int = 0) -> Fact:
    """The fact that it makes: a sentence in the language of its value, with what the sentence says.

    Args:
        method: `user` for what the person set by hand, `import` for what they brought along.
        place: of its message in the call.
    """
    language = "zh" if "zh" in {detect(entry.value), detect(entry.key or "")} else "en"
    if entry.section is Section.CONSTRAINTS:
        made = _rule(entry, language)
    elif entry.section is Section.FACTS:
        made = _value(entry, language)
    else:
        made = _taste(entry, language)
    if method == Origin.USER:
        made["tags"] = (*made["tags"], PINNED)
    return Fact(
        **made,
        importance=IMPORTANCE,
        confidence=1.0,
        source=place,
        method=method,
        rule="profile",
        corrects=method == Origin.USER,
    )


def attribute_in(key: str) -> str:
    """A key as the name of an attribute: in lower case, its words joined as the rules join them (`wake_time`)."""
    name = " ".join(normalise(key).split())
    return joined if attribute_is_known(joined := name.replace(" ", "_")) else name


def _value(entry: ProfileInput, language: str) -> dict[str, Any]:
    if entry.key is None:
        return {"text": entry.text or entry.value, "type": MemoryType.FACT, "tags": ("fact",)}
    attribute = attribute_in(entry.key)
    text = entry.text or attribute_sentence(attribute, entry.value, language=language)
    if text is None:
        other = "en" if language == "zh" else "zh"
        text = attribute_sentence(attribute, entry.value, language=other) or f"{attribute}: {entry.value}"
    type_, tags = MemoryType.FACT, ("fact", "identity") if attribute in _IDENTITY else ("fact",)
    if attribute == "diet":
        type_, tags = MemoryType.CONSTRAINT, ("constraint", "diet")
    return {"text": text, "type": type_, "tags": tags, "attribute": attribute, "value": entry.value}


def _taste(entry: ProfileInput, language: str) -> dict[str, Any]:
    likes = entry.section is Section.PREFERENCES
    return {
        "text": entry.text or plain_sentence("likes" if likes else "dislikes", entry.value, language=language),
        "type": MemoryType.PREFERENCE,
        "tags": ("preference",) if likes else ("preference", "dislike"),
        "value": entry.value,
        "object": entry.value,
        "polarity": 1 if likes else -1,
    }


def _rule(entry: ProfileInput, language: str) -> dict[str, Any]:
    """A rule in the person's words; what must be avoided for health's sake is known for that."""
    text = entry.text or rule_sentence(entry.value, language)
    tastes = read_tastes([text])
    procedure = tastes.manner != Manner() and not tastes.avoids
    return {
        "text": text,
        "type": MemoryType.PROCEDURAL if procedure else MemoryType.CONSTRAINT,
        "tags": ("constraint", "health") if tastes.avoids else ("constraint",),
        "value": tastes.avoids[0] if len(tastes.avoids) == 1 else entry.value,
    }


def _read_value(key: str, value: object) -> Iterator[ProfileInput]:
    if not key or key in _WORKED_OUT or value is None:
        return
    if key in set(Section):
        yield from _in_section(Section(key), value)
    elif normalise(key) in _ALLERGIES:
        for word in _words(value):
            yield ProfileInput(Section.CONSTRAINTS, None, word if read_tastes([word]).avoids else _allergic_to(word))
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _read_value(f"{key}.{name}", inner)
    else:
        words = list(_words(value))
        if words:
            yield ProfileInput(Section.FACTS, _checked_key(_RENAMED.get(key, key)), _checked(", ".join(words)))


def _in_section(section: Section, value: object) -> Iterator[ProfileInput]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _keyed(section, str(key), value=inner)
        return
    for element in value if isinstance(value, Sequence) and not isinstance(value, str) else [value]:
        if isinstance(element, Mapping):
            yield from _shown(section, element)
        else:
            yield from (ProfileInput(section, None, word) for word in _words(element))


def _keyed(section: Section, key: str, *, value: object) -> Iterator[ProfileInput]:
    """Named lists of likes ("favorite_genres"), and named values, which are facts."""
    if section is Section.FACTS:
        yield from _read_value(key, value)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        excludes = section is Section.CONSTRAINTS and key.lower().startswith(_EXCLUDING)
        for word in _words(value):
            yield ProfileInput(Section.DISLIKES if excludes else section, None, word)
    elif section is Section.CONSTRAINTS:
        for word in _words(value):
            yield ProfileInput(section, None, _checked(f"{key.replace('_', ' ')}: {word}"))
    else:
        yield from _read_value(key, value)


def _shown(section: Section, entry: Mapping[str, Any]) -> Iterator[ProfileInput]:
    """An entry as `profile` shows it; what holds for everybody is nobody's own."""
    value = entry.get("value")
    if entry.get("source") == Origin.DEFAULT or not isinstance(value, str):
        return
    text, attribute = entry.get("text"), entry.get("attribute")
    yield ProfileInput(
        section,
        _checked_key(attribute) if isinstance(attribute, str) and section is Section.FACTS else None,
        _checked(value),
        _checked(text) if isinstance(text, str) and text.strip() else None,
    )


def _words(value: object) -> Iterator[str]:
    """Texts and numbers as words, lists one by one."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Sequence):
        raise InvalidInputError("a profile's values are texts, numbers, or lists of these")
    if isinstance(value, str):
        if value.strip():
            yield _checked(value)
    elif isinstance(value, int | float):
        yield json.dumps(value)
    else:
        for element in value:
            yield from _words(element)


def _allergic_to(thing: str) -> str:
    return f"对{thing}过敏" if detect(thing) == "zh" else f"allergic to {thing}"


def _checked(value: str) -> str:
    if len(value) > MAX_VALUE:
        raise TooLargeError(f"a value of a profile has at most {MAX_VALUE} characters")
    return " ".join(value.split())


def _checked_key(key: str) -> str:
    if len(key) > MAX_KEY:
        raise TooLargeError(f"a key of a profile has at most {MAX_KEY} characters")
    return key
