"""No negation is lost on the way to a fact, and what is said of somebody else is never said of the user."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.remember.extraction.rule_extractor import extract

NOW = datetime(2026, 5, 6, 10, tzinfo=UTC)
VERBS = (
    *(("eat", "eating", "pork"), ("drive", "driving", "after 10"), ("run", "running", "for 2 weeks")),
    *(("drink", "drinking", "coffee at night"), ("work", "working", "on Fridays"), ("play", "playing", "tennis")),
    *(("smoke", "smoking", "at home"), ("like", "liking", "horror films"), ("swim", "swimming", "in cold water")),
)
DENIALS = (
    *("no {doing} {rest}", "no more {doing} {rest}", "I don't {do} {rest}", "I never {do} {rest}"),
    *("I'm not {doing} {rest}", "not {doing} {rest} this month", "can't {do} {rest}", "I do not {do} {rest} any more"),
    *("no {doing} {rest} and no friends in the car", "doctor says no {doing} {rest}", "we aren't {doing} {rest}"),
)
THINGS_ZH = ("吃羊肉", "喝咖啡", "跑步", "弹吉他", "住在上海", "上夜班", "喜欢恐怖片", "养猫")
DENIALS_ZH = (
    "我不{x}",
    "我从不{x}",
    "我没{x}",
    "不{x}",
    "我现在不{x}了",
    "医生不让{x}",
    "我们都不{x}",
    "我不再{x}",
    "别{x}",
)
OTHERS = (
    *("Deb", "She", "He", "The neighbor", "Our neighbor's dog", "Her friend Malik", "They", "The vet", "That guy"),
    *("My boss's wife", "Somebody at work", "His mom"),
)
PREDICATES = (
    *("is allergic to peanuts", "lives in Boston", "loves jazz", "has two kids", "works as a nurse"),
    *("is vegetarian", "doesn't eat pork", "moved to Leeds last year", "has diabetes", "is 34"),
)
OTHERS_ZH = ("她", "他", "老王", "隔壁那家", "那个同事", "小温", "我带的那个小温", "我对象那只猫", "那位医生", "他们")
PREDICATES_ZH = (
    "对花生过敏",
    "住在上海",
    "喜欢爵士乐",
    "有两个孩子",
    "是护士",
    "吃素",
    "不吃羊肉",
    "今年三十四岁",
    "有糖尿病",
)
CONTEXT = ("Poor cat. How old is she, and is she neutered?", "What about Deb?", "Tell me about your mom's diet.")
ELLIPSES = (
    *("four, allergic to fish", "vegetarian since 2019", "lives in Boston, works nights", "just moved to Leeds"),
    *("type 1 diabetic", "mother of two", "got burgled in May"),
)
CONTEXT_ZH = ("猫咪干呕多半是毛球。几岁了？公的母的？", "你妈妈身体怎么样？", "她平时吃什么？", "那只布偶呢？")
ELLIPSES_ZH = (
    *("四岁 公的 已经绝育了", "对鱼过敏，不吃牛肉", "住在上海，喜欢爵士乐", "吃素三年了", "14斤", "戒烟了"),
    *("有糖尿病", "去年做了手术", "最喜欢吃鱼"),
)
_DENIED = re.compile(r"(?i)\b(?:no|not|never|cannot|without|nothing)\b|n't|rule:|[不没别未]|要求")


def _facts(text: str, *, asked: str | None = None) -> list[Fact]:
    before = [Message(asked, Role.ASSISTANT)] if asked else []
    return extract([*before, Message(text)], now=NOW)


def _denied(fact: Fact) -> bool:
    return _DENIED.search(fact.text) is not None or fact.polarity < 0 or fact.ended


@given(st.sampled_from(DENIALS), st.sampled_from(VERBS))
def test_a_denied_sentence_leaves_no_fact_that_affirms(denial: str, verb: tuple[str, str, str]) -> None:
    do, doing, rest = verb
    facts = _facts(denial.format(do=do, doing=doing, rest=rest))
    assert all(map(_denied, facts)), [fact.text for fact in facts]


@given(st.sampled_from(DENIALS_ZH), st.sampled_from(THINGS_ZH))
def test_a_denied_chinese_sentence_leaves_no_fact_that_affirms(denial: str, thing: str) -> None:
    facts = _facts(denial.format(x=thing))
    assert all(map(_denied, facts)), [fact.text for fact in facts]


@given(st.sampled_from(OTHERS), st.sampled_from(PREDICATES))
def test_what_another_person_is_or_does_is_no_fact_of_the_user(other: str, predicate: str) -> None:
    facts = [fact.text for fact in _facts(f"{other} {predicate}")]
    assert not [text for text in facts if re.match(r"User(?!'s)", text)], facts


@given(st.sampled_from(OTHERS_ZH), st.sampled_from(PREDICATES_ZH))
def test_what_another_person_is_or_does_is_no_fact_of_a_chinese_user(other: str, predicate: str) -> None:
    facts = [fact.text for fact in _facts(f"{other}{predicate}")]
    assert not [text for text in facts if re.match(r"用户(?!的)|用户的对象(?!那)", text)], facts


@given(
    st.tuples(st.sampled_from(CONTEXT), st.sampled_from(ELLIPSES))
    | st.tuples(st.sampled_from(CONTEXT_ZH), st.sampled_from(ELLIPSES_ZH))
)
def test_a_clause_without_a_subject_after_talk_of_another_is_no_fact_of_the_user(turns: tuple[str, str]) -> None:
    asked, answer = turns
    facts = [fact.text for fact in _facts(answer, asked=asked)]
    assert not [text for text in facts if re.match(r"User(?!'s)|用户(?!的)", text)], facts


@pytest.mark.parametrize(
    ("text", "forbidden"),
    [
        ("my dad's operation is on Friday", "User's operation"),
        ("we're watching him while Deb's away", "him"),
        ("kept warm please", "User"),
        ("vet switched the thyroid dose last week", "User is a vet"),
        ("no driving after 10 and no friends in the car for 6 months", "User is driving"),
        ("我对象那只叫豆花，才一岁", "用户的对象一岁"),
        ("我带的那个小温，96年的，还素食", "用户素食"),
    ],
)
def test_a_half_clause_or_another_person_gives_no_fact_of_the_user(text: str, forbidden: str) -> None:
    assert not [fact.text for fact in _facts(text) if forbidden in fact.text]


OTHERS_AHEAD_ZH = (
    *(
        "豆豆 4岁 ",
        "小芹 怀孕了 ",
        "阿凯，刚下班，",
        "我屋头老二豆豆 ",
        "我家老大乐乐，",
        "记一下，小雯 ",
        "丽丽，今年五岁，",
    ),
    *("还有个重要的 我屋头老二豆豆 4岁 ", "住在杭州 芹芹 "),
)
BODY_ZH = ("花生过敏", "海鲜过敏", "乳糖不耐受", "有糖尿病", "有哮喘", "不吃羊肉", "吃素")
SPEAKER_AHEAD_ZH = (
    *(
        "",
        "我 36岁 ",
        "我今年四十，",
        "本人女，28岁，",
        "今年三十六岁，",
        "我的情况：36岁，",
        "孕妇，28岁，",
        "住在杭州，",
    ),
    *("其实", "你好，", "谢谢！", "备注：", "今天查了，", "都行，", "刚刚查的，"),
)


@given(st.sampled_from(OTHERS_AHEAD_ZH), st.sampled_from(BODY_ZH))
def test_what_ails_somebody_whom_a_chinese_sentence_plainly_names_is_no_fact_of_the_user(ahead: str, body: str) -> None:
    facts = [fact.text for fact in _facts(f"{ahead}{body}")]
    assert not [text for text in facts if re.match("用户(?!说|的|家|屋)", text) and body in text], facts


@given(st.sampled_from(SPEAKER_AHEAD_ZH), st.sampled_from(("花生过敏", "海鲜过敏")))
def test_what_ails_the_speaker_is_kept_though_the_clause_does_not_name_them(ahead: str, body: str) -> None:
    assert any(body in fact.text for fact in _facts(f"{ahead}{body}"))
