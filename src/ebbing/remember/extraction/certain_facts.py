"""The checks that a fact's subject and polarity are certain; without them only the message is stored.

The rules read a clause; what is asked here is whether the clause may stand alone. A subject that was left out is the
speaker only where nobody else has been spoken of, in the message or just before it. Every negation of the words must
have its place in the fact. A fact that speaks of "him" or "it" without saying who that is says nothing later.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import MemoryType, Role
from ebbing.language.parsing.questions import others_in
from ebbing.language.patterns.rule_pack import Pack
from ebbing.language.text.analyzer import stems
from ebbing.language.text.sentences import sentences
from ebbing.language.text.statement import Sentence, Statement

_MAX_PAUSE: Final = timedelta(hours=1)
"""What was said within this time before a message may be what it goes on about."""
_TAIL_CHARS: Final = 400
"""Characters at the end of the message before that are looked at."""
_SPEAKER: Final = {
    "en": re.compile(r"\b(?:I|i|[Ii]m|[Ii]ve|[Mm]y|MY|[Mm]e|[Mm]ine|[Mm]yself|[Ww]e|[Oo]ur|[Oo]urs|[Uu]s)\b"),
    "zh": re.compile(r"[我俺咱]|本人|\b(?:I|my)\b"),
}
"""Words by which the speaker names themselves."""
_NAMED: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
"""A name within an English sentence."""
_BARE_PLAN: Final = re.compile(
    r"(?:\d+|[一二三四五六七八九十]+)[号日月点年]|[下这本]?个?(?:周[一二三四五六日天末]?|月)|[明后今]天|[去来要会想得把了就再才都也先的]"
)
"""What is left of a plan without these is what is planned."""
_MIN_OBJECT_CHARS: Final = 2
_MOST: Final = 0.6
_HALF: Final = 0.5
"""Shares of the letters of a message."""
_OF_A_STORY: Final = frozenset({"event", "plan", "habit"})
"""Tags of what is part of a story."""
_NO_VERB: Final = re.compile(r"(?i)(?:(?:and|but|only|never|always|just) )+(?:\d|\w+days?\b)")
"""A standing wish that says not what is to be done."""
_LABEL: Final = re.compile(r"[A-Z]\w+: ")
"""A heading with what stands under it."""
_FOR_NOW: Final = re.compile(
    r"(?i)\bneeds? (?:(?:an?|some|any|more) )?(?:[\w-]+ ){0,3}"
    r"(?:ideas?|suggestions?|tips?|advice|help|recommendations?)\b"
)
"""What is asked of the assistant now."""
_RUNS_ON: Final = re.compile(
    r",? so (?=(?:not|easy|hard|please|can|you|we|I|he|she|they|that|maybe|\d)\b)"
    r"|,? (?:bc|cos|cuz) |,? and (?=[A-Z][a-z]+'s )| but ok$"
)
"""Where a clause ends and one begins that is not said of the same."""
_NO_SUBJECT: Final = re.compile(
    r"(?:那|请问|好的|顺便|周末|最近|平时|一般|目前|现在|今天|之前|以前|还|都|也|又|[,，、 ])*"
    r"(?:[有想爱会要在是做吃喝住养用去能学买玩看听练]|喜欢|可以|打算|需要|准备|工作|什么|几|多|哪|怎么|为什么)"
)
"""A question that names nobody asks whom it is put to: 有什么安排, and not 豆豆多大了."""
_ADDRESSED: Final = re.compile(r"(?i)\byou(?:r|rs)?\b|[你您]")
_SHIFTED: Final = {
    "en": re.compile(r"(?i)(?!)"),
    "zh": re.compile(r"(?:我|咱)?[^,，]{0,6}的?[那这][只个位条家](?!月|人$)|我[^,，的]{1,6}的[小老阿][\u4e00-\u9fff]"),
}
"""The clause begins with the speaker or one of their people, and goes over to somebody else: 我带的那个小温."""
_COUNTS_OTHER_THINGS: Final = re.compile(
    r"(?i)(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|an?) [^,]+, (?:and )?"
    r"(?:\d+|zero|no|one|two|three|an?) "
)
"""A list of counted things that leaves out who has them: "6 kids, one bounce house, zero plan"."""
_LED_BY_NAME: Final = re.compile(
    r"用户(?!名)|"
    r"(?:[老小](?:[王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董潘蔡蒋余杜叶程苏魏吕丁沈姚温])"
    r"|阿[\u4e00-\u9fff](?=[是在有对要说去来不])"
    r"|(?:医生|大夫|护士|老师|教练|经理|领导|客户|警察|司机|店员|师傅)(?=上次|刚|今年|[对说让给把叫问建要又不是有在住喜吃]))"
)
"""A clause that begins with the name or the calling of somebody else: 老王, 小温, 阿茹, 医生说."""
_ACTS: Final = re.compile(
    r"(?i)(?:[\w'-]+ ){1,3}?(?:\w{2,}ed|got|gave|said|told|made|took|sent|put|found|left|came|went|called) "
    r"(?:the|a|an|my|his|her|its|their|it|him|them|me|us)\b"
)
"""A noun that does something is the subject, and no role of the speaker: "vet switched the dose"."""
_NUMBERED: Final = re.compile(
    r"(?:(?:也|都|才|刚|快|已经?|现在|今年|大概|差不多|是)*[\d一二两三四五六七八九十百千几半]+[\d.点%月]*"
    r"(?:[岁斤块元万千kK码号日天周年室层米人个只]|公斤|个月|\s|$)*[半多了的]*)$"
)
"""A clause that is a number with its unit, and says not of what."""
_DANGLING: Final = {
    "en": re.compile(r"(?i)\b(?:he|him|she|hers|himself|herself)\b"),
    "zh": re.compile(r"(?<![吉其])[他她它](?!人|乡|国)"),
}
_ELDER: Final = re.compile(r"[爸妈爹娘爷奶姥哥姐弟妹姨姑舅叔伯婶嫂岳]|外公|外婆|公公|婆婆|丈母|阿[公婆嬷]")
"""Who is called so by a whole family: 姐姐 may be the speaker's child, 奶奶 the listener's."""
_NAME_ALONE: Final = re.compile(r"(?i)name is\b")
"""Whose name it is says only what stands before it: "we got a lodger, name's Ralph"."""
_OF_USER: Final = re.compile(r"(?:The u|U|u)ser(?:'s)? |用户")
"""A note about the user by somebody else says of whom it is."""
_STANDS_IN: Final = re.compile(r"(?i)\b(?:his|him|her|its|their|them|he|she|they)\b")
_PRONOUN: Final = re.compile(r"(?i)(?:he|she|it|they|his|her|its|their)\b")
_WORD: Final = re.compile(r"\w+")
_NOT: Final = {
    "en": re.compile(
        r"(?i)\b(?:(?:no|not|never|cannot|without|neither|nor|nobody|nothing|none|hardly)\b|\w+n['’]t\b|(?:can|do|wo)nt\b)"
    ),
    "zh": re.compile(
        r"(?<![差对要])不(?![过错但仅久少管同止]|好意思|得了)|没(?![错事])|未(?![来必])|别(?![人的墅扭])(?<![特区分级性个告])|无(?![论聊锡比数])"
    ),
}
"""Words that turn a statement round."""
_OPENS: Final = re.compile(r"(?i)^no(?:$|[,.!;:]|\s+(?:I|we|it|he|she|they|my|that|not|thanks?)\b)")
"""A "no" that answers, and denies nothing of what follows."""
_SMALL: Final = frozenset(
    "a an the any really very much so too that even ever been be to of in on at for with only just all".split()
)
_NEXT_WORDS: Final = 2
_NEXT_SIGNS: Final = 4
_CLAUSE_END: Final = re.compile(r"[\s,，。;；、!！?？]")


def is_understood(statement: Statement, sentence: Sentence, *, pack: Pack) -> bool:
    """Return whether nobody says that it is the speaker's: the words name neither them nor one of their people."""
    if sentence.answers or statement.relation is not None or _OF_USER.match(sentence.evidence):
        return False
    if statement.who == "clause" and statement.implied is None and pack.language == "en":
        return _NAME_ALONE.match(statement.clause) is not None
    if statement.implied is not None or _SPEAKER[pack.language].search(sentence.evidence) is None:
        return True
    own = _SPEAKER[pack.language].search(statement.clause) is not None
    return pack.language == "zh" and statement.who in {"self", "clause"} and not (own or statement.carried)


def shifts_its_subject(statement: Statement, pack: Pack) -> bool:
    """Return whether a clause goes over to somebody else than whom it begins with, so that nothing carried is
    certain.
    """
    if statement.who not in {"self", "relation"} or statement.carried:
        return False
    if _SHIFTED[pack.language].match(statement.predicate or statement.clause):
        return True
    kin = pack.words["kin"].match(statement.predicate) if pack.language == "zh" and statement.relation else None
    return kin is not None


_BODY_TAGS: Final = frozenset({"health", "diet"})
_OTHERS_HEAD: Final = re.compile(
    r"我(?:家|屋头|屋里|班)?的?[老小][大二三四幺](?=[\u4e00-\u9fff])"
    r"|(?:^|[\s，,。!！])(?:[小阿][\u4e00-\u9fff]|(?!刚刚|常常|天天|慢慢|谢谢|看看|想想|试试|偏偏|好好|明明|往往|哈哈|呵呵|嘿嘿|嗯嗯)"
    r"([\u4e00-\u9fff])\1)(?=[\s，,。]|$)"
    r"|(?<![\d.一二三四五六七八九十百])(?:\d|1[0-3]|[一二两三四五六七八九十])(?:岁|周岁)(?=$|[\s，,了多半])"
)
"""Somebody else stands at the head of the sentence: a child (我屋头老二豆豆, 4岁), 小芹, 豆豆."""


_OTHERS_NAME: Final = re.compile(
    r"(?:小(?![麦米龙虾葱番时])[\u4e00-\u9fff]|[老阿][\u4e00-\u9fff]"
    r"|(?!天天|常常|刚刚|慢慢|偏偏|往往|明明)([\u4e00-\u9fff])\1)"
    r"(?=对|[\u4e00-\u9fff]{0,4}(?:过敏|不耐)|不能|不吃|得了|有[\u4e00-\u9fff]{0,4}[病症炎])"
)
"""A clause begins with the name of somebody: 妞妞过敏, 豆豆对鸡肉过敏."""


def is_anothers_body(fact: Fact, statement: Statement, *, text_before: str, language: str) -> bool:
    """Return whether a Chinese clause about health, diet or age goes on with somebody else whom the sentence names.

    我家老二豆豆 4岁 花生过敏 tells of a child, although no word between says so. Names have no mark in Chinese, so
    only the plainest are known: 小芹, 豆豆, an eldest, whoever is of a child's age.
    """
    if language != "zh" or (_BODY_TAGS.isdisjoint(fact.tags) and fact.attribute != "age"):
        return False
    if statement.relation is not None or statement.who == "order" or "我" in statement.clause:
        return False
    if _OTHERS_NAME.match(statement.clause):
        return True
    return _OTHERS_HEAD.search(f"{text_before}{statement.clause if fact.attribute == 'age' else ''}") is not None


def leaves_open_who(statement: Statement, content: str, *, language: str) -> bool:
    """Return whether an English clause tells of a person or pet by a pronoun that the message does not explain.

    "She left" and "it's gone" may be said of anybody and anything, although a sister or a cat was spoken of before.
    """
    if language != "en" or statement.relation is None or _PRONOUN.match(statement.clause) is None:
        return False
    _, *described = statement.subject.split()
    return set(described).isdisjoint(_WORD.findall(content))


def is_the_speakers(statement: Statement, sentence: Sentence, *, pack: Pack) -> bool:
    """Return whether one of the family whom a Chinese sentence names is surely the speaker's.

    Parents call their child 姐姐, and friends ask each other 奶奶身体好吗: only 我 says whose it is.
    """
    if pack.language != "zh" or statement.relation is None or statement.pronoun or sentence.answers:
        return True
    described = statement.subject.rpartition("的")[2]
    if _ELDER.search(described) is None or described not in sentence.evidence:
        return True
    clauses = re.split(r"[,，;；。\s]", sentence.evidence)
    return any(described in clause and _SPEAKER["zh"].search(clause) is not None for clause in clauses)


def pronoun_of(statement: Statement, sentence: Sentence, *, pack: Pack) -> str:
    """Return the pronoun for which one of the speaker's people was put; empty where they are named."""
    if statement.pronoun or pack.language != "en" or sentence.answers:
        return statement.pronoun
    match = _STANDS_IN.search(sentence.evidence)
    evidence = sentence.evidence.lower()
    put = match is not None and any(kin.group().lower() not in evidence for kin in _kin_of(statement.clause, pack))
    return match.group() if match is not None and put else ""


def before_pronoun(pronoun: str, statement: Statement, *, sentence: Sentence) -> str:
    """Return what a sentence says before the pronoun of a clause; the whole, where the clause is in other words."""
    evidence = sentence.evidence.lower()
    last = " ".join(statement.predicate.lower().split()[-2:])
    end = evidence.find(last)
    begin = evidence.rfind(pronoun.lower(), 0, end) if last and end > 0 else -1
    return sentence.evidence[:begin] if begin >= 0 else sentence.evidence


def _kin_of(clause: str, pack: Pack) -> list[re.Match[str]]:
    return list(re.finditer(rf"(?i)(?<=my )(?:{pack.words['kin'].pattern})\b", clause))


def subject_is_certain(
    statement: Statement,
    message: Message,
    *,
    text_before: str,
    before: Message | None,
    now: datetime,
    pack: Pack,
) -> bool:
    """Return whether a subject that was left out can be nobody but the speaker.

    Args:
        text_before: what the message says up to the sentence.
        before: the message before it, where one is known.
        now: the moment of a message without a timestamp.
    """
    earlier = before if before is not None and _is_ongoing(before, message, now=now) else None
    if statement.who == "order":
        return earlier is None or earlier.role is not Role.USER or earlier.name == message.name
    if _names_another(statement, pack) or _speaks_of_another(text_before, pack):
        return False
    return earlier is None or _leaves_it_to(message, earlier, pack=pack)


def _names_another(statement: Statement, pack: Pack) -> bool:
    """Return whether a clause has a subject of its own after all, or none that anybody could tell."""
    if pack.language == "zh":
        return any(other.match(statement.clause) for other in (_NUMBERED, _LED_BY_NAME))
    if statement.who != "clause":
        return False
    return _ACTS.match(statement.clause) is not None or _COUNTS_OTHER_THINGS.match(statement.clause) is not None


def _leaves_it_to(message: Message, before: Message, *, pack: Pack) -> bool:
    """Return whether the message before asks the speaker, or is theirs, and speaks of nobody else."""
    tail = before.content[-_TAIL_CHARS:]
    if _speaks_of_another(tail, pack):
        return False
    if pack.language == "en" and _NAMED.search(tail) and not _ADDRESSED.search(tail):
        return False
    if before.role is message.role and before.name == message.name:
        return True
    questions = [sentence.text for sentence in sentences(tail) if sentence.asks]
    if not questions:
        return False
    return pack.language == "en" or _ADDRESSED.search(tail) is not None or _NO_SUBJECT.match(questions[-1]) is not None


def _is_ongoing(before: Message, message: Message, *, now: datetime) -> bool:
    if before.timestamp is None:
        return True
    return (message.timestamp or now) - before.timestamp < _MAX_PAUSE


def _speaks_of_another(text: str, pack: Pack) -> bool:
    """Return whether the last one that a text speaks of is not the speaker."""
    others = others_in(text, pack)
    if not others:
        return False
    last = max(match.end() for match in others)
    return _SPEAKER[pack.language].search(text, last) is None


def is_whole(fact: Fact, statement: Statement, *, pack: Pack) -> bool:
    """Return whether a fact says what it is about: no plan without its object, no wish without a verb, no request for
    now.
    """
    if pack.language == "zh":
        if statement.carried and _NUMBERED.match(statement.clause) and "岁" not in statement.clause:
            return False
        is_plan = "plan" in fact.tags
        planned = _BARE_PLAN.sub("", statement.predicate)
        return not (is_plan and len(planned) < _MIN_OBJECT_CHARS) and "要求:别是" not in fact.text
    if statement.who == "order":
        return _NO_VERB.match(statement.clause) is None
    return _LABEL.match(fact.text) is None and _FOR_NOW.search(fact.text) is None


def without_its_tail(fact: Fact, *, language: str) -> Fact:
    """Return the fact without the half clause, or the clause about somebody else, that its words ran on to."""
    match = _RUNS_ON.search(fact.text) if language == "en" else None
    if match is None:
        return fact
    value = fact.value and _RUNS_ON.split(fact.value)[0].rstrip(" ,")
    return replace(fact, text=fact.text[: match.start()].rstrip(" ,"), value=value)


def stands_alone(fact: Fact, statement: Statement, *, pack: Pack) -> bool:
    """Return whether a fact says whom it speaks of: no "him" or 他 without a name or one of the speaker's people before
    it.
    """
    match = _DANGLING[pack.language].search(fact.text)
    if match is None or statement.relation is not None:
        return True
    before = fact.text[: match.start()].removeprefix(statement.subject)
    return bool(others_in(before, pack)) or re.search(r"(?<=\s)[A-Z][a-z]+", before) is not None


def keeps_negations(fact: Fact, evidence: str, *, language: str) -> bool:
    """Return whether every negation of the words that a fact takes up stands in the fact, or is what it says."""
    if fact.polarity < 0 or fact.ended:
        return True
    find = _NOT[language]
    if language == "zh":
        taken = sum(_takes_signs(fact.text, evidence, at=match.end()) for match in find.finditer(evidence))
    else:
        words = stems(fact.text.lower())
        taken = sum(
            _takes_words(words, evidence[match.end() :])
            for match in find.finditer(evidence)
            if _OPENS.match(evidence[match.start() :]) is None
        )
    return len(find.findall(fact.text)) >= taken


def _takes_signs(text: str, evidence: str, *, at: int) -> bool:
    """Return whether a fact takes up what stands after a negation, up to the end of its clause.

    One sign alone may stand in any word: its clause must have two signs in a row in common with the fact.
    """
    rest = _CLAUSE_END.split(evidence[at:].lstrip("太怎么是很想再"), maxsplit=1)[0]
    after = rest[:_NEXT_SIGNS].rstrip("了的吧啊呢")
    if len(after) != 1:
        return bool(after) and after in text
    clause = f"{_CLAUSE_END.split(evidence[:at])[-1]}{rest}"
    return after in text and any(clause[k : k + 2] in text for k in range(len(clause) - 1))


def _takes_words(words: list[str], rest: str) -> bool:
    clause = re.split(r"[,.;:!?()]|\b(?:and|but|because|so)\b", rest, maxsplit=1)[0]
    after = [stem for word in clause.split() if word.lower() not in _SMALL for stem in stems(word.lower())][
        :_NEXT_WORDS
    ]
    return bool(after) and all(stem in words for stem in after)


def is_told_plainly(fact: Fact, statement: Statement, *, message: Message, understood: float, pack: Pack) -> bool:
    """Return whether a fact can be told in the third person; any other stays in the words of the person.

    That is a wish, an end, a correction, and who somebody is, where the subject is named. What happens, what is planned
    and what is usual has to stand in a message half of which was understood.

    Args:
        understood: the share of the message's letters that something was read from.
    """
    if statement.who == "order" or fact.ended or fact.corrects:
        return True
    share = share_of([statement], message)
    if statement.implied is not None:
        return share >= _MOST
    if fact.attribute is not None and (statement.carried or statement.who == "clause"):
        return understood >= _MOST
    of_health = pack.words["health"].search(statement.clause) is not None
    return fact.attribute is not None or of_health or not _is_of_a_story(fact) or understood >= _HALF


def _is_of_a_story(fact: Fact) -> bool:
    """Return whether a fact says little without the words around it: what happens, is planned or is usual, and what is
    of no kind.
    """
    return fact.tags == (MemoryType.FACT,) or not _OF_A_STORY.isdisjoint(fact.tags)


def share_of(statements: Sequence[Statement], message: Message) -> float:
    """Return how much of the letters of a message its statements have."""
    read = sum(_letters(statement.lead) + _letters(statement.clause) for statement in statements)
    return read / max(_letters(message.content), 1)


def _letters(text: str) -> int:
    return sum(sign.isalnum() for sign in text)
