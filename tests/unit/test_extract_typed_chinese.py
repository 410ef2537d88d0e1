"""Chinese as it is typed and dictated: blanks for commas, fillers, several facts in a line, stories of others."""

from __future__ import annotations

import pytest

from tests.unit.extraction import heard


def read(text: str, *, asked: str | None = None) -> str:
    """What the rules are sure of in a message of the user."""
    return " / ".join(fact.text for fact in heard(text, asked=asked) if fact.confidence >= 0.7)


@pytest.mark.parametrize(
    ("said", "with_commas"),
    [
        ("我媳妇是湖北人 爱吃热干面", "我媳妇是湖北人，爱吃热干面"),
        ("我在药厂上班 两班倒", "我在药厂上班，两班倒"),
        ("我表姐在海口开民宿 生意挺好", "我表姐在海口开民宿，生意挺好"),
        ("房租又涨了 现在三千二", "房租又涨了，现在三千二"),
    ],
)
def test_a_blank_between_clauses_reads_like_a_comma(said: str, with_commas: str) -> None:
    assert read(said)
    assert read(said) == read(with_commas)


def test_the_source_of_a_fact_stays_as_it_was_typed() -> None:
    (fact, *_) = heard("我媳妇是湖北人 爱吃热干面")
    assert fact.source_text == "我媳妇是湖北人 爱吃热干面"


def test_an_answer_may_go_on_after_a_blank() -> None:
    assert "芒果" in read("芒果 还有海鲜", asked="您对什么过敏吗？")


def test_a_long_message_without_a_stop_is_still_read() -> None:
    assert "养了两只猫" in read("我养了两只猫 " + "今天路上堵得厉害 " * 60)
