"""What statements about a person say they like, dislike and must avoid, and how they want to be answered."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from ebbing.language.text.analyzer import normalise
from ebbing.language.text.caches import text_cache

_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_STRONGEST_FIRST: Final = ("avoid", "ended", "dislike", "like")
_PRONOUNS: Final = frozenset((*"你我他她它您", *"it them him her you me us this that".split()))


@dataclass(frozen=True, slots=True)
class Manner:
    """How somebody wants to be answered; None where they did not say."""

    language: str | None = None
    tone: str | None = None
    max_words: int | None = None
    max_characters: int | None = None
    brief: bool = False


@dataclass(frozen=True, slots=True)
class Tastes:
    """Objects in the words of the statements, lower case; the latest first."""

    likes: tuple[str, ...] = ()
    dislikes: tuple[str, ...] = ()
    avoids: tuple[str, ...] = ()
    """Allergies, diets and what must not be had."""
    manner: Manner = Manner()


def read_tastes(statements: Iterable[str]) -> Tastes:
    """What the statements (the oldest first) say; about one object the later word counts, but what must be avoided
    stays so: an appetite does not end an allergy."""
    verdicts: dict[str, str] = {}
    statements_normal = [normalise(statement) for statement in statements]
    for statement in statements_normal:
        for verdict, thing in _objects(statement):
            if verdicts.get(thing) != "avoid":
                verdicts.pop(thing, None)
                verdicts[thing] = verdict

    def of(verdict: str) -> tuple[str, ...]:
        return tuple(thing for thing, taste in reversed(verdicts.items()) if taste == verdict)

    return Tastes(likes=of("like"), dislikes=of("dislike"), avoids=of("avoid"), manner=_manner(statements_normal))


def mentions(text: str, thing: str) -> bool:
    """Whether a text names a thing or something of its kind ("prawns" for seafood), and does not say it is free of it.

    Chinese words are found inside others, English ones as whole words, singular or plural.
    """
    folded = normalise(text)
    return any(_is_named(folded, word) for word in _kind_of(thing))


def _objects(statement: str) -> Iterator[tuple[str, str]]:
    pack = _pack()
    for diet, avoided in pack.diets:
        if diet.search(statement):
            yield from (("avoid", thing) for thing in avoided)
    rest = statement
    for verdict in _STRONGEST_FIRST:
        for pattern in pack.verdicts[verdict]:
            for match in pattern.finditer(rest):
                yield from ((verdict, thing) for thing in _things(match.group(1)))
            rest = pattern.sub(" ; ", rest)


def _things(phrase: str) -> list[str]:
    pack = _pack()
    parts = (part.strip() for part in pack.between.split(phrase))
    bare = (pack.tail.sub("", pack.lead.sub("", part)).strip(" '\"“”《》") for part in parts)
    return [part for part in bare if part and part not in _PRONOUNS]


def _manner(statements: Sequence[str]) -> Manner:
    pack = _pack()
    last: dict[str, str] = {}
    for statement in statements:
        for name, patterns in pack.manner.items():
            match = next((hit for pattern in patterns if (hit := pattern.search(statement))), None)
            if match is not None:
                last[name] = match.group(match.lastindex or 0)
    return Manner(
        language=last.get("language"),
        tone=last.get("tone"),
        max_words=int(last["words"]) if "words" in last else None,
        max_characters=int(last["characters"]) if "characters" in last else None,
        brief="brief" in last,
    )


def _kind_of(thing: str) -> list[str]:
    thing = normalise(thing)
    members = [member for names, members in _pack().kinds for member in members if _single(thing) in names]
    return [thing, *members]


def _is_named(folded: str, word: str) -> bool:
    free, named = _word_patterns(word)
    return named.search(free.sub(" ", folded)) is not None


@text_cache(4_096)
def _word_patterns(word: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    language = "zh" if _HAN.search(word) else "en"
    form = re.escape(word) if language == "zh" else rf"\b{re.escape(_single(word))}(?:e?s)?\b"
    return re.compile(_pack().free[language].replace("{}", form)), re.compile(form)


def _single(word: str) -> str:
    """An English plural without its s."""
    if _HAN.search(word) or len(word) < 4 or not word.endswith("s") or word.endswith("ss"):
        return word
    return word[:-1]


@dataclass(frozen=True, slots=True)
class _Pack:
    verdicts: Mapping[str, Sequence[re.Pattern[str]]]
    between: re.Pattern[str]
    lead: re.Pattern[str]
    tail: re.Pattern[str]
    kinds: Sequence[tuple[frozenset[str], Sequence[str]]]
    diets: Sequence[tuple[re.Pattern[str], Sequence[str]]]
    free: Mapping[str, str]
    manner: Mapping[str, Sequence[re.Pattern[str]]]


@lru_cache(maxsize=1)
def _pack() -> _Pack:
    data: dict[str, Any] = tomllib.loads((files("ebbing.language") / "packs" / "tastes.toml").read_text("utf-8"))
    return _Pack(
        verdicts={
            name: [re.compile(item) for item in (*data[name]["zh"], *data[name]["en"])] for name in _STRONGEST_FIRST
        },
        between=re.compile(f"{data['split']['zh']}|{data['split']['en']}"),
        lead=re.compile(data["split"]["lead"]),
        tail=re.compile(data["split"]["tail"]),
        kinds=[(frozenset(map(_single, kind["names"])), kind["members"]) for kind in data["kind"]],
        diets=[(re.compile(diet["says"]), diet["avoid"]) for diet in data["diet"]],
        free=data["free"],
        manner={name: [re.compile(pattern) for pattern in patterns] for name, patterns in data["manner"].items()},
    )
