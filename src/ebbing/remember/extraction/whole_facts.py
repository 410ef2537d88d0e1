"""The checks that a fact is a whole statement by itself; without them only the message is stored.

A fact is read without its conversation. It may not point to what was said before it ("those", 这个), break off before
what it is about ("does it", 看了一下), nor speak to the one who listens.
"""

from __future__ import annotations

import re
from typing import Final

from ebbing.domain.conflict.decision import Fact
from ebbing.language.parsing.antecedents import fitting, persons_in
from ebbing.language.patterns.rule_pack import Pack
from ebbing.language.text.statement import Statement

_THING: Final = re.compile(r"(?i)\b(?:it(?! (?:when|if|that|how)\b)|its|itself|they(?!/)|(?<!/)them|their|theirs)\b")
_PERSON: Final = re.compile(r"(?i)\b(?:he|him|his|she|her|hers)\b")
_WITHIN: Final = re.compile(r"(?i)\w+ \w+.*(?:,|\b(?:and|but|so|because|that|who|which|when|if|until|till|where)\b)")
"""What stands before a pronoun that may mean something of the same clause: "a bike, and it is red"."""
_POINTS: Final = re.compile(
    r"(?i)\b(?:these(?! days)|those|(?<!get )(?<!got )this(?! (?:year|month|week|week-?end|spring|summer|autumn|fall"
    r"|winter|term|semester|morning|afternoon|evening|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b)"
    r"|(?:ones?|the (?:same|other|others|former|latter|first|second|rest))(?=$|[,;]| (?:too|now|instead|is|was|and)\b)"
    r"|(?<!\bone )that(?=$|[,;]| (?:now|too|any ?more|again|one|day|time|thing|stuff|way|much|at|for|in|with|to)\b)"
    r"|there(?! (?:is|are|was|were|will)\b)|otherwise|like so|so (?:much|many)$|number \d+$)"
)
_POINTS_ZH: Final = re.compile(
    r"(?:这|那|介)(?:个|些|种|样|里|边|儿|么|家|次|回|位|只|条)?(?=$|[是的了,，也都就还没不有])|上面|下面|以上|同上|[它牠]"
)
_BREAKS_OFF: Final = re.compile(
    r"(?i)(?:^|\b)(?:of|for|from|with|at|than|as|to|the|an?|my|our|and|or|so|but|because|if|when|do|does|did|have|has|had"
    r"|can|cannot|could|will|would|should|want|wants|need|needs|mean|get|got|make|made|take|took|put|predicate|say|says|use"
    r"|try|just|only|really|also|even|is|are|was|am|be)$"
)
_BREAKS_OFF_ZH: Final = re.compile(
    r"^(?:会|能|想|在|是|知道|说|问|看|试|弄|做|搞|干|要|敢|行|可以|有|没有|喂|给|买|卖|到|来|去|办|用|写|煮|报|改|换|带|懂|认|喝|吃|玩|烦|教|打|发|坚持|继续|开始|保持)"
    r"(?:了|过|着|的|完|好|掉|来|去|得|不|一下|[一两几]次|[一两几]趟)*$"
    r"|^[倒也都又就才还并可]*不?过敏$"
)
_ORDER_POINTS: Final = re.compile(
    r"(?i)\b(?:them|there|that|him|her|then)[.!]?$|\bnever again$|[这那介](?:种|么|样|个)"
    r"|\b(?:that|this) (?:stuff|thing|one|crap)\b|\b(?:that|this|those|these) (?:kinds?|sorts?) of\b"
    r"|\b(?:those|these) (?:things|ones)[.!]?(?=$| (?:to me|again|please)\b)"
)
"""An order about something that was spoken of: it is for now."""
_HANGS: Final = re.compile(
    r"(?i)\b(?:and|but|because|(?:so|neither) (?:is|are|was|were|am|do|does|did)"
    r"|(?<!\bdo )(?<!\bdoing )(?<!\bor )(?<!\bsay )(?<!\bthink )so)[ ,.!]*$"
)
"""A fact that was put together from the end of a clause, with the word that joined it: "hates forms 11 years and"."""
_QUOTE: Final = re.compile(r"[“”「」『』\"]")
_TO_THE_LISTENER: Final = re.compile(r"(?i)\b(?:you|yours?)\b|[你您]")
_OF_NUMBERS: Final = re.compile(r"(?i)^(?:have|pay|give|get|got) (?:only |just |about )?[\d.,:/]+ ?\)?$|\d\)$")


def says_what(fact: Fact, statement: Statement, *, pack: Pack) -> bool:
    """Return whether a fact can be understood by itself: it points to nothing outside, and does not break off."""
    if len(_QUOTE.findall(fact.text)) % 2:
        return False
    if statement.who == "order":
        return _ORDER_POINTS.search(statement.clause) is None
    if _HANGS.search(fact.text):
        return False
    if _TO_THE_LISTENER.search(statement.clause):
        return False
    if pack.language == "zh":
        return not (_POINTS_ZH.search(statement.predicate) or _BREAKS_OFF_ZH.match(statement.predicate))
    predicate = statement.predicate
    if (
        _points_outside(statement, pack)
        or _BREAKS_OFF.search(predicate.rstrip(" ,.!"))
        or _OF_NUMBERS.search(predicate)
    ):
        return False
    return not any(_is_open(match, statement, pack=pack) for match in _PERSON.finditer(statement.clause))


def _points_outside(statement: Statement, pack: Pack) -> bool:
    predicate = statement.predicate
    if _POINTS.search(predicate):
        return True
    owner = statement.relation and fitting("they", persons_in(statement.subject, pack), pack=pack)
    return not owner and any(_WITHIN.search(predicate[: match.start()]) is None for match in _THING.finditer(predicate))


def _is_open(match: re.Match[str], statement: Statement, *, pack: Pack) -> bool:
    """Return whether "him" or "her" in a clause may mean somebody whom the clause does not name, or one of two."""
    if match.start() == 0:
        return statement.relation is None
    return len(fitting(match.group(), persons_in(statement.clause[: match.start()], pack), pack=pack)) != 1
