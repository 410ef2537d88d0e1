"""What a statement ends or replaces: the words, attributes and topics that a memory must hold to be closed by it.

A Chinese statement may name the thing anywhere: "电钢挂闲鱼上卖掉了" says it of 电钢. Such topics are compared by pairs
of adjacent characters.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from ebbing.domain.conflict.claim import STATE_ENDING, Ending, ReplacementCues, ValueChange, Words
from ebbing.domain.conflict.replacement import sort_of
from ebbing.language.claims.change_patterns import Changes, changes
from ebbing.language.claims.normalize_values import object_of, words_of
from ebbing.language.text.analyzer import normalise, stems
from ebbing.language.text.caches import bounded_text_cache, text_cache
from ebbing.language.text.numbers import numbered

MAX_ENDING: Final = 120
"""Characters in which a statement says that something is over: more would keep the patterns busy."""
SELF: Final = {"en": "User", "zh": "用户"}
"""Whom a statement is about where that is the person."""


@text_cache(512)
def ends_of(text: str, *, over: bool, language: str) -> tuple[Ending, ...]:
    """The ends that a statement makes; `over` where it says that something is not so any more."""
    pack, text = changes(), text[:MAX_ENDING]
    short = pack.trailing[language].sub("", text)
    endings = _over(short, language, pack=pack) if over else []
    for part in _parts(text, language):
        endings += _ended(part, language, pack=pack)
    return tuple(dict.fromkeys(endings))


def _parts(text: str, language: str) -> list[str]:
    """The text, and what an English one says of the same person after a comma ("sold the house, gave up the car")."""
    after = _COMMA.split(text)[1:] if language == "en" and text.startswith(SELF["en"]) else []
    return [text, *(f"{SELF['en']} {part}" for part in after)]


def _ended(text: str, language: str, *, pack: Changes) -> list[Ending]:
    endings: list[Ending] = []
    short = pack.trailing[language].sub("", text)
    for ending, pattern in pack.endings[language].found_in(*dict.fromkeys((text, short))):
        match = pattern.made.search(text) or (short != text and pattern.made.search(short))
        if not match or (ending.unless and ending.unless.made.search(text)):
            continue
        if pack.unsettled[language].search(text[: match.start()]):
            continue
        thing = next((part for part in match.groupdict().values() if part), "")
        thing = pack.trailing[language].sub("", thing)
        thing = numbered(thing) if language == "en" else pack.vague_zh.sub("", thing) or thing
        if thing.strip() == SELF[language]:
            continue
        words = _bare(thing, pack)
        words = ((words - _vague(pack)) or words) - _MEASURES
        needs = STATE_ENDING if ending.occasions else ""
        besides = _before(text[: match.start()], language, pack=pack) if ending.attributes else frozenset()
        limit = Ending(
            besides=besides,
            within=ending.within,
            ongoing=ending.ongoing,
            planned=ending.planned,
            needs=needs,
            own=ending.own,
        )
        if words or ending.attributes:
            head, _ = object_of(thing, language)
            endings.append(replace(limit, words=words, attributes=ending.attributes, object=head))
        named = [words_of(word, pack) for word in ending.or_words]
        endings += [replace(limit, words=words, within=limit.within or words, needs=STATE_ENDING) for words in named]
    return endings


def _before(head: str, language: str, *, pack: Changes) -> Words:
    """What stands before the end of an attribute: who else than the person quit, or where they were."""
    plain = (
        _LY.sub(" ", _SUBJECT.sub("", head)) if language == "en" else pack.turn_aside.sub(" ", _SUBJECT.sub("", head))
    )
    plain = pack.slight_zh.sub(" ", plain) if language == "zh" else plain
    return _bare(plain, pack) - _vague(pack) - pack.light - _MOMENTS


def _over(text: str, language: str, *, pack: Changes) -> list[Ending]:
    """What a sentence says is not so any more, where nothing else tells what that is."""
    text = next((part for part in _parts(text, language)[1:] if pack.signs["over"].search(part)), text)
    text = _NOISE.sub("", text)
    words = _bare(text, pack)
    words = (words - _vague(pack)) or words
    if not words:
        return []
    thing = pack.signs["over"].sub(_without_marks, _SUBJECT.sub("", text))
    head, _ = object_of(pack.signs["negated"].sub(" ", thing), language)
    return [Ending(words, object=head)]


def _bare(text: str, pack: Changes) -> Words:
    """The content words of what is over, without the words that say so."""
    plain = pack.signs["over"].sub(_without_marks, normalise(text))
    return words_of(pack.signs["negated"].sub(" ", plain), pack) - _PARTICLES


@lru_cache(maxsize=1)
def _vague(pack: Changes) -> Words:
    return words_of(" ".join(pack.vague), pack)


_COMMA: Final = re.compile(r", (?:and |so |but |then )?(?=[a-z])")
_NOISE: Final = re.compile(
    r"决定(?=不)|(?<=不)(?:怎么|太|大|常|咋)(?=[打玩吃喝看听去用学练做跑])|(?<=用户)[^,，不没]{2,10}(?:之后|以后|后)(?=(?:就|也|都|再|我)*[不没])|(?:(?:好几|很多|好多|[半\d一二两三四五六七八九十几]+)多?个?(?:年|月|天|周|星期)|好久|很久|许久|多年)都?(?=[不没])|"
    r"[这那上下本]个?(?:学期|周末?|星期|月|年|阵子)|一?[点口滴根支]儿?(?=[^,，]{1,8}[不没])|[都也全](?=[不没])|(?<=[不没])当"
)
"""When it ended, and how completely."""
_SUBJECT: Final = re.compile(
    r"^(?:User|用户)(?:的|'s\b)?(?:现在|已经|早就?|最近|目前)*\s*(?:(?:does|do|is|has|can|will)\b)?"
)
_LY: Final = re.compile(r"\b\w+ly\b")
_MOMENTS: Final = frozenset("刚正天周日月年号前后上下早晚去昨今从因被由全都")
"""Characters that tell when, and from where."""
_PARTICLES: Final = frozenset({"up", "down", "off", "out", "away", "back", "over", "lost", "late"})
_MEASURES: Final = frozenset("个只条台辆套份张本件家间块把")
"""What is counted by them is not named: 有一套卖了."""
_MARKS: Final = re.compile(
    r"no longer|any ?more|any longer|\bno more\b|\bdecided (?:not to|against)\b|\b(?:has|have) not\b|\bafter all\b"
    r"|\bnot going to\b|不再|再也不|已经|现在|早就?|早(?=不|没)|[都全](?=[不没])|没再|"
    r"(?:已经|都)?(?:好几|很多|[半\d一二两三四五六七八九十几]+)多?个?(?:年|月|天|周|星期)(?:都)?(?=[不没])|"
    r"一?[点口滴根支]儿?(?=[^,，]{1,8}[不没])|[不没了]"
)


def _without_marks(match: re.Match[str]) -> str:
    return _MARKS.sub(" ", match.group())


_RUN: Final = re.compile(r"[\u4e00-\u9fff]+")
_MAY_DAY: Final = re.compile("[五5]一")
"""Its characters are figures, and no part of a word elsewhere."""
_SHORTEST: Final = 2


def pairs_of(text: str) -> Words:
    """Adjacent Chinese characters that may be a word, or stand in one."""
    empty = changes().turn_empty
    runs = (run.group() for run in _RUN.finditer(_MAY_DAY.sub("劳动", text)))
    pairs = (run[at : at + 2] for run in runs for at in range(len(run) - 1))
    return frozenset(pair for pair in pairs if pair[0] not in empty and pair[1] not in empty)


def is_timed(text: str, language: str) -> bool:
    """Whether a text says when."""
    return changes().otherwise["when"][language].search(text) is not None


def turned(text: str) -> tuple[Ending, ...]:
    """The ends that the turns in a statement make; `text` is normal and simplified, its numbers are figures."""
    endings: list[Ending] = []
    for turn in changes().turns:
        match = turn.pattern.search(text)
        if match is None:
            continue
        topics = pairs_of(_topic_words(match["topic"]))
        if turn.last and len(topics) > 1:
            topics &= pairs_of(_topic_words(match["topic"])[-_SHORTEST:])
        if topics:
            endings.append(Ending(topics=topics, needs=turn.needs))
    return tuple(endings)


def _topic_words(topic: str) -> str:
    return changes().turn_aside.sub(" ", topic).strip()


_PIECE: Final = re.compile(r"[\u4e00-\u9fff]|[a-z0-9][a-z0-9.+#'-]*")
_WORD: Final = re.compile(r"[a-z0-9&]+")
_BARE_VERBS: Final = {"goe": "go", "doe": "do", "ha": "have"}
"""Stems of verbs that their third person hides."""
_ATTENDS: Final = re.compile(r"User (?:goes|go) to (?:the )?[A-Z][\w&']*(?: [A-Z][\w&']*){0,2}$")
_OWNER: Final = re.compile(r"^user(?:'s)?\b")
_NAME: Final = {
    "en": re.compile(r"(?<=\S )[A-Z][\w.+#-]*|\b[a-z]+[A-Z]\w*"),
    "zh": re.compile(r"(?<![@A-Za-z0-9.])[A-Za-z][A-Za-z0-9.+#-]*"),
}


@bounded_text_cache(512)
def read_otherwise(bare: str, attribute: str | None, *, language: str, pack: Changes) -> ReplacementCues:
    """What a text says, put as if it spoke of the person where it speaks of somebody else."""
    normal = numbered(bare.lower())
    patterns = {name: by_language[language] for name, by_language in pack.otherwise.items()}

    def says(name: str) -> bool:
        return patterns[name].search(normal) is not None

    names = frozenset(stem for name in _NAME[language].findall(bare) for stem in _in_order(name.lower(), language))
    reached = words_of(patterns["reached"].sub(" ", normal), pack) if patterns["sure"].search(normal) else frozenset()
    return ReplacementCues(
        order=_in_order(patterns["out"].sub(" ", _OWNER.sub("", normal)), language),
        names=names,
        swapped=says("swapped"),
        swaps=says("swaps"),
        rivals=(rivals := rivals_of(bare, pack)),
        seeks=_seeks(rivals, words_of(normal, pack), attribute=attribute, pack=pack)
        if says("changes")
        else frozenset(),
        dwells=says("dwells"),
        works=says("works"),
        attends=_ATTENDS.match(bare) is not None,
        many=says("many"),
        several=says("several"),
        instead=match.group("does") if (match := patterns["instead"].search(normal)) else "",
        tools=says("tools"),
        often=_often(normal, patterns["often"], language=language, pack=pack),
        becomes=_becomes(bare, names, language=language, pack=pack),
        aim=says("aim"),
        reached=reached,
    )


def _seeks(rivals: frozenset[tuple[str, str]], words: Words, *, attribute: str | None, pack: Changes) -> frozenset[str]:
    """The terms of the other things of a kind, of what a word stands for, and of homes or work."""
    kinds = [pack.sought[kind] for kind, _ in rivals]
    kinds += [pack.sought[word] for word in words if word in pack.sought]
    matter = (attribute or "").rpartition(".")[2]
    return frozenset().union(*kinds, pack.sought.get(f"{matter} matters", frozenset()))


def rivals_of(text: str, pack: Changes) -> frozenset[tuple[str, str]]:
    """Kind and name of the things in a text of which somebody uses one at a time."""
    if text.isascii() and pack.rival_words.isdisjoint(_WORD.findall(text.lower())):
        return frozenset()
    return frozenset((match.lastgroup or "", match.group().lower()) for match in pack.rivals.finditer(text))


def _in_order(normal: str, language: str) -> tuple[str, ...]:
    if language == "zh":
        return tuple(_PIECE.findall(normal))
    return tuple(_BARE_VERBS.get(stem, stem) for stem in stems(normal))


def _often(normal: str, pattern: re.Pattern[str], *, language: str, pack: Changes) -> tuple[str, Words] | None:
    """How often, and what: in Chinese pairs of characters, else words that are no light verbs."""
    match = pattern.search(normal)
    if match is None:
        return None
    remainder = f"{normal[: match.start()]},{normal[match.end() :]}"
    if language == "zh":
        return match.group(), pairs_of(pack.otherwise["out"]["zh"].sub(",", remainder))
    return match.group(), words_of(remainder, pack) - pack.light


def _becomes(bare: str, names: Words, *, language: str, pack: Changes) -> tuple[ValueChange, ...]:
    value_changes: list[ValueChange] = []
    for becoming in pack.becomes:
        pattern = becoming.patterns.get(language)
        match = pattern.search(bare) if pattern else None
        if match is None:
            continue
        groups = {name.rstrip("23"): part for name, part in match.groupdict().items() if part}
        thing, value = groups.get("thing", ""), groups.get("value", "")
        sort = _sort(value, names, language=language, pack=pack)
        words = _thing(thing, language=language, pack=pack)
        if sort in becoming.sorts and words:
            value_changes.append(ValueChange(words, words_of(numbered(value.lower()), pack), sort))
    return tuple(dict.fromkeys(value_changes))


def _thing(thing: str, *, language: str, pack: Changes) -> Words:
    """What names a thing: its words, in Chinese its last two characters."""
    if language == "en":
        return words_of(thing.lower(), pack)
    return words_of(thing.lower(), pack) if thing.isascii() else frozenset({thing.removesuffix("的")[-2:]})


def _sort(value: str, names: Words, *, language: str, pack: Changes) -> str:
    if pack.otherwise["when"][language].search(value.lower()):
        return "time"
    return sort_of(_in_order(numbered(value.lower()), language), names)
