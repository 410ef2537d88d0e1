"""What is learned of the clauses that are worth remembering."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import MemoryType
from ebbing.language.parsing.message_statements import statements
from ebbing.language.patterns.keep_classifier import (
    HEADS,
    NOTHING_LEARNED,
    PLACES,
    Learned,
    learned,
    packed,
    places_of,
    unpacked,
)
from ebbing.language.patterns.rule_pack import LANGUAGES, Packs
from ebbing.remember.extraction.rule_extractor import extract
from ebbing.remember.extraction.rule_matching import weigh
from evals.worth import Clause, clauses, learn
from tests.unit.remember.extraction.facts import NOW, heard, only


def knowing(sign: str, *weights: int) -> Learned:
    """Nothing learned but the weights of one sign."""
    (place,) = places_of([sign])
    rows = bytearray(HEADS * PLACES)
    for head, weight in enumerate(weights):
        rows[place * HEADS + head] = weight % 256
    return replace(NOTHING_LEARNED, rows=bytes(rows))


def test_the_signs_of_a_clause_add_up() -> None:
    weights = knowing("1 zither", -3)
    assert weights.worth(places_of(["1 zither", "1 other"])) == -3
    assert weights.worth(places_of(["1 zither", "1 zither"])) == -3, "each counts once"


def test_the_likeliest_type_comes_first() -> None:
    weights = knowing("1 zither", 0, 1, 2, 0, 0, 5)
    assert weights.kinds(places_of(["1 zither"]))[:2] == [MemoryType.PROCEDURAL, MemoryType.PREFERENCE]


def test_what_is_learned_comes_back_from_its_file() -> None:
    weights = replace(knowing("1 zither", 7, -7), unit=0.25, base=(0.5, 0.0, 0.0, 0.0, 0.0, -1.0))
    assert unpacked(packed(weights)) == weights


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_shipped_weights_are_small(language: str) -> None:
    assert len(packed(learned(language))) < 100_000


@pytest.mark.parametrize("said", ["I've sung alto in a choir for years", "我爸的血压常年偏高"])
def test_a_clause_like_those_that_were_worth_it_is_kept(said: str) -> None:
    assert only(said).rule.split(".")[1].startswith("weighed")


@pytest.mark.parametrize(
    "said", ["I scrolled past the third heading", "my dashboard will not refresh", "我把第三段删掉了"]
)
def test_a_clause_like_those_that_were_not_is_left(said: str) -> None:
    assert heard(said) == []


def test_a_weighed_rule_that_is_switched_off_leaves_what_it_would_have_told(tmp_path: Path) -> None:
    said = "I've sung alto in a choir for years"
    off = tmp_path / "off.toml"
    off.write_text(f'language = "en"\n[[rule]]\nid = "{only(said).rule}"\ndisabled = true', "utf-8")
    assert extract([Message(said)], now=NOW, packs=Packs.load([off])) == []


def test_learning_finds_what_tells_them_apart() -> None:
    known = [
        Clause(str(n), places_of([f"1 {word}", f"1 {n}"]), word == "always", ("fact",) if word == "always" else ())
        for n, word in enumerate(["always", "now"] * 20)
    ]
    weights = learn(known)
    assert weights.worth(places_of(["1 always"])) > 1 > -1 > weights.worth(places_of(["1 now"]))
    assert weights.kinds([])[0] is MemoryType.FACT


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_shipped_weights_are_those_of_the_labelled_clauses(language: str) -> None:
    """They may lag behind a change of the packs by little: `python -m evals worth --train` learns anew."""
    shipped, known = learned(language), clauses(language)
    anew = learn(known)
    agree = [(shipped.worth(clause.places) > 1) == (anew.worth(clause.places) > 1) for clause in known]
    assert sum(agree) / len(agree) > 0.98


def test_a_statement_is_weighed_in_its_own_language() -> None:
    (found,) = statements([Message("I've sung alto in a choir for years")])
    assert weigh(found[0], found[1]).score > weigh(found[0], replace(found[1], lasting=NOTHING_LEARNED)).score
