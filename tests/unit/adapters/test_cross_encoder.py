"""The bundled reader: what it says of a pair depends on that pair alone, and any text is read."""

from __future__ import annotations

import numpy as np
import pytest

from ebbing.adapters.embedders.e5 import E5Embedder
from ebbing.adapters.readers.cross_encoder import CrossEncoderReader
from tests.hostile import KINDS

pytestmark = pytest.mark.anyio

QUESTION = "What medicine must I avoid?"
MEMORIES = ["User is allergic to penicillin.", "我对青霉素过敏", "User likes jazz.", "Dana: the bus was late again lol"]


@pytest.fixture(scope="module")
def reader() -> CrossEncoderReader:
    return CrossEncoderReader(E5Embedder.load())


async def test_what_answers_is_likelier_than_what_does_not_in_both_languages(reader: CrossEncoderReader) -> None:
    english, chinese, *others = await reader.answers(QUESTION, MEMORIES)
    assert min(english, chinese) > 0.5 > max(others)


async def test_a_pair_is_judged_by_itself(reader: CrossEncoderReader) -> None:
    together = await reader.answers(QUESTION, MEMORIES)
    alone = [(await reader.answers(QUESTION, [memory]))[0] for memory in MEMORIES]
    assert np.allclose(together, alone, atol=1e-5)


def test_the_end_of_a_long_question_and_of_what_was_said_before_it_is_read(reader: CrossEncoderReader) -> None:
    filler = " ".join(f"sentence number {number} says nothing at all." for number in range(60))
    ends = (QUESTION, "When is the choir?")
    questions = reader.read([("", f"{filler} {end}", MEMORIES[0]) for end in ends])
    turns_before = reader.read([(f"{filler} {end}", "and that?", MEMORIES[0]) for end in ends])
    for outputs in (questions, turns_before):
        assert not np.allclose(outputs[0], outputs[1], atol=0.05)


async def test_nothing_to_judge_is_no_error(reader: CrossEncoderReader) -> None:
    assert await reader.answers(QUESTION, []) == []


@pytest.mark.parametrize("text", [text for texts in KINDS.values() for text in texts])
def test_any_text_is_read(reader: CrossEncoderReader, text: str) -> None:
    outputs = reader.read([(text, text, text), ("", QUESTION, text)])
    assert np.isfinite(outputs).all()
