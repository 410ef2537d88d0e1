"""What `packs/changes.toml` says about statements that replace each other, compiled once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.resources import files
from typing import Any, Final, TypeVar

from ebbing.language.patterns.lazy_pattern import Late, caseless
from ebbing.language.patterns.prefilter import Sieve
from ebbing.language.patterns.rule_pack import Packs
from ebbing.language.text.analyzer import query_terms

_BEGINS: Final = (
    r"^(?:\S+ and \S+|\S+'s [\w -]{2,24}?|\S+) (?:(?:has|have|had|just|finally|recently|also|already|then|is|am|are|did"
    r"|had to|have to|has to|decided to|ended up|got to|managed to|needed to|chose to|was forced to|actually) )*"
)
"""The subject, and what may stand between it and its verb."""
_NO_END: Final = (
    r"\b(?:left|right)[- ]handed|\bday off\b|\btime off\b|\bstop(?:ped)? (?:by|in|at)\b|\bquit (?:their|the) job\b"
    r"|\bcut out for\b|\btook (?:off|out) (?:work|a loan|insurance|the trash)\b|\bdrop(?:ped)? (?:\d|weight)"
)
"""What only sounds like an end."""
_WORD: Final = re.compile("[a-z0-9&]+")
_SYNTAX: Final = re.compile(r"\(\?<?[=!][^()]*\)|\(\?(?:-i)?:|[\\?()|+.]")
"""What in a pattern of alternatives is no part of a word."""
_FOR_A_DAY: Final = r"\b(?:closed|shut) (?:today|for the day|this (?:week|morning)|early|because of|due to)\b"
"""What opens again."""
_Entry = TypeVar("_Entry")
_Made = TypeVar("_Made")
_Spoken = TypeVar("_Spoken", "ChangePattern", "EndingPattern")
LANGUAGES: Final = ("en", "zh")


@dataclass(frozen=True, slots=True)
class ChangePattern:
    """How an attribute and its value are read from a text, by language."""

    attribute: str
    value: str | None
    """The value where the pattern holds none."""
    weak: bool
    """Only where no rule of the language packs reads an attribute."""
    keep: bool
    """A statement of this is worth keeping even where no rule of the language packs reads it."""
    patterns: Mapping[str, Late]
    unless: Late | None


@dataclass(frozen=True, slots=True)
class Along:
    """Another attribute that a text gives by the way, where it gives one for sure; by language."""

    with_: str
    attribute: str
    patterns: Mapping[str, re.Pattern[str]]


@dataclass(frozen=True, slots=True)
class EndingPattern:
    """How a text says that something is over, by language."""

    attributes: tuple[str, ...]
    within: frozenset[str]
    or_words: tuple[str, ...]
    """Words of other memories that are over as well, whatever the text names."""
    ongoing: bool
    """Only what goes on can be over in this way."""
    planned: bool
    """Only a plan can."""
    occasions: bool
    """What began on one occasion can, too: a leg that was broken."""
    own: bool
    """It is over for the person, whoever the text is about."""
    patterns: Mapping[str, Late]
    unless: Late | None


@dataclass(frozen=True, slots=True)
class TopicTurn:
    """How a Chinese text says that something has taken a turn."""

    needs: str
    """What a memory must hold beside the topic: `time`, `amount`, `plan`, `ban`, or nothing."""
    last: bool
    """Only the last word before it names the thing."""
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Becoming:
    """How a text says of a named thing what it is now, by language."""

    sorts: frozenset[str]
    """What the value may be: `time`, `figure`, `name` or `word`."""
    patterns: Mapping[str, re.Pattern[str]]


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """The whole pack."""

    same: Mapping[str, str]
    kin: Mapping[str, str]
    """The one term of those that name the same relative."""
    whole: Mapping[str, str]
    """The city of a district."""
    several: frozenset[str]
    soft: frozenset[str]
    signs: Mapping[str, re.Pattern[str]]
    filler: frozenset[str]
    light: frozenset[str]
    light_zh: re.Pattern[str]
    adjunct: Mapping[str, re.Pattern[str]]
    cause: re.Pattern[str]
    """Why something is liked or not, which limits nothing."""
    slight_en: str
    """Words that are said of anything, and so name no thing."""
    slight_zh: re.Pattern[str]
    harm_en: str
    """Words of health that name neither an allergen nor a medicine nor an illness."""
    harm_zh: re.Pattern[str]
    nouns_zh: frozenset[str]
    """Single characters that name a thing."""
    meeting_zh: re.Pattern[str]
    """会 where it is a meeting, and not "can" or "will"."""
    foreign: Mapping[str, re.Pattern[str]]
    """How a text begins that is about other people, or a thing of theirs."""
    occasion: re.Pattern[str]
    subject: Mapping[str, re.Pattern[str]]
    """How a text begins that is about somebody of the person's …"""
    another: Mapping[str, re.Pattern[str]]
    """… and one about anybody else."""
    people: Mapping[str, re.Pattern[str]]
    """Whom words speak of beside the speaker."""
    preferred: Mapping[str, re.Pattern[str]]
    unsettled: Mapping[str, re.Pattern[str]]
    trailing: Mapping[str, re.Pattern[str]]
    taste: frozenset[str]
    nameless: Mapping[str, re.Pattern[str]]
    """Values that name nothing, by attribute; `any` for all."""
    instead: Sequence[tuple[str, str, re.Pattern[str]]]
    """Attribute, the attribute that takes its place, and for which values."""
    kinds_of: Mapping[str, frozenset[str]]
    """What a word of a script with spaces is a kind of: "pet" for a cat."""
    kinds_within: Sequence[tuple[str, frozenset[str]]]
    """The same of what stands in a text of another script."""
    vague: frozenset[str]
    vague_zh: re.Pattern[str]
    edges: Mapping[str, re.Pattern[str]]
    reads: Mapping[str, Sieve[ChangePattern]]
    """By language."""
    along: Sequence[Along]
    endings: Mapping[str, Sieve[EndingPattern]]
    """By language."""
    turns: Sequence[TopicTurn]
    otherwise: Mapping[str, Mapping[str, re.Pattern[str]]]
    """How a text says that something is otherwise now, by name and language."""
    becomes: Sequence[Becoming]
    rival_words: frozenset[str]
    """Of which an English text with one of them holds one, in small letters."""
    sought: Mapping[str, frozenset[str]]
    """Keyword terms of what a kind of rivals, a word, or the matter of an attribute may be told of in."""
    rivals: re.Pattern[str]
    """Things of which somebody uses one at a time, each kind a group."""
    turn_aside: re.Pattern[str]
    """What may stand between a thing and the turn that it takes."""
    turn_empty: frozenset[str]
    """Characters that are no part of a thing's name."""


def corrections() -> Mapping[str, Any]:
    """How a message puts the last statement right."""
    correction: Mapping[str, Any] = _data()["correction"]
    return correction


@lru_cache(maxsize=1)
def _data() -> Mapping[str, Any]:
    return tomllib.loads((files("ebbing.language") / "packs" / "changes.toml").read_text("utf-8"))


@lru_cache(maxsize=1)
def changes() -> Changes:
    """The shipped pack."""
    data = _data()
    light_zh = "|".join(map(re.escape, data["light"]["zh"]))
    kinds_of, kinds_within = _by_member(data["kinds"])
    return Changes(
        same={word: group[0] for group in data["same"] for word in group},
        kin=_kin(data),
        whole=_whole(data["parts"]),
        several=frozenset(data["several"]),
        soft=frozenset(data["soft"]),
        signs={name: _compiled("|".join(patterns)) for name, patterns in data["signs"].items()},
        filler=frozenset(data["filler"]["en"].split()) | frozenset(data["filler"]["zh"]),
        light=frozenset(data["light"]["en"].split()),
        light_zh=_compiled(f"^(?:{light_zh})+(?=.)"),
        adjunct={"en": _compiled(data["light"]["adjunct_en"]), "zh": _compiled(data["light"]["adjunct_zh"])},
        cause=_compiled(data["light"]["cause_en"]),
        slight_en=data["slight"]["en"],
        slight_zh=_compiled(data["slight"]["zh"]),
        harm_en=data["slight"]["harm_en"],
        harm_zh=_compiled(data["slight"]["harm_zh"]),
        nouns_zh=frozenset(data["slight"]["nouns_zh"]) | _words_of_one_character(data),
        meeting_zh=_compiled(data["slight"]["meeting_zh"]),
        foreign=_by_language(data["foreign"], _compiled),
        occasion=_compiled(f"{data['occasion']['en']}|{data['occasion']['zh']}"),
        subject=_by_language(_with_words(data["subject"]), _compiled),
        another=_by_language(_with_words(data["another"]), _compiled),
        people=_by_language(_with_words(data["people"]), _compiled),
        preferred=_by_language(data["preferred"], _compiled),
        unsettled=_by_language(data["unsettled"], _compiled),
        trailing=_by_language(data["trailing"], _compiled),
        taste=frozenset(data["taste"]["en"].split()) | frozenset(data["taste"]["zh"]),
        nameless={name: _compiled(pattern) for name, pattern in data["nameless"].items()},
        instead=[(item["attribute"], item["becomes"], _compiled(item["value"])) for item in data["instead"]],
        kinds_of=kinds_of,
        kinds_within=list(kinds_within.items()),
        vague=frozenset(data["vague"]["en"].split()),
        vague_zh=_compiled(data["vague"]["zh"]),
        edges={name: _compiled(_anchored(name, pattern)) for name, pattern in data["edges"].items()},
        reads=_sifted([_read(entry) for entry in data["read"]]),
        along=list(map(_along, data["along"])),
        endings=_sifted([*map(_ending, data["end"]), *map(_ending, _worded(data["lexicon"]))]),
        turns=[TopicTurn(item["needs"], item.get("last", False), _compiled(item["zh"])) for item in data["turn"]],
        otherwise=_by_name(data["otherwise"], _of_each),
        becomes=list(map(_becoming, data["becomes"])),
        rivals=_rivals(data["rivals"]),
        rival_words=frozenset(_WORD.findall(_SYNTAX.sub(" ", " ".join(data["rivals"].values())).lower())),
        sought=_by_name(data["rivals"] | data["sought"], _terms),
        turn_aside=_compiled(data["turns"]["aside"]),
        turn_empty=frozenset(data["turns"]["empty"]),
    )


def _kin(data: Mapping[str, Any]) -> dict[str, str]:
    groups = (group for group in data["same"] if group[0] in data["kin"])
    terms = ([query_terms(word)[0] for word in group if word.isascii() and " " not in word] for group in groups)
    return {term: same[0] for same in terms for term in same[1:]}


def _words_of_one_character(data: Mapping[str, Any]) -> set[str]:
    """The characters that are a word by themselves, among those that the pack names."""
    named = {word for kind, members in data["kinds"].items() for word in (kind, *members)}
    return {word for word in named if len(word) == 1 and not word.isascii()}


def _by_member(kinds: Mapping[str, Sequence[str]]) -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """For each member the words of its kinds, members that are words and those that stand within a text apart.

    The words of a kind in a script without spaces are its characters.
    """
    words: dict[str, frozenset[str]] = {}
    within: dict[str, frozenset[str]] = {}
    for kind, members in kinds.items():
        for member in members:
            table = words if member.isascii() else within
            table[member] = table.get(member, frozenset()) | frozenset((kind,) if kind.isascii() else kind)
    return words, within


def _compiled(pattern: str) -> re.Pattern[str]:
    return caseless(pattern)


def _by_name(entries: Mapping[str, _Entry], made: Callable[[_Entry], _Made]) -> Mapping[str, _Made]:
    return {name: made(entry) for name, entry in entries.items()}


def _of_each(patterns: Sequence[str]) -> Mapping[str, re.Pattern[str]]:
    """For a text in small letters."""
    return {language: re.compile(pattern) for language, pattern in zip(LANGUAGES, patterns, strict=True)}


def _rivals(kinds: Mapping[str, str]) -> re.Pattern[str]:
    return _compiled("|".join(rf"(?P<{kind}>(?<![a-z0-9])(?:{names})(?![a-z]))" for kind, names in kinds.items()))


def _terms(words: str) -> frozenset[str]:
    """The terms of words that are listed as alternatives of a pattern."""
    plain = _SYNTAX.sub(" ", words)
    return frozenset(term for term in query_terms(plain) if len(term) > 1 or not term.isascii())


def _becoming(entry: Mapping[str, Any]) -> Becoming:
    return Becoming(frozenset(entry["sorts"]), _by_language(entry, _compiled))


def _anchored(name: str, pattern: str) -> str:
    return f"^(?:{pattern})+" if name.endswith("head") else f"(?:{pattern})+$"


def _with_words(patterns: Mapping[str, str]) -> Mapping[str, str]:
    """Put the words of the packs in the place of their names."""
    packs = Packs.load().by_language
    return {
        language: re.sub(r"\{([a-z]+)\}", lambda name: packs[language].words[name[1]].pattern, pattern)  # noqa: B023
        for language, pattern in patterns.items()
    }


def _by_language(entry: Mapping[str, Any], made: Callable[[str], _Made]) -> Mapping[str, _Made]:
    return {language: made(entry[language]) for language in LANGUAGES if language in entry}


def _sifted(things: Sequence[_Spoken]) -> Mapping[str, Sieve[_Spoken]]:
    return {
        language: Sieve(
            [thing for thing in things if language in thing.patterns], partial(_pattern_in, language), language=language
        )
        for language in LANGUAGES
    }


def _pattern_in(language: str, thing: ChangePattern | EndingPattern) -> tuple[Late]:
    return (thing.patterns[language],)


def _read(entry: Mapping[str, Any]) -> ChangePattern:
    return ChangePattern(
        attribute=entry["attribute"],
        value=entry.get("value"),
        weak=bool(entry.get("weak", False)),
        keep=bool(entry.get("keep", False)),
        patterns=_by_language(entry, Late),
        unless=Late(entry["unless"]) if "unless" in entry else None,
    )


def _whole(cities: Mapping[str, str]) -> dict[str, str]:
    return {part: city for city, parts in cities.items() for part in parts.split("|")}


def _along(entry: Mapping[str, Any]) -> Along:
    return Along(entry["with"], entry["attribute"], _by_language(entry, _compiled))


def _worded(words: Mapping[str, str]) -> list[dict[str, str]]:
    """The endings that the lists of words make: what is done to a thing, and what it does by itself."""
    plain = {name: listed.replace("\n", "") for name, listed in words.items()}
    before = r"(?: (?:their|the|all|any|her|his|my|it|going to|to|being|doing|an?|playing|learning))*"
    thing = rf"{before}(?P<object> [^,]+?)"
    parts = "|".join(
        part.replace("…", f"{before}(?P<object{number}> [^,]+?)")
        for number, part in enumerate(words["parts_en"].split("\n"))
    )
    itself = r"^(?:\S+'s |the |their |our )?(?P<object>[^,]+?) (?:\w+ly |just |finally )*"
    told_zh = "(?:已经|终于|最近|刚|上周|昨天|早就?|也|都|又|把)*"
    soon_zh = "(?:周[一二三四五六日天]|被[^,，]{1,5}?|已经|早就?|都|全|也|就|又|完全|彻底|现在|挂闲鱼)*"
    return [
        {"en": rf"{_BEGINS}(?:{plain['does_en']})\b{thing}(?: (?:with|for) .*)?$", "unless_en": _NO_END},
        {"en": rf"{_BEGINS}(?:{plain['turns_en']})\b{thing}(?: (?:to|for|into) .*)?$"},
        {"en": rf"{_BEGINS}(?:{parts})\b.*$"},
        {"en": rf"{itself}(?:{plain['ends_en']})(?: .*)?$", "unless_en": _FOR_A_DAY},
        {"zh": rf"^用户{told_zh}(?:{plain['does_zh']})了?(?P<object>[^,，。了]{{1,10}}?)了?$"},
        {"zh": rf"^(?:用户的?)?(?P<object>[^,，。不]{{1,10}}?){soon_zh}(?:{plain['ends_zh']})了"},
    ]


def _ending(entry: Mapping[str, Any]) -> EndingPattern:
    return EndingPattern(
        attributes=tuple(entry.get("attributes", ())),
        within=frozenset(entry.get("within", ())),
        or_words=tuple(entry.get("or_words", ())),
        ongoing=bool(entry.get("ongoing", False)),
        planned=bool(entry.get("planned", False)),
        occasions=bool(entry.get("occasions", False)),
        own=bool(entry.get("own", False)),
        patterns=_by_language(entry, Late),
        unless=Late(entry["unless_en"]) if "unless_en" in entry else None,
    )
