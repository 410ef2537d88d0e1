"""Patterns that are left out by the pieces they need are those that would have found nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbing.language.patterns import prefilter as sieves
from ebbing.language.patterns.lazy_pattern import Late
from ebbing.language.patterns.prefilter import ODD, SIZES, Sieve, needs_of
from scripts.build_needs import Needs, shipped
from tests.examples import examples

PATTERNS = [
    *(r"\bmoved? (?:to|from)\b", r"(?:re)?locat(?:ed|es|ing)", r"a(?:b|cd)?e{2,3}f*", r"(?:ab){1,3}c", r"[^x]yz+"),
    *(r"(?=.*tea)(?!milk)\w+", r"(?<=my )cat|dogs?", r"(\w)\1end", r"(a)?(?(1)bcd|xyz)", r"k[is]{1,2}ss", r"(?>ab|c)d"),
    *(r"[没不]再?喝(?:酒|茶)", r"(?:今年)?\d{2}岁", r"é[a-c]t", r"ß|straße", r"(?-i:USB) stick", r"x*|never", r"\.\?"),
    *(r"a\tbcd|e\nfgh", r"it|stay"),
]
SAID = [
    *("I moved to Denver last month and sold my car", "My sister Anna's 34 and works at a bank", "we don't eat meat"),
    *("I QUIT SMOKING!", "i've been learning the cello since 2019", "call me Bo, please keep answers short", "", "😀"),
    *(
        "我去年搬到上海了，现在在一家银行上班",
        "我妹妹喜欢猫，不吃辣",
        "我每周三晚上去健身房",
        "以后别叫我先生",
        "車賣掉了",
    ),
    *("車賣掉了", "Straßburg is ſo nice", "İstanbul'da yaşıyorum", "hi"),
]


def _needs(pattern: str, language: str) -> frozenset[str] | None:
    return Needs(SIZES[language], lambda piece: 0.01 / len(piece)).of(pattern)


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The needs of `PATTERNS` instead of those of the packs."""
    known = {(pattern, language): _needs(pattern, language) for pattern in PATTERNS for language in SIZES}
    monkeypatch.setattr(sieves, "needs_of", lambda pattern, language: known.get((pattern, language)))


def _sieve(patterns: list[str], language: str) -> Sieve[str]:
    return Sieve(patterns, lambda pattern: (Late(pattern),), language=language)


@pytest.mark.parametrize("language", SIZES)
@pytest.mark.parametrize("pattern", PATTERNS)
@given(data=st.data())
@settings(max_examples=examples(30))
def test_whatever_a_pattern_is_found_in_holds_a_piece_that_it_needs(
    pattern: str, language: str, data: st.DataObject
) -> None:
    compiled = re.compile(pattern, re.IGNORECASE)
    text = data.draw(st.from_regex(compiled))
    needed, held = _needs(pattern, language), sieves._pieces(text, language)
    assert compiled.search(text)
    assert needed is None or held is None or needed & held


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize("language", SIZES)
def test_a_sieve_lets_through_what_is_found(language: str) -> None:
    sieve = _sieve(PATTERNS, language)

    @given(text=st.text(st.sampled_from("aAbcCdeEfiIsSſıİkKmovedz 没不再喝酒茶今年岁3.?"), max_size=30))
    def let_through(text: str) -> None:
        found = [pattern for pattern, late in sieve.pairs if late.made.search(text)]
        assert [
            sieve.pairs[place][0] for place in sieve.places(text) if sieve.pairs[place][1].made.search(text)
        ] == found

    let_through()


def test_a_pattern_that_is_not_listed_is_always_asked() -> None:
    assert list(_sieve(["never listed (?:here|there)"], "en").places("anything")) == [0]


@pytest.mark.parametrize("language", SIZES)
def test_the_shipped_patterns_find_through_a_sieve_what_they_find_without(language: str) -> None:
    sieve = _sieve(sorted(shipped()[language]), language)
    for text in SAID:
        found = [pattern for pattern, late in sieve.pairs if late.made.search(text)]
        left = [sieve.pairs[place] for place in sieve.places(text)]
        assert [pattern for pattern, late in left if late.made.search(text)] == found
        assert len(left) < len(sieve) / 4 or not text.isascii()


@pytest.mark.parametrize("language", SIZES)
def test_what_is_found_in_a_text_is_found_in_small_letters_too(language: str) -> None:
    lates = [late for _, late in _sieve(sorted(shipped()[language]), language).pairs if late.plain is not None]
    assert len(lates) > 0.8 * len(shipped()[language])
    for text in [cased for said in SAID for cased in (said, said.upper(), f"User {said}") if not ODD.search(said)]:
        for late in lates:
            assert late.plain is not None
            made, plain = late.made.search(text), late.plain.search(text.lower())
            assert (made and made.span()) == (plain and plain.span()), (late.text, text)


@pytest.mark.parametrize("pattern", ["(?-i:[A-Z])b", "é", "[+-z]", "[!-~]", "[^à-ÿ]", "(?i:a)", r"[\]+-_]"])
def test_a_pattern_that_tells_large_letters_from_small_ones_is_asked_as_it_is(pattern: str) -> None:
    assert Late(pattern).plain is None


@pytest.mark.parametrize("pattern", [r"(?P<A>X)\S(?P=A)", "[A-Za-z0-9]+,", r"[^A-Z\W]", r"\bUser's? [\w'-]{2}"])
@given(text=st.text(st.sampled_from("aAxXzZ User's,-é9"), max_size=12))
def test_a_pattern_in_small_letters_finds_the_same(pattern: str, text: str) -> None:
    late = Late(pattern)
    assert late.plain is not None
    made, plain = late.made.search(text), late.plain.search(text.lower())
    assert (made and made.span()) == (plain and plain.span())


@pytest.mark.parametrize("language", SIZES)
def test_the_needs_of_nearly_all_shipped_patterns_are_listed(language: str) -> None:
    patterns = shipped()[language]
    unknown = [pattern for pattern in patterns if needs_of(pattern, language) is None]
    assert len(unknown) < len(patterns) / 6, "run scripts/build_needs.py"


def test_what_is_listed_is_what_the_patterns_need() -> None:
    for language, patterns in shipped().items():
        rare = Needs(SIZES[language], lambda piece: 0.001)
        for pattern in patterns:
            assert needs_of(pattern, language) is None or rare.of(pattern) is not None
