"""What two wordings may differ in, and what makes them two statements."""

from __future__ import annotations

import pytest

from ebbing.language.wording.paraphrase import comparable, gist_of, has_units, holds, news


def tells(whole: str, part: str) -> bool:
    return comparable(gist_of(whole), gist_of(part)) and holds(gist_of(whole), gist_of(part))


@pytest.mark.parametrize(
    ("whole", "part"),
    [
        ("我特别喜欢喝咖啡呢。", "我爱喝咖啡"),
        ("我妈妈是位护士，在北京上班。", "我妈妈是护士"),
        ("我父亲的手机号码是123", "爸爸的电话是123"),
        ("I really love hiking in the mountains.", "I love hiking in mountains"),
        ("User's mom works as a nurse nearby", "mother works as a nurse"),
    ],
)
def test_a_wording_holds_one_that_says_the_same_or_less(whole: str, part: str) -> None:
    assert tells(whole, part)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("我表弟身高169厘米。", "我表哥身高169厘米。"),
        ("我爸爸是老师。", "我妈妈是老师。"),
        ("我舅妈今年65岁了。", "我妈妈今年65岁了。"),
        ("我叔叔是护士长。", "我叔叔是做护士的。"),
        ("论坛的地点是上海。", "论坛的规模是上海。"),
        ("我喜欢喝茶。", "我不喜欢喝茶。"),
        ("我想买一辆车。", "我买了一辆车。"),
        ("如果有狗我会很开心", "我有狗"),
        ("我住在三楼。", "我住在二楼。"),
        ("陈静怡是我的同学", "陈怡静是我的同学"),
        ("I flew to Paris.", "I flew from Paris."),
        ("Anna gave Bob a book", "Bob gave Anna a book"),
        ("I have never liked tea", "I liked tea"),
        ("I used to smoke cigars", "I smoke cigars"),
        ("I might move to Leeds", "I move to Leeds"),
        ("My sister lives in Rome", "My brother lives in Rome"),
        ("The meeting is at 3", "The meeting is at 4"),
        ("My mom works as a nurse in Leeds", "my mom works as a nurse"),
        ("我的同事他是个高级工程师。", "同事是工程师"),
    ],
)
def test_another_person_number_place_or_turn_makes_another_statement(one: str, other: str) -> None:
    assert not tells(one, other)
    assert not tells(other, one)


def test_what_says_less_does_not_hold_what_says_more() -> None:
    assert not tells("I love hiking", "I love hiking in the Alps with Tom")


def test_the_share_of_news_counts_different_units_once() -> None:
    one, other = gist_of("green apples and red apples"), gist_of("green apples")
    assert news(one, other) == pytest.approx(1 / 3)
    assert news(other, one) == 0
    assert news(gist_of("是的"), other) == 0


def test_an_empty_gist_is_held_by_nothing() -> None:
    assert not holds(gist_of("我喜欢茶"), gist_of("嗯，是的"))


@pytest.mark.parametrize("text", ["", "😀" * 5_000, "\ud800", "的" * 10_000, "a'" * 5_000, "1,1." * 5_000])
def test_any_text_has_a_gist(text: str) -> None:
    gist = gist_of(text)
    assert len(gist.units) == len(gist.goes_on)


@pytest.mark.parametrize(
    "text", ["", "是的", "好的，谢谢", "ok", "我喜欢喝茶", "I moved to Leeds on 3 May", "五月三日去北京", "the of a"]
)
def test_whether_a_text_has_units_is_known_without_reading_all_of_it(text: str) -> None:
    count = len(gist_of(text).units)
    assert [has_units(text, least) for least in (1, 2, 3)] == [count >= least for least in (1, 2, 3)]
