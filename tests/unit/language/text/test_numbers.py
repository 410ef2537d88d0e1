"""The numbers of a text, in one spelling whatever the script."""

from __future__ import annotations

import pytest

from ebbing.domain.memory.record import content_hash
from ebbing.index.index_entry import entry_for
from ebbing.language.text.analyzer import ANALYZER_VERSION, _data, analyse, normalise, version_under
from ebbing.language.text.numbers import figures


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("我有3只猫", {"3"}),
        ("我有３只猫", {"3"}),
        ("我有三只猫", {"3"}),
        ("٣ cats", {"3"}),
        ("体重一百二十斤", {"120"}),
        ("工资三万五", {"35000"}),
        ("工资3.5万", {"35000"}),
        ("花了两千三百块", {"2300"}),
        ("花了2,300块", {"2300"}),
        ("一亿三千万", {"130000000"}),
        ("两千零三", {"2003"}),
        ("一百零五", {"105"}),
        ("十五分钟", {"15"}),
        ("十分钟", {"10"}),
        ("二〇二四年三月五日", {"2024", "3", "5"}),
        ("2024年3月5日", {"2024", "3", "5"}),
        ("百分之五", {"5"}),
        ("5%", {"5"}),
        ("三点五公里", {"3.5"}),
        ("三点五十", {"3", "50"}),
        ("at 10:30", {"10:30"}),
        ("第一次", {"1"}),
    ],
)
def test_a_number_is_the_same_in_every_script(text: str, named: set[str]) -> None:
    assert figures(normalise(text)) == named


@pytest.mark.parametrize(
    "text",
    ["我们一起吃饭", "万一下雨", "千万别忘", "十分高兴", "有一点累", "周三见", "星期三见", "三四个朋友", "三里屯"],
)
def test_words_that_are_written_with_numerals_name_no_number(text: str) -> None:
    assert figures(normalise(text)) == frozenset()


def test_a_long_run_of_numerals_is_read_in_pieces_and_never_fails() -> None:
    assert figures("三千万亿百" * 2_000)
    assert figures("9" * 5_000 + "万") == {"9" * 5_000}


def test_statements_with_the_same_number_in_other_scripts_have_equal_digests() -> None:
    digests = {entry_for(analyse(text)).numbers for text in ("我有三只猫", "我有3只猫", "我有３只猫")}
    assert len(digests) == 1
    assert entry_for(analyse("我有四只猫")).numbers not in digests
    assert content_hash("我有３只猫") == content_hash("我有3只猫")


@pytest.mark.parametrize("section", ["en", "zh", "question", "instruction", "preference"])
def test_another_pattern_for_what_is_stored_is_another_version(section: str) -> None:
    changed = {**_data()[section], "zh": ["另外的说法"], "stop": "other"}
    assert version_under({**_data(), section: changed}) != ANALYZER_VERSION


def test_another_pattern_for_questions_alone_is_no_other_version() -> None:
    assert version_under({**_data(), "advice": {"en": ["new"]}}) == ANALYZER_VERSION
