"""What somebody did once, as far as one sentence tells it plainly: so that doing it often can be counted.

Reads "I bought a latte on Monday" and 周一买了一杯拿铁: an activity with its object, the kind of the object, the day,
and whether the sentence says anything else. What it does not read is not counted. The words are data
(`packs/activities.toml`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from ebbing.language.claims.normalize_values import object_key
from ebbing.language.dates.resolve import DateSpan, resolve
from ebbing.language.signals.mentions import names
from ebbing.language.text.analyzer import normalise
from ebbing.language.text.detect_language import detect

LANGUAGES: Final = ("en", "zh")
MAX_READ: Final = 300
"""Characters of a longer text are not read: it tells a story."""
LONGEST: Final = {"en": 24, "zh": 8}
"""Characters of an object."""
_DAY: Final = frozenset({"day", "hour", "minute"})
_CLAUSE: Final = re.compile(r"[,，。;；!！\n]+|\.(?=\s|$)|\band then\b|然后")
_DIGIT: Final = re.compile(r"\d")
_NOTED: Final = re.compile(r"[(（]\d{4}[^)）]*[)）]")
"""A date that was written out beside its word."""


@dataclass(frozen=True, slots=True)
class Thing:
    """What something is done with."""

    key: str
    """In one spelling: its category's, or its own."""
    name: str
    """As it is told in the language of the text."""
    category: str | None = None
    """Key of the category, where the pack knows one."""


@dataclass(frozen=True, slots=True)
class Done:
    """One occasion on which somebody did something."""

    activity: str
    """Id of the activity in the pack."""
    thing: Thing | None
    day: date
    language: str
    plain: bool
    """The sentence says nothing else: no place, no company, no date of the calendar."""

    @property
    def key(self) -> str:
        """What is counted together: the activity with the category of its object, or with the object itself."""
        return f"{self.activity}.{self.thing.category or self.thing.key}" if self.thing else self.activity


def read_done(text: str, *, said_at: datetime) -> Done | None:
    """What the first clause that tells of an activity says was done; None if none does."""
    pack, language = _pack(), detect(text)
    if len(text) > MAX_READ or language not in LANGUAGES or pack.unreal.search(normalise(text)):
        return None
    bare = _NOTED.sub("", text)
    spans = [span for span in resolve(bare, now=said_at) if span.grain in _DAY]
    if any(span.start > said_at for span in spans):
        return None
    clauses = [normalise(clause).strip() for clause in _CLAUSE.split(_without(bare, spans))]
    reading = next(filter(None, (_in_clause(clause, language, pack=pack) for clause in clauses)), None)
    if reading is None:
        return None
    activity, thing, rest = reading
    day = (spans[0].start if spans else said_at).astimezone(said_at.tzinfo).date()
    alone = sum(bool(item.strip()) for item in _CLAUSE.split(bare)) == 1
    return Done(activity, thing, day, language, plain=alone and not rest and not _names_more(bare, spans))


def _names_more(text: str, spans: Sequence[DateSpan]) -> bool:
    """Whether a text names somebody or something, or a date of the calendar."""
    strange = {name.lower() for name in names(text)} - {span.text.lower() for span in spans}
    return bool(strange) or any(span.explicit or _DIGIT.search(span.text) for span in spans)


def told_often(
    done: str, things: Sequence[str], *, language: str, times: int, subject: str | None = None, general: bool = False
) -> str:
    """The behaviour without its times: "User often buys coffee (3 times)", 用户经常买咖啡 (3 次).

    Args:
        done: key of what is counted (`Done.key`).
        things: the objects in words, the most frequent first.
        general: name the category, and up to three objects behind it: "often buys coffee: latte, mocha".
    """
    verb, category = _words(done, language)
    named = category if general or not things else things[0]
    more = _listed(things, language) if general and list(things) != [category] else ""
    if language == "zh":
        return f"{subject or '用户'}经常{verb}{named}{more} ({times} 次)"
    return f"{' '.join(filter(None, [subject or 'User', 'often', verb, named]))}{more} ({times} times)"


def told_as_habit(
    done: str, weekdays: Sequence[int], *, language: str, times: int, since: date, subject: str | None = None
) -> str:
    """The pattern: "User has a habit of drinking coffee, mostly on Mondays (12 times since 2026-03)".

    Args:
        weekdays: on which it falls for the most part, Monday is 0; empty where there is no such pattern.
    """
    pack = _pack()
    category = pack.categories.get(done.partition(".")[2])
    habit = category.habits.get(language) if category else None
    verb, thing = _words(done, language, form=1)
    if language == "zh":
        who = subject or "用户"
        usual = f"，多在{'、'.join('周' + '一二三四五六日'[weekday] for weekday in weekdays)}" if weekdays else ""
        return f"{who}有{habit or verb + (thing or '')}的习惯{usual} ({since:%Y-%m} 起 {times} 次)"
    who = subject or "User"
    days = [f"{_WEEKDAYS[weekday]}s" for weekday in weekdays]
    usual = f", mostly on {_and(days)}" if days else ""
    named = habit or " ".join(filter(None, [verb, thing]))
    return f"{who} has a habit of {named}{usual} ({times} times since {since:%Y-%m})"


_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _and(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _listed(things: Sequence[str], language: str) -> str:
    return f"：{'、'.join(things[:3])}" if language == "zh" else f": {', '.join(things[:3])}"


def _words(done: str, language: str, *, form: int = 0) -> tuple[str, str]:
    """Verb and object of what is counted, in words; the object is empty where the activity needs none."""
    pack = _pack()
    activity, _, thing = done.partition(".")
    verb = pack.activities[activity].words[language][form if language == "en" else 0]
    category = pack.categories.get(thing)
    return verb, (category.names[language] if category else thing)


def _without(text: str, spans: Sequence[DateSpan]) -> str:
    pieces, at = [], 0
    for span in spans:
        pieces.append(text[at : span.begin])
        at = span.finish
    return " ".join((*pieces, text[at:])) if spans else text


def _in_clause(clause: str, language: str, *, pack: _Pack) -> tuple[str, Thing | None, str] | None:
    """Activity, object, and what else the clause says; None where it tells of none.

    Of several verbs the one with the most before it counts, if that is a subject and a time: 下午喝 is drinking.
    """
    for match in sorted(pack.verbs[language].finditer(clause), key=lambda match: -match.start()):
        before = clause[: match.start()].strip()
        context = pack.nearby.search(before) if language == "zh" else None
        lead = f"{before[: context.start()]}{before[context.end() :]}" if context else before
        if pack.lead[language].fullmatch(lead.strip()) is None:
            continue
        for activity in pack.by_word[language][match.group()]:
            read = _object(activity, clause[match.end() :], word=match.group(), language=language)
            if read is not None:
                thing, rest = read
                return activity.id, thing, f"{context.group() if context else ''}{rest}"
    return None


def _object(activity: _Activity, rest: str, *, word: str, language: str) -> tuple[Thing | None, str] | None:
    """The object that follows a verb, if the activity has one of its kind, and what is said besides."""
    pack = _pack()
    rest = rest.strip(" .。!！")
    text, after = _split_object(rest, language, pack=pack)
    thing = _thing(text, language, pack=pack) if text else None
    is_known = thing is not None and thing.category is not None
    if is_known and thing is not None and (not activity.objects or thing.category in activity.objects):
        return thing, after
    if activity.alone and (word in activity.elsewhere or not activity.elsewhere):
        return None, pack.trailing[language].sub("", rest).strip()
    means_any = word in activity.elsewhere or not activity.elsewhere
    return (thing, after) if thing is not None and means_any and not activity.objects else None


def _split_object(rest: str, language: str, *, pack: _Pack) -> tuple[str, str]:
    """The object without its amount, and what is said after it but for particles and loose prepositions."""
    amount = pack.amount[language].match(rest)
    text = rest[amount.end() :] if amount else rest
    stop = pack.stop[language].search(text)
    phrase = (text[: stop.start()] if stop else text).strip(" .'\"“”《》")
    after = pack.trailing[language].sub("", text[stop.start() :] if stop else "")
    return phrase, after.strip(" .,，。!！")


def _thing(text: str, language: str, *, pack: _Pack) -> Thing | None:
    """What is named, by its longest known ending ("oat latte" is a latte); None for what names nothing to count."""
    if text in pack.vague or len(text) > LONGEST[language] or _DIGIT.search(text):
        return None
    for ending in _endings(text, language):
        if ending in pack.things:
            category = pack.things[ending]
            return Thing(ending, ending, category)
    return Thing(object_key(text, language) or text, text)


def _endings(text: str, language: str) -> Iterator[str]:
    if language == "zh":
        yield from (text[at:] for at in range(len(text)))
    else:
        words = text.split()
        yield from (" ".join(words[at:]) for at in range(len(words)))


@dataclass(frozen=True, slots=True)
class _Activity:
    id: str
    words: Mapping[str, Sequence[str]]
    alone: bool
    objects: frozenset[str]
    elsewhere: frozenset[str]
    """Of its words those that mean it with any object, where others ("had") need one that is known."""


@dataclass(frozen=True, slots=True)
class _Category:
    names: Mapping[str, str]
    habits: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Pack:
    activities: Mapping[str, _Activity]
    by_word: Mapping[str, Mapping[str, Sequence[_Activity]]]
    verbs: Mapping[str, re.Pattern[str]]
    categories: Mapping[str, _Category]
    things: Mapping[str, str]
    """Category of each known object."""
    lead: Mapping[str, re.Pattern[str]]
    nearby: re.Pattern[str]
    amount: Mapping[str, re.Pattern[str]]
    stop: Mapping[str, re.Pattern[str]]
    trailing: Mapping[str, re.Pattern[str]]
    vague: frozenset[str]
    unreal: re.Pattern[str]


@lru_cache(maxsize=1)
def _pack() -> _Pack:
    data = tomllib.loads((files("ebbing.language") / "packs" / "activities.toml").read_text("utf-8"))
    activities = [_activity(entry) for entry in data["activity"]]
    by_word: dict[str, dict[str, list[_Activity]]] = {language: {} for language in LANGUAGES}
    for activity in activities:
        for language in LANGUAGES:
            for word in activity.words[language]:
                by_word[language].setdefault(word, []).append(activity)
    words = data["words"]
    return _Pack(
        activities={activity.id: activity for activity in activities},
        by_word=by_word,
        verbs={"en": _any_of(by_word["en"], edge=r"\b"), "zh": _any_of(by_word["zh"], edge="")},
        categories={entry["en"][0]: _category(entry) for entry in data["category"]},
        things={word: entry["en"][0] for entry in data["category"] for word in (*entry["en"], *entry["zh"])},
        lead={
            "en": re.compile(rf"(?:{words['en_lead']}[\s,]*)*"),
            "zh": re.compile(rf"(?:{words['zh_lead']}|\s)*"),
        },
        nearby=re.compile(words["zh_beside"] + "$"),
        amount={"en": re.compile(words["en_amount"]), "zh": re.compile(words["zh_amount"])},
        stop={"en": re.compile(words["en_stop"]), "zh": re.compile(words["zh_stop"])},
        trailing={
            "en": re.compile(words["en_trailing"]),
            "zh": re.compile(words["zh_trailing"]),
        },
        vague=frozenset(words["vague"].split()),
        unreal=re.compile(words["unreal"]),
    )


def _activity(entry: Mapping[str, Any]) -> _Activity:
    return _Activity(
        id=entry["id"],
        words={language: tuple(entry[language]) for language in LANGUAGES},
        alone=bool(entry.get("alone", False)),
        objects=frozenset(entry.get("objects", ())),
        elsewhere=frozenset(entry.get("elsewhere", ())),
    )


def _category(entry: Mapping[str, Any]) -> _Category:
    habits = {language: entry[f"habit_{language}"] for language in LANGUAGES if f"habit_{language}" in entry}
    return _Category({language: entry[language][0] for language in LANGUAGES}, habits)


def _any_of(words: Mapping[str, object], *, edge: str) -> re.Pattern[str]:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(edge + "(?:" + "|".join(map(re.escape, longest_first)) + ")" + edge)
