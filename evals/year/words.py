"""The words of one language, and how a template becomes something that somebody says."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from evals.baselines import terms

DATA = Path(__file__).parent.parent / "data" / "year"
LANGUAGES = ("zh", "en")
_CHOICE = re.compile(r"\(([^()]*\|[^()]*)\)")
_SLOT = re.compile(r"\{(\w+)\}")


@cache
def attributes() -> Mapping[str, Mapping[str, Any]]:
    """What people can tell of themselves, and how often they do."""
    return tomllib.loads((DATA / "attributes.toml").read_text("utf-8"))


@cache
def words(language: str) -> Mapping[str, Any]:
    """Everything that is said in one language: `slots`, `facts`, `habits`, `events`, `talk`."""
    return tomllib.loads((DATA / f"{language}.toml").read_text("utf-8"))


@cache
def _first_words(language: str) -> frozenset[str]:
    """Words that sentences begin with and that are written small elsewhere."""
    said = words(language)
    templates = [way for fact in said["facts"].values() for way in [*fact["say"], *fact.get("change", [])]]
    templates += [event["say"] for event in said["events"]]
    templates += [way for task in said["talk"]["tasks"] for way in task["say"]]
    first = {template.split()[0] for template in templates if not template.startswith("{")}
    return frozenset(word for word in first if not re.match(r"I\b", word))


def holds(text: str, value: str) -> bool:
    """Whether a text names a value: all its content words, whatever stands between them."""
    return frozenset(terms(value)) <= frozenset(terms(text))


@dataclass
class Speaker:
    """Turns templates into sentences, for one person: never names a value of that person where it is not meant."""

    language: str
    rng: Random
    taken: list[frozenset[str]] = field(default_factory=list)
    """Content words of the values that mean something about this person."""

    @property
    def words(self) -> Mapping[str, Any]:
        return words(self.language)

    def say(self, template: str, **given: str) -> str:
        """One way to say it, with slots filled; a slot named twice is filled alike."""
        chosen = _CHOICE.sub(lambda found: self.rng.choice(found[1].split("|")), template)
        filled: dict[str, str] = dict(given)

        def fill(found: re.Match[str]) -> str:
            name = found[1]
            if name not in filled:
                filled[name] = self._other(name)
            return filled[name]

        return _tidy(_SLOT.sub(fill, chosen), self.language)

    def exchange(self, task: Mapping[str, list[str]]) -> tuple[str, str]:
        """A request and its reply that speak of the same thing."""
        says, reply = self.rng.choice(task["say"]), self.rng.choice(task["reply"])
        names = dict.fromkeys(_SLOT.findall(says + reply))
        filled = {name: self._other(name) for name in names}
        return self.say(says, **filled), self.say(reply, **filled)

    def dressed(self, sentence: str) -> str:
        """The sentence as it comes up in talk: often after a word of introduction, at times with one behind it."""
        slots = self.words["slots"]
        if self.rng.random() < 0.35:
            sentence = self.joined(self.rng.choice(slots["opener"]), _within(sentence, self.language))
        if self.rng.random() < 0.15:
            sentence = self.joined(sentence, self.rng.choice(slots["closer"]))
        return sentence

    def joined(self, first: str, second: str) -> str:
        """One sentence behind the other, with what the language puts between them."""
        if self.language == "en":
            return f"{first} {second}"
        return f"{first}{'' if first[-1] in '。！？，' else '，'}{second}"

    def take(self, values: Collection[str]) -> str | None:
        """A value that shares no content word with those taken before; None where none is left."""
        free = [value for value in values if self._is_free(value)]
        if not free:
            return None
        value = self.rng.choice(free)
        self.taken.append(frozenset(terms(value)))
        return value

    def _is_free(self, value: str) -> bool:
        mine = frozenset(_telling(terms(value)))
        return not any(mine & frozenset(_telling(other)) for other in self.taken)

    def _other(self, slot: str) -> str:
        """A filler that does not name a taken value."""
        options = self.words["slots"][slot]
        free = [option for option in options if not self.names_taken(option)]
        return self.rng.choice(free or options)

    def names_taken(self, option: str) -> bool:
        """Whether a filler names a value that means something about this person."""
        held = frozenset(terms(option))
        return any(value <= held for value in self.taken)


def _telling(found: Collection[str]) -> list[str]:
    """Content words that set a value apart: no single Chinese characters, no figures."""
    return [term for term in found if not term.isdigit() and not (len(term) == 1 and term >= "\u3400")]


def _within(sentence: str, language: str) -> str:
    """The sentence as it stands behind an introduction."""
    return sentence[:1].lower() + sentence[1:] if sentence.split(maxsplit=1)[0] in _first_words(language) else sentence


def _tidy(text: str, language: str) -> str:
    """Without the gaps that left-out parts leave; an English sentence starts with a capital letter."""
    text = re.sub(r" +([,.!?])", r"\1", re.sub(r"[ ]{2,}", " ", text)).strip()
    if language != "en":
        return text
    text = re.sub(r"\b([Aa]) (?=[aeio])", r"\1n ", text)
    return text[:1].upper() + text[1:]
