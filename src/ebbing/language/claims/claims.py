"""Statements about a person as claims that can be compared: what they give the value of, what they like, what they end.

Reads facts in the third person, in English and Chinese, by the patterns of `packs/changes.toml`; no model. Names of
attributes and well-known values come out in one spelling, so that 上海 and Shanghai are one city.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from ebbing.domain.conflict.claim import Claim, Ending, Words
from ebbing.domain.memory.record import MemoryType
from ebbing.language.claims.change_patterns import ChangePattern, Changes, changes
from ebbing.language.claims.endings import (
    MAX_ENDING,
    SELF,
    ends_of,
    is_timed,
    pairs_of,
    read_otherwise,
    rivals_of,
    turned,
)
from ebbing.language.claims.normalize_values import NUMBER, object_of, one_spelling, value_of, words_of
from ebbing.language.parsing.subjects import about_of
from ebbing.language.patterns.rule_pack import simplified
from ebbing.language.text.analyzer import normalise
from ebbing.language.text.caches import bounded_text_cache
from ebbing.language.text.detect_language import detect
from ebbing.language.text.numbers import numbered, ungrouped
from ebbing.language.text.quotation import lead_in, quoted_words

_AGENT: Final = {"en": "Assistant", "zh": "助手"}
"""Whom a statement is about where that is the agent."""

MAX_COMPARED: Final = 600
"""Characters of a statement that are read; a longer one tells a story, not one thing."""
_LASTING: Final = re.compile(
    r"\S+ (?:is|are|has been|has started|started) (?:\w+ )?\w+ing\b|(?:用户|助手)(?:现在|最近|目前)?(?:正在|在|一直)"
)
"""What goes on, which is no single occasion even where a rule takes it for an event."""
_AHEAD: Final = frozenset({"plan", "goal"})
"""Tags of what is not there yet."""
_WISHED: Final = "wants to be"
"""The attribute whose value is one that may come, whatever else is meant to."""
_OWNED: Final = frozenset({"公司", "company", "team"})
"""What somebody belongs to, and of which something is said as if of the person."""
_ASIDE: Final = re.compile(r", ?(?:and |but )?not [^,]+$|[,，] ?(?:而)?不是[^,，]+$| ?[(（][^()（）]*[)）]")
"""What is said beside: the date that a time word was given, and what something is not."""

_DENIED: Final = re.compile(
    r"[,，] ?(?:(?:and |but )?not |(?:而|并)?不(?:是|叫|在))(?P<denied>[^,，]{1,40})$"
    r"|\b(?:instead of|rather than) (?:on |in |at |to |the |an? )*(?P<instead>[^,]{1,40})$"
)
"""What something is not, said at the end."""
_HOUSE: Final = re.compile(r"^用户家(?:里)?(?=[没有养不])")
"""我家有狗: what the house has, the person has."""
_ANSWERS: Final = frozenset({"yes", "no"})
_SHOWN: Final = ("over", "gained", "past", "negated", "plan", "sum", "once", "usual", "sought")
"""Signs that a statement is read for by its words alone."""
_NEW: Final = re.compile(r"^(?:new|current|present|updated) (?=\w)")
"""The new number is the number."""


@dataclass(frozen=True, slots=True)
class StatementHints:
    """What is known of a statement beside its text, in the words of `domain.conflict.decision.Fact`."""

    type: MemoryType = MemoryType.FACT
    tags: tuple[str, ...] = ()
    attribute: str | None = None
    value: str | None = None
    object: str | None = None
    polarity: int = 0
    ended: bool = False
    corrects: bool = False
    source: str | None = None
    """The sentence that it was read from."""
    speaker: str | None = None
    """Name of the speaker, where the conversation gives one."""
    agent: bool = False
    was_read: bool = False
    """It was read before: the attribute stands in its one spelling."""


@bounded_text_cache(2_048)
def claim_of(text: str, hints: StatementHints) -> Claim:
    """Return the claim that a text makes; `hints` is what its rule or an earlier reading found out.

    A quotation makes none but that its words were said: it is compared with other words of the same person alone.
    """
    words_said = quoted_words(text)
    if words_said is None:
        return _claim_of_statement(text, hints)
    pack, normal = changes(), normalise(f"{lead_in(text)} {words_said}".strip())
    return Claim(
        words=words_of(normal, pack),
        type=hints.type,
        subject=frozenset(pack.people[_language(words_said)].findall(normal)),
        speaker=f"“{hints.speaker or ''}”",
        negated="negated" in _signs(normal),
    )


def _claim_of_statement(text: str, hints: StatementHints) -> Claim:
    text = without_speaker(text, hints.speaker, agent=hints.agent)
    pack, language = changes(), _language(text)
    denied = _denied(hints.source or text, pack)
    text = _HOUSE.sub("用户", simplified(_ASIDE.sub("", ungrouped(text[:MAX_COMPARED]))))
    normal = numbered(normalise(text))
    subject, called = _subject_of(_who_of(text, language, pack=pack), pack)
    bare = _bare_of(text, language, pack=pack)
    attribute, value = attribute_of(text, hints)
    head, adjunct = object_of(hints.object, language) if hints.polarity else (frozenset(), frozenset())
    shows = _signs(normal)
    over = "over" in shows or hints.ended
    likes = hints.polarity != 0 and hints.type is MemoryType.PREFERENCE and bool(words_of(normal, pack) & pack.taste)
    gained = "gained" in shows
    past = "past" in shows and not over and not gained
    words = words_of(normal, pack) - words_of(normalise(hints.speaker or ""), pack)
    words -= pack.taste if hints.polarity else frozenset()
    ends = ends_of(text, over=over and not likes, language=language)
    if language == "zh":
        ends = _of_their_owner(ends + _turns(normal, hints), normal, subject=subject)
    sentence = f"{normal} {normalise(hints.source)}" if hints.source else normal
    settled = bool(attribute and value) and not _stands_in(value or "", normal)
    attribute = attribute if settled or not over else None
    return Claim(
        words=words,
        type=hints.type,
        lasting=bool(_LASTING.match(bare)),
        subject=subject,
        speaker=_speaker(hints),
        attribute=attribute,
        value=value_of(value, attribute) if value and (settled or not over) else frozenset(),
        settled=settled,
        also=_by_the_way(text, attribute, language=language, pack=pack),
        object=head,
        adjunct=adjunct,
        polarity=polarity_of(text, hints.polarity),
        kinds=_kinds(normal, words, pack=pack),
        numbers=frozenset(NUMBER.findall(normal)),
        occasion=_occasion(normal, value, pack=pack),
        negated="negated" in shows,
        past=past,
        plan=not _AHEAD.isdisjoint(hints.tags) or (hints.type is MemoryType.EPISODIC and "plan" in shows),
        gained=gained,
        changed=hints.corrects or bool(pack.signs["changed"].search(sentence)),
        further=bool(pack.signs["further"].search(f"{normal} {_clause_with_value(value, hints.source)}")),
        pairs=pairs_of(normal),
        timed=is_timed(normal, language),
        summed="sum" in shows,
        once="once" in shows,
        usual="usual" in shows,
        is_wish="sought" in shows,
        called=called,
        resumed=bool(pack.signs["resumed"].search(sentence)),
        single=_is_single(attribute, pack=pack),
        ends=ends,
        corrects=hints.corrects,
        denies=denied,
        about=about_of(text, words, value=value, sentence=hints.source, tags=hints.tags),
        cues=read_otherwise(bare, attribute, language=language, pack=pack),
    )


def without_speaker(text: str, speaker: str | None, *, agent: bool = False) -> str:
    """Put "User" in the place of the speaker's own name at the head of a statement: a name is no topic."""
    if not speaker or not text.casefold().startswith(speaker.casefold()):
        return text
    rest = text[len(speaker) :]
    words = _AGENT if agent else SELF
    if _language(rest) == "zh":
        return words["zh"] + rest.lstrip()
    return words["en"] + rest if rest[:1] in {" ", "'", "’"} else text


@bounded_text_cache(512)
def _signs(normal: str) -> Words:
    """What a statement shows by its words alone: it is read when it is heard, and again once it is known."""
    signs = changes().signs
    return frozenset(name for name in _SHOWN if signs[name].search(normal))


def _denied(sentence: str, pack: Changes) -> Words:
    """What it says at its end that something is not."""
    match = _DENIED.search(sentence[:MAX_COMPARED].rstrip(".!。！ "))
    return words_of(normalise(match["denied"] or match["instead"]), pack) if match else frozenset()


def _turns(normal: str, hints: StatementHints) -> tuple[Ending, ...]:
    """The turns of a statement, or of the sentence that it was read from, where another clause names the thing."""
    source = numbered(simplified(normalise(hints.source or "")))
    return turned(normal[:MAX_ENDING]) or (turned(source) if len(source) <= MAX_ENDING else ())


def _of_their_owner(ends: tuple[Ending, ...], normal: str, *, subject: Words) -> tuple[Ending, ...]:
    """What is over is somebody else's: "我爸的车卖了" ends nothing that does not speak of him."""
    owner = None if subject else changes().signs["owner"].search(normal)
    if owner is None:
        return ends
    words = words_of(owner.group(), changes())
    return tuple(replace(end, words=end.words | words, topics=frozenset()) for end in ends)


def _clause_with_value(value: str | None, source: str | None) -> str:
    """What a sentence says in the clause that gives the value; the whole where none does."""
    parts = re.split("[,，;；]", normalise(source or ""))
    return next((part for part in parts if value and normalise(value) in part), " ".join(parts))


def _stands_in(value: str, normal: str) -> bool:
    """Whether a value is said in so many words; yes or no is what a whole statement answers, never a word of it."""
    if value in _ANSWERS:
        return False
    plain = re.escape(normalise(value))
    return re.search(plain if not value.isascii() else rf"\b{plain}\b", normal) is not None


def _by_the_way(text: str, attribute: str | None, *, language: str, pack: Changes) -> tuple[str, Words] | None:
    for along in pack.along:
        pattern = along.patterns.get(language) if attribute == along.with_ else None
        match = pattern.search(text) if pattern else None
        if match is not None:
            return along.attribute, value_of(match["value"], along.attribute)
    return None


def is_news(text: str, *, ended: bool = False) -> bool:
    """Whether a statement tells of a change: something is over, new, or so again, or has a value that can change."""
    pack, normal = changes(), normalise(text)
    if ended or any(pack.signs[name].search(normal) for name in ("over", "changed", "resumed")):
        return True
    if _language(text) == "zh" and turned(numbered(simplified(normal[:MAX_ENDING]))):
        return True
    return (
        bool(ends_of(text, over=False, language=_language(text))) or attribute_of(text, StatementHints())[0] is not None
    )


def names_a_value(text: str) -> bool:
    """Whether a statement gives a value worth keeping on its own, such as a name."""
    pack, language = changes(), _language(text)
    value = _reading(_ASIDE.sub("", text), language, pack=pack)
    return (value is not None and value[0].keep) or pack.preferred[language].search(text) is not None


def attribute_of(text: str, hints: StatementHints) -> tuple[str | None, str | None]:
    """The attribute in its one spelling and the value as said; the packs' own patterns win over what was told."""
    attribute, value = hints.attribute, hints.value and _ASIDE.sub("", hints.value)
    if hints.was_read or quoted_words(text) is not None:
        return attribute, value
    text = without_speaker(text, hints.speaker, agent=hints.agent)
    attribute, value = _read_attribute(text, attribute=attribute, value=value)
    if attribute and not attribute.endswith((".time", _WISHED)) and changes().signs["ahead"].search(text):
        return None, value
    return attribute, value


def _read_attribute(text: str, *, attribute: str | None, value: str | None) -> tuple[str | None, str | None]:
    pack, language = changes(), _language(text)
    text = _ASIDE.sub("", text[:MAX_COMPARED])
    who, versus = _who_of(text, language, pack=pack), pack.preferred[language].search(text)
    owner = (who["who"] or who["called"] or "").lower() if who else ""
    reading = _reading(text, language, pack=pack, hints=attribute)
    if versus is not None:
        better, worse = (versus["a"], versus["b"]) if versus["a"] else (versus["a2"], versus["b2"])
        pair = sorted(" ".join(sorted(value_of(item))) for item in (better, worse))
        name = f"preferred of {pair[0]} and {pair[1]}"
        return f"{owner}.{name}" if owner else name, better
    if reading is not None:
        read, groups, of_relation = reading
        hinted, value = value, read.value or _any_of("value", groups) or value
        slots = groups | {"which": _any_of("which", groups) or "", "who": _any_of("who", groups) or ""}
        if read.value is not None:
            slots["which"] = " ".join(sorted(words_of(normalise(slots["which"]), pack)))
        if _says_nothing(read, groups, pack=pack):
            return None, hinted
        name = read.attribute.format_map(slots)
        attribute = f"{owner}.{name}" if owner and name and of_relation else name
    elif attribute and who and not who["who"]:
        attribute = f"{owner}.{attribute}"
    if not attribute or not value:
        return None, value
    name = ".".join(one_spelling(_NEW.sub("", part), pack) for part in attribute.lower().split("."))
    return _fitting(name, value, pack=pack), value


def _says_nothing(read: ChangePattern, groups: Mapping[str, str], *, pack: Changes) -> bool:
    """Whether what the attribute is about is no thing: an adverb that stood beside the verb, or nothing."""
    which = _any_of("which", groups)
    return "{which}" in read.attribute and (not which or pack.nameless["which"].search(which) is not None)


def _any_of(name: str, groups: Mapping[str, str]) -> str | None:
    """What stands in a group, or in one of the same name with a number: a pattern of several wordings has several."""
    return next((text for group, text in groups.items() if group.rstrip("0123456789") == name), None)


def _fitting(name: str, value: str, *, pack: Changes) -> str | None:
    """The attribute that such a value belongs to, None where it may have several or the value names nothing."""
    owner, dot, last = name.rpartition(".")
    nameless = (pack.nameless.get(last), pack.nameless["any"])
    if last in pack.several or any(pattern is not None and pattern.search(value.strip()) for pattern in nameless):
        return None
    if last == "home" and rivals_of(value, pack):
        return None
    instead = (new for old, new, pattern in pack.instead if old == last and pattern.search(value))
    return f"{owner}{dot}{next(instead, last)}"


def _is_single(attribute: str | None, *, pack: Changes) -> bool:
    """Whether another value replaces the known one although nothing says that it is new.

    What others do for a living, and where, is told in passing, now by trade, now by rank: there a change must be said.
    """
    owner, _, last = (attribute or "").rpartition(".")
    return pack.soft.isdisjoint((last, attribute)) and not (owner and last in {"job", "employer"})


@bounded_text_cache(512)
def _reading(
    text: str, language: str, *, pack: Changes, hints: str | None = None
) -> tuple[ChangePattern, dict[str, str], bool] | None:
    """The first pattern that reads an attribute from the text, and whether it is the one of somebody else.

    The rest of a sentence about a relation reads like one about the person.
    """
    who, bare = _who_of(text, language, pack=pack), _bare_of(text, language, pack=pack)
    owns = who is not None and who["who"] is not None and who["who"].lower() in _OWNED
    for read, pattern in pack.reads[language].found_in(*dict.fromkeys((bare, text))):
        if read.weak and hints is not None:
            continue
        for variant in (text,) if "{who}" in read.attribute else (bare, text) if owns else (bare,):
            match = pattern.made.search(variant)
            if match is not None and not (read.unless and read.unless.made.search(match.group())):
                groups = {name: part for name, part in match.groupdict().items() if part}
                return read, groups, variant == bare and who is not None
    return None


def _bare_of(text: str, language: str, *, pack: Changes) -> str:
    """What is said of somebody else, as if it was said of the person."""
    who = _who_of(text, language, pack=pack)
    return f"{SELF[language]}{text[who.end() :]}" if who else text


def polarity_of(text: str, polarity: int) -> int:
    """The polarity that a rule told, turned over where the text denies a dislike ("does not hate")."""
    return -polarity if polarity < 0 and changes().signs["double"].search(text) else polarity


def _kinds(normal: str, words: Words, *, pack: Changes) -> Words:
    """What the words are kinds of: a cat is a pet."""
    kinds_found = [pack.kinds_of[word] for word in words if word in pack.kinds_of]
    if not normal.isascii():
        kinds_found += [kinds for member, kinds in pack.kinds_within if member in normal]
    return frozenset().union(*kinds_found)


def _occasion(normal: str, value: str | None, *, pack: Changes) -> Words:
    """Days and seasons beside the value: a favourite season is no occasion."""
    remainder = normal.replace(normalise(value), " ") if value else normal
    return frozenset(match.group().rstrip("s") for match in pack.occasion.finditer(remainder))


def _language(text: str) -> str:
    return "zh" if detect(text) == "zh" else "en"


def _speaker(hints: StatementHints) -> str:
    return f"agent:{hints.speaker}" if hints.agent else f"user:{hints.speaker}"


def _who_of(text: str, language: str, *, pack: Changes) -> re.Match[str] | None:
    """Whom a statement is about that is not about the person: one of theirs, or somebody else, named or not."""
    return pack.subject[language].match(text) or pack.another[language].match(text)


def _subject_of(who: re.Match[str] | None, pack: Changes) -> tuple[Words, Words]:
    """Whom a statement is about, and what they are called."""
    if who is None:
        return frozenset(), frozenset()
    called = words_of(normalise(who["called"] or ""), pack)
    subject = words_of(normalise(who["who"] or ""), pack)
    return frozenset() if (who["who"] or "").lower() in _OWNED else subject or called, called
