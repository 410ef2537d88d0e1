"""Standing wishes that are taken back: "no more bullet points", "longer answers are fine now", 别用英文了.

A withdrawal names its thing and either stops or allows it. It ends a wish about that thing which says the opposite, and
nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from ebbing.domain.conflict.claim import Words
from ebbing.language.claims.change_patterns import changes
from ebbing.language.claims.normalize_values import words_of
from ebbing.language.patterns.rule_pack import simplified
from ebbing.language.text.analyzer import normalise

MAX_READ: Final = 160
"""Characters of a message that are read: a longer one does more than take a wish back."""
_CLAUSE: Final = re.compile(r"[,;.!，；。！~～…\n]+| - | but | and |(?<=[\u4e00-\u9fff]) +(?=[\u4e00-\u9fff])")
_ASKS_OR_QUOTES: Final = re.compile(
    r"[?？`>\"“”「」]|怎么|为什么|为啥|干嘛|吗|\b(?:why|did you|should i|if i)\b", re.IGNORECASE
)
"""A message that asks, complains or quotes takes nothing back."""
_START: Final = r"^(?:(?:ok|okay|please|pls|actually|hey|so|now|and|oh|right|go) )*"
_STOPS: Final = (
    re.compile(
        _START + r"(?:stop|quit|drop|skip|lose|ditch|scrap|lay off|cut(?: out)?|leave out|enough|no need|no more)"
        r"(?: (?:with|of|for))?(?P<thing> .{2,60})"
    ),
    re.compile(_START + r"you (?:don't|do not|needn't|no longer) (?:need|have) to(?P<thing>.{2,60})"),
    re.compile(
        _START + r"(?:don't|do not)(?! forget\b)(?P<thing>.{2,50} (?:so|that) \w{2,20}|.{2,50} any ?(?:more|longer))$"
    ),
    re.compile(r"^(?P<thing>.{0,12})(?:不用|不必|不需要|别|不要)再?(?P<rest>.{0,14}?)了$"),
)
_ALLOWS: Final = (
    re.compile(
        _START + r"(?P<thing>.{2,50}) (?:is|are) (?:fine|okay|ok|allowed|welcome|alright) (?:again|now|after all)$"
    ),
    re.compile(_START + r"you (?:can|may)(?P<thing>.{2,60}) (?:again|now|after all)$"),
    re.compile(r"^(?P<thing>[^不没]{0,12})(?:可以|能)(?P<rest>.{0,12}?)了$"),
    re.compile(r"^(?:算了|那)?还是(?P<thing>.{2,14})吧$"),
)
_ENDS_RULE: Final = (
    re.compile(
        _START + r"(?:forget|ignore|drop|scrap|lose|undo|cancel|bin|never mind)(?: about)? (?:the|that|this|your|my)"
        r"(?P<thing> .{2,40}?) (?:rule|limit|instruction|restriction|policy|thing)s?\b"
    ),
    re.compile(
        _START + r"(?:the|that|this|your|my)(?P<thing> .{2,40}?) (?:rule|limit|instruction|restriction|policy)s?"
        r" (?:can (?:go|end|stop)|(?:is|are) (?:off|over|gone|lifted|no longer needed)|no longer (?:applies|holds)"
        r"|(?:doesn't|does not) (?:apply|hold) any ?(?:more|longer))(?: now| please| then| thanks)*$"
    ),
    re.compile(
        r"^(?:算了|那|好了|行了)?(?:那个|那条|这个|这条|之前的?|上次的?|我说的)*(?P<thing>.{1,12}?)的?"
        r"(?:规矩|规定|规则|要求|约定|限制|那个|那条|这个|这条)(?:就|都|也)?(?:不要|作废|取消|不算|算|免|废|撤)掉?了?吧?$"
    ),
)
"""It names a rule as such, whichever way that goes."""
_NUMBERS: Final = "one two three four five six a few couple"
_OF_SOMEBODY: Final = re.compile(r"\b(?:i|he|she|they|his|her|their|our|my (?!answers?|replies))\b|[我他她](?!回答)")
"""News of somebody, which is no word about answers."""
_SHORT: Final = re.compile(r"\b(?:short(?:er|ly)?|brief(?:er|ly)?|concise(?:ly)?|terse(?:ly)?)\b|简[短洁单略]|短")
_LONG: Final = re.compile(r"\b(?:long(?:er)?|detail(?:s|ed)?|thorough(?:ly)?)\b|详[细尽]|长")
_MEANS_ANSWERS: Final = re.compile(
    r"\b(?:answer|repl|respon|brief|concise|detail|thorough)|回答|回复|简[短洁略]|详[细尽]"
)
"""Beside a word for length, or one that is said of texts alone."""
_LENGTH: Final = "length"
_LIGHT: Final = frozenset("用再给我你您都就讲说发加做要来去能可以点些太那这么吧啊呀嘛把被和跟在里的地得了请帮每")
_LIGHT_WORDS: Final = (
    "actually again now give giving send sending use using add adding make making do doing keep keeping put want need "
    "have please ok okay yes yeah fine so that any anymore longer all those these my your for the to me it"
)


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What somebody no longer wants, or wants again."""

    thing: Words
    sign: int
    """1 where it is allowed, -1 where it is to stop, 0 where a rule about it ends, whatever it says."""
    clause: str
    """Where it is said, a literal part of the message."""
    words: str
    """The clause; where a rule ends, with what follows and says what holds instead."""

    def ends(self, wish: str) -> bool:
        """Return whether a standing wish is about the thing, and asks for the opposite."""
        normal = simplified(normalise(wish))
        if self.sign == 0:
            return self.thing <= _things(normal)
        sign = -1 if changes().signs["negated"].search(normal) or "别" in normal else 1
        return self.thing <= _things(normal) and self.sign != sign * _pole(normal)


def withdrawals_in(text: str) -> Iterator[Withdrawal]:
    """Yield what the clauses of a short message take back."""
    if len(text) > MAX_READ or _ASKS_OR_QUOTES.search(text):
        return
    for clause in filter(None, map(str.strip, _CLAUSE.split(text))):
        normal = simplified(normalise(clause))
        for sign, patterns in ((0, _ENDS_RULE), (-1, _STOPS), (1, _ALLOWS)):
            match = next(filter(None, (pattern.search(normal) for pattern in patterns)), None)
            if match is not None:
                named = " ".join(filter(None, match.groupdict().values()))
                thing = _things(named) - _words(_NUMBERS)
                if thing and _is_enough(thing, normal) and not (sign > 0 and _OF_SOMEBODY.search(normal)):
                    words = text[text.index(clause) :].strip() if sign == 0 else clause
                    yield Withdrawal(thing, sign * _pole(named), clause, words)
                break


def _things(normal: str) -> Words:
    """Return the words of what is wished; how long an answer is counts as one word."""
    words = words_of(_SHORT.sub(" ", _LONG.sub(" ", normal)), changes()) - _words(_LIGHT_WORDS) - _LIGHT
    return words | {_LENGTH} if _SHORT.search(normal) or _LONG.search(normal) else words


@cache
def _words(listed: str) -> Words:
    """Return the words of a list: its patterns load where they are first needed, not where a program starts."""
    return words_of(listed, changes())


def _pole(normal: str) -> int:
    return -1 if _SHORT.search(normal) else 1


def _is_enough(thing: Words, normal: str) -> bool:
    """Return whether words name a thing: one character of Chinese is a part of too many, and much is long or short."""
    if _LENGTH in thing and not _MEANS_ANSWERS.search(normal):
        return False
    return any(word == _LENGTH or word.isascii() for word in thing) or len(thing) > 1
