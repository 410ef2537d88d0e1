"""Standing wishes that are taken back: "no more bullet points", "longer answers are fine now", 别用英文了.

A withdrawal names its thing and either stops or allows it. It ends a wish about that thing which says the opposite, and
nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ebbing.domain.conflict.claim import Words
from ebbing.language.claims.change_patterns import changes
from ebbing.language.claims.normalize_values import words_of
from ebbing.language.patterns.rule_pack import simplified
from ebbing.language.text.analyzer import normalise

MAX_READ: Final = 160
"""Characters of a message that are read: a longer one does more than take a wish back."""
_CLAUSE: Final = re.compile(r"[,;.!?，；。！？~～…\n]+| - | but | and ")
_STOPS: Final = (
    re.compile(
        r"\b(?:stop|quit|drop|skip|lose|ditch|scrap|forget|lay off|cut(?: out)?|leave out|enough|no need|no more)\b"
        r"(?: (?:with|of|for))?(?P<thing>.{2,60})"
    ),
    re.compile(r"\byou (?:don't|do not|needn't|no longer)(?: need| have)?(?: to)?(?P<thing>.{2,60})"),
    re.compile(
        r"^(?:please |ok |okay |actually |hey )*(?:don't|do not)"
        r"(?P<thing>.{2,50} (?:so|that) \w{2,20}|.{2,50} any ?(?:more|longer))"
    ),
    re.compile(r"(?P<thing>.{0,12})(?:不用|不必|不需要|别|不要)再?(?P<rest>.{0,14}?)了$"),
)
_ALLOWS: Final = (
    re.compile(r"(?P<thing>.{2,50}) (?:is|are) (?:\w+ )?(?:fine|okay|ok|allowed|welcome|all right|alright)\b"),
    re.compile(r"\byou (?:can|may)(?P<thing>.{2,60}) (?:again|now|after all)$"),
    re.compile(r"(?P<thing>.{0,12})(?:可以|能)(?P<rest>.{0,12}?)了$"),
    re.compile(r"^(?:算了|那)?还是(?P<thing>.{2,14})吧$"),
)
_SHORT: Final = re.compile(r"\b(?:short\w*|brief\w*|concise\w*|terse\w*)\b|简[短洁单略]|[短少]")
_LONG: Final = re.compile(r"\b(?:long\w*|detail\w*|full\w*|thorough\w*)\b|详[细尽]|[长多]")
_LENGTH: Final = "length"
_LIGHT: Final = frozenset("用再给我你您都就讲说发加做要来去能可以点些太那这么吧啊呀嘛把被和跟在里的地得了请帮每")
_LIGHT_WORDS: Final = words_of(
    "actually again now give giving send sending use using add adding make making do doing keep keeping put want need "
    "have please ok okay yes yeah fine so that any anymore longer all those these my your for the to me it",
    changes(),
)


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What somebody no longer wants, or wants again."""

    thing: Words
    sign: int
    """1 where it is allowed, -1 where it is to stop."""
    clause: str
    """Where it is said, a literal part of the message."""

    def ends(self, wish: str) -> bool:
        """Return whether a standing wish is about the thing, and asks for the opposite."""
        normal = simplified(normalise(wish))
        sign = -1 if changes().signs["negated"].search(normal) or "别" in normal else 1
        return self.thing <= _things(normal) and self.sign != sign * _pole(normal)


def withdrawals_in(text: str) -> Iterator[Withdrawal]:
    """Yield what the clauses of a short message take back."""
    if len(text) > MAX_READ:
        return
    for clause in filter(None, map(str.strip, _CLAUSE.split(text))):
        normal = simplified(normalise(clause))
        for sign, patterns in ((-1, _STOPS), (1, _ALLOWS)):
            match = next(filter(None, (pattern.search(normal) for pattern in patterns)), None)
            if match is not None:
                named = " ".join(filter(None, match.groupdict().values()))
                thing = _things(named)
                if thing and _is_enough(thing):
                    yield Withdrawal(thing, sign * _pole(named), clause)
                break


def _things(normal: str) -> Words:
    """Return the words of what is wished; how long an answer is counts as one word."""
    words = words_of(_SHORT.sub(" ", _LONG.sub(" ", normal)), changes()) - _LIGHT_WORDS - _LIGHT
    return words | {_LENGTH} if _SHORT.search(normal) or _LONG.search(normal) else words


def _pole(normal: str) -> int:
    return -1 if _SHORT.search(normal) else 1


def _is_enough(thing: Words) -> bool:
    """Return whether words name a thing: one character of Chinese is a part of too many."""
    return any(word == _LENGTH or word.isascii() for word in thing) or len(thing) > 1
