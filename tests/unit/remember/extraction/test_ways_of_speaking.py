"""Ways of speaking are put into the plain one that the rules know; what passes is left."""

from __future__ import annotations

import pytest

from tests.unit.remember.extraction.facts import heard, only


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


def test_how_it_felt_is_not_kept_beside_what_happened() -> None:
    assert [fact.text for fact in heard("我家狗走丢了，难过")] == ["用户的狗走丢了"]
    said = "我家狗走丢了，我难过了好几天"
    assert [fact.text for fact in heard(said)] == [f"用户说：“{said}”"]


def test_whose_a_husband_is_depends_on_who_was_named_before() -> None:
    assert "用户的老公是做外贸的" not in [fact.text for fact in heard("我姐在深圳开店，老公是做外贸的")]
    assert [fact.text for fact in heard("我妈在老家，老公是做外贸的")][-1] == "用户的老公是做外贸的"
