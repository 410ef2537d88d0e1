"""Words that stand for a name ("my sister"), and for which: who and what people have around them (`relations.toml`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from ebbing.language.claims.change_patterns import changes
from ebbing.language.patterns.lazy_pattern import caseless
from ebbing.language.text.analyzer import query_terms
from ebbing.language.text.caches import bounded_text_cache
from ebbing.language.text.detect_language import detect

MAX_READ: Final = 2_000
"""Characters of a text that are read for names."""


@dataclass(frozen=True, slots=True)
class Alias:
    """A word and the name of what it stands for."""

    word: str
    """`sister`, `dog`, `company`, in lower case."""
    name: str
    """As written."""


@bounded_text_cache(4_096)
def aliases(text: str) -> tuple[Alias, ...]:
    """Which names a text gives to people and animals: "my sister Lily", "Rex is my dog", 我妹妹叫莉莉."""
    pack = _pack()
    language = "zh" if detect(text) == "zh" else "en"
    names: dict[Alias, None] = {}
    for pattern in pack.named[language]:
        for match in pattern.finditer(text[:MAX_READ]):
            name = match["name"].strip(" '’").removesuffix("'s").removesuffix("’s")
            word = match["kin"].lower()
            if name and not pack.no_name[language].search(name) and name.lower() not in pack.words:
                names[Alias(word, name)] = None
    for entry in pack.namings:
        for match in entry.patterns[language].finditer(text[:MAX_READ]):
            name = match["name"].strip(" '’")
            if not pack.no_name[language].search(name):
                names |= dict.fromkeys(Alias(word, name) for word in entry.words)
    return tuple(names)


def of_value(attribute: str | None, value: str | None) -> tuple[Alias, ...]:
    """Which words a value is the name of: `employer` Acme makes Acme the company, `sister.name` Lily the sister."""
    if not attribute or not value:
        return ()
    owner, _, name = attribute.rpartition(".")
    if name == "name" and owner in _pack().words:
        return (Alias(owner, value),)
    return tuple(Alias(word, value) for word in _pack().roles.get(attribute, ()))


def spellings(word: str) -> tuple[str, ...]:
    """A word and those that mean the same, in both languages: mother, mom, 妈妈."""
    same = changes().same
    first = same.get(word, word)
    return tuple(dict.fromkeys((word, first, *(other for other, kept_as in same.items() if kept_as == first))))


def means_one(word: str) -> bool:
    """Whether somebody has one of it as a rule, so that the word means whoever bears the name."""
    return word not in _pack().many


def is_word(word: str) -> bool:
    """Whether it stands for a name."""
    return word in _pack().words


def role_attributes() -> frozenset[str]:
    """The attributes whose value is a name for something."""
    return frozenset(_pack().roles)


def word_terms() -> frozenset[str]:
    """The keyword terms of the words that stand for a name."""
    return _pack().terms


def role_terms() -> frozenset[str]:
    """Keyword terms of which a message holds one that tells where somebody works or studies."""
    return frozenset(term for entry in _pack().namings for term in entry.terms)


def kind_of(attribute: str | None, word: str | None = None) -> str:
    """`person`, `pet`, `place`, `organisation` or `thing`: what the value of an attribute is, or who a word is."""
    pack = _pack()
    if word is not None and word in pack.pets:
        return "pet"
    if word is not None and word in pack.words:
        return "organisation" if word in pack.things else "person"
    last = (attribute or "").rpartition(".")[2]
    named = (attribute, last)
    return next((kind for kind, attributes in pack.kinds.items() if not attributes.isdisjoint(named)), "thing")


@dataclass(frozen=True, slots=True)
class _Naming:
    """How a message tells the name of something that somebody has one of."""

    words: Sequence[str]
    terms: frozenset[str]
    patterns: Mapping[str, re.Pattern[str]]


@dataclass(frozen=True, slots=True)
class _Pack:
    words: frozenset[str]
    things: frozenset[str]
    many: frozenset[str]
    pets: frozenset[str]
    terms: frozenset[str]
    namings: Sequence[_Naming]
    named: Mapping[str, Sequence[re.Pattern[str]]]
    no_name: Mapping[str, re.Pattern[str]]
    roles: Mapping[str, Sequence[str]]
    kinds: Mapping[str, frozenset[str | None]]


@lru_cache(maxsize=1)
def _pack() -> _Pack:
    data: dict[str, Any] = tomllib.loads((files("ebbing.language") / "packs" / "relations.toml").read_text("utf-8"))
    kin = {language: data["kin"][language].split() for language in ("en", "zh")}
    things = {word for language in ("en", "zh") for word in data["things"][language].split()}
    named = {language: _named(words, data["named"], language=language) for language, words in kin.items()}
    every = frozenset((*kin["en"], *kin["zh"], *things))
    return _Pack(
        words=every,
        things=frozenset(things),
        many=frozenset(data["kin"]["many"].split()),
        pets=frozenset(data["kinds"]["pets"].split()),
        terms=frozenset(term for word in every for term in query_terms(word) if len(term) > 1 or word == term),
        namings=[_naming(entry, data["named"]) for entry in data["said"]],
        named=named,
        no_name={language: re.compile(data["named"][f"no_name_{language}"]) for language in ("en", "zh")},
        roles=data["roles"],
        kinds={kind: frozenset(data["kinds"][kind]) for kind in ("place", "organisation", "person")},
    )


def _naming(entry: Mapping[str, Any], named: Mapping[str, Any]) -> _Naming:
    terms = frozenset(term for word in entry["terms"] for term in query_terms(word) if len(term) > 1)
    patterns = {
        language: re.compile(entry[language].replace("{name}", named[f"name_{language}"])) for language in ("en", "zh")
    }
    return _Naming(entry["words"], terms, patterns)


def _named(kin: Sequence[str], named: Mapping[str, Any], *, language: str) -> list[re.Pattern[str]]:
    """The patterns by which a text says what people and animals are called, the longest words first."""
    words = f"(?:{'|'.join(sorted(map(re.escape, kin), key=len, reverse=True))})"
    whole = (item.replace("{kin}", words).replace("{name}", named[f"name_{language}"]) for item in named[language])
    return [caseless(item) for item in whole]
