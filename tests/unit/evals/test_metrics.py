"""The yardstick itself: metrics, baselines and loaders of `evals/`."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ebbing.adapters.embedders.e5 import E5Embedder
from ebbing.recall.recall_settings import RecallSettings
from ebbing.wiring.build import build, load_settings
from evals.ablations import STEPS
from evals.baselines import BM25, ranked, reciprocal_rank_fusion, terms
from evals.datasets import chinese_date, load_beam, load_beam_all, load_locomo, load_memdaily_dedup, named_date
from evals.embedding import KeptE5, passage_vectors, question_vectors, with_bundled_models
from evals.metrics import Scored, by_category, newer_above_older, paired_difference, score_ranking
from evals.mixed import FACTS, LANGUAGES, dataset, stores
from evals.precision import (
    Belief,
    Context,
    build_context,
    failures,
    fixture,
    interleaved,
    precision_recall,
    run,
    summary,
)
from evals.replay import message, sessions


def singles(*ids: str) -> list[tuple[str]]:
    return [(item,) for item in ids]


# ── metrics ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_group_is_found_through_any_of_its_ids() -> None:
    scores = score_ranking(singles("x", "b"), [{"a", "b"}, {"c"}])
    assert scores["R@5"] == 0.5
    assert scores["hit@5"] == 1.0
    assert scores["MRR"] == 0.5


def test_ndcg_matches_a_value_worked_out_by_hand() -> None:
    scores = score_ranking(singles("a", "x", "b"), [{"a"}, {"b"}])
    assert scores["NDCG@10"] == pytest.approx((1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3)))


def test_a_group_gains_once_however_often_it_is_hit() -> None:
    assert score_ranking(singles("a", "b"), [{"a", "b"}])["NDCG@10"] == 1.0


def test_a_hit_below_the_cut_does_not_count() -> None:
    scores = score_ranking([*singles(*"0123456789"), ("a",)], [{"a"}])
    assert (scores["R@10"], scores["R@20"], scores["NDCG@10"]) == (0.0, 1.0, 0.0)
    assert scores["MRR"] == pytest.approx(1 / 11)


def test_one_hit_for_two_groups_cannot_pass_the_ideal() -> None:
    scores = score_ranking([("a", "b")], [{"a"}, {"b"}])
    assert (scores["R@5"], scores["NDCG@10"]) == (1.0, 1.0)


def test_an_empty_answer_scores_nothing_anywhere() -> None:
    assert set(score_ranking([], [{"a"}]).values()) == {0.0}


def test_the_newer_must_be_found_to_stand_above_the_older() -> None:
    assert newer_above_older(singles("new", "old"), {"new"}, older={"old"})
    assert newer_above_older(singles("new"), {"new"}, older={"old"})
    assert not newer_above_older(singles("old", "new"), {"new"}, older={"old"})
    assert not newer_above_older(singles("x"), {"new"}, older={"old"})


def test_a_category_set_apart_stays_out_of_the_overall_mean() -> None:
    rows = [Scored("u", "plain", {"MRR": 1.0}), Scored("u", "trap", {"MRR": 0.0})]
    table = by_category(rows, apart={"trap"})
    assert table["ALL"] == {"MRR": 1.0, "n": 1}
    assert table["trap"] == {"MRR": 0.0, "n": 1}


def test_a_difference_that_every_user_shows_has_a_tight_interval() -> None:
    ours = [Scored(f"u{n % 4}", "c", {"MRR": 0.75}) for n in range(20)]
    theirs = [Scored(f"u{n % 4}", "c", {"MRR": 0.5}) for n in range(20)]
    assert paired_difference(ours, theirs, metric="MRR") == pytest.approx((0.25, 0.25, 0.25))


# ── baselines ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_terms_are_stemmed_words_and_chinese_pairs() -> None:
    assert terms("What did Caroline's dogs like?") == ["carolin", "dog", "like"]
    assert terms("喜欢猫 OK") == ["喜", "欢", "猫", "喜欢", "欢猫", "ok"]


def test_bm25_matches_the_formula_on_a_small_corpus() -> None:
    scores = BM25(["cat dog", "cat cat cat fish", "bird"]).scores("cat")
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    mean_length = 7 / 3
    expected = idf * 3 * 2.5 / (3 + 1.5 * (0.25 + 0.75 * 4 / mean_length))
    assert scores[1] == pytest.approx(expected)
    assert scores[2] == 0.0


def test_fusion_gives_nothing_for_a_leg_that_does_not_match() -> None:
    fused = reciprocal_rank_fusion([np.array([3.0, 0.0]), np.array([1.0, 2.0])])
    assert fused == pytest.approx([1 / 61 + 1 / 62, 1 / 61])


def test_ranking_leaves_unmatched_texts_out_and_keeps_order_in_ties() -> None:
    assert ranked(np.array([1.0, 0.0, 2.0, 1.0]), ["a", "b", "c", "d"], depth=3) == singles("c", "a", "d")


# ── loaders ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_dates_of_the_sets_are_read_as_utc() -> None:
    assert chinese_date("2024年04月01日 周一 08:30") == datetime(2024, 4, 1, 8, 30, tzinfo=UTC)
    assert named_date("March-15-2024") == datetime(2024, 3, 15, tzinfo=UTC)
    assert chinese_date("") is None
    assert named_date("soon") is None


def write_set(folder: Path, items: list[dict[str, Any]], *, queries: list[dict[str, Any]]) -> None:
    folder.mkdir()
    for name, rows in (("items", items), ("queries", queries)):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in rows)


def item(number: int, **more: Any) -> dict[str, Any]:
    plain = {"user": "u", "id": str(number), "order": number, "session": "s", "speaker": "user", "date": ""}
    return plain | {"ts": 60 * number, "text": f"text {number}"} | more


def query(groups: list[list[str]], **more: Any) -> dict[str, Any]:
    plain = {"id": "q", "user": "u", "text": "?", "category": "c", "groups": groups, "date": ""}
    return plain | {"answerable": True, "newer": [], "older": []} | more


def test_locomo_names_its_speakers_and_keeps_their_times(tmp_path: Path) -> None:
    write_set(tmp_path / "locomo", [item(1, speaker="Ann", ts=1683554160.0)], queries=[query([["1"]])])
    loaded = load_locomo(tmp_path)
    assert message(loaded.items[0]) == {
        "id": "1",
        "role": "user",
        "content": "text 1",
        "name": "Ann",
        "timestamp": "2023-05-08T13:56:00+00:00",
    }


def test_one_message_per_fact_keeps_the_first_and_its_evidence(tmp_path: Path) -> None:
    items = [item(1, key="k"), item(2, key="k"), item(3), item(4, text="text 3")]
    write_set(tmp_path / "memdaily-zh", items, queries=[query([["1", "2"], ["4"]])])
    loaded = load_memdaily_dedup(tmp_path)
    assert [row.id for row in loaded.items] == ["1", "3"]
    assert loaded.questions[0].groups == (frozenset({"1"}),)


def test_beam_user_turns_drop_what_only_the_assistant_said(tmp_path: Path) -> None:
    items = [item(1, date="March-15-2024"), item(2, speaker="assistant", date="March-15-2024")]
    queries = [query([["1"], ["2"]]), query([["2"]], id="q2"), query([], id="q3", answerable=False)]
    write_set(tmp_path / "beam-100k", items, queries=queries)
    assert [row.groups for row in load_beam(tmp_path).questions] == [(frozenset({"1"}),)]
    everything = load_beam_all(tmp_path)
    assert [row.id for row in everything.questions] == ["q", "q2"]
    assert [row.role for row in everything.items] == ["user", "assistant"]
    assert everything.items[0].at == datetime(2024, 3, 15, 0, 1, tzinfo=UTC)


def test_items_are_replayed_session_by_session_in_order(tmp_path: Path) -> None:
    items = [item(2, session="b"), item(1, session="a"), item(3, session="b")]
    write_set(tmp_path / "locomo", items, queries=[])
    replayed = [(session, [row["id"] for row in rows]) for _, session, rows in sessions(load_locomo(tmp_path).items)]
    assert replayed == [("a", ["1"]), ("b", ["2", "3"])]


@pytest.mark.slow
def test_kept_vectors_equal_those_of_the_product(tmp_path: Path) -> None:
    texts = ["我喜欢猫", "I like cats", "", "both 两种 " * 400]
    kept, shipped = KeptE5(tmp_path), E5Embedder.load()
    for _ in range(2):  # computed, then read from the file
        assert np.allclose(passage_vectors(kept, texts), shipped.embed(texts, "passage"), atol=1e-6)
        assert np.allclose(question_vectors(kept, texts), shipped.embed(texts, "query"), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["auto", "off"])
def test_what_is_measured_has_every_trained_model_of_the_product_or_none(tmp_path: Path, reader: str) -> None:
    settings = load_settings({"store": "ephemeral", "reader": reader})
    slot = with_bundled_models(build(settings, embedder=KeptE5(tmp_path))).reader

    async def models() -> list[object]:
        return [await slot.get(), await slot.salience(), await slot.change_model(), await slot.off_record_model()]

    assert [model is not None for model in asyncio.run(models())] == [reader == "auto"] * 4


@pytest.mark.parametrize("step", STEPS)
def test_an_ablation_changes_only_settings_that_exist(step: str) -> None:
    whole = RecallSettings()
    assert (replace(whole, **STEPS[step]) == whole) == (step == "nothing")


# ── the bilingual store ──────────────────────────────────────────────────────────────────────────────────────────────


def test_the_mixed_store_holds_every_fact_once_in_either_language() -> None:
    facts = [json.loads(line) for line in FACTS.read_text("utf-8").splitlines()]
    assert len({fact["id"] for fact in facts}) == len(facts) >= 60
    assert all(fact[field] for fact in facts for field in ("zh", "en", "question_zh", "question_en"))
    stored = [row.id.split("-")[1] for row in dataset(stores()["mixed"], "zh", facts=facts).items]
    assert len(stored) == len(facts)
    assert {stored.count(language) for language in LANGUAGES} == {len(facts) // 2}


# ── PrecisionMemBench ────────────────────────────────────────────────────────────────────────────────────────────────


class FixedAnswers:
    """A store that gives each query the answer that a test wrote down."""

    def __init__(self, answers: dict[str, list[str]]) -> None:
        self._answers = answers
        self._beliefs: dict[str, Belief] = {}

    def put(self, belief: Belief) -> None:
        if not belief["superseded_by"] and not belief["resolved_at"]:
            self._beliefs[belief["_id"]] = belief

    def search(self, query: str, *, user: str, scopes: Any, limit: int) -> list[str]:
        return self._answers.get(query, [])[:limit]

    def held(self, *, user: str, scopes: Any) -> list[Belief]:
        return [row for row in self._beliefs.values() if row["user_id"] == user and set(row["scope"]) & set(scopes)]


def perfect_answers() -> dict[str, list[str]]:
    cases = [(case["query"], case["expect"]) for case in fixture("retrieval.cases")]
    turns = [
        (turn["userMessage"], turn["expect"])
        for session in fixture("session-retrieval.cases")
        for turn in session["turns"]
    ]
    return {text: expect.get("relevantBeliefs", {}).get("shouldOnlyInclude", []) for text, expect in cases + turns}


def test_a_perfect_memory_passes_every_case_of_the_benchmark() -> None:
    figures = summary(run(FixedAnswers(perfect_answers())))
    assert figures["failed"] == {}
    assert (figures["precision"], figures["recall"], figures["drift"]) == (1.0, 1.0, 0.0)
    assert (figures["passed"], figures["active_passed"], figures["turns_passed"]) == (77, 43, 12)


def test_a_memory_that_never_answers_passes_no_active_case() -> None:
    figures = summary(run(FixedAnswers({})))
    assert (figures["precision"], figures["recall"], figures["active_passed"]) == (0.0, 0.0, 0)


def test_a_relation_brings_its_participants_but_no_open_question() -> None:
    store = FixedAnswers({"auth?": ["b-auth-depends-redis"]})
    for belief in fixture("beliefs.seed"):
        store.put(belief)
    context, _ = build_context(store, "auth?", user="test-user", scopes=["domain:code"])
    assert context.relevant == ("b-auth-depends-redis", "b-redis-code")


def test_a_belief_of_another_user_or_a_superseded_one_is_a_leak() -> None:
    store = FixedAnswers({"?": ["b-other-user-leak-check", "b-linting-v0", "b-ts-pref"]})
    for belief in fixture("beliefs.seed"):
        store.put(belief)
    context, _ = build_context(store, "?", user="test-user", scopes=["domain:code"])
    assert context.leaks == ("b-other-user-leak-check", "b-linting-v0")
    assert context.relevant == ("b-other-user-leak-check", "b-linting-v0", "b-ts-pref")


def test_an_answer_to_a_question_without_one_has_precision_zero() -> None:
    assert precision_recall(["a"], frozenset()) == (0.0, None)
    assert precision_recall([], frozenset()) == (None, None)
    assert precision_recall([], frozenset({"a"})) == (0.0, 0.0)
    assert precision_recall(["a", "b"], frozenset({"a"})) == (0.5, 1.0)


def test_every_broken_assertion_of_a_case_is_named() -> None:
    context = Context(prelude="Haskell", pinned=("p",), relevant=("x",), questions=())
    expect = {
        "relevantBeliefs": {"shouldOnlyInclude": ["a"], "mustExclude": ["p"]},
        "pinnedFacts": {"mustInclude": ["q"]},
        "openQuestions": {"mustInclude": ["o"]},
        "personaPrelude": {"mustNotContain": ["Haskell"]},
        "noiseCheck": {"mustNotSurface": ["x"]},
    }
    assert failures(context, expect) == [
        "forbidden: p",
        "unexpected: x",
        "missing: a",
        "noise: x",
        "pinned missing: q",
        "question missing: o",
        "prelude holds 'Haskell'",
    ]


def test_several_scopes_are_taken_in_turns() -> None:
    assert interleaved([["a", "b", "c"], ["x"]]) == ["a", "x", "b", "c"]
