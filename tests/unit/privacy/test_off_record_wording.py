"""Requests off the record in words that no rule knows: how many are seen, and that ordinary talk is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.privacy.guarding.off_record import OPEN, Request, off_record_request, request_by_rules
from ebbing.privacy.guarding.off_record_wording import MAX_READ, asking, clauses_of, tokens_of

REPOSITORY = Path(__file__).parents[3]
HELD = REPOSITORY / "training" / "data" / "off_record_held"
ASKING_IN_LOGS = (
    "this bit's off the record, dont be saving it anywhere",
    "right this stays between you and me",
    "garage code for the new place is 4471",
    "刚才我说他坏话那几句",
    "this next bit you dont keep or write down anywhere ok",
    "i'm not going to. probably. off the record",
    "this next is not for writing down",
    "ok this one dont save please",
    "dont keep this now. i found a lump",
    "这个事莫让浩浩晓得",
)
"""Messages of the logs that do ask: seen rightly, as no rule sees them."""
LOGS = REPOSITORY / "evals" / "data"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_most_requests_of_authors_that_nothing_was_learned_from_are_seen(language: str) -> None:
    rows = [row for path in sorted(HELD.glob("*.jsonl")) for row in lines(path) if row["lang"] == language]
    asked = [row["text"] for row in rows if row["secret"]]
    seen = [text for text in asked if off_record_request(text)]
    by_rules = [text for text in asked if request_by_rules(text)]
    assert len(seen) >= 0.65 * len(asked)
    assert len(by_rules) < 0.4 * len(asked), "the rules alone would do: is the model still worth its place?"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_few_messages_that_were_written_to_look_like_a_request_are_taken_for_one(language: str) -> None:
    rows = [row for path in sorted(HELD.glob("*.jsonl")) for row in lines(path) if row["lang"] == language]
    others = [row["text"] for row in rows if not row["secret"]]
    assert sum(off_record_request(text) is not None for text in others) <= 0.15 * len(others)


def test_of_everyday_talk_next_to_nothing_is_taken_for_a_request() -> None:
    paths = [path for folder in ("life", "life_unseen") for path in sorted((LOGS / folder).glob("*.jsonl"))]
    said = [row["content"] for path in paths for row in lines(path) if row.get("role") == "user"]
    assert len(said) > 4_000
    noticed = [
        text
        for text in said
        if off_record_request(text) and not request_by_rules(text) and not text.startswith(ASKING_IN_LOGS)
    ]
    assert len(noticed) <= 0.0015 * len(said)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("this next bit you dont keep or write down anywhere ok. joanne walked out when he was 4", (False, False)),
        ("i'm not going to. off the record and i mean don't store this - there's a job at the uni", (False, False)),
        ("so the thing about me being on probation? scratch that from whatever you keep on me", (False, False)),
        ("oi wipe that off ur memory", (True, False)),
        ("顺便这个不用帮我记着 我在吃舍曲林 能喝咖啡吗", (False, False)),
        ("你可别往你那小本本上记 俺爹在外头有人了", (False, False)),
    ],
)
def test_a_request_is_about_its_message_and_alone_about_the_one_before(text: str, about: tuple[bool, bool]) -> None:
    assert off_record_request(text) == Request(*about)


@pytest.mark.parametrize(
    "text",
    [
        "有个事儿你给我记着 我青霉素过敏 八几年打一针差点没过去",
        "and for the record i do not eat rhubarb",
        "please remember that I don't work fridays any more",
        "you can keep this one, my sister knows it all",
        "evening. I'm Gary, 51, live in Hyde with my wife Jo. keep your replies brief please and no lists",
        "",
    ],
)
def test_who_asks_to_be_remembered_is_remembered(text: str) -> None:
    assert off_record_request(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "he said dont keep this anywhere in your notes",
        "my boss said: not something you should be keeping a note of",
        "she goes don't you be writing that down in your little memory",
        "this record is out of print, don't bother looking for it",
        "delete that last function, it isn't needed any more",
        "please don't save the file as docx, pdf only",
        "笔记本没电了，资料都没存",
        "太晒了，别在外面说了",
    ],
)
def test_others_words_and_other_things_are_no_request(text: str) -> None:
    assert off_record_request(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "keep your answers short. and this is not something i want you keeping: i'm on probation",
        "这条你可别给我记一笔 简短回答就行 我离婚了",
    ],
)
def test_a_wish_about_answers_hides_no_request(text: str) -> None:
    assert off_record_request(text) == Request()


@given(st.text(max_size=300))
def test_any_text_has_a_probability_and_none_of_its_words_is_lost(text: str) -> None:
    asked = asking(text)
    assert 0.0 <= asked.probability <= 1.0
    assert set(tokens_of(text)) == set(asked.words.split()) | set(asked.rest.split())


@given(st.text(alphabet="ab ,", max_size=200))
def test_clauses_hold_every_token_at_its_place(text: str) -> None:
    tokens = tokens_of(text)
    held = {clause.start + step: token for clause in clauses_of(text) for step, token in enumerate(clause.tokens)}
    assert held == dict(enumerate(tokens))


def test_of_a_very_long_text_both_ends_are_read() -> None:
    filler = "we went to the market and bought plums. " * MAX_READ
    request = "please don't keep any of this in your memory"
    assert asking(f"{request}. {filler}").probability > 0.5
    assert asking(f"{filler}. {request}").probability > 0.5
    assert asking(filler).probability < 0.5


IDS = (
    "wa5ace58d9c w98ce3df6f7 w6d17e2093f w3366be6400 w1b81b661bb wf89f1cb09c w7066f982af wc3c924df36 wb09958b36e"
    " w97d793b9db wf61165bd76 w585cde65c8"
)
"""They were taken for a request."""


def test_ids_ask_for_nothing() -> None:
    assert off_record_request(IDS) is None


@given(st.lists(st.uuids(), min_size=1, max_size=9))
def test_no_list_of_ids_asks_for_anything(ids: list[UUID]) -> None:
    assert off_record_request(" ".join(map(str, ids))) is None
    assert asking(" ".join(each.hex for each in ids)).probability < OPEN
