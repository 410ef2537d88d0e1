"""What a sentence in the third person, its value and a quotation may hold; what holds more is left as it was said.

A fact is told by one voice: no "I" of the speaker is left in it, and none became a "they" that may be anybody.
The value of an attribute is a thing with a name. A quotation says something without the messages around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ebbing.domain.conflict.decision import Fact
from ebbing.language.patterns.rule_pack import Pack
from ebbing.language.text.sentences import sentences
from ebbing.language.text.statement import Sentence, Statement

_HEAD: Final = re.compile(r"(?i)\W*(?:(?:and|but|so|also|then|now) )*(?:my [\w' -]{1,30} and )?(?:I|we)\b")
_ACTS_AGAIN: Final = re.compile(
    r"(?i)(?<!\bwhen )(?<!\bsince )(?<!\buntil )(?<!\btill )(?<!\bbefore )(?<!\bafter )(?<!\bwhile )(?<!\bbecause )"
    r"(?<!\bwhenever )(?<!\bwherever )(?<!\bwhere )(?<!\bonce )(?<!\bas )(?<!\bif )(?<!\btime )(?<!\bthat )"
    r"\b(?:I|we|im|ive)\b"
)
"""The speaker is a subject once more: "which I do not recommend". "When I was twelve" is said of the same."""
_IS_MEANT: Final = re.compile(r"(?i:(?<!\bfor )\bme\b)|\b(?:us|Us)\b")
_VIEW: Final = re.compile(
    r"(?i)\w+ (?:that )?(?:the|my|our|his|her|their|every\w+|no\w+|some\w+) (?:(?!which|that|who|where)[\w'-]+ ){0,3}?"
    r"(?:was|were|is|are|has|had|will|would)\b"
)
"""A verb with a whole sentence behind it: "maintain the kitkat was divided fairly" is a view, and no habit."""
_THEM: Final = re.compile(r"(?i)\bthem\b")
_ACTS: Final = re.compile(r"(?i)\b(?:I|we|im|ive)\b")
_FIRST_PERSON: Final = {"en": re.compile(r"\b(?:I|me|we|us|my|our)\b"), "zh": re.compile(r"[我咱俺]")}
_STAGE_MARKS: Final = re.compile(r"\[(?![A-Z_]+(?::[a-p]+)?\])|[{}<>]")
"""What stands in such marks was not said by anybody: [ominous music]. A masked value has marks of its own."""
_PLURAL: Final = re.compile(r"(?i)\W*(?:(?:and|but|so) )*we\b(?! ‹)|[^,，]{0,4}?(?:我们|咱们|俺们)(?![的家])")
_OF_YEARS: Final = re.compile(r"(?i)\byears?\b|\bold\b|\bbirthday\b|岁")
_WEIGHS: Final = re.compile(
    r"(?i)\b(?:kilos?|kgs?|stones?|lbs?|pounds?|weigh(?:s|ed|t)?|scales?)\b|公斤|[市\d]斤|体重|上秤"
)
_OF_ONE: Final = frozenset({"age", "name", "preferred_name", "birthday", "blood type"})
"""Attributes of one person: a band is called something too, and a company is a few years old. In Chinese a job is one,
as 我们 with a title is somebody else."""
_OF_A_THING: Final = frozenset(
    {"employer", "workplace", "work_city", "job", "home", "residence", "hometown", "school", "name", "vehicle"}
)
"""Attributes whose value is a place, a trade or a name, and never a day."""
_DAY: Final = re.compile(
    r"(?<![路街弄巷道栋楼院座\d])[\d一二三四五六七八九十]+(?:月(?:底|初|份)?|号|日|点)(?![店路街楼院厂线桥])|(?:周|星期|礼拜)[一二三四五六日天]|[明后]天|第[\d一二三四五六七八九十百]+[天日周]"
)
_CLAUSE_MARK: Final = re.compile(r"[。；;！!？?\n]|(?<=[\u4e00-\u9fff])\s+(?=[\d\u4e00-\u9fff])")
_MONTHS: Final = re.compile(r"月(?!大)")
_YOUNG: Final = re.compile(r"[儿孩娃宝孙侄猫狗犬鸟兔鼠鱼龟宠]|女(?![友朋])|外甥")
"""Who may be some months old."""
_OPENS_QUOTE: Final = re.compile(r"\s*[:：]\s*[“\"「『]")
_IN_QUOTES: Final = re.compile(r"“[^”]*”|\"[^\"]*\"|「[^」]*」|『[^』]*』")
_PARTS: Final = re.compile(r"[,，;；]|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])|[.。!！]\s*\S")


def is_one_voice(fact: Fact, statements: Sequence[Statement], *, pack: Pack, speaker: str) -> bool:
    """Return whether a told fact, made of these statements, holds nothing that the speaker alone can say.

    In English an "I" beside the subject became "they", which may be anybody. In Chinese a clause that leaves its
    subject out and speaks of 我 is mostly said of somebody else.
    """
    sentence = fact.text.replace(speaker, "")
    if _FIRST_PERSON[pack.language].search(sentence) or _STAGE_MARKS.search(sentence):
        return False
    return all(_is_said_by_one(statement.implied or statement, pack=pack) for statement in statements)


def _is_said_by_one(statement: Statement, *, pack: Pack) -> bool:
    clause = statement.clause
    if pack.language == "zh":
        find = _FIRST_PERSON["zh"]
        before = clause.removesuffix("了").removesuffix(statement.predicate)
        is_left_out = statement.who == "self" and find.search(before) is None
        return not (is_left_out and find.search(statement.predicate))
    if statement.relation is not None:
        return _ACTS.search(clause) is None and not (_IS_MEANT.search(clause) and _THEM.search(statement.text))
    if statement.who == "self" and _VIEW.match(statement.predicate):
        return False
    head = _HEAD.match(clause)
    rest = clause[head.end() :] if head else clause
    return _ACTS_AGAIN.search(rest) is None and (statement.who == "clause" or _IS_MEANT.search(rest) is None)


def is_anybodys(statement: Statement, *, pack: Pack) -> bool:
    """Return whether an English clause begins with one of somebody's family, and says not whose: "Dads hip is off"."""
    if pack.language != "en" or statement.who != "clause" or statement.implied is not None:
        return False
    return re.match(rf"(?i)(?:{pack.words['kin'].pattern})(?:['’]?s)?\b", statement.clause) is not None


def has_a_fitting_value(fact: Fact, statement: Statement, *, pack: Pack) -> bool:
    """Return whether the value of an attribute is a thing that such an attribute can have.

    It holds no mark between clauses; where a place or a name is asked for, it holds no day. What "we" are
    is not what one of us is. An age has years, or it is the months of a child or a pet.
    """
    if fact.attribute is None or fact.value is None or fact.ended or statement.who == "order":
        return True
    name = fact.attribute.rpartition(".")[2]
    is_of_one = name in _OF_ONE or (name == "job" and pack.language == "zh")
    if is_of_one and statement.relation is None and _PLURAL.match(statement.clause):
        return False
    if name == "age" and "岁的" in statement.predicate:
        return False
    if name == "age" and _MONTHS.search(fact.value):
        return not statement.carried and statement.relation is not None and bool(_YOUNG.search(statement.relation))
    if _CLAUSE_MARK.search(fact.value):
        return False
    return name not in _OF_A_THING or _DAY.search(fact.value) is None


def may_be_a_weight(fact: Fact, statement: Statement, *, content: str) -> bool:
    """Return whether a bare number that was read as an age may be kilos, which the message speaks of."""
    is_age = (fact.attribute or "").rpartition(".")[2] == "age"
    return is_age and _OF_YEARS.search(statement.clause) is None and _WEIGHS.search(content) is not None


def without_own_words(fact: Fact, *, language: str) -> Fact:
    """Return the fact without a value in which the speaker speaks: "near my parents" is near the reader's."""
    if fact.value is None or _FIRST_PERSON[language].search(fact.value) is None:
        return fact
    return replace(fact, attribute=None, value=None)


def with_words_as_said(fact: Fact, content: str) -> Fact:
    """Return the fact with what stands in quotation marks as the message has it: a word that is named stays that
    word.
    """
    named, literal = _IN_QUOTES.findall(fact.text), _IN_QUOTES.findall(content)
    if named == literal or len(named) != len(literal):
        return fact
    words = iter(literal)
    return replace(fact, text=_IN_QUOTES.sub(lambda _: next(words), fact.text))


def introduces_words(statement: Statement, sentence: Sentence) -> bool:
    """Return whether a clause only says whose words follow: 我们教导主任：“…”."""
    at = sentence.text.rfind(statement.clause) if statement.clause else -1
    return at >= 0 and _OPENS_QUOTE.match(sentence.text, at + len(statement.clause)) is not None


def says_something(quoted: Fact) -> bool:
    """Return whether a quotation is more than a question."""
    words = quoted.source_text or ""
    return _PARTS.search(words.strip(" ,，")) is not None or not all(sentence.asks for sentence in sentences(words))
