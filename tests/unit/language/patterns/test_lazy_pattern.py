"""Patterns for either case: the same matches, whatever they hold of Chinese."""

from __future__ import annotations

import re

import pytest

from ebbing.language.patterns.lazy_pattern import caseless

TEXT = "Ann 住在LEEDS，[一-鿿] K\u212a ſ 中a中 1\\u4e00"


@pytest.mark.parametrize(
    "pattern",
    [
        r"[\u4e00-\u9fff]+",
        "[一-鿿]{1,2}|leeds",
        r"[^\u4e00-\u9fff]+?k",
        r"(?<=[\u4e00-\u9fff])a(?=[\u4e00-\u9fa5])",
        r"(?P<one>[\u4e00-\u9fff])A(?P=one)",
        r"[\u4e00-\u9fffa-k]+",
        r"\[[\u4e00-\u9fff]-",
        r"(?-i:[A-Z])[\u4e00-\u9fffS]?",
    ],
)
def test_a_pattern_finds_what_it_found_with_the_flag_alone(pattern: str) -> None:
    match = [match.span() for match in re.finditer(pattern, TEXT, re.IGNORECASE)]
    assert match
    assert [match.span() for match in caseless(pattern).finditer(TEXT)] == match


def test_chinese_in_a_class_is_matched_by_its_case_which_it_has_not() -> None:
    assert caseless(r"[\u4e00-\u9fff]x").pattern == r"(?-i:[\u4e00-\u9fff])x"
    assert caseless("[一-龥]X").fullmatch("中x")
