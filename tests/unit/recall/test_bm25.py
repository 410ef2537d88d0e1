"""The keyword leg: exact BM25F over one owner's rows, an answer that inherits from its question, and feedback."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.memory.record import Role
from ebbing.index.index_entry import term_hash
from ebbing.index.near_rows import find_neighbours
from ebbing.language.text.analyzer import analyse, date_terms, query_terms
from ebbing.recall.bm25 import bm25f, feedback_terms, smooth
from ebbing.recall.recall_settings import RecallSettings
from tests.unit.recall.conversation_log import START, Said, log, read, row_of, scores

TUNING = RecallSettings()
WORDS = ("tea", "rain", "lin", "may", "猫", "狗狗", "2024", "swim")


def oracle(texts: Sequence[Said], terms: Sequence[str], *, gone: Sequence[int]) -> tuple[list[float], list[float]]:
    """BM25F as the books have it, and coverage, in plain Python; rows that are gone count in no statistic."""
    rows = [analyse(said.text, speaker=said.by) for said in texts]
    living = [at for at in range(len(rows)) if at not in gone]
    mean = max(sum(rows[at].length for at in living) / max(len(living), 1), 1.0)
    dates = date_terms(START)

    def fields(at: int, term: str) -> tuple[int, bool, bool]:
        return rows[at].text.get(term, 0), term in rows[at].speaker, term in dates

    def idf(term: str) -> float:
        held = sum(any(fields(at, term)) for at in living)
        return math.log(1 + (max(len(living), 1) - held + 0.5) / (held + 0.5))

    points, held = [0.0] * len(rows), [0.0] * len(rows)
    for at in range(len(rows)):
        norm = 1 - TUNING.length_norm + TUNING.length_norm * rows[at].length / mean
        for term in terms:
            tf, spoken, dated = fields(at, term)
            if not (tf or spoken or dated):
                continue
            weight = tf / norm + TUNING.speaker_weight * spoken + TUNING.date_weight * dated
            points[at] += idf(term) * weight * (TUNING.k1 + 1) / (weight + TUNING.k1)
            held[at] += idf(term)
    whole = sum(map(idf, terms))
    return points, [part / whole if whole else 0.0 for part in held]


utterances = st.lists(
    st.builds(
        Said,
        text=st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join),
        by=st.sampled_from([None, "Lin", "May"]),
        at=st.just(START),
    ),
    min_size=1,
    max_size=8,
)


@given(texts=utterances, question=st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=5), data=st.data())
def test_points_and_coverage_are_those_of_the_formula(
    texts: list[Said], question: list[str], data: st.DataObject
) -> None:
    gone = data.draw(st.lists(st.integers(0, len(texts) - 1), unique=True, max_size=len(texts) - 1))
    terms = query_terms(" ".join(question))
    found = bm25f(log(*texts, gone=gone), [*map(term_hash, terms)], settings=TUNING)
    points, coverage = oracle(texts, terms, gone=gone)
    living = [at for at in range(len(texts)) if at not in gone]
    np.testing.assert_allclose(found.points[living], np.array(points)[living], rtol=1e-9)
    np.testing.assert_allclose(found.coverage[living], np.array(coverage)[living], rtol=1e-9)


@given(texts=utterances, question=st.lists(st.sampled_from(WORDS), max_size=5))
def test_coverage_is_a_share_and_points_are_never_negative(texts: list[Said], question: list[str]) -> None:
    terms = [*map(term_hash, query_terms(" ".join(question)))]
    found = bm25f(log(*texts), terms, settings=TUNING)
    assert (found.points >= 0).all()
    assert (found.coverage >= 0).all()
    assert (found.coverage <= 1 + 1e-12).all()


def test_a_row_that_holds_every_term_is_covered_in_full() -> None:
    found = bm25f(log("green tea", "green field"), [*map(term_hash, query_terms("green tea"))], settings=TUNING)
    assert found.coverage[0] == pytest.approx(1)
    assert 0 < found.coverage[1] < 1


def test_the_texts_of_deleted_rows_move_no_score() -> None:
    alone = bm25f(log("tea at noon", "rain"), [term_hash("tea")], settings=TUNING)
    beside = bm25f(log("tea at noon", "rain", "tea tea tea", "tea", gone=(2, 3)), [term_hash("tea")], settings=TUNING)
    np.testing.assert_allclose(beside.points[:2], alone.points)


# ── an answer speaks for its question ────────────────────────────────────────────────────────────────────────────────


def smoothed(*said: Said, points: Sequence[float], gone: Sequence[int] = ()) -> list[float]:
    shard = log(*said, gone=gone)
    return smooth(shard, np.array(points), neighbours=find_neighbours(shard), settings=TUNING).tolist()


def test_an_answer_inherits_much_of_its_question_and_little_of_a_statement() -> None:
    answer = Said("On Sunday.", by="Bo")
    asking = smoothed(Said("When do you swim?", by="Al"), answer, points=[1, 0])
    telling = smoothed(Said("I swim a lot.", by="Al"), answer, points=[1, 0])
    assert asking == [1, TUNING.from_previous_question]
    assert telling == [1, TUNING.from_previous]


def test_a_question_inherits_less_of_its_answer_than_a_statement_of_its_reply() -> None:
    reply = Said("We swim on Sunday.", by="Bo")
    assert smoothed(Said("When?", by="Al"), reply, points=[0, 1]) == [TUNING.from_next_answer, 1]
    assert smoothed(Said("Good.", by="Al"), reply, points=[0, 1]) == [TUNING.from_next, 1]


def test_nothing_flows_from_one_run_to_another() -> None:
    said = (Said("When do you swim?", by="Al", run="monday"), Said("On Sunday.", by="Bo", run="tuesday"))
    assert smoothed(*said, points=[1, 0]) == [1, 0]


def test_a_turn_said_in_between_breaks_no_flow_of_another_run() -> None:
    said = (
        Said("When do you swim?", by="Al", run="monday"),
        Said("Elsewhere.", by="Cy", run="tuesday"),
        Said("On Sunday.", by="Bo", run="monday"),
    )
    assert smoothed(*said, points=[1, 0, 0]) == [1, 0, TUNING.from_previous_question]


def test_nothing_flows_from_a_deleted_turn_and_its_neighbours_meet() -> None:
    said = (Said("When do you swim?", by="Al"), Said("Pardon?", by="Bo"), Said("On Sunday.", by="Bo"))
    assert smoothed(*said, points=[1, 5, 0], gone=(1,))[2] == TUNING.from_previous_question


def test_a_memory_that_is_no_utterance_neither_gives_nor_takes() -> None:
    said = (Said("Do you swim?", by="Al"), Said("Al swims", by="Bo", utterance=False), Said("Yes.", by="Bo"))
    assert smoothed(*said, points=[0, 1, 0]) == [0, 1, 0]
    assert smoothed(*said, points=[1, 0, 0]) == [1, 0, TUNING.from_previous_question]


def test_one_speakers_own_turns_share_nothing_in_a_conversation_and_a_little_in_a_diary() -> None:
    own = (Said("I swim?", by="Al"), Said("On Sunday.", by="Al"))
    assert smoothed(*own, points=[1, 0]) == [1, TUNING.diary_previous]
    assert smoothed(*own, Said("Oh.", by="Bo"), points=[1, 0, 0])[1] == 0


def test_turns_flow_in_the_order_said_not_in_the_order_stored() -> None:
    later = Said("On Sunday.", by="Bo", at=START.replace(hour=12))
    assert smoothed(later, Said("When?", by="Al", at=START), points=[0, 1]) == [TUNING.from_previous_question, 1]


def test_a_text_that_is_written_anew_keeps_its_place_among_those_of_its_time() -> None:
    said = (Said("When do you swim?", by="Al", at=START), Said("On Sunday.", by="Bo", at=START))
    shard = log(*said)
    near = find_neighbours(shard)
    assert near.next[0] == 1
    shard.upsert([row_of(replace(said[0], text="When do you go for a swim?"), 0)])
    near = find_neighbours(shard)
    last = shard.size - 1
    assert (near.next[last], near.previous[1]) == (1, last)


def test_a_question_that_is_gone_counts_for_its_answer_as_it_did_before_it() -> None:
    shard = log(Said("Swim?", by="Al"), Said("Sunday.", by="Bo"), Said("Rain.", by="Bo"))
    terms = [term_hash(term) for term in query_terms("swim")]
    whole = bm25f(shard, terms, settings=TUNING)
    alone = log(Said("Sunday.", by="Bo", answers="Swim?"), Said("Rain.", by="Bo"), Said("Tea.", by="Bo"))
    told = bm25f(alone, terms, settings=TUNING)
    assert told.points[0] == pytest.approx(TUNING.from_previous_question * whole.points[0], rel=0.01)
    assert told.coverage.tolist() == [1, 0, 0]
    assert told.points[1:].tolist() == [0, 0]


def test_the_first_turn_does_not_inherit_from_the_last() -> None:
    said = (Said("Hello.", by="Al"), Said("Hi.", by="Bo"), Said("When do you swim?", by="Al"))
    assert smoothed(*said, points=[0, 0, 1])[0] == 0


# ── the best rows lend their rare terms ──────────────────────────────────────────────────────────────────────────────


def test_feedback_lends_rare_terms_that_were_not_asked_for() -> None:
    shard = log("tea ceremony kyoto", *["rain again"] * 9, "rain kyoto")
    asked_for = [term_hash("tea")]
    lent = feedback_terms(shard, np.array([0]), query_terms=asked_for, settings=TUNING)
    assert term_hash(query_terms("ceremony")[0]) in lent
    assert not set(asked_for) & set(lent)


def test_feedback_never_lends_what_every_fifth_row_holds() -> None:
    shard = log("tea rain", "rain", "rain", *["snow"] * 9)
    assert feedback_terms(shard, np.array([0]), query_terms=[], settings=TUNING) == [term_hash("tea")]


def test_feedback_from_no_rows_lends_nothing() -> None:
    assert feedback_terms(log("tea"), np.array([], dtype=np.int64), query_terms=[], settings=TUNING) == []


def test_feedback_finds_a_row_that_shares_no_word_with_the_question() -> None:
    filler = [f"weather report number {number} for the coast" for number in range(250)]
    shard = log("my saxophone lesson with Viktor", *filler, "Viktor moved the appointment")
    question = read(shard, "saxophone")
    without = scores(shard, question, recall_settings=RecallSettings(feedback_weight=0), vectors=False)
    with_feedback = scores(shard, question, vectors=False)
    assert without.lexical[-1] == 0
    assert with_feedback.lexical[-1] > 0
    assert int(np.argmax(with_feedback.total)) == 0


def test_a_small_log_gets_no_feedback() -> None:
    shard = log("my saxophone lesson with Viktor", "Rain.", "Snow.", "Viktor moved the appointment")
    assert scores(shard, read(shard, "saxophone"), vectors=False).lexical[3] == 0


def test_an_assistants_text_keeps_a_share_of_its_score() -> None:
    shard = log(Said("I swim", role=Role.USER), Said("I swim", role=Role.ASSISTANT), "rain", "snow")
    found = scores(shard, read(shard, "swim"), recall_settings=RecallSettings(session_prior=0), vectors=False)
    assert found.total[1] == pytest.approx(RecallSettings().assistant_weight * found.total[0], rel=0.2)
