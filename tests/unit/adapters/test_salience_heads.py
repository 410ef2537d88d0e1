"""The bundled salience model: each message is judged by itself, and the labelled talks can be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.adapters.readers.salience_heads import PLACES, SalienceHeads, places_of
from ebbing.ports.models.salience import KINDS
from training.messages import single_messages
from training.parse import DATA, HARMFUL, LabelError, read_messages

DIM = 384


@pytest.fixture(scope="module")
def heads() -> SalienceHeads:
    return SalienceHeads("model")


def vectors(count: int, *, seed: int = 1) -> np.ndarray:
    drawn = np.random.default_rng(seed).standard_normal((count, DIM)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


TEXTS = ["i'm allergic to bees", "lol", "我妈下周做手术", "", "\ud800?", "x" * 5_000]


@pytest.mark.parametrize("in_talk", [True, False])
def test_a_message_is_judged_alike_alone_and_among_others(heads: SalienceHeads, in_talk: bool) -> None:
    drawn = vectors(len(TEXTS))
    together = heads.judge(TEXTS, list(drawn), in_talk=in_talk)
    alone = [heads.judge([text], [vector], in_talk=in_talk)[0] for text, vector in zip(TEXTS, drawn, strict=True)]
    assert [item.kind for item in together] == [item.kind for item in alone]
    assert np.allclose([item.probability for item in together], [item.probability for item in alone], atol=1e-4)
    assert {item.kind for item in together} <= set(KINDS)


def test_nothing_is_judged_where_there_is_nothing(heads: SalienceHeads) -> None:
    assert heads.judge([], [], in_talk=True) == []


def test_an_illness_speaks_for_a_message_and_a_laugh_against_it(heads: SalienceHeads) -> None:
    [vector] = vectors(1)
    texts = ["i'm allergic to penicillin since i was 7", "haha ok see you later"]
    ill, laugh = heads.judge(texts, [vector, vector], in_talk=False)
    assert ill.probability > laugh.probability


def test_what_comes_by_itself_is_more_often_worth_it_than_the_same_in_a_talk(heads: SalienceHeads) -> None:
    drawn = vectors(40, seed=2)
    texts = ["the spare key is under the blue pot"] * len(drawn)
    by_itself, within = (heads.judge(texts, list(drawn), in_talk=in_talk) for in_talk in (False, True))
    assert np.mean([a.probability > b.probability for a, b in zip(by_itself, within, strict=True)]) > 0.9


@given(st.text(max_size=200))
def test_pieces_have_places_in_order_and_once(text: str) -> None:
    places = places_of(text)
    assert np.all(np.diff(places) > 0)
    assert not len(places) or 0 <= places[0] <= places[-1] < PLACES


def test_every_labelled_talk_can_be_read() -> None:
    labels = set[str]()
    for path in sorted((DATA / "messages").glob("*.txt")):
        for talk in read_messages(path):
            assert len(talk.turns) == len(talk.labels) > 50
            labels |= set(talk.labels)
    assert labels == {*KINDS, HARMFUL, ""}


def test_every_single_message_can_be_read() -> None:
    messages = list(single_messages())
    assert {message.kind for message in messages} == {*KINDS, None}
    assert len({(message.author, message.text) for message in messages}) == len(messages) > 900


def test_an_unknown_label_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    path.write_text("== x | en | a talk\n1 [Ann] hello ## greeting\n", "utf-8")
    with pytest.raises(LabelError, match=r"m\.txt:2"):
        read_messages(path)
