"""The yardstick of forgetting: the invented year, the rivals, and what is made of their marks."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from evals.datasets import Dataset, Item, Question
from evals.forgetting.floors import FLOORS, Floor
from evals.forgetting.keepers import Keeper, KeepEverything, Newest, SeedLiterally, TimeToLive, Upkept
from evals.forgetting.lived import Footprint, Lived
from evals.forgetting.lives import Life, lives_of, year_lives
from evals.forgetting.living import live
from evals.forgetting.run import UserResult
from evals.forgetting.score import scored
from evals.forgetting.show import shown
from evals.year.people import person
from evals.year.talk import START, questions, rounds
from evals.year.words import LANGUAGES, attributes, holds, words

DAY = timedelta(days=1)


# ── the year ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_same_seed_invents_the_same_year() -> None:
    assert list(rounds(person(3, seed=5, days=40))) == list(rounds(person(3, seed=5, days=40)))
    assert list(rounds(person(3, seed=5, days=40))) != list(rounds(person(3, seed=6, days=40)))


def test_half_of_the_people_speak_chinese() -> None:
    assert Counter(person(number, seed=1).language for number in range(4)) == {"zh": 2, "en": 2}


def test_both_languages_have_words_for_every_attribute_habit_and_event() -> None:
    zh, en = words("zh"), words("en")
    assert set(attributes()) == set(zh["facts"]) == set(en["facts"])
    assert set(zh["habits"]) == set(en["habits"])
    assert len(zh["events"]) == len(en["events"])
    for language in LANGUAGES:
        for name, fact in words(language)["facts"].items():
            assert all("{value}" in way for way in [*fact["say"], *fact.get("change", [])]), name
            assert not attributes()[name].get("changes") or fact["change"], name


@pytest.mark.parametrize("number", [0, 1])
def test_what_a_person_tells_names_the_value_and_nothing_else_names_it(number: int) -> None:
    one = person(number, seed=1, days=120)
    lasting = [fact for fact in one.facts if fact.is_lasting]
    for said in rounds(one):
        if said.about is not None:
            assert holds(said.said, said.about.value), said.said
        elif said.need is None:
            assert not [fact.value for fact in lasting if holds(said.said, fact.value)], said.said


def test_people_talk_about_ten_rounds_a_day() -> None:
    assert 8 < len(list(rounds(person(2, seed=1, days=100)))) / 100 < 12


def test_a_fact_that_changes_is_followed_by_the_new_one() -> None:
    changed = [fact for number in range(12) for fact in person(number, seed=1).facts if fact.old is not None]
    assert changed
    for fact in changed:
        assert fact.value != fact.old
        assert fact.is_lasting


def test_only_what_was_said_and_still_holds_is_asked() -> None:
    one = person(1, seed=1)
    for day in (59, 365):
        for asked in questions(one, day):
            assert asked.fact.said_on[0] < day
            assert asked.fact.until is None or asked.fact.until >= day


# ── keepers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def a_life() -> Life:
    """Three messages over 200 days; the first one answers."""
    texts = {"m1": "My sister lives in Toulouse.", "m2": "The weather is dull today.", "m3": "I had soup for lunch."}
    items = tuple(
        Item(id=name, user="u", session=name, text=text, at=START + 100 * number * DAY)
        for number, (name, text) in enumerate(texts.items())
    )
    asked = Question("q", "u", "Where does my sister live?", "single", (frozenset({"m1"}),))
    [life] = lives_of(Dataset("locomo", "a set", items, (asked,)), ["u"], answers={"q": "Toulouse"})
    return life


def lived(keeper: Keeper) -> Lived:
    return asyncio.run(live(a_life(), keeper, embedder="none"))


def test_who_keeps_everything_finds_what_was_said_first() -> None:
    whole = lived(KeepEverything())
    assert whole.footprints[-1].records == 3
    assert whole.marks[0].marks == {"found": 1.0, "strict": 1.0}


@pytest.mark.parametrize(
    ("keeper", "records"), [(Newest("n", most_bytes=50), 2), (TimeToLive("t"), 1), (SeedLiterally("s"), 1)]
)
def test_a_rival_loses_what_is_old(keeper: Keeper, records: int) -> None:
    left = lived(keeper)
    assert left.footprints[-1].records == records
    assert left.marks[0].marks == {"found": 0.0, "strict": 0.0}


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_kept_and_strict_are_shares_of_what_keeping_everything_finds() -> None:
    whole, newest = lived(KeepEverything()), lived(Newest("newest", most_bytes=50))
    table = scored([UserResult("locomo", "u", {"keep everything": whole, "newest": newest}, 0.0)])["locomo"]
    assert (table["keep everything"]["kept"], table["newest"]["kept"], table["newest"]["strict"]) == (1.0, 0.0, 0.0)
    assert table["newest"]["share"] == pytest.approx(newest.footprints[-1].size / whole.footprints[-1].size)


def test_a_floor_tells_how_a_value_stands() -> None:
    floor, upper = FLOORS[0], Floor("s", "k", "m", lambda _: None, 2, 0.5, is_upper=True)
    assert [floor.standing(value) for value in (98, 93, 91, None)] == ["aim", "floor", "below", ""]
    assert [upper.standing(value) for value in (0.4, 1.0, 2.1)] == ["aim", "floor", "below"]


def test_months_add_up_people_who_began_on_different_days() -> None:
    people = [Lived([Footprint(29, 1, 10), Footprint(57, 2, 20)]), Lived([Footprint(31, 3, 30), Footprint(59, 4, 40)])]
    results = [UserResult("year", name, {"keep everything": one}, 0.0) for name, one in zip("ab", people, strict=True)]
    months = scored(results)["year"]["keep everything"]["months"]
    assert months == [{"day": 31, "records": 4, "bytes": 40}, {"day": 59, "records": 6, "bytes": 60}]


@pytest.mark.extended
def test_a_month_of_two_people_is_lived_and_told_from_end_to_end() -> None:
    results = []
    for life in year_lives([0, 1], days=31):
        keepers: list[Keeper] = [KeepEverything(), Upkept("Ebbing")]
        told = {keeper.name: asyncio.run(live(life, keeper, embedder="none")) for keeper in keepers}
        results.append(UserResult("year", life.user, told, 0.0))
    table = scored(results)
    whole = table["year"]["keep everything"]
    assert whole["lasting"] > 10
    assert (whole["stored"], whole["vital_lost"], whole["recalled"]["lasting"]) == (1.0, 0, 1.0)
    assert whole["found"] > 0.3
    assert whole["by_group"]["lasting"] == whole["found"]
    assert 0 < whole["first_by_group"]["lasting"] < whole["found"]
    assert "found among the first three, of all questions of a group" in shown(table)
    assert "lasting facts stored at the end" in shown(table)
