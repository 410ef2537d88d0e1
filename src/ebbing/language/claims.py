"""Statements about a person as claims that can be compared: what they give the value of, what they like, what they end.

Reads facts in the third person, in English and Chinese, by the patterns of `packs/changes.toml`; no model. Names of
attributes and well-known values come out in one spelling, so that 上海 and Shanghai are one city.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ebbing.domain.conflict import Claim, End, Words
from ebbing.domain.record import MemoryType
from ebbing.language.analyse import normalise, query_terms
from ebbing.language.changes import Changes, Read, changes
from ebbing.language.detect import detect

_CJK: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")
_LATIN: Final = re.compile(r"[a-z][a-z'’&.+-]*|\d+(?:[.,:]\d+)*")
_WORD: Final = re.compile(r"[a-z']+|\d+|[\u4e00-\u9fff]")
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_SMALL: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS: Final = dict(zip((*_SMALL, *_TENS), (*range(20), *range(20, 100, 10)), strict=True))
_TIMES: Final = {"once": "1", "twice": "2", "thrice": "3"}
_TENS_WORD: Final = re.compile(rf"\b({'|'.join(_TENS)})[- ]({'|'.join(_SMALL[1:10])})\b")
_SMALL_WORD: Final = re.compile(rf"\b({'|'.join(_NUMBERS)})\b")
_ZH_DIGITS: Final = "零一二三四五六七八九"
_ZH_NUMBER: Final = re.compile(
    r"([一二两三四五六七八九])?(十)?([一二三四五六七八九])?(?=[岁个只条点月日号斤公千米位名口辆套部台周年次])"
)
_MONTHS: Final = "january february march april may june july august september october november december".split()
_MONTH_NAMES: Final = rf"({'|'.join(month[:3] for month in _MONTHS)})[a-z]*"
_MONTH: Final = re.compile(rf"\b{_MONTH_NAMES}\.?(?= \d|$|,)|(?<=\d )(?:of )?{_MONTH_NAMES}\b")
_LASTING: Final = re.compile(
    r"\S+ (?:is|are|has been) (?:\w+ )?\w+ing\b|(?:用户|助手)(?:现在|最近|目前)?(?:正在|在|一直)"
)
"""What goes on, which is no single occasion even where a rule takes it for an event."""
_SELF: Final = {"en": "User", "zh": "用户"}
_ASIDE: Final = re.compile(r", ?(?:and |but )?not [^,]+$|[,，] ?(?:而)?不是[^,，]+$| ?[(（][^()（）]*[)）]")
"""What is said beside: the date that a time word was given, and what something is not."""
_ORDINAL: Final = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b")
_ZH_DATE: Final = re.compile(r"(\d{1,2})月(\d{1,2})[日号]?")


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a statement beside its text, in the words of `domain.decision.Fact`."""

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
    known: bool = False
    """It was read before: the attribute stands in its one spelling."""


@lru_cache(maxsize=2_048)
def claim_of(text: str, told: Told) -> Claim:
    """The claim that a text makes; `told` is what its rule or an earlier reading found out."""
    pack, language = changes(), _language(text)
    text = _ASIDE.sub("", text)
    normal = numbered(normalise(text))
    subject = _subject(text, language, pack=pack)
    attribute, value = attribute_of(text, told)
    head, adjunct = object_of(told.object, language) if told.polarity else (frozenset(), frozenset())
    over = bool(pack.signs["over"].search(normal)) or told.ended
    likes = told.polarity != 0 and told.type is MemoryType.PREFERENCE
    past = bool(pack.signs["past"].search(normal)) and not over
    words = _words(normal, pack) - _words(normalise(told.speaker or ""), pack)
    words -= pack.taste if told.polarity else frozenset()
    ends = _ends(text, over=over and not likes, language=language)
    sentence = f"{normal} {normalise(told.source)}" if told.source else normal
    return Claim(
        words=words,
        type=told.type,
        lasting=bool(_LASTING.match(text)),
        subject=subject,
        speaker=_speaker(told),
        attribute=None if over else attribute,
        value=value_of(value, attribute) if value and not over else frozenset(),
        object=head,
        adjunct=adjunct,
        polarity=polarity_of(text, told.polarity),
        kinds=_kinds(normal, words, pack=pack),
        numbers=frozenset(_NUMBER.findall(normal)),
        occasion=_occasion(normal, value, pack=pack),
        negated=bool(pack.signs["negated"].search(normal)),
        past=past,
        plan="plan" in told.tags or (told.type is MemoryType.EPISODIC and bool(pack.signs["plan"].search(normal))),
        gained=bool(pack.signs["gained"].search(normal)),
        changed=told.corrects or bool(pack.signs["changed"].search(sentence)),
        further=bool(pack.signs["further"].search(sentence)),
        resumed=bool(pack.signs["resumed"].search(normal)),
        single=attribute is None or attribute.rsplit(".", 1)[-1] not in pack.soft,
        ends=ends,
    )


def is_news(text: str, *, ended: bool = False) -> bool:
    """Whether a statement tells of a change: something is over, new, or so again, or has a value that can change."""
    pack, normal = changes(), normalise(text)
    if ended or any(pack.signs[name].search(normal) for name in ("over", "changed", "resumed")):
        return True
    return bool(_ends(text, over=False, language=_language(text))) or attribute_of(text, Told())[0] is not None


def names_a_value(text: str) -> bool:
    """Whether a statement gives a value worth keeping on its own, such as a name."""
    pack, language = changes(), _language(text)
    found = _reading(_ASIDE.sub("", text), language, pack=pack)
    return (found is not None and found[0].keep) or pack.preferred[language].search(text) is not None


def attribute_of(text: str, told: Told) -> tuple[str | None, str | None]:
    """The attribute in its one spelling and the value as said; the packs' own patterns win over what was told."""
    attribute, value = told.attribute, told.value and _ASIDE.sub("", told.value)
    if told.known:
        return attribute, value
    pack, language = changes(), _language(text)
    text = _ASIDE.sub("", text)
    versus = pack.preferred[language].search(text)
    found = _reading(text, language, pack=pack, told=attribute)
    if versus is not None:
        better, worse = (versus["a"], versus["b"]) if versus["a"] else (versus["a2"], versus["b2"])
        pair = sorted(" ".join(sorted(value_of(one))) for one in (better, worse))
        return f"preferred of {pair[0]} and {pair[1]}", better
    if found is not None:
        read, groups = found
        value = read.value or groups.get("value") or groups.get("value2") or value
        slots = {"which": groups.get("which2", ""), "who": groups.get("who2", "")}
        name = read.attribute.format_map(slots | groups)
        who = pack.subject[language].match(text)
        attribute = f"{who['who']}.{name}" if who and name and "{who}" not in read.attribute else name
    if not attribute or not value or (attribute.endswith("employer") and pack.nameless.search(value.strip())):
        return None, value
    name = ".".join(_one_spelling(part, pack) for part in attribute.lower().split("."))
    return (None, value) if name.rsplit(".", 1)[-1] in pack.several else (name, value)


def _reading(text: str, language: str, *, pack: Changes, told: str | None = None) -> tuple[Read, dict[str, str]] | None:
    """The first pattern that reads an attribute from the text; the rest of a sentence about a relation reads alike."""
    who = pack.subject[language].match(text)
    bare = f"{_SELF[language]}{text[who.end() :]}" if who else text
    for read in pack.reads:
        if read.weak and told is not None:
            continue
        pattern = read.patterns.get(language)
        found = pattern.search(text if "{who}" in read.attribute else bare) if pattern else None
        if found is not None and not (read.unless and read.unless.search(found.group())):
            return read, {name: part for name, part in found.groupdict().items() if part}
    return None


def object_of(text: str | None, language: str) -> tuple[Words, Words]:
    """Head and adjunct of what is liked: "to play cricket with friends" is cricket, with friends."""
    if not text:
        return frozenset(), frozenset()
    pack = changes()
    normal = re.sub(r"(?:的(?:味道|气味|感觉|样子)|这种|这个)$", "", _trimmed(normalise(text), pack))
    if language == "zh":
        aside = pack.adjunct["zh"].match(normal)
        rest = normal[aside.end() :] if aside else normal
        head = pack.light_zh.sub("", rest) or rest
        return frozenset({_one_spelling(head, pack)}), _words(aside.group(), pack) if aside else frozenset()
    cut = pack.adjunct["en"].search(normal, 1)
    while cut is not None and not _stands(normal[: cut.start()], cut.group(), pack=pack):
        cut = pack.adjunct["en"].search(normal, cut.end())
    head_text = normal[: cut.start()] if cut else normal
    return _heads(head_text, pack) or _words(normal, pack), _words(normal[cut.end() :], pack) if cut else frozenset()


def object_key(text: str | None, language: str) -> str | None:
    """The head of what is liked, in the short form under which it is stored and found again."""
    head, _ = object_of(text, language)
    return " ".join(sorted(head)) or None


def value_of(text: str, attribute: str | None = None) -> Words:
    """A value's words in one spelling: without articles, "now" and units; numbers as figures."""
    pack = changes()
    if attribute is not None and attribute.endswith(("age", "phone", "weight", "height")):
        figures = frozenset(_NUMBER.findall(numbered(normalise(text)).replace("-", "").replace(" ", "")))
        if figures:
            return figures
    normal = _trimmed(normalise(text), pack)
    if not normal or normal in pack.same:
        return frozenset({_one_spelling(normal, pack)})
    normal = _tail_in_one_spelling(normal, pack)
    dated = _dated(numbered(normal))
    words = {_one_spelling(_trimmed(run, pack), pack) for run in _CJK.findall(dated)}
    words |= {_one_spelling(word, pack) for word in _LATIN.findall(dated)} - pack.filler - pack.light
    return frozenset(words - {""}) or frozenset({normal})


def content_share(text: str) -> float:
    """Share of a text's words that are no filler, in [0, 1]; a Chinese character counts as a word."""
    pack = changes()
    words = _WORD.findall(normalise(text))
    content = sum(1 for word in words if word not in pack.filler and query_terms(word))
    return content / len(words) if words else 0.0


def numbered(normal: str) -> str:
    """Number words up to ninety-nine as figures."""
    normal = re.sub(r"\b(once|twice|thrice)\b", lambda found: _TIMES[found[1]], normal)
    normal = _TENS_WORD.sub(lambda found: str(_NUMBERS[found[1]] + _NUMBERS[found[2]]), normal)
    normal = _SMALL_WORD.sub(lambda found: str(_NUMBERS[found[1]]), normal)
    return _ZH_NUMBER.sub(_zh_figure, normal)


def _zh_figure(found: re.Match[str]) -> str:
    tens, ten, ones = found.groups()
    if not found.group():
        return ""
    digits = "2" if tens == "两" else str(_ZH_DIGITS.index(tens)) if tens else ""
    if not ten:
        return digits if not ones else found.group()
    return str((int(digits) if digits else 1) * 10 + (_ZH_DIGITS.index(ones) if ones else 0))


def _dated(normal: str) -> str:
    normal = _ORDINAL.sub(r"\1", normal)
    normal = _MONTH.sub(lambda found: f"month{_month(found[1] or found[2])} ", normal)
    return _ZH_DATE.sub(r" month\1 \2 ", normal)


def _month(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, start=1) if month.startswith(name))


def polarity_of(text: str, polarity: int) -> int:
    """The polarity that a rule told, turned over where the text denies a dislike ("does not hate")."""
    return -polarity if polarity < 0 and changes().signs["double"].search(text) else polarity


def _kinds(normal: str, words: Words, *, pack: Changes) -> Words:
    """What the words are kinds of: a cat is a pet."""
    found = (
        kind
        for kind, members in pack.kinds.items()
        if any(member in words if member.isascii() else member in normal for member in members)
    )
    return frozenset(word for kind in found for word in ((kind,) if kind.isascii() else kind))


def _occasion(normal: str, value: str | None, *, pack: Changes) -> Words:
    """Days and seasons beside the value: a favourite season is no occasion."""
    beside = normal.replace(normalise(value), " ") if value else normal
    return frozenset(found.group().rstrip("s") for found in pack.occasion.finditer(beside))


def _language(text: str) -> str:
    return "zh" if detect(text) == "zh" else "en"


def _speaker(told: Told) -> str:
    return f"agent:{told.speaker}" if told.agent else f"user:{told.speaker}"


def _subject(text: str, language: str, *, pack: Changes) -> Words:
    found = pack.subject[language].match(text)
    return _words(normalise(found["who"]), pack) if found else frozenset()


def _words(normal: str, pack: Changes) -> Words:
    """Content words: stems of spaced scripts, single characters of Chinese."""
    terms = (term for term in query_terms(normal) if len(term) == 1 or not _CJK.fullmatch(term))
    return frozenset(term for term in terms if term not in pack.filler)


def _heads(text: str, pack: Changes) -> Words:
    words = [word for word in _LATIN.findall(text) if word not in pack.filler]
    heavy = [word for word in words if word not in pack.light]
    return frozenset(term for word in heavy or words[-1:] for term in query_terms(_one_spelling(word, pack)))


def _stands(head: str, mark: str, *, pack: Changes) -> bool:
    """Whether a thing is complete before what may be its when and where: "listen" before "to" is not."""
    words = [word for word in _LATIN.findall(head) if word not in pack.filler]
    return bool(words) and (mark != "to" or any(word not in pack.light for word in words))


def _trimmed(normal: str, pack: Changes) -> str:
    normal = normal.strip(" .,!;:。，！；：~")
    for head, tail in (("en_head", "en_tail"), ("zh_head", "zh_tail")):
        shorter = pack.edges[tail].sub("", pack.edges[head].sub("", normal))
        normal = shorter.strip() or normal
    return normal


def _tail_in_one_spelling(normal: str, pack: Changes) -> str:
    """The longest known ending in its one spelling: a "backend software engineer" is a backend programmer."""
    starts = [0, *(at for at in range(1, len(normal)) if normal[at - 1] == " " or not normal[at].isascii())]
    for at in starts:
        if normal[at:] in pack.same:
            return f"{normal[:at]} {pack.same[normal[at:]]}"
    return normal


def _one_spelling(word: str, pack: Changes) -> str:
    return pack.same.get(word, word)


def _ends(text: str, *, over: bool, language: str) -> tuple[End, ...]:
    pack = changes()
    found = [End(words) for words in [_bare(text, pack)] if words] if over else []
    for ending in pack.endings:
        pattern = ending.patterns.get(language)
        match = pattern.search(text) if pattern else None
        if match is None or (ending.unless and ending.unless.search(text)):
            continue
        if pack.unsettled[language].search(text[: match.start()]):
            continue
        thing = next((part for part in match.groupdict().values() if part), "")
        words = _bare(pack.vague_zh.sub("", thing) or thing, pack)
        words = (words - _words(" ".join(pack.vague), pack)) or words
        if words or ending.attributes:
            found.append(End(words, ending.attributes, ending.within, ending.ongoing))
        found += [End(_words(word, pack), ongoing=ending.ongoing) for word in ending.or_words]
    return tuple(found)


def _bare(text: str, pack: Changes) -> Words:
    """The content words of what is over, without the words that say so."""
    plain = pack.signs["over"].sub(_without_marks, normalise(text))
    return _words(pack.signs["negated"].sub(" ", plain), pack)


_MARKS: Final = re.compile(r"no longer|any ?more|any longer|不再|再也不|已经|现在|早就?|没再|[不没了]")


def _without_marks(found: re.Match[str]) -> str:
    return _MARKS.sub(" ", found.group())
