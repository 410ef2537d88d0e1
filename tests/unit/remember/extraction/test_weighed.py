"""What no rule reads is weighed; ways of speaking are put into the plain one that the rules know."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbing.domain.memory.message import Message
from ebbing.language.patterns.rule_pack import Packs
from ebbing.remember.extraction.rule_extractor import extract
from tests.unit.remember.extraction.facts import NOW, heard, only


@pytest.mark.parametrize(
    ("said", "text", "kind"),
    [
        ("I have aphantasia", "User has aphantasia", "fact"),
        ("My passport expires in September", "User's passport expires in September (September 2026)", "fact"),
        ("I can't eat anything with sesame", "User cannot eat anything with sesame", "constraint"),
        ("我西班牙语生疏了很多年", "用户西班牙语生疏了很多年", "fact"),
        ("我买衣服只买二手的", "用户买衣服只买二手的", "preference"),
    ],
)
def test_a_lasting_statement_that_no_rule_reads_is_kept(said: str, text: str, kind: str) -> None:
    fact = only(said)
    assert (fact.text, fact.type) == (text, kind)
    assert 0.7 <= fact.confidence < 0.95


@pytest.mark.parametrize(
    "said",
    [
        "I need to renew it",
        "I have two minutes",
        "My boss just walked in, one sec",
        "My neighbour's cousin lives in Ohio",
        "I got an error on line 3",
        "我看看第二个方案",
        "我妈打电话来了，等会聊",
        "我刚到家，好累",
        "信号不好",
    ],
)
def test_what_passes_is_left_whatever_it_is_about(said: str) -> None:
    assert heard(said) == []


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("been vegan since 2017", "User has been vegan since 2017"),
        ("gonna propose to Lena in Santorini in August", "User is going to propose to Lena in Santorini in August"),
        ("Dad's a retired firefighter", "User's Dad is a retired firefighter"),
        ("My eldest, Jonah, is autistic", "User's eldest Jonah is autistic"),
        ("I changed my major, it's neuroscience now", "User's major is now neuroscience now"),
        ("牛奶我喝了就拉肚子", "用户牛奶喝了就拉肚子"),
        ("孩子取名叫王一诺", "用户的孩子取名叫王一诺"),
    ],
)
def test_a_way_of_speaking_is_put_plainly(said: str, text: str) -> None:
    assert only(said).text.startswith(text)


def test_she_is_the_one_who_was_named_before() -> None:
    assert [fact.text for fact in heard("I visit my sister every Sunday. She has asthma.")][-1] == (
        "User's sister has asthma"
    )
    assert [fact.text for fact in heard("我每周日去看我姐姐。她有哮喘。")][-1] == "用户的姐姐有哮喘"


def test_half_of_an_answer_may_fit_the_question() -> None:
    facts = heard("an older brother, he is a pilot", asked="Do you have any siblings?")
    assert [fact.text for fact in facts] == ["User has an older brother", "User's older brother is a pilot"]


def test_what_speaks_for_keeping_is_data(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('language = "en"\n[[cue]]\nid = "mine"\nweight = 9\nfind = "zorbing"', "utf-8")
    said = Message("My zorbing went fine")
    assert extract([said], now=NOW) == []
    assert [fact.rule for fact in extract([said], now=NOW, packs=Packs.load([mine]))] == ["en.weighed"]


def test_how_it_felt_is_not_kept_beside_what_happened() -> None:
    assert [fact.text for fact in heard("我家狗走丢了，难过")] == ["用户的狗走丢了"]
    said = "我家狗走丢了，我难过了好几天"
    assert [fact.text for fact in heard(said)] == [f"用户说：“{said}”"]


def test_what_follows_a_fact_of_the_same_speaker_is_kept_with_less_to_speak_for_it() -> None:
    assert [fact.text for fact in heard("我哥在鞍山开货车，常年跑外地")][-1] == "用户的哥在鞍山开货车，常年跑外地"


def test_whose_a_husband_is_depends_on_who_was_named_before() -> None:
    assert "用户的老公是做外贸的" not in [fact.text for fact in heard("我姐在深圳开店，老公是做外贸的")]
    assert [fact.text for fact in heard("我妈在老家，老公是做外贸的")][-1] == "用户的老公是做外贸的"


def test_what_a_rule_reads_is_left_where_the_clause_speaks_against_it() -> None:
    assert heard("我今天没带眼镜，看不清") == []
    assert heard("我点了个赞，然后就划走了") == []
    assert only("我单身").attribute
