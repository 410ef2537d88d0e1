"""Whom a pronoun may stand for: the people and pets that a text speaks of.

A pronoun that two of them fit is no subject of a fact: who is last named is often not who is meant.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ebbing.language.patterns.rule_pack import Pack
from ebbing.language.text.statement import Statement

_ROLES_EN: Final = (
    r"guy|man|woman|lady|girl|boy|bloke|fella|stranger|nurse|vet|surgeon|driver|editor|chef|waiter|waitress|officer"
    r"|agent|plumber|electrician|builder|baby|widow|judge|priest|student|patient|customer|date"
)
_SAYS: Final = (
    r"is|was|has|had|does|did|says|said|will|would|can|could|got|gets|went|came|comes|told|asked|wants|likes|loves"
    r"|lives|works|thinks|reckons|keeps|made|took|gave|just|also|still"
)
_NO_NAME: Final = (
    r"(?!(?:I|He|She|It|They|We|You|This|That|There|What|Who|Here|The|My|Our|And|But|So|Not|If|When|Then|Everyone"
    r"|Nobody|Somebody|Mine|Both|Let|How|Where)\b)"
)
_NAME_EN: Final = re.compile(
    rf"(?:(?<=[a-z,;] )|(?<=^)|(?<=[.!?] )){_NO_NAME}(?P<name>[A-Z][a-zà-ÿ]+)"
    rf"(?=(?:'s)? (?:{_SAYS}|\w+ed)\b|'s (?:a|an|the|in|on|at|not|got|been)\b)"
    rf"|\b(?:named|called|with|and|met|told|asked|for|see|saw) (?P<met>[A-Z][a-zà-ÿ]+)\b"
)
_OWNER_EN: Final = re.compile(rf"\b{_NO_NAME}(?P<name>[A-Z][a-zà-ÿ]+)['’]s (?=[a-z])")
_NAME_ZH: Final = re.compile(
    r"[老小阿][\u4e00-\u9fff](?=[是在有对说要去来不的也就都还把给让跟])"
    r"|(?<=叫)[\u4e00-\u9fff]{2,3}(?=[,，。!！ ]|$)"
    r"|[\u4e00-\u9fff](?:[姐哥总叔姨]|老师|医生|主任|经理|师傅)(?=[是在有对说要去来不的也就都还把给让跟上下])"
)
_AS_WHAT: Final = re.compile(
    r"(?:\b(?:am|is|are|was|were|be|became|become|as)|['’](?:m|s|re)) (?:an?|the) (?:[\w-]+ ){0,2}$"
)
"""What stands before a noun that says what somebody is, and names nobody else."""
_PAIRS: Final = re.compile(
    r"^(?=[a-z]).*(?:[^siu]s|kids|children|family|folks|people)$|爸妈|父母|公婆|家人|孩子们|双胞胎|[俩们]"
)
"""More than one: a plural, and no name or singular that ends alike ("Chris", "boss", "missus", "sis")."""
_WOMEN_ZH: Final = re.compile(
    r"[妈母姐妹娘姑姨婶嫂妻]|奶奶|外婆|婆婆|姥姥|老婆|太太|媳妇|女儿|闺女|女友|女朋友|孙女|外甥女|闺蜜"
)
_MEN_ZH: Final = re.compile(r"[爸父哥弟爷叔舅伯夫爹]|外公|公公|老公|先生|儿子|男友|男朋友|孙子|兄弟|哥们")
_PET_ZH: Final = re.compile(r"[猫狗犬鸟兔龟鱼]|仓鼠|鹦鹉|宠物|柯基|布偶|金毛|三花|玄凤")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whom a text speaks of."""

    words: frozenset[str]
    """What they are called: a relation, a role, a name."""
    begin: int


def persons_in(text: str, pack: Pack) -> list[Person]:
    """Return the people and pets that a text speaks of, each once; "my brother Craig" and "Craig" are one."""
    return _each_once(sorted(_called(text, pack), key=lambda each: each[0]))


def _each_once(called: Sequence[tuple[int, frozenset[str]]]) -> list[Person]:
    persons: list[Person] = []
    for begin, words in called:
        same = next((person for person in persons if person.words & words), None)
        if same is None:
            persons.append(Person(words, begin))
        else:
            persons[persons.index(same)] = Person(same.words | words, same.begin)
    return persons


def fitting(pronoun: str, persons: Sequence[Person], *, pack: Pack) -> list[Person]:
    """Return whom a pronoun may mean, by number and gender."""
    return [person for person in persons if _fits(pronoun.lower(), person.words, pack=pack)]


def means_one(
    pronoun: str, statement: Statement, *, texts: Sequence[str], people: Sequence[Statement], pack: Pack
) -> bool:
    """Return whether a pronoun can mean nobody but the subject that was found for it.

    Args:
        texts: what was said before the pronoun, nearest first: of the message, then the message before.
        people: those of whom the speaker spoke; they count where the texts name nobody.
    """
    for text in texts:
        persons = fitting(pronoun, persons_in(text, pack), pack=pack)
        if persons:
            return len(persons) == 1 and not persons[0].words.isdisjoint(_words_of(statement, pack))
    persons = _each_once([(0, _words_of(item, pack)) for item in people])
    return len(fitting(pronoun, persons, pack=pack)) == 1


def _called(text: str, pack: Pack) -> list[tuple[int, frozenset[str]]]:
    relations = pack.tables["relations"]
    if pack.language == "zh":
        kin = [
            (match.start(), frozenset({_relation(match["kin"], relations), match["name"]} - {None}))
            for match in _kin(pack).finditer(text)
        ]
        return kin + [(match.start(), frozenset({match.group()})) for match in _NAME_ZH.finditer(text)]
    called = []
    for match in _kin(pack).finditer(text):
        if _AS_WHAT.search(text, 0, match.start()) is None:
            words = {_relation(match["kin"].lower(), relations)} | ({match["name"]} if match["name"] else set())
            called.append((match.start(), frozenset(words)))
    called += [(match.start(), frozenset({match["name"] or match["met"]})) for match in _NAME_EN.finditer(text)]
    return called + [(match.start(), frozenset({match["name"]})) for match in _OWNER_EN.finditer(text)]


@lru_cache(maxsize=4)
def _kin_words(pattern: str, language: str) -> re.Pattern[str]:
    if language == "zh":
        return re.compile(
            rf"(?P<kin>{pattern})(?:的?(?:名字|小名|大名)?(?:叫做?|是)(?P<name>[\u4e00-\u9fff]{{2,3}}?)(?=$|[,，。!！\s]))?"
        )
    return re.compile(
        rf"\b(?i:(?P<kin>{pattern}|{_ROLES_EN}))(?i:'s|s)?\b(?!-)"
        r"(?:(?:(?:,? (?:(?:who )?(?:is|was) )?(?:called|named)| name is| is|,)?) (?P<name>[A-Z][a-zà-ÿ]+))?"
    )


def _kin(pack: Pack) -> re.Pattern[str]:
    return _kin_words(pack.words["kin"].pattern, pack.language)


def _relation(word: str, relations: object) -> str:
    return str(relations.get(word, word)) if isinstance(relations, dict) else word


def _words_of(statement: Statement, pack: Pack) -> frozenset[str]:
    """Return what the subject of a statement is called; of a clause about a thing of theirs, whose it is."""
    relations = pack.tables["relations"]
    label = statement.relation or statement.clause
    words = {_relation(match.group(), relations) for match in re.finditer(pack.words["kin"].pattern, label)}
    return frozenset(words | {_relation(label, relations), *statement.subject.split()[1:]}) - {""}


def _fits(pronoun: str, words: Collection[str], *, pack: Pack) -> bool:
    label = " ".join(words)
    if pack.language == "zh":
        return _fits_zh(pronoun, label)
    if pronoun in {"they", "their", "them", "theirs"}:
        return any(_PAIRS.search(word) for word in words)
    if pronoun in {"it", "its"}:
        return pack.words["pet"].search(label) is not None
    unfit = "she_kin" if pronoun in {"he", "his", "him"} else "he_kin"
    return pack.words[unfit].search(label) is None and not any(_PAIRS.search(word) for word in words)


def _fits_zh(pronoun: str, label: str) -> bool:
    if "们" in pronoun or "俩" in pronoun:
        return _PAIRS.search(label) is not None
    if pronoun.startswith("它"):
        return _PET_ZH.search(label) is not None
    unfit = _WOMEN_ZH if pronoun.startswith("他") else _MEN_ZH
    return _PET_ZH.search(label) is None and unfit.search(label) is None and _PAIRS.search(label) is None
