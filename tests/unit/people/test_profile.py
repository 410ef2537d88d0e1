"""Profiles from memories: what counts, what contradicts, what must not be missing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ebbing.domain.memory.profile import (
    Origin,
    ProfileEdit,
    ProfileEntry,
    Rank,
    Section,
    entry_of,
    entry_values,
    joined,
    shortened,
    weight_of,
)
from ebbing.domain.memory.record import MemoryRecord, MemoryType, Provenance, Role
from ebbing.domain.memory.scope import Scope
from ebbing.people.build_profile import build_profile
from ebbing.people.profile_statements import ProfileStatement, profile_statement
from ebbing.people.profile_view import sentence, summary

NOW = datetime(2024, 5, 1, 9, tzinfo=UTC)
SCOPE = Scope(user_id="u")


def memory(text: str, type: MemoryType = MemoryType.FACT, *, days_ago: float = 0, **fields: Any) -> MemoryRecord:
    at = NOW - timedelta(days=days_ago)
    language = "zh" if "用户" in text else "en"
    fields.setdefault("provenance", Provenance(method="merge"))
    return MemoryRecord(text, SCOPE, text, at, at, type=type, language=language, **fields)


def home(city: str, **fields: Any) -> MemoryRecord:
    return memory(f"User lives in {city}", attribute="home", value=city, **fields)


def taste(thing: str, polarity: int = 1, **fields: Any) -> MemoryRecord:
    verb = "loves" if polarity > 0 else "hates"
    return memory(f"User {verb} {thing}", MemoryType.PREFERENCE, value=thing, polarity=polarity, **fields)


def allergy(thing: str, **fields: Any) -> MemoryRecord:
    tags = ("constraint", "health")
    return memory(f"User is allergic to {thing}", MemoryType.CONSTRAINT, value=thing, tags=tags, **fields)


def drawn(*records: MemoryRecord, edits: tuple[ProfileEdit, ...] = (), pinned: tuple[MemoryRecord, ...] = ()) -> Any:
    held = {record.id: says for record in pinned if (says := profile_statement(record)) is not None}
    return build_profile(
        [says for record in records if (says := profile_statement(record)) is not None],
        edits=edits,
        pinned=held,
        now=NOW,
    )


def told(entries: list[ProfileEntry]) -> list[tuple[str, str, str]]:
    return [(entry.section.value, entry.key, entry.value) for entry in entries]


def test_a_value_is_told_under_its_attribute_and_a_taste_under_its_object() -> None:
    entries = drawn(home("Rome"), taste("jazz"), taste("horror films", -1), allergy("peanuts"))
    assert told(entries) == [
        ("constraints", "peanuts", "peanuts"),
        ("preferences", "jazz", "jazz"),
        ("dislikes", "horror films", "horror films"),
        ("facts", "home", "Rome"),
    ]


def test_of_two_values_the_newer_counts() -> None:
    [entry] = drawn(home("Rome", days_ago=9), home("Bern", days_ago=1))
    assert (entry.value, entry.memory_ids) == ("Bern", ("User lives in Bern",))


def test_an_older_value_stands_only_if_it_is_much_surer() -> None:
    sure, unsure = home("Rome", days_ago=9, confidence=1.0), home("Bern", confidence=0.75)
    assert drawn(sure, unsure)[0].value == "Rome"
    assert drawn(sure, replace(unsure, confidence=0.8))[0].value == "Bern"


def test_what_the_user_said_outweighs_what_was_brought_along_later() -> None:
    said, brought = home("Rome", days_ago=9), home("Bern", trust="import")
    assert drawn(said, brought)[0].value == "Rome"
    assert drawn(brought)[0].origin is Origin.IMPORT


@pytest.mark.parametrize("trust", ["tool", "document"])
def test_the_word_of_a_tool_or_document_never_enters_a_profile(trust: str) -> None:
    assert drawn(home("Bern", trust=trust)) == []


def test_a_dislike_that_was_said_later_ends_a_like() -> None:
    assert told(drawn(taste("jazz", days_ago=5), taste("jazz", -1))) == [("dislikes", "jazz", "jazz")]
    assert told(drawn(taste("jazz"), taste("jazz", -1, days_ago=5))) == [("preferences", "jazz", "jazz")]


def test_the_same_value_in_two_languages_is_one_entry_with_both_memories() -> None:
    [entry] = drawn(home("Shanghai", days_ago=2), memory("用户住在上海", attribute="home", value="上海"))
    assert (entry.mentions, entry.memory_ids) == (2, ("用户住在上海", "User lives in Shanghai"))


def test_what_must_be_avoided_is_nothing_that_is_liked() -> None:
    entries = drawn(taste("prawns"), taste("jazz"), allergy("seafood", days_ago=100))
    assert [entry.key for entry in entries] == ["seafood", "jazz"]


def test_the_dogs_allergy_takes_no_favourite_away_and_is_told_all_the_same() -> None:
    rex = memory(
        "User's dog is allergic to chicken", MemoryType.CONSTRAINT, value="chicken", tags=("constraint", "health")
    )
    entries = drawn(rex, taste("chicken"))
    assert told(entries) == [("constraints", "dog.chicken", "chicken"), ("preferences", "chicken", "chicken")]
    assert entries[0].safety


def test_a_relative_has_values_and_tastes_of_their_own() -> None:
    sister = memory("User's sister loves jazz", MemoryType.PREFERENCE, value="jazz", polarity=1)
    entries = drawn(sister, taste("jazz", -1, days_ago=3), memory("x", attribute="sister.home", value="Leeds"))
    assert sorted(told(entries)) == [
        ("dislikes", "jazz", "jazz"),
        ("facts", "sister.home", "Leeds"),
        ("facts", "sister.jazz", "jazz"),
    ]


@pytest.mark.parametrize(
    "text", ["User used to live in Rome", "User no longer works at Acme", "用户以前住在上海", "用户不再上班了"]
)
def test_what_is_over_is_not_told(text: str) -> None:
    assert drawn(memory(text)) == []


def test_an_illness_is_told_although_it_was_found_long_ago() -> None:
    [entry] = drawn(memory("User was diagnosed with celiac disease", tags=("fact", "health"), days_ago=4_000))
    assert (entry.safety, entry.rank) == (True, Rank.BINDING)


def test_events_and_raw_messages_are_no_part_of_a_profile() -> None:
    assert drawn(memory("User went to Rome", MemoryType.EPISODIC)) == []


def wish(text: str, **fields: Any) -> MemoryRecord:
    return memory(text, MemoryType.PROCEDURAL, tags=("constraint",), **fields)


def test_a_later_wish_about_the_same_side_of_an_answer_counts() -> None:
    first = wish("User's rule: answer in English", days_ago=3)
    assert [entry.text for entry in drawn(first, wish("User's rule: answer in Chinese"))] == [
        "User's rule: answer in Chinese"
    ]
    both = wish("User's rule: answer in Chinese, keep it short")
    assert [entry.text for entry in drawn(first, both)] == [both.content]
    assert len(drawn(both, replace(first, created_at=NOW + timedelta(days=1)))) == 2


def test_repetition_and_recency_weigh() -> None:
    once = [(1.0, 1, NOW)]
    assert weight_of(once, now=NOW, half_life=None) == 0.5
    assert weight_of(once * 2, now=NOW, half_life=None) == pytest.approx(2 / 3)
    half = timedelta(days=10)
    old = [(1.0, 1, NOW - half)]
    assert weight_of(old, now=NOW, half_life=half) == pytest.approx(1 / 3)
    assert weight_of(old, now=NOW, half_life=None) == 0.5
    assert weight_of([], now=NOW, half_life=None) == 0


def test_what_was_said_in_many_messages_and_was_of_use_weighs_more() -> None:
    often = taste("jazz", provenance=Provenance(source_ids=("m1", "m2", "m3", "m3#2")), access_count=2)
    entries = drawn(often, taste("rock"))
    assert [(entry.key, entry.mentions) for entry in entries] == [("jazz", 5), ("rock", 1)]


def test_a_memory_that_tells_several_statements_counts_them_and_knows_the_first() -> None:
    [entry] = drawn(taste("jazz", mentions=4, first_said_at=NOW - timedelta(days=9)))
    assert (entry.mentions, entry.first_at) == (4, NOW - timedelta(days=9))


def test_an_old_taste_fades_and_an_old_allergy_does_not() -> None:
    old = drawn(taste("jazz", days_ago=720), allergy("nuts", days_ago=720))
    assert [round(entry.weight, 2) for entry in old] == [0.5, 0.06]


def test_a_person_of_several_speakers_has_values_of_their_own() -> None:
    lily, tom = (
        profile_statement(home("Rome"), speaker="Lily"),
        profile_statement(home("Bern", days_ago=1), speaker="Tom"),
    )
    assert lily is not None
    assert tom is not None
    assert [entry.key for entry in build_profile([lily, tom], now=NOW)] == ["lily.home", "tom.home"]


# ── by hand ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def slot_of(record: MemoryRecord) -> str:
    says = profile_statement(record)
    assert isinstance(says, ProfileStatement)
    return says.slot


def test_what_was_set_by_hand_wins_over_what_is_said_later_and_says_so() -> None:
    mine = home("Berlin", days_ago=9)
    edit = ProfileEdit(slot_of(mine), Section.FACTS, "home", NOW, mine.id)
    later = [home("Rome", days_ago=2), home("Paris")]
    [entry] = drawn(mine, *later, edits=(edit,), pinned=(mine,))
    assert (entry.value, entry.origin, entry.overridden_value) == ("Berlin", Origin.USER, "Paris")
    [alone] = drawn(mine, home("berlin"), edits=(edit,), pinned=(mine,))
    assert (alone.overridden_value, alone.mentions) == (None, 2)


def test_an_edit_whose_memory_is_gone_counts_no_more() -> None:
    mine = home("Berlin", days_ago=9)
    edit = ProfileEdit(slot_of(mine), Section.FACTS, "home", NOW, mine.id)
    assert drawn(home("Paris"), edits=(edit,))[0].value == "Paris"
    assert drawn(edits=(edit,)) == []


def test_what_was_taken_out_stays_out_whatever_is_said() -> None:
    out = ProfileEdit(slot_of(taste("jazz")), Section.PREFERENCES, "jazz", NOW)
    assert told(drawn(taste("jazz"), taste("rock"), edits=(out,))) == [("preferences", "rock", "rock")]
    assert drawn(taste("jazz", -1), edits=(out,)) == []


# ── in a sentence ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_allergy_stands_in_the_summary_and_so_does_the_name() -> None:
    allergies = [allergy(f"thing number {n} with a rather long name") for n in range(20)]
    name = memory("User's name is Sam", attribute="name", value="Sam", tags=("fact", "identity"))
    said = summary(drawn(*allergies, name, home("Rome")), "en")
    assert all(f"thing number {n} " in said for n in range(20))
    assert said.startswith("User's name is Sam; ")


def test_a_summary_holds_whole_statements_within_its_length() -> None:
    sentences = [("a" * 200, False), ("b" * 60, False), ("c", False)]
    assert joined(sentences, language="en") == f"{'a' * 200}; c"
    assert joined(sentences[1:], language="zh") == f"{'b' * 60}；c"
    assert joined([], language="en") == ""


def test_of_a_long_profile_the_first_entries_and_all_that_binds_are_shown() -> None:
    entries = drawn(*(home(f"town {n}", tags=()) for n in range(1)), *(taste(f"thing{n}") for n in range(30)))
    assert len(shortened(entries, count=10)) == 10
    with_allergies = drawn(*(allergy(f"x{n}") for n in range(12)), *(taste(f"thing{n}") for n in range(30)))
    shown = shortened(with_allergies, count=10)
    assert [sum(entry.safety is flag for entry in shown) for flag in (True, False)] == [12, 3]


def test_a_summary_in_the_other_language_words_values_anew_and_keeps_what_it_cannot_word() -> None:
    [lives] = drawn(home("Leeds"))
    assert sentence(lives, "zh") == "用户住在Leeds"
    [likes] = drawn(memory("用户喜欢爵士乐", MemoryType.PREFERENCE, value="爵士乐", polarity=1))
    assert sentence(likes, "en") == "User likes 爵士乐"
    [rule] = drawn(memory("用户海鲜过敏", MemoryType.CONSTRAINT, value="海鲜", tags=("constraint", "health")))
    assert sentence(rule, "en") == "用户海鲜过敏"


def test_an_entry_survives_being_stored() -> None:
    [entry] = drawn(taste("jazz", -1))
    whole = replace(entry, overridden_value="rock", safety=True, origin=Origin.USER, weight=0.25, importance=0.5)
    assert entry_of(entry_values(whole)) == whole


def test_what_the_assistant_says_of_the_user_may_enter_and_keeps_its_place() -> None:
    guessed = home("Bern", role=Role.ASSISTANT)
    assert drawn(guessed)[0].value == "Bern"
    assert drawn(guessed, home("Rome", role=Role.USER, days_ago=3))[0].value == "Rome"


def test_a_quotation_stands_in_a_profile_only_where_it_tells_of_an_allergy() -> None:
    assert profile_statement(memory("Ruth said: “ok so three weeks of rain, thanks”")) is None
    assert profile_statement(memory("Ruth said: “no calls before ten today”", MemoryType.CONSTRAINT)) is None
    bats = "Ruth said: “bats in the roof. so they can't have the amplified music or the lights”"
    assert profile_statement(memory(bats, MemoryType.CONSTRAINT)) is None
    fox = memory("Ruth said: “Mair knew, the old fox”", value="knew, the old fox", tags=("fact", "habit"))
    assert profile_statement(fox) is None
    allergic = memory("Ruth said: “turns out I'm allergic to penicillin, not latex”", MemoryType.CONSTRAINT)
    assert profile_statement(allergic) is not None


@pytest.mark.parametrize(
    "text",
    [
        "Rafe said: “I cannot eat sesame btw, tahini gets me every time”",
        "Rafe said: “cant have gluten, coeliac since forever”",
        "小柯说：“我吃不了香菜，一口都不行”",
    ],
)
def test_what_somebody_cannot_eat_stands_in_a_profile_in_their_words_too(text: str) -> None:
    assert profile_statement(memory(text, MemoryType.CONSTRAINT)) is not None
