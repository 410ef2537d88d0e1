"""中文句子变成第三人称的事实。"""

from __future__ import annotations

import pytest

from ebbing.domain.memory.record import MemoryType
from tests.unit.remember.extraction.facts import heard, only

F, P, C, E, R = (
    MemoryType.FACT,
    MemoryType.PREFERENCE,
    MemoryType.CONSTRAINT,
    MemoryType.EPISODIC,
    MemoryType.PROCEDURAL,
)


@pytest.mark.parametrize(
    ("said", "told", "kind"),
    [
        ("我老是加班", "用户经常加班", F),
        ("我对花生过敏", "用户对花生过敏", C),
        ("我叫李明", "用户的名字叫李明", F),
        ("我特别喜欢爬山", "用户特别喜欢爬山", P),
        ("我讨厌下雨天", "用户讨厌下雨天", P),
        ("我不吃香菜", "用户不吃香菜", C),
        ("我从来不喝酒", "用户从来不喝酒", C),
        ("我有糖尿病", "用户有糖尿病", F),
        ("我是一名小学语文老师", "用户是一名小学语文老师", F),
        ("大家都叫我小江", "用户要求:称呼其为小江", R),
        ("其实大名是江一帆", "用户的名字叫江一帆", F),
        ("我只喝美式", "用户只喝美式", C),
        ("我养了一只叫豆豆的橘猫", "用户养了一只叫豆豆的橘猫", F),
        ("我妹妹在英国留学", "用户的妹妹在英国留学", F),
        ("我会弹吉他", "用户会弹吉他", F),
        ("我终于考过了驾照", "用户终于考过了驾照", E),
        ("我想成为一名心理咨询师", "用户想成为一名心理咨询师", E),
        ("以后请用中文回答我", "用户要求:以后请用中文回答用户", R),
        ("请不要用表情符号", "用户要求:请不要用表情符号", R),
        ("平时喜欢打羽毛球", "用户平时喜欢打羽毛球", P),
        ("养了只布偶，叫豆豆", "用户养了只布偶叫豆豆", F),
        ("我是O型阴性", "用户的血型是O型阴性", F),
        ("上个月被裁了", "用户上个月（2026年4月）被裁了", F),
        ("公司不让用微信办公", "用户的公司不让用微信办公", F),
        ("我不看恐怖片", "用户不看恐怖片", F),
        ("我太太是日本人", "用户的太太是日本人", F),
        ("月供降了，六千二", "用户的月供现在是六千二", F),
        ("算错了，我阳历是天秤座", "用户阳历是天秤座", F),
        ("奶茶我要三分糖去冰", "用户奶茶要三分糖去冰", P),
    ],
)
def test_a_sentence_becomes_a_fact_in_the_third_person(said: str, told: str, kind: MemoryType) -> None:
    fact = only(said)
    assert fact.text == told
    assert fact.type is kind


@pytest.mark.parametrize(
    ("said", "attribute", "value"),
    [
        ("我住在成都", "home", "成都"),
        ("我从北京搬到了上海", "home", "上海"),
        ("我在腾讯上班", "employer", "腾讯"),
        ("我的手机号是13800001234", "phone", "13800001234"),
        ("我的生日是8月15号", "birthday", "8月15号"),
        ("我女儿今年五岁了", "女儿.age", "五岁"),
        ("我最喜欢的颜色是绿色", "favourite.color", "绿色"),
        ("我是程序员", "job", "程序员"),
        ("以后叫我小王", "preferred_name", "小王"),
    ],
)
def test_a_single_valued_attribute_carries_its_value(said: str, attribute: str, value: str) -> None:
    fact = only(said)
    assert (fact.attribute, fact.value) == (attribute, value)


def test_being_left_handed_is_not_a_job() -> None:
    assert only("我是左撇子").attribute is None


def test_likes_and_dislikes_carry_polarity_and_object() -> None:
    liked, disliked = heard("我喜欢猫但是不喜欢狗")
    assert (liked.polarity, liked.object) == (1, "猫")
    assert (disliked.polarity, disliked.object) == (-1, "狗")
    assert "dislike" in disliked.tags


def test_what_ended_is_marked() -> None:
    assert only("我现在不喜欢喝可乐了").ended


def test_clauses_without_a_subject_keep_the_one_before() -> None:
    assert [fact.text for fact in heard("我叫王芳，在苏州做会计，平时喜欢做饭和养花")] == [
        "用户的名字叫王芳",
        "用户在苏州做会计",
        "用户平时喜欢做饭和养花",
    ]


def test_traditional_characters_are_read_and_kept() -> None:
    facts = heard("我對海鮮過敏，養了兩隻貓")
    assert [fact.text for fact in facts] == ["用户對海鮮過敏", "用户養了兩隻貓"]
    assert facts[0].value == "海鮮"


def test_a_relative_introduced_by_name_is_meant_by_the_pronoun() -> None:
    assert [fact.text for fact in heard("张静怡是我的母亲，其生日是8月17日")] == [
        "用户的母亲是张静怡",
        "用户的母亲张静怡生日是8月17日",
    ]


def test_a_plan_gets_its_date() -> None:
    fact = only("我明天要去北京出差")
    assert fact.text == "用户明天（2026-05-07）要去北京出差"
    assert fact.happens_from is not None
    assert fact.happens_from.date().isoformat() == "2026-05-07"


@pytest.mark.parametrize(
    ("asked", "answered", "told"),
    [
        ("你住在哪里？", "南京", "用户住在南京"),
        ("你喜欢吃辣吗？", "不喜欢", "用户不喜欢吃辣"),
        ("你是做什么工作的？", "程序员", "用户的职业是程序员"),
        ("你对什么东西过敏吗？", "虾和螃蟹", "用户对虾和螃蟹过敏"),
        ("你喝咖啡吗？", "不喝", "用户不喝咖啡"),
    ],
)
def test_a_short_answer_is_read_with_its_question(asked: str, answered: str, told: str) -> None:
    assert only(answered, asked=asked).text == told


@pytest.mark.parametrize("said", ["我可能会去日本", "我好像对芒果过敏", "也许我会养只狗"])
def test_what_the_speaker_doubts_stays_under_the_write_threshold(said: str) -> None:
    assert all(fact.confidence < 0.7 and fact.hedged for fact in heard(said))
