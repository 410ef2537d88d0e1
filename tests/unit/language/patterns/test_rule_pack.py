"""Packs are data: a user adds, replaces and removes rules without code."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbing.domain.errors import ConfigurationError
from ebbing.domain.memory.message import Message
from ebbing.language.claims.change_patterns import changes
from ebbing.language.patterns.rule_pack import LANGUAGES, Packs
from ebbing.remember.extraction.rule_extractor import extract
from tests.unit.remember.extraction.facts import NOW

GUILD = """
language = "en"
[words]
guild = ["smiths", "bakers"]
[[rule]]
id = "my.guild"
category = "fact"
match = "belong to the (?P<value>{guild}) guild"
attribute = "guild"
text = "{subject} is of the {value}"
"""


def told(text: str, packs: Packs) -> list[tuple[str, str | None]]:
    return [(fact.text, fact.attribute) for fact in extract([Message(text)], now=NOW, packs=packs)]


def pack_file(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_rule_of_the_user_is_asked_first(tmp_path: Path) -> None:
    packs = Packs.load([pack_file(tmp_path, GUILD)])
    assert told("I belong to the bakers guild", packs) == [("User is of the bakers", "guild")]
    assert told("I like tea", packs) == [("User likes tea", None)]


def test_a_shipped_rule_can_be_switched_off(tmp_path: Path) -> None:
    off = 'language = "en"\n[[rule]]\nid = "en.allergy"\ncategory = "fact"\nmatch = "x"\ndisabled = true'
    assert told("I'm allergic to cats", Packs.load([pack_file(tmp_path, off)])) == []


@pytest.mark.parametrize(
    "broken",
    [
        "language = ",
        'language = "xx"',
        'language = "en"\n[[rule]]\nid = "a"\ncategory = "fact"\nmatch = "("',
        'language = "en"\n[[rule]]\nid = "a"\ncategory = "fact"\nmatch = "{nowhere}"',
        'language = "en"\n[[rule]]\nid = "a"\ncategory = "unheard of"\nmatch = "x"',
        'language = "en"\n[words]\na = "{b}"\nb = "{a}"\n[[rule]]\nid = "a"\ncategory = "fact"\nmatch = "{a}"',
    ],
)
def test_a_broken_pack_is_refused_when_loaded(tmp_path: Path, broken: str) -> None:
    with pytest.raises(ConfigurationError):
        Packs.load([pack_file(tmp_path, broken)])


def test_a_missing_pack_is_refused_when_loaded(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.toml"):
        Packs.load([tmp_path / "none.toml"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_pattern_of_the_shipped_packs_compiles(language: str) -> None:
    pack = Packs.load().by_language[language]
    assert dict(pack.words)
    assert dict(pack.gates)
    ids = {rule.id for rules in pack.rules.values() for rule in rules}
    assert all(name.startswith(f"{language}.") for name in ids)
    for rule in (one for rules in pack.rules.values() for one in rules):
        assert all(late.made for late in (*rule.patterns, rule.unless, rule.needs, rule.value_end) if late)
    for reply in pack.replies:
        assert reply.question.made
        assert reply.fits is None or reply.fits.made
    assert all(rewrite.find.made for rewrites in pack.rewrites.values() for rewrite in rewrites)
    for one in (*changes().reads[language], *changes().endings[language]):
        assert one.patterns[language].made
        assert one.unless is None or one.unless.made


def test_traditional_and_simplified_characters_pair_up() -> None:
    script = Packs.load().by_language["zh"].tables["script"]
    assert len(script["traditional"]) == len(script["simplified"])
    assert len(set(script["traditional"])) == len(script["traditional"])
