"""Requests that something is not written down: "don't save this", "off the record", 别记下来.

Only an order to the assistant counts. A mention ("I don't remember this", 他让我别记下来) and whatever stands between
quotation marks or behind ">" asks for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ebbing.privacy.guarding.grammar import Rule, grammar, sentences, without_quotes
from ebbing.privacy.guarding.off_record_wording import CLAUSE, Asking, asking

MAX_BARE: Final = 10
"""Letters that may stand beside a request in a message that says nothing else; a Chinese one counts for three."""
MAX_REQUEST: Final = 60
"""The same of a request by itself: longer words tell something, too."""
MAX_ANNOUNCING: Final = 4
"""The same beside words that announce something: "but", 啊. More is what was to be told."""
LIKELY: Final = 0.75
"""Probability from which a message is taken for a request that no rule knows, where its meaning was looked at, too …"""
LIKELY_BY_MEANING: Final = 0.9
"""… and where its words say little: in everyday talk nearly all such messages ask for nothing, and would be lost."""
LIKELY_BY_WORDS: Final = 0.6
"""Probability by its words alone from which a message is taken for one, where there is nothing but these."""
SURE_BY_WORDS: Final = 0.95
"""The same by its words, whatever its meaning seems to be."""
OPEN: Final = 0.02
"""Probability by its words from which the meaning of a message is worth a look: one in a hundred in everyday talk."""
_FILE: Final = "off_record"
_BLANK: Final = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")
"""Between Chinese characters many type it for a comma."""

_NEXT: Final = re.compile(
    r"\b(?:next|following|about to|going to|gonna|before i)\b|接 下 来|下 面|以 下|后 面|下 一|等 下|待 会"
)
_OF_ANSWERS: Final = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|responses?|bullets?|lists?|emojis?|headings?|short|brief)\b|回答|回复|表情",
    re.IGNORECASE,
)
"""What a wish about answers names: "keep your answers short, no lists"."""
_OF_BEFORE: Final = re.compile(
    r"\b(?:that|last|just|previous|above|earlier)\b|刚 才|刚 刚|上 面|上 一|前 面|那 [句条段]"
)
_ADDRESSED: Final = re.compile(r"\b(?:you|your|yours|u|ur|memory|memories|notes)\b|你|记 忆|记 录")
"""Between tokens stands a space."""


class Reach(StrEnum):
    """Which message a request is about; the first that fits counts."""

    AFTER = "after"
    BEFORE = "before"
    THIS = "this"


@dataclass(frozen=True, slots=True)
class Request:
    """What a message asks to be left out: always the message itself, and perhaps a neighbour."""

    before: bool = False
    after: bool = False


@dataclass(frozen=True, slots=True)
class PossibleRequest:
    """What a message would ask to be left out, if it does ask."""

    request: Request
    probability: float
    """How likely its words ask; 1 where a rule knows them."""


def off_record_request(text: str) -> Request | None:
    """Return what the speaker asks to be left out, by the words alone; None where they ask nothing of the kind."""
    possible = possible_request(text)
    return possible.request if possible.probability >= LIKELY_BY_WORDS else None


def possible_request(text: str) -> PossibleRequest:
    """Return what a message may ask to be left out, and how likely its words do ask."""
    by_rule = request_by_rules(text)
    if by_rule is not None:
        return PossibleRequest(by_rule, 1.0)
    wording = asking("\n".join(_own_clauses(without_quotes(text))))
    request = Request() if wording.probability < OPEN else _reach_by_wording(wording)
    return PossibleRequest(request, wording.probability)


def is_likely(possible: PossibleRequest, probability: float) -> bool:
    """Return whether a message is taken for a request, by its words and by what they and its meaning say together."""
    says_little = possible.probability < LIKELY_BY_WORDS
    least = LIKELY_BY_MEANING if says_little else LIKELY
    return probability >= least


def request_by_rules(text: str) -> Request | None:
    """What a message asks in words that the rules know."""
    if not grammar(_FILE).may_stand_in(text):
        return None
    named: set[Reach] = set()
    alone: set[Reach] = set()
    rest, is_announced = 0, False
    for sentence in sentences(_BLANK.sub("，", without_quotes(text))):
        rule, before, behind = _asked_in(sentence)
        if _announces(before):
            is_announced, before = True, ""
        rest += sum(map(_weight, before + behind))
        if rule is not None:
            reach = reach_of(rule)
            named.add(reach)
            alone.add(Reach(rule.more.get("alone", Reach.BEFORE)) if reach is Reach.THIS else reach)
    if not named:
        return None
    if is_announced and named == {Reach.THIS}:
        return Request(after=rest <= MAX_ANNOUNCING)
    about = named | alone if rest <= MAX_BARE else named
    return Request(before=Reach.BEFORE in about, after=Reach.AFTER in about)


def _reach_by_wording(request: Asking) -> Request:
    """What is left out: the message itself, and where it is short and says so, a neighbour."""
    words = request.words
    length = sum(map(_weight, words))
    rest = sum(map(_weight, request.rest))
    if rest > MAX_BARE or length > MAX_REQUEST or _ADDRESSED.search(words) is None:
        return Request()
    if _NEXT.search(words):
        return Request(after=True)
    return Request(before=_OF_BEFORE.search(words) is not None)


def _own_clauses(text: str) -> Iterator[str]:
    """Yield the clauses that may ask for the speaker: none of a wish about answers, nor what others are said to say."""
    is_reported = False
    for sentence in sentences(text):
        for clause in CLAUSE.split(sentence):
            was_reported, is_reported = is_reported, _is_reported(clause)
            if not (was_reported or is_reported or _OF_ANSWERS.search(clause)):
                yield clause
        is_reported = False


def rules() -> list[Rule]:
    """The ways to ask, in the order in which they are tried."""
    return sorted(grammar(_FILE).rules, key=lambda rule: [*Reach].index(reach_of(rule)))


def reach_of(rule: Rule) -> Reach:
    """Which message a rule is about."""
    return Reach(rule.more["about"])


def _asked_in(sentence: str) -> tuple[Rule | None, str, str]:
    """The rule by which a sentence asks, and its words before and behind that; without a rule all are before."""
    for rule in rules():
        match = rule.found_in(sentence)
        if match is not None and not _is_reported(sentence[: match.start() + 1]):
            return rule, sentence[: match.start()], sentence[match.end() :]
    return None, sentence, ""


def _announces(words: str) -> bool:
    """Whether words say that something is to come, and nothing else."""
    matches = (pattern.search(words) for pattern in grammar(_FILE).others["announced"])
    match = next(filter(None, matches), None)
    return match is not None and sum(map(_weight, words[: match.start()] + words[match.end() :])) <= MAX_ANNOUNCING


def _is_reported(before: str) -> bool:
    """Whether the words in front make the order somebody else's."""
    others = grammar(_FILE).others
    if any(pattern.search(before) for pattern in others["own"]):
        return False
    return any(pattern.search(before) for pattern in others["reported"])


def _weight(letter: str) -> int:
    """What a letter adds to the length of a text: a Chinese one is most of a word."""
    return 0 if not letter.isalnum() else 1 if letter.isascii() else 3
