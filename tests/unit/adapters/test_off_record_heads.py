"""Requests off the record by meaning: more is seen than by the words, and less is mistaken for a request."""

from __future__ import annotations

import json
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.adapters.embedders.e5 import Centring, E5Embedder
from ebbing.adapters.embedders.e5_weights import locate, read_weights
from ebbing.adapters.readers.off_record_heads import OffRecordHeads
from ebbing.privacy.guarding.off_record import (
    LIKELY,
    LIKELY_BY_MEANING,
    LIKELY_BY_WORDS,
    OPEN,
    SURE_BY_WORDS,
    PossibleRequest,
    Request,
    is_likely,
    off_record_request,
    possible_request,
)
from ebbing.remember.intake.second_looks import ends_of

HELD = Path(__file__).parents[3] / "training" / "data" / "off_record_held"
LOGS = Path(__file__).parents[3] / "evals" / "data" / "life_unseen"
SAYINGS = Path(__file__).parents[2] / "data" / "off_record.toml"
DIM = 384
ASKING = (
    "ok this one dont save please",
    "ok this is NOT to be written down",
    "dont keep this one anywhere please",
    "还有 这个你莫记哈",
    "静静跟我说了为啥子分的 那个男的耍两头 这个你也莫存",
    "@助手 下面这个别记下来啊",
)
"""Messages of the logs that do ask."""


@lru_cache(maxsize=1)
def embedder() -> E5Embedder:
    return E5Embedder(read_weights(locate()), threads=2, centring=Centring.load(), question_map=None)


@lru_cache(maxsize=1)
def heads() -> OffRecordHeads:
    return OffRecordHeads("model")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def seen_by_meaning(texts: list[str]) -> list[str]:
    possible = {text: possible_request(text) for text in texts}
    left_open = [text for text in texts if OPEN <= possible[text].probability < SURE_BY_WORDS]
    vectors = embedder().embed([ends_of(text) for text in left_open], "passage")
    judged = heads().judge([possible[text].probability for text in left_open], list(vectors))
    shares = dict(zip(left_open, judged, strict=True))
    by_words = {text: 1.0 for text in texts if possible[text].probability >= SURE_BY_WORDS}
    return [text for text in texts if is_likely(possible[text], (shares | by_words).get(text, 0.0))]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_of_authors_that_nothing_was_learned_from_no_less_is_seen_by_meaning_and_less_mistaken(language: str) -> None:
    rows = [row for path in sorted(HELD.glob("*.jsonl")) for row in lines(path) if row["lang"] == language]
    asked = [row["text"] for row in rows if row["secret"]]
    others = [row["text"] for row in rows if not row["secret"]]
    by_words = [text for text in asked if off_record_request(text)]
    seen = seen_by_meaning(asked)
    assert len(seen) >= 0.75 * len(asked)
    assert len(seen) >= len(by_words)
    mistaken = seen_by_meaning(others)
    assert len(mistaken) <= 0.1 * len(others)
    assert len(mistaken) < sum(off_record_request(text) is not None for text in others)


def test_of_everyday_talk_next_to_nothing_is_taken_for_a_request() -> None:
    paths = [LOGS / f"{name}.jsonl" for name in ("en_shop", "en_harbour", "zh_noodle", "zh_group")]
    said = [row["content"] for path in paths for row in lines(path) if row["role"] == "user"]
    assert len(said) > 500
    assert [text for text in seen_by_meaning(said) if not text.startswith(ASKING)] == []


def test_of_all_everyday_logs_nearly_every_request_is_seen_and_one_message_in_750_is_mistaken_for_one() -> None:
    said: dict[str, str] = {}
    for path in sorted(LOGS.parent.glob("life*/*.jsonl")):
        said |= {f"{path.stem} {row['id']}": row["content"] for row in lines(path) if row.get("role") == "user"}
    asking = {said[name] for name in tomllib.loads(SAYINGS.read_text("utf-8"))["asks_in_logs"]}
    texts = [*dict.fromkeys(said.values())]
    seen = set(seen_by_meaning(texts))
    assert len(asking & seen) >= 0.95 * len(asking)
    assert len(seen - asking) <= len(texts) / 750


def test_where_words_say_little_more_is_asked_of_the_meaning() -> None:
    little, much = (PossibleRequest(Request(), LIKELY_BY_WORDS + step) for step in (-0.01, 0.0))
    assert [is_likely(little, LIKELY_BY_MEANING + step) for step in (-0.01, 0.0)] == [False, True]
    assert [is_likely(much, LIKELY + step) for step in (-0.01, 0.0)] == [False, True]
    assert LIKELY < LIKELY_BY_MEANING


def test_the_meaning_decides_between_requests_in_the_same_words() -> None:
    vectors = embedder().embed(["please don't keep that in your head", "i cant keep that weight off"], "passage")
    asks, tells = heads().judge([0.5, 0.5], list(vectors))
    assert asks > tells


@given(st.lists(st.floats(0, 1), max_size=8))
def test_the_surer_the_words_the_likelier_the_request(by_words: list[float]) -> None:
    vectors = [np.full(DIM, DIM**-0.5, np.float32)] * len(by_words)
    judged = heads().judge(sorted(by_words), vectors)
    assert all(0 <= share <= 1 for share in judged)
    assert np.all(np.diff(judged) >= -1e-3)
