"""What is told in the third person has one voice and a fitting value, and a quotation says something."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.language.claims.claims import StatementHints, attribute_of
from ebbing.language.text.quotation import quoted_words
from ebbing.privacy.guarding.trust import TrustTier
from ebbing.remember.extraction.extractor import filter_statements
from ebbing.remember.extraction.rule_extractor import extract
from ebbing.remember.intake.screening import ScreenedMessage

NOW = datetime(2026, 5, 6, 10, tzinfo=UTC)


def heard(text: str, name: str | None) -> list[Fact]:
    """The facts that one message makes."""
    return extract([Message(text, Role.USER, name=name)], now=NOW)


def told(text: str, name: str | None) -> list[str]:
    """The facts that are told in the third person."""
    return [fact.text for fact in heard(text, name) if quoted_words(fact.text) is None and not fact.tentative]


LEADS_ZH = ("到现在", "到今天", "快", "已经", "都", "")
SPANS_ZH = ("两个月", "三个月", "八个月", "十一个月", "半年")
BEFORE_ZH = ("我元旦开始吃素的", "我戒烟了", "我搬来成都了", "我在学德语")


@given(st.sampled_from(BEFORE_ZH), st.sampled_from(LEADS_ZH), st.sampled_from(SPANS_ZH), st.sampled_from(" ，"))
def test_a_stretch_of_time_is_no_age(before: str, lead: str, span: str, joint: str) -> None:
    for text in (f"{before}{joint}{lead}{span}了", f"我{lead}{span}了"):
        assert not [fact for fact in heard(text, "林小满") if (fact.attribute or "").endswith("age")]


@pytest.mark.parametrize(
    ("said", "attribute"), [("我儿子八个月了", "儿子.age"), ("我家猫三个月大", "猫.age"), ("我35了", "age")]
)
def test_the_months_of_a_child_and_a_number_of_years_are_an_age(said: str, attribute: str) -> None:
    assert [fact.attribute for fact in heard(said, "老韩")] == [attribute]


THINGS = ("epipens and a referal to the allergy clinic", "a card for the allergy clinic", "a nut allergy test")


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("verb", ["has", "had"])
def test_what_somebody_has_is_not_what_they_are_allergic_to(verb: str, thing: str) -> None:
    assert attribute_of(f"User {verb} {thing}", StatementHints())[0] is None


@given(st.lists(st.sampled_from(("倒", "也", "都", "又", "其实", "从来", "容易")), min_size=1, max_size=2, unique=True))
def test_an_adverb_is_nothing_to_be_allergic_to(adverbs: list[str]) -> None:
    for end in ("不过敏", "过敏"):
        assert not (attribute_of(f"用户{''.join(adverbs)}{end}", StatementHints())[0] or "").startswith("allergic")


@pytest.mark.parametrize(
    ("said", "attribute"),
    [
        ("User has a severe tree nut allergy, so no cake", "allergic to nut tree"),
        ("User has a peanut and egg allergy", "allergic to egg peanut"),
        ("用户花生过敏", "allergic to 生 花"),
    ],
)
def test_what_names_the_allergy_is_its_cause(said: str, attribute: str) -> None:
    assert attribute_of(said, StatementHints())[0] == attribute


HABITS = ("i keep googling alzheimers at 3am", "I run every morning", "I eat porridge every day", "we go every weekend")
ASIDES = ("which i dont recommend", "which I hate", "so thats me: a wreck", "and that is what I do")


@given(st.sampled_from(HABITS), st.sampled_from(ASIDES), st.sampled_from((" ", ", ")))
def test_no_pronoun_is_put_for_the_speaker_in_a_clause_beside(habit: str, aside: str, joint: str) -> None:
    for text in told(f"{habit}{joint}{aside}", "Fenwick"):
        assert re.search(r"\b(?:they|them|I|me|we)\b", text) is None, text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("I take my pills before I eat", "User takes their pills before they eat"),
        ("my wife and I run a coffee shop in Margate", "User and their wife run a coffee shop in Margate"),
    ],
)
def test_a_clause_of_time_is_said_of_the_same(said: str, text: str) -> None:
    assert told(said, None) == [text]


@pytest.mark.parametrize("speaker", ["林小满", "阿泽"])
@pytest.mark.parametrize(
    "said",
    [
        "婆婆已经开始暗示让我们把狗送走了",
        "我妈每天给我们做饭",
        "出院了 天天在家嫌我妈做菜没盐 这病得的",
        "天天在家骂我老婆",
        "每周末都来找我儿子玩",
    ],
)
def test_no_word_of_the_speaker_stays_and_no_subject_is_made_up(said: str, speaker: str) -> None:
    assert told(said, speaker) == []


def test_what_somebody_does_for_their_own_is_told() -> None:
    assert told("我每周陪我妈复查", None) == ["用户每周陪用户妈复查"]


@pytest.mark.parametrize("said", ["and dads hip is off. cancelled", "mum's appointment is off"])
def test_whose_family_it_is_is_said_or_nothing_is_kept(said: str) -> None:
    message = ScreenedMessage(Message(said, Role.USER, name="Ruaridh"), TrustTier.USER)
    facts = filter_statements([message], now=NOW, agent_facts=False, known_places=())
    assert not [fact for fact in facts if not fact.tentative]


TITLES = ("教导主任", "班主任", "教研组长", "厂长", "老板", "做饭阿姨")


@given(st.sampled_from(TITLES), st.sampled_from(("：“你身体要紧”", ":「明天加班」", "：“来一下” 转头就忘了")))
def test_whose_words_follow_is_no_statement(title: str, words: str) -> None:
    assert told(f"我们{title}{words}", "糖糖") == []


@pytest.mark.parametrize(
    ("said", "attribute"),
    [("we are called Wet Carpet", "name"), ("we're two and a half", "age"), ("我们十八了", "age")],
)
def test_what_we_are_is_not_what_one_of_us_is(said: str, attribute: str) -> None:
    assert not [fact for fact in heard(said, "Thabo") if fact.attribute == attribute]


@given(
    st.sampled_from(("去管生豆品控", "我入职字节", "我去老魏的店", "我在锐骨")),
    st.sampled_from(("7号上班", "8月3号上班", "十四号上班", "周三上班", "下个月3号")),
)
def test_no_day_is_part_of_an_employer(place: str, day: str) -> None:
    for fact in heard(f"{place} {day}", "老韩"):
        assert fact.attribute is None or re.search(r"\d|号|周三|\s", fact.value or "") is None


@given(st.sampled_from(("我坚持", "我一周三次", "我每天", "我天天")), st.sampled_from(("吃铁剂", "五公里", "不吃药")))
def test_how_often_is_not_told_without_what(often: str, what: str) -> None:
    for message in (f"不 {often} {what}", f"{often}"):
        assert not [text for text in told(message, "林小满") if text.startswith(f"林小满{often[1:]}，")]


@pytest.mark.parametrize(
    "said",
    [
        "i maintain the kitkat was divided fairly",
        "I maintain our cat is a genius",
        "I spend my days deciding if [ominous music] or [tense music]",
        "I drink <crying> every day",
    ],
)
def test_an_opinion_and_a_stage_direction_are_no_habit(said: str) -> None:
    assert told(said, "Fenwick") == []


@given(
    st.sampled_from(("@老韩 烟呢", "呸呸呸 我有编制", "我是唯一的希望哈哈", "她倒不过敏 我就是瞎紧张", "lol")),
    st.sampled_from(("", "哈哈哈", " [图片]", "！！")),
)
def test_a_laugh_a_call_and_a_word_are_not_quoted(said: str, more: str) -> None:
    assert heard(f"{said}{more}", "糖糖") == []


@pytest.mark.parametrize("said", ["我现在在住院部楼下喝今天第三杯美式", "我在住院楼门口等你"])
def test_a_ward_is_no_stay_in_hospital(said: str) -> None:
    assert not [fact for fact in heard(said, "阿泽") if "event" in fact.tags]


@pytest.mark.parametrize("said", ["we're leaving after school, Teo's at my sister in law's", "I'm leaving early today"])
def test_who_leaves_for_the_day_leaves_no_job(said: str) -> None:
    assert not [fact for fact in heard(said, "Odalys") if "work" in fact.tags]


@given(
    st.sampled_from(("I live near", "I work with", "I often visit", "I look after")),
    st.sampled_from(("my parents", "our neighbours", "my old boss")),
)
def test_no_value_speaks_as_the_speaker(verb: str, whom: str) -> None:
    for fact in heard(f"{verb} {whom}", "Mia"):
        assert re.search(r"\b(?:I|my|our)\b", fact.value or "") is None


@given(st.sampled_from(("建议您咨询医生", "亲爱的你", "我懂你", "您")), st.sampled_from(('"{}"', "“{}”", "「{}」")))
def test_a_word_that_is_named_stays_that_word(word: str, marks: str) -> None:
    named = marks.format(word)
    facts = [fact.text for fact in heard(f"你以后别老是说{named}，我媳妇就是护士长", "周立群")]
    assert not [text for text in facts if "说" in text and "别" in text and word not in text]


@pytest.mark.parametrize("said", ["I'm leaving after school", "we're having dinner after work", "I am cooking at 7pm"])
def test_what_goes_on_now_is_no_habit(said: str) -> None:
    assert not [fact for fact in heard(said, "Odalys") if "habit" in fact.tags]


def test_what_goes_on_all_the_time_is_a_habit() -> None:
    assert told("I'm always baking on Sundays", None) == ["User is always baking on Sundays"]


def test_a_masked_value_is_left_out_and_not_quoted() -> None:
    message = ScreenedMessage(Message("My phone number is [REDACTED_PHONE]", Role.USER, name="Mia"), TrustTier.USER)
    assert filter_statements([message], now=NOW, agent_facts=False, known_places=()) == []
