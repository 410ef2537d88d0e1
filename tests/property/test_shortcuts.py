"""What spares the slow way gives what the slow way gives."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ebbing.index.index_entry import FIELD_ASKED, FIELD_DATE, FIELD_SPEAKER, pack, term_hash
from ebbing.language.text import analyzer as analysing
from ebbing.language.text.analyzer import Analysis, TextFlag, analyse, normalise
from ebbing.language.text.detect_language import detect
from ebbing.language.text.numbers import figures
from ebbing.privacy.guarding import trust as guard
from ebbing.privacy.redaction.detectors import detectors
from ebbing.privacy.redaction.find_pii import _traits
from ebbing.remember.intake.parse_messages import clean_text
from tests.examples import examples

FEW = settings(max_examples=examples(60))
CHARACTERS = st.characters(min_codepoint=10, max_codepoint=0x9FFF)
IN_ASCII = st.text(st.characters(max_codepoint=127), max_size=120) | st.from_regex(
    r"([a-z0-9_.,:' ]{1,9}){0,9}", fullmatch=True
)
TERMS = st.text("abc我们 ", min_size=1, max_size=2)


@pytest.mark.parametrize(
    "shape", [shape for shape in guard._all_shapes() if shape.need], ids=lambda shape: shape.reason
)
def test_whatever_an_instructions_pattern_finds_holds_what_it_needs(shape: guard._Shape) -> None:
    @FEW
    @given(st.from_regex(shape.pattern, alphabet=CHARACTERS))
    def check(text: str) -> None:
        assert any(need in text.lower() for need in shape.need)

    check()


@pytest.mark.parametrize("kind", ["instruction", "preference"])
def test_whatever_a_flags_pattern_finds_holds_one_of_its_words(kind: str) -> None:
    words = analysing._pack()
    pattern: re.Pattern[str] = getattr(words, kind)

    @FEW
    @given(st.from_regex(pattern, alphabet=CHARACTERS))
    def check(text: str) -> None:
        assert any(word in text for word in getattr(words, f"of_{kind}"))

    check()


@given(IN_ASCII)
def test_a_text_in_ascii_is_read_as_if_another_script_stood_behind_it(text: str) -> None:
    behind = " é"  # a word of its own, so that everything goes the general way
    alone, followed = analyse(text), analyse(f"{text}{behind}")
    assert {**alone.text, "é": 1} == followed.text
    asking = TextFlag.ASKING  # what only asks says something more with a word behind it
    assert (alone.flags & ~asking, alone.numbers) == (followed.flags & ~asking, followed.numbers)
    assert figures(normalise(text)) == alone.numbers
    assert detect(text) == ("en" if re.search("[A-Za-z]", text) else "und")


@given(
    st.dictionaries(TERMS, st.integers(1, 70_000), max_size=20),
    st.frozensets(TERMS, max_size=3),
    st.frozensets(TERMS, max_size=5),
    st.frozensets(TERMS, max_size=5),
)
def test_packed_terms_hold_the_frequencies_and_the_fields(
    text: dict[str, int], speaker: frozenset[str], date: frozenset[str], asked: frozenset[str]
) -> None:
    packed = pack(Analysis(Counter(text), sum(text.values()), speaker, date, question=asked))
    fields = {FIELD_SPEAKER: speaker, FIELD_DATE: date, FIELD_ASKED: asked}
    expected = sorted(
        (
            term_hash(term),
            min(text.get(term, 0), 65535),
            sum(bit for bit, held in fields.items() if term in held),
        )
        for term in {*text, *speaker, *date, *asked}
    )
    assert [tuple(row) for row in packed.tolist()] == expected


@given(st.text(st.characters(exclude_categories=())))
def test_a_text_is_cleaned_as_if_it_held_halves_of_characters(text: str) -> None:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert clean_text(text) == whole.replace("\x00", "").strip()


LITERALS = sorted(frozenset[str]().union(*(detector.need for detector in detectors(frozenset()))))


@given(st.lists(st.sampled_from(LITERALS) | st.text(max_size=4)).map("".join))
def test_every_literal_that_a_detector_needs_is_seen(text: str) -> None:
    stands = {literal for literal in LITERALS if literal in text.lower()}
    traits = _traits(text)
    assert stands <= set(traits.seen if traits else ()) <= set(LITERALS)
    assert all(detector.need or detector.digits for detector in detectors(frozenset()))
    assert all(detector.need for detector in detectors(frozenset()) if detector.word)


@given(st.text(st.sampled_from(" \t\n\r\u2028\u3000\xa0ab我"), max_size=12))
def test_a_text_whose_white_space_is_single_spaces_is_plain_as_it_is(text: str) -> None:
    spaced = guard._BLANKS.sub(" ", unicodedata.normalize("NFKC", text))
    assert guard._plain(text) == guard._LINES.sub("\n", spaced)
