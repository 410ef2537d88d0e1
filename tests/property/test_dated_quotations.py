"""A quotation that is shown says on which day it was said: that stays true when what was said is over."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ebbing import Memory
from ebbing.language.text.quotation import (
    answer_quotation,
    dated,
    is_answer,
    quotation,
    quoted_words,
    speaker_in,
    undated,
)
from tests.examples import examples

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40).filter(str.strip)
SPEAKERS = st.sampled_from(["User", "用户", "Lowri", "佟磊", "a said b"])
DAYS = st.dates().map(date.isoformat)


@settings(max_examples=examples(200))
@example("said: “x”", "User", "en", "2026-01-02", "")
@given(WORDS, SPEAKERS, st.sampled_from(["zh", "en"]), DAYS, st.sampled_from(["", "Which size?", "几号的鞋？"]))
def test_the_day_changes_nothing_of_what_a_quotation_says(
    words: str, speaker: str, language: str, day: str, question: str
) -> None:
    text = quotation(words, speaker, language=language)
    if question:
        text = answer_quotation(words, speaker, question=question, language=language)
    shown = dated(text, day)
    assert day in shown
    assert shown.replace(f"（{day}）", "").replace(f" ({day})", "") == text
    assert (quoted_words(shown), speaker_in(shown), is_answer(shown)) == (
        quoted_words(text),
        speaker_in(text),
        is_answer(text),
    )
    assert dated(shown, "1999-12-31") == shown
    assert undated(shown) == text


def test_what_is_kept_shows_the_day_on_the_clock_of_who_said_it(tmp_path: Path) -> None:
    talk = [
        {"role": "assistant", "content": "What size shoes do you take?", "timestamp": "2026-03-01T23:58:00-05:00"},
        {"role": "user", "content": "EU 44, wide", "timestamp": "2026-03-01T23:59:00-05:00"},
    ]
    shown = "User answered (2026-03-01): “What size shoes do you take? EU 44, wide”"
    with Memory(tmp_path) as memory:
        (added,) = [each for each in memory.add(talk, user_id="mia")["results"] if each["event"] == "ADD"]
        assert added["memory"] == shown
        assert memory.get(added["id"])["memory"] == shown
        assert [each["memory"] for each in memory.get_all(user_id="mia")["results"]] == [shown]
        assert shown in [each["memory"] for each in memory.search("shoe size", user_id="mia")["results"]]
        assert memory.explain(added["id"])["memory"] == shown


def test_what_is_written_by_hand_stays_as_it_was_written(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        added = memory.add("Bob said: “no”", user_id="mia", infer=False)["results"][0]
        assert memory.get(added["id"])["memory"] == "Bob said: “no”"
        memory.update(added["id"], "Bob said: “yes”")
        assert memory.get(added["id"])["memory"] == "Bob said: “yes”"


def test_a_text_with_its_day_can_be_sent_back_as_it_was_shown(tmp_path: Path) -> None:
    talk = [
        {"role": "assistant", "content": "你孩子多大了？", "timestamp": "2026-03-01T09:00:00+08:00"},
        {"role": "user", "content": "老大7岁,老二刚满3岁", "timestamp": "2026-03-01T09:01:00+08:00"},
    ]
    with Memory(tmp_path) as memory:
        (added,) = [each for each in memory.add(talk, user_id="mia")["results"] if each["event"] == "ADD"]
        assert added["memory"] == "用户回答（2026-03-01）：“你孩子多大了？ 老大7岁,老二刚满3岁”"
        before = memory.get(added["id"])
        memory.update(added["id"], added["memory"])
        assert memory.get(added["id"]) == before
        memory.update(added["id"], added["memory"].replace("2026-03-01", "2026-02-28"))
        assert "2026-02-28" in memory.get(added["id"])["memory"]
