"""How the legs become one order: fused, lifted by what else speaks for a row, rated and told once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ebbing.domain.filters.query import Hit
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import micros
from ebbing.recall.context.render import explain_hit
from ebbing.recall.ranking import rank, relevance
from ebbing.recall.recall_settings import RecallSettings
from ebbing.recall.rows import best_rows, zscore
from tests.unit.recall.conversation_log import EMBEDDER, START, Said, answers, asked, log, read, scores

finite = st.floats(-1e3, 1e3, allow_nan=False)
some_scores = arrays.arrays(np.float64, st.integers(1, 12), elements=finite)
PLAIN = RecallSettings(session_prior=0, diary_session_prior=0, diary_previous=0, diary_next=0)
"""Without what flows between turns, so that each row stands for itself."""
DAY = 86_400_000_000
"""In microseconds."""


# ── fusion ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(some_scores, st.data())
def test_levelled_scores_have_mean_0_and_deviation_1_over_the_mask(values: np.ndarray, data: st.DataObject) -> None:
    among = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))))
    levelled = zscore(values, among)
    if among.any() and np.ptp(values[among]) > 1e-3:
        assert levelled[among].mean() == pytest.approx(0, abs=1e-6)
        assert levelled[among].std() == pytest.approx(1, abs=1e-6)
        order = np.argsort(values, kind="stable")
        assert (np.diff(levelled[order]) >= -1e-9).all()


@pytest.mark.parametrize("among", [[True, True], [False, False]])
def test_a_leg_in_which_no_row_stands_out_has_no_say(among: list[bool]) -> None:
    assert zscore(np.array([0.8, 0.8]), np.array(among)).tolist() == [0, 0]


def test_the_rows_come_first_that_both_legs_prefer() -> None:
    shard = log("rain on Monday", "the saxophone lesson", "snow", "saxophone lesson moved", "sun")
    found = answers(shard, asked("saxophone lesson"))
    assert {found[0].row, found[1].row} == {1, 3}


@pytest.mark.parametrize("leg", ["lexical_weight", "dense_weight"])
def test_a_leg_of_weight_0_changes_nothing(leg: str) -> None:
    shard = log("rain on Monday", "the saxophone lesson", "snow")
    question = read(shard, "saxophone")
    found = scores(shard, question, recall_settings=RecallSettings(**{leg: 0}))  # type: ignore[arg-type]
    other = found.cosine if leg == "lexical_weight" else found.lexical
    assert np.argsort(found.total).tolist() == np.argsort(other).tolist()


# ── how far words are trusted ──


FAR = tuple(
    f"{place} in {weather}"
    for place in ("the harbour", "a bus", "my bed", "the hill")
    for weather in ("rain", "snow", "fog")
)


def trust_in_words(question: str, *said: str) -> float:
    """Share at which keywords count for a question."""
    shard = log(*said)
    settings = replace(PLAIN, feedback_weight=0.0, session_prior=0.0, standing_weight=0.0)
    read_question = read(shard, question)
    by_meaning = scores(shard, read_question, recall_settings=replace(settings, lexical_weight=0.0)).total
    whole = scores(shard, read_question, recall_settings=replace(settings, least_trust=1.0)).total
    trusted = scores(shard, read_question, recall_settings=settings).total
    return float(np.ptp(trusted - by_meaning) / np.ptp(whole - by_meaning))


def test_words_count_in_full_where_a_row_holds_most_of_the_question() -> None:
    assert trust_in_words("saxophone lesson", "my saxophone lesson was good", *FAR) == pytest.approx(1)


def test_words_count_for_less_where_they_find_what_is_far_in_meaning() -> None:
    question = "does anybody still remember what grandmother was told about gardening near the lighthouse by bus"
    assert trust_in_words(question, "a lighthouse keeper drank tea", *FAR) < 1


def test_among_a_few_rows_words_count_in_full() -> None:
    question = "does anybody still remember what grandmother was told about gardening near the lighthouse by bus"
    assert trust_in_words(question, "a lighthouse keeper drank tea", *FAR[:4]) == pytest.approx(1)


def test_without_vectors_words_count_in_full() -> None:
    shard = log(*(Said(text, embedded=False) for text in FAR))
    found = scores(shard, read(shard, "bus driver told grandmother about gardening"), recall_settings=PLAIN)
    trusting = replace(PLAIN, least_trust=1.0)
    full = scores(shard, read(shard, "bus driver told grandmother about gardening"), recall_settings=trusting)
    assert found.total.tolist() == full.total.tolist()


# ── a row without a vector ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_row_that_has_no_vector_yet_is_found_by_its_words_among_rows_that_have() -> None:
    said = [f"rain and snow in week {number}, saxo" for number in range(40)]
    shard = log(*said, Said("the saxophone lesson", embedded=False))
    found = answers(shard, asked("saxophone lesson", top_k=3))
    assert found[0].row == 40
    assert found[0].score > 0.6


# ── what else speaks for a row ───────────────────────────────────────────────────────────────────────────────────────


def lifts(question: str, *said: Said | str, route: str, **more: object) -> list[float]:
    shard = log(*said)
    found = scores(shard, read(shard, question, **more), recall_settings=PLAIN)
    return found.bonuses[route].tolist() if route in found.bonuses else []


def test_the_speaker_that_a_question_names_is_lifted() -> None:
    said = (Said("I swim", by="Caroline"), Said("I swim too", by="Melanie"))
    assert lifts("What does Caroline do?", *said, route="speaker") == [PLAIN.speaker_bonus, 0]
    assert lifts("What does CAROLINE's sister do?", *said, route="speaker") == [PLAIN.speaker_bonus, 0]
    assert lifts("What do they do?", *said, route="speaker") == []


def test_a_name_inside_another_word_names_nobody() -> None:
    assert lifts("Is the annex open?", Said("I swim", by="Ann"), "rain", route="speaker") == []


def test_a_chinese_speaker_is_found_inside_a_sentence() -> None:
    said = (Said("我喜欢游泳", by="小雨"), Said("我也是", by="阿明"))
    assert lifts("小雨平时做什么？", *said, route="speaker") == [PLAIN.speaker_bonus, 0]


def test_what_was_said_around_the_time_that_a_question_names_is_lifted() -> None:
    said = [Said("I swim in lanes", at=START - timedelta(days=days)) for days in (0, 7, 60)]
    about, inside = PLAIN.date_bonus, PLAIN.date_bonus + PLAIN.in_time_bonus
    assert lifts("Which lanes did I swim in last week?", *said, route="time", now=START) == [about, about, 0]
    assert lifts("Who sold me the tickets last week?", *said, route="time", now=START) == [about, inside, 0]
    assert lifts("我上周做了什么？", *said, route="time", now=START)[2] == 0
    assert lifts("What do I do?", *said, route="time", now=START) == []


def test_a_question_that_only_names_a_time_lets_the_time_decide() -> None:
    said = [Said("I swam", at=START - timedelta(days=days)) for days in (0, 7, 60)]
    only = [PLAIN.date_bonus, PLAIN.date_bonus + PLAIN.in_time_bonus, 0]
    assert lifts("What did I do last week?", *said, route="time", now=START) == only
    assert lifts("我上周做了什么？", *said, route="time", now=START) == only


@given(st.integers(1, 300), st.sampled_from(["What happened {} days ago?", "{}天前发生了什么？"]), st.data())
def test_what_lies_in_the_named_time_stands_above_what_does_not(days: int, asks: str, data: st.DataObject) -> None:
    others = data.draw(st.lists(st.integers(0, 330), max_size=9))
    said = [Said("it was a long day", at=START - timedelta(days=ago)) for ago in (*others, days)]
    named = read(log(*said), asks.format(days), now=START).times.spans
    found = answers(log(*said), asked(asks.format(days), now=START, top_k=50), recall_settings=PLAIN)
    inside = [any(first <= micros(said[one.row].at or START) <= last for first, last in named) for one in found]
    assert inside == sorted(inside, reverse=True)
    assert any(inside)


def test_a_day_begins_where_the_one_who_asks_lives() -> None:
    now = datetime(2026, 11, 19, 23, tzinfo=UTC)  # 07:00 of the 20th in China
    said = [Said("I baked", at=now - timedelta(hours=hours)) for hours in (12, 36)]
    there = read(log(*said), "昨天我做了什么？", now=now, timezone=ZoneInfo("Asia/Shanghai")).times.spans
    assert there == ((micros(datetime(2026, 11, 18, 16, tzinfo=UTC)), micros(datetime(2026, 11, 19, 16, tzinfo=UTC))),)
    assert read(log(*said), "昨天我做了什么？", now=now).times.spans != there


@pytest.mark.parametrize(
    ("earlier", "answer", "question"),
    [
        ("Who is my dentist?", "The dentist is Dr. Wu", "What is my dentist called?"),
        ("Do you know my dentist?", "The dentist Dr. Wu fixed my tooth", "Who is my dentist?"),
        ("你记得我的房东是谁吗？", "我的房东叫李姐，人很好", "我的房东是谁来着？"),
    ],
)
def test_an_earlier_question_stands_behind_its_answer(earlier: str, answer: str, question: str) -> None:
    shard = log(earlier, answer, "Rain again, so I read a book", "I like tea", "My bus was late", "The cat sleeps")
    assert answers(shard, asked(question), recall_settings=PLAIN)[0].row == 1
    lowered, whole = (
        scores(shard, read(shard, question), recall_settings=replace(PLAIN, asking_weight=weight)).total[0]
        for weight in (PLAIN.asking_weight, 1)
    )
    assert lowered < whole


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_message_that_only_asks_never_gains_by_it(one: float, other: float) -> None:
    shard = log("Who is my dentist?", "The dentist is Dr. Wu", "I like tea")
    question = read(shard, "What is my dentist called?")
    less, more = (
        scores(shard, question, recall_settings=replace(PLAIN, asking_weight=weight)).total
        for weight in sorted((one, other))
    )
    assert less[0] <= more[0]
    assert less[1:].tolist() == more[1:].tolist()


def test_a_time_beside_the_sentence_that_asks_decides_nothing() -> None:
    said = [Said("I swam", at=START - timedelta(days=days)) for days in (0, 7, 60)]
    assert lifts("Last week was rainy. Where did I swim?", *said, route="time", now=START) == []
    assert lifts("上周真累。我在哪里游泳？", *said, route="time", now=START) == []


def test_a_date_that_somebody_wrote_down_is_looked_for_in_words() -> None:
    day = START.replace(year=2023, month=12, day=8)
    said = [Said("Ann's birthday is on December 8", at=START), Said("it rained", at=day)]
    assert lifts("Whose birthday is on December 8?", *said, route="time", now=START) == [0, PLAIN.date_bonus]
    inside = PLAIN.date_bonus + PLAIN.in_time_bonus
    assert lifts("What happened on December 8?", *said[1:], route="time", now=START) == [inside]


def test_a_feast_that_nothing_places_may_be_the_latest_one() -> None:
    said = [Said("rain", at=START.replace(month=month)) for month in (1, 2, 3)]
    said = [Said("I counted down by the river", at=START.replace(month=1, day=1)), *said]
    assert answers(log(*said), asked("元旦那天我在哪儿？", now=START.replace(month=12)))[0].row == 0


def test_a_speaker_whose_name_is_a_common_word_is_known_when_it_is_written_like_a_name() -> None:
    said = (Said("I fish", by="Will"), Said("I cook", by="Ann"))
    assert lifts("What does Will like to catch?", *said, route="speaker") == [PLAIN.speaker_bonus, 0]
    assert lifts("What will she cook?", *said, route="speaker") == []


def test_a_standing_instruction_is_lifted_whatever_is_asked() -> None:
    said = ("Always answer me in German.", "I like rain")
    assert lifts("What about lunch?", *said, route="rule") == [PLAIN.instruction_bonus, 0]


def test_a_preference_is_lifted_when_advice_is_asked_for() -> None:
    said = ("I love noodles", "It rained")
    assert lifts("Can you recommend a place for lunch?", *said, route="rule") == [PLAIN.preference_bonus, 0]
    assert lifts("推荐一家餐厅", "我喜欢吃面", "下雨了", route="rule") == [PLAIN.preference_bonus, 0]
    assert lifts("Did it rain?", *said, route="rule") == []


def test_a_session_that_fits_lifts_its_other_turns() -> None:
    monday = [Said(f"turn {number} of monday", by="AB"[number % 2], run="monday") for number in range(10)]
    tuesday = [Said(f"turn {number} of tuesday", by="AB"[number % 2], run="tuesday") for number in range(10)]
    shard = log(*monday, Said("the saxophone lesson", by="A", run="monday"), *tuesday)
    found = scores(shard, read(shard, "saxophone lesson"))
    lift = found.session
    assert lift[:11].min() > lift[11:].max()


def test_a_long_session_is_lifted_more_than_a_short_one_with_the_same_best_row() -> None:
    short = [Said("saxophone", by="A", run="short"), Said("rain", by="B", run="short")]
    long = [Said("saxophone", by="A", run="long"), *[Said("rain", by="B", run="long")] * 20]
    shard = log(*short, *long)
    lift = scores(shard, read(shard, "saxophone"), vectors=False).session
    assert lift[3] > lift[1]


def test_a_session_of_deleted_rows_lifts_nothing() -> None:
    shard = log(
        Said("saxophone", run="a", by="A"), Said("rain", run="b", by="B"), Said("snow", run="b", by="A"), gone=(0,)
    )
    found = scores(shard, read(shard, "saxophone"))
    assert found.session[0] == 0


# ── the order ────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=40), st.integers(1, 45))
def test_the_best_rows_come_best_first_and_equals_in_the_order_of_arrival(points: list[float], count: int) -> None:
    rows = best_rows(np.array(points), np.ones(len(points), dtype=bool), count=count).tolist()
    whole = sorted(range(len(points)), key=lambda row: (-points[row], row))
    assert [points[row] for row in rows] == [points[row] for row in whole[:count]]
    assert rows == sorted(rows, key=lambda row: (-points[row], row))


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=2, max_size=40))
def test_a_longer_answer_begins_with_the_shorter_one(points: list[float]) -> None:
    among = np.ones(len(points), dtype=bool)
    longer = best_rows(np.array(points), among, count=len(points)).tolist()
    for count in range(1, len(points)):
        assert best_rows(np.array(points), among, count=count).tolist() == longer[:count]


def test_rows_outside_the_mask_are_never_among_the_best() -> None:
    assert best_rows(np.array([9.0, 1.0, 5.0]), np.array([False, True, True]), count=5).tolist() == [2, 1]


def test_the_same_question_gets_the_same_answer_again() -> None:
    said = [Said(f"swim lesson {number % 3}", run=str(number % 2)) for number in range(60)]
    first, second = (answers(log(*said), asked("swim lesson")) for _ in range(2))
    assert first == second


# ── relevance ────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(
    st.lists(
        st.tuples(st.floats(-50, 50), st.floats(0, 1), st.floats(0, 1)),
        min_size=1,
        max_size=30,
    )
)
def test_scores_lie_between_0_and_1_and_never_rise(rows: list[tuple[float, float, float]]) -> None:
    rows = sorted(rows, reverse=True)
    total, coverage, meaning = zip(*rows, strict=True)
    found = relevance(total, coverage=coverage, meaning=meaning)
    assert all(0 <= score <= 1 for score in found)
    assert found == sorted(found, reverse=True)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_more_wording_and_nearer_meaning_never_cost_a_row(wording: float, meaning: float, more: float) -> None:
    def best(coverage: float, nearness: float) -> float:
        return relevance([1.0], coverage=[coverage], meaning=[nearness])[0]

    assert best(max(wording, more), meaning) >= best(wording, meaning)
    assert best(wording, max(meaning, more)) >= best(wording, meaning)


def test_a_row_far_behind_the_best_scores_lower_than_one_close_behind() -> None:
    close = relevance([3.0, 2.9], coverage=[0.5, 0.5], meaning=[0.5, 0.5])[1]
    far = relevance([9.0, 2.9], coverage=[0.5, 0.5], meaning=[0.5, 0.5])[1]
    assert far < close


def test_no_rows_have_no_scores() -> None:
    assert relevance([], coverage=[], meaning=[]) == []


# ── why ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def hit(**fields: object) -> Hit:
    record = MemoryRecord(
        id="1", belongs_to=Scope(user_id="ada"), content="secret", created_at=START, recorded_at=START
    )
    return Hit(record, score=0.5, rank_score=1.0, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        ({}, "Nothing nearer is known."),
        ({"coverage": 0.5, "retriever_scores": {"keyword": 3.0}}, "It holds 50% of the question's wording."),
        ({"retriever_scores": {"keyword": 3.0}}, "What was said around it holds words of the question."),
        ({"meaning": 0.9}, "Its meaning is very near (0.90)."),
        ({"meaning": 0.5}, "Its meaning is near (0.50)."),
        ({"meaning": 0.1}, "Its meaning is somewhat near (0.10)."),
        ({"retriever_scores": {"speaker": 1.0}}, "It was said by somebody the question names."),
        ({"retriever_scores": {"time": 1.5}}, "It was said around the time that the question names."),
        ({"retriever_scores": {"rule": 3.0}}, "It is a standing wish or instruction."),
        ({"duplicate_ids": ("2", "3")}, "It was said 3 times."),
        (
            {"coverage": 1.0, "meaning": 0.8, "retriever_scores": {"keyword": 2.0, "time": 1.5, "session": 0.1}},
            (
                "It holds 100% of the question's wording; its meaning is very near (0.80); "
                "it was said around the time that the question names."
            ),
        ),
    ],
)
def test_why_a_memory_came_back_is_told_in_a_sentence(found: dict[str, object], sentence: str) -> None:
    assert explain_hit(hit(**found)) == sentence


@given(st.floats(1e-6, 1), st.floats(1e-6, 1))
def test_why_never_claims_nothing_as_a_reason(coverage: float, meaning: float) -> None:
    told = explain_hit(hit(coverage=coverage, meaning=meaning))
    assert " 0%" not in told
    assert "0.00" not in told
    assert "secret" not in told


# ── a question that was asked before ─────────────────────────────────────────────────────────────────────────────────


def test_a_question_asked_again_means_the_days_and_speakers_of_its_own_moment() -> None:
    text = "what did Nora say yesterday?"
    alone, together = log("tea is ready"), log(Said("tea is ready", by="Nora"))
    first, later = read(alone, text), read(alone, text, now=START + timedelta(days=30))
    assert later.times.spans == tuple((start + 29 * DAY, end + 29 * DAY) for start, end in first.times.spans) != ()
    assert (first.speakers, len(first.names)) == (frozenset(), 1)
    named = read(together, text)
    assert (len(named.speakers), named.names) == (1, ())


# ── what the reader is sure of ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("second", "rows"), [(0.95, [0, 1]), (0.2, [0]), (0.01, [0])])
def test_a_precise_answer_keeps_all_that_the_reader_is_sure_of(second: float, rows: list[int]) -> None:
    shard = log("I play the cello", "I play the piano", *FAR)
    query = asked("Which instruments do I play?", precise=True)
    question = read(shard, query.text)
    unread = scores(shard, question, recall_settings=PLAIN)
    probability = np.full(shard.size, np.nan)
    probability[:2] = 0.999, second
    total = unread.total.copy()
    total[:2] = total.max() + np.array([9.0, 4.0])
    with_reader = replace(unread, total=total, answer_probability=probability, unread_total=unread.total)
    ranked = rank(
        shard,
        with_reader,
        mask=shard.alive,
        query=query,
        question=question,
        calibration=EMBEDDER.calibration,
        settings=PLAIN,
    )
    assert [row.row for row in ranked] == rows
