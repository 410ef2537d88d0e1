"""Patterns that are left out by the pieces they need are those that would have found nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbing.language.changes import changes
from ebbing.language.needs import Needs
from ebbing.language.rulebook import Packs
from ebbing.language.sieve import WARM, Sieve, pieces

PATTERNS = [
    *(r"\bmoved? (?:to|from)\b", r"(?:re)?locat(?:ed|es|ing)", r"a(?:b|cd)?e{2,3}f*", r"(?:ab){1,3}c", r"[^x]yz+"),
    *(r"(?=.*tea)(?!milk)\w+", r"(?<=my )cat|dogs?", r"(\w)\1end", r"(a)?(?(1)bcd|xyz)", r"k[is]{1,2}ss", r"(?>ab|c)d"),
    *(r"[没不]再?喝(?:酒|茶)", r"(?:今年)?\d{2}岁", r"é[a-c]t", r"ß|straße", r"(?-i:USB) stick", r"x*|never", r"\.\?"),
]
SAID = [
    *("I moved to Denver last month and sold my car", "My sister Anna's 34 and works at a bank", "we don't eat meat"),
    *("I QUIT SMOKING!", "i've been learning the cello since 2019", "call me Bo, please keep answers short"),
    *(
        "我去年搬到上海了，现在在一家银行上班",
        "我妹妹喜欢猫，不吃辣",
        "我每周三晚上去健身房",
        "以后别叫我先生",
        "車賣掉了",
    ),
    *("Straßburg is ſo nice", "İstanbul'da yaşıyorum", "", "😀"),
]


def _all_left(sieve: Sieve[re.Pattern[str]], text: str) -> list[re.Pattern[str]]:
    for _ in range(WARM + len(sieve)):
        list(sieve.left(text))
    return list(sieve.left(text))


@pytest.mark.parametrize("pattern", PATTERNS)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_whatever_a_pattern_is_found_in_holds_a_piece_that_it_needs(pattern: str, data: st.DataObject) -> None:
    compiled = re.compile(pattern, re.IGNORECASE)
    text = data.draw(st.from_regex(compiled))
    needed, held = Needs(lambda piece: 0.01 / len(piece)).of(compiled), pieces(text)
    assert compiled.search(text)
    assert needed is None or held is None or needed & held


@given(text=st.text(st.sampled_from("aAbcCdeEfiIsSſıİkKmovedz 没不再喝酒茶今年岁3.?"), max_size=30))
def test_a_sieve_lets_through_what_is_found(text: str) -> None:
    sieve = Sieve([re.compile(pattern, re.IGNORECASE) for pattern in PATTERNS], lambda pattern: (pattern,))
    found = [pattern for pattern in sieve if pattern.search(text)]
    left = _all_left(sieve, text)
    assert [pattern for pattern in left if pattern.search(text)] == found


def test_most_patterns_are_left_out() -> None:
    sieve = Sieve([re.compile(pattern, re.IGNORECASE) for pattern in PATTERNS], lambda pattern: (pattern,))
    left = _all_left(sieve, "My sister sold the house")
    assert len(left) < len(PATTERNS) / 3


@pytest.fixture(scope="module")
def shipped() -> Sieve[re.Pattern[str]]:
    """The patterns of the packs, in one sieve that knows what they need."""
    packs, read = Packs.load().by_language.values(), changes()
    patterns = [
        *(pattern for pack in packs for rules in pack.rules.values() for rule in rules for pattern in rule.patterns),
        *(rewrite.find for pack in packs for of in pack.rewrites.values() for rewrite in of),
        *(cue.find for pack in packs for cue in pack.weighing.cues),
        *(
            one.patterns[language]
            for sieves in (read.reads, read.endings)
            for language in sieves
            for one in sieves[language]
        ),
    ]
    sieve = Sieve(patterns, lambda pattern: (pattern,))
    _all_left(sieve, "")
    return sieve


@pytest.mark.parametrize("text", SAID)
def test_the_shipped_patterns_find_through_a_sieve_what_they_find_without(
    shipped: Sieve[re.Pattern[str]], text: str
) -> None:
    found = [pattern for pattern in shipped if pattern.search(text)]
    assert [pattern for pattern in shipped.left(text) if pattern.search(text)] == found


def test_the_things_behind_a_place_follow_in_order() -> None:
    sieve = Sieve([re.compile(one) for one in ("tea", "cup", "tea|milk", r"\w")], lambda pattern: (pattern,))
    _all_left(sieve, "tea")
    assert list(sieve.places("a tea", after=0)) == [2, 3]
    assert list(sieve.places("ſ tea", after=1)) == [2, 3]
