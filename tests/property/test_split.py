"""Long text in parts: nothing lost, nothing too long, seams where a reader would put them."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.language.text.sentences import MAX_TEXT_LENGTH, split_text

any_text = st.text(st.characters(codec=None), max_size=300)
prose = st.lists(
    st.sampled_from(["word", "第一句。", "句子！", ". ", "\n\n", "\n", " ", "，", "?", "…", "”"]), max_size=80
).map("".join)
limits = st.integers(1, 60)


def ink(text: str) -> str:
    return "".join(text.split())


@given(st.one_of(any_text, prose), limits)
def test_nothing_is_lost_but_white_space_at_the_seams(text: str, limit: int) -> None:
    parts = split_text(text, limit)
    assert ink("".join(parts)) == ink(text)
    at = 0
    for part in parts:
        at = text.index(part, at) + len(part)


@given(st.one_of(any_text, prose), limits)
def test_no_part_is_too_long_blank_or_ragged(text: str, limit: int) -> None:
    for part in split_text(text, limit):
        assert 0 < len(part) <= limit
        assert part == part.strip()


@given(any_text)
def test_a_short_text_is_one_part_and_a_blank_one_none(text: str) -> None:
    assert split_text(text) == ([text.strip()] if text.strip() else [])


@given(prose, limits)
def test_parts_stay_as_they_are_when_split_again(text: str, limit: int) -> None:
    parts = split_text(text, limit)
    assert [again for part in parts for again in split_text(part, limit)] == parts


@given(prose, st.integers(10, 60))
def test_every_part_but_the_last_is_at_least_half_full(text: str, limit: int) -> None:
    parts = split_text(text, limit)
    spans = []
    at = 0
    for part in parts:
        start = text.index(part, at)
        spans.append(start)
        at = start + len(part)
    for start, following in pairwise(spans):
        assert following - start > limit // 2


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two three four", ["One. Two", "three four"]),
        ("今天又下雨。明天出太阳吗", ["今天又下雨。", "明天出太阳吗"]),
        ("aaaa bbb\n\nccccccc", ["aaaa bbb", "ccccccc"]),
        ("aaaaaaaaaaaaaaaaaaaa", ["aaaaaaaaaa", "aaaaaaaaaa"]),
        ("他说：“走吧。”我没走", ["他说：“走吧。”", "我没走"]),
    ],
)
def test_a_seam_is_put_at_a_paragraph_else_a_sentence_else_a_word(text: str, parts: list[str]) -> None:
    assert split_text(text, 10) == parts


@pytest.mark.parametrize(
    "text",
    [
        "a" * 10**6,
        " " * 10**6,
        "\n " * 5 * 10**5,
        "a\n" * 5 * 10**5,
        "。" * 10**6,
        "." * 10**6,
        "”" * 10**6,
        "x" + "\n" * 10**6 + "x",
    ],
    ids=lambda text: repr(text[:3]),
)
def test_a_huge_hostile_text_is_split_in_a_moment(text: str) -> None:
    began = time.thread_time()
    parts = split_text(text)
    assert time.thread_time() - began < 5
    assert ink("".join(parts)) == ink(text)
    assert all(len(part) <= MAX_TEXT_LENGTH for part in parts)
