"""Words, values and things that people like, cut down to what can be compared across wordings and languages."""

from __future__ import annotations

import re
from typing import Final

from ebbing.domain.conflict.claim import Words
from ebbing.language.claims.change_patterns import Changes, changes
from ebbing.language.text.analyzer import normalise, query_terms
from ebbing.language.text.caches import text_cache
from ebbing.language.text.numbers import dated, numbered, ungrouped

NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_CJK: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")
_LATIN: Final = re.compile(r"[a-z][a-z'’&.+-]*|\d+(?:[.,:]\d+)*")
_WORD: Final = re.compile(r"[a-z']+|\d+|[\u4e00-\u9fff]")
_RANKS: Final = frozenset({"assistant"})
"""Fillers that say something in a title."""
_SHORTEST_PLACE: Final = 2
_LONGEST_CITY: Final = 4
_FAN: Final = re.compile(r"(?:球迷|粉丝|死忠粉|铁粉|的粉|粉|迷|爱好者|控|党)$")
"""A fan of a thing likes the thing."""
_COMMENT: Final = re.compile(
    r"[,，(（].*|(?:真心|真是|真的|实在|太|挺|很|非常|这个小区|那个小区).*$|(?:这边|那边)的|(?:这|那)个(?=.)"
)
"""What is said about a value after it, or to point at it."""


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
        head = _FAN.sub("", head) or head
        return frozenset({one_spelling(head, pack)}), words_of(aside.group(), pack) if aside else frozenset()
    normal = pack.cause.sub("", normal).strip() or normal
    cut = pack.adjunct["en"].search(normal, 1)
    while cut is not None and not _stands(normal[: cut.start()], cut.group(), pack=pack):
        cut = pack.adjunct["en"].search(normal, cut.end())
    thing, remainder = (normal[: cut.start()], normal[cut.end() :]) if cut else (normal, "")
    return _heads(thing, pack) or words_of(normal, pack), words_of(remainder, pack)


def object_key(text: str | None, language: str) -> str | None:
    """The head of what is liked, in the short form under which it is stored and found again."""
    head, _ = object_of(text, language)
    return " ".join(sorted(head)) or None


def value_of(text: str, attribute: str | None = None) -> Words:
    """A value's words in one spelling: without articles, "now" and units; numbers as figures."""
    pack, text = changes(), ungrouped(text)
    if attribute is not None and attribute.endswith(("age", "phone", "weight", "height")):
        figures = frozenset(NUMBER.findall(numbered(normalise(text)).replace("-", "").replace(" ", "")))
        if figures:
            return figures
    normal = _trimmed(_COMMENT.sub("", normalise(text)), pack)
    if not normal or normal in pack.same:
        return frozenset({one_spelling(normal, pack)})
    normal = _tail_in_one_spelling(normal, pack)
    plain = dated(numbered(normal))
    words = {part for run in _CJK.findall(plain) for part in _places(_trimmed(run, pack), pack)}
    words |= {one_spelling(word, pack) for word in _LATIN.findall(plain)} - (pack.filler - _RANKS) - pack.light
    words |= {pack.whole[normal]} if normal in pack.whole else set()
    return frozenset(words - {""}) or frozenset({normal})


def _places(run: str, pack: Changes) -> set[str]:
    """A Chinese value in one spelling; a city in front of it stands apart, and a district brings its city along."""
    if run in pack.same or len(run) <= _SHORTEST_PLACE:
        places = {one_spelling(run, pack)}
    else:
        ends = range(min(len(run) - 1, _LONGEST_CITY), _SHORTEST_PLACE - 1, -1)
        city = next((run[:end] for end in ends if run[:end] in pack.same), "")
        places = {one_spelling(city, pack), run[len(city) :].lstrip("市的")} if city else {run}
    bare = run.removesuffix("区")
    return places | ({pack.whole[bare]} if bare in pack.whole else set())


def content_share(text: str) -> float:
    """Share of a text's words that are no filler, in [0, 1]; a Chinese character counts as a word."""
    pack = changes()
    words = _WORD.findall(normalise(text))
    content = sum(1 for word in words if word not in pack.filler and _is_topic(word))
    return content / len(words) if words else 0.0


@text_cache(16_384)
def _is_topic(word: str) -> bool:
    """Whether a word has a keyword term."""
    return bool(query_terms(word))


def words_of(normal: str, pack: Changes) -> Words:
    """Content words: stems of spaced scripts, single characters of Chinese."""
    if not normal:
        return frozenset()
    terms, kin, filler = query_terms(normal), pack.kin, pack.filler
    if normal.isascii():
        return frozenset([kin.get(term, term) for term in terms if term not in filler])
    return frozenset(
        [kin.get(term, term) for term in terms if term not in filler and (len(term) == 1 or not _CJK.fullmatch(term))]
    )


def _heads(text: str, pack: Changes) -> Words:
    words = [word for word in _LATIN.findall(text) if word not in pack.filler]
    heavy = [word for word in words if word not in pack.light]
    return frozenset(term for word in heavy or words[-1:] for term in query_terms(one_spelling(word, pack)))


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
        if normal[at:] in pack.same and (at == 0 or normal[at:].isascii() or len(normal) > at + 1):
            return f"{normal[:at]} {pack.same[normal[at:]]}"
    return normal


def one_spelling(word: str, pack: Changes) -> str:
    """The spelling under which a well-known word is kept."""
    return pack.same.get(word, word)
