"""Half a sentence that is no fact of its own stays with the fact before it, or goes."""

from __future__ import annotations

import pytest

from tests.unit.remember.extraction.facts import heard


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        ("我对海鲜过敏，尤其是虾", ["用户对海鲜过敏，尤其是虾"]),
        ("每天早上六点起来跑步，坚持三年了", ["用户每天早上六点起来跑步，坚持三年了"]),
        ("我在浦东上班，通勤要一个小时", ["用户在浦东上班，通勤要一个小时"]),
        ("我手机是华为的，用了四年", ["用户手机是华为的，用了四年"]),
    ],
)
def test_a_detail_stays_with_the_fact_that_it_goes_on_about(said: str, texts: list[str]) -> None:
    assert [fact.text for fact in heard(said)] == texts


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        ("我养了条狗，帮我起个名字", ["用户养了条狗"]),
        ("我在银行上班，好累啊", ["用户在银行上班"]),
        ("我在银行上班，等会儿聊", ["用户在银行上班"]),
        ("我叫王小雨，大概就这些", ["用户的名字叫王小雨"]),
    ],
)
def test_a_mood_a_task_or_a_doubt_is_no_detail(said: str, texts: list[str]) -> None:
    assert [fact.text for fact in heard(said)] == texts


def test_a_detail_of_nothing_is_left() -> None:
    assert heard("尤其是虾") == []
    assert heard("等了三年了") == []


def test_a_detail_of_another_sentence_is_left() -> None:
    assert [fact.text for fact in heard("我在银行上班。尤其是周末")] == ["用户在银行上班"]


def test_what_says_an_end_stays_alone() -> None:
    assert [fact.text for fact in heard("我不喝咖啡了，太痛苦")] == ["用户不喝咖啡了"]


def test_what_has_a_subject_of_its_own_is_no_detail() -> None:
    assert heard("把爸妈接到南京跟我们住了，老家空着")[0].text == "用户的爸妈搬到南京了"


def test_what_a_rule_reads_stands_by_itself() -> None:
    assert [fact.text for fact in heard("我对花生过敏，养了两只猫")] == ["用户对花生过敏", "用户养了两只猫"]


def test_a_standing_wish_goes_on() -> None:
    assert [fact.text for fact in heard("以后给我推荐电影，避开恐怖片")] == ["用户要求:以后给用户推荐电影，避开恐怖片"]
    assert [fact.text for fact in heard("以后叫我小李，我在银行上班")][1] == "用户在银行上班"
