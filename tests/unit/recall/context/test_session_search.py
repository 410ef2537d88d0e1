"""The last rounds of a conversation, and what of it answers a question."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.language.text.token_count import estimate_tokens
from ebbing.ports.working_memory import Turn
from ebbing.recall.context.session_search import last_rounds, match_session_turns

ROLES = {"u": Role.USER, "a": Role.ASSISTANT, "t": Role.TOOL}


def turns(*said: str) -> list[Turn]:
    """Each as `u:hello`."""
    messages = [Message(text[2:], ROLES[text[0]]) for text in said]
    return [Turn(message, estimate_tokens(message.content)) for message in messages]


def kept(said: list[Turn], *, rounds: int = 10, tokens: int = 1_000) -> list[str]:
    return [turn.message.content for turn in last_rounds(said, rounds=rounds, tokens=tokens)]


def test_a_round_begins_where_the_user_speaks_after_somebody_else() -> None:
    said = turns("u:one", "a:two", "u:three", "u:four", "t:five", "a:six", "u:seven")
    assert kept(said, rounds=1) == ["seven"]
    assert kept(said, rounds=2) == ["three", "four", "five", "six", "seven"]
    assert len(kept(said, rounds=3)) == 7


def test_a_round_that_does_not_fit_is_left_out_whole() -> None:
    said = turns("u:" + "茶" * 50, "a:" + "茶" * 5, "u:" + "水" * 5, "a:" + "水" * 5)
    assert kept(said, tokens=20) == ["水" * 5] * 2
    assert len(kept(said, tokens=65)) == 4


def test_of_a_newest_round_that_is_too_long_the_last_messages_stay() -> None:
    said = turns("u:" + "茶" * 50, "a:" + "水" * 5)
    assert kept(said, tokens=20) == ["水" * 5]
    assert kept(turns("u:" + "茶" * 50), tokens=20) == []
    assert kept([]) == []


@given(
    st.lists(st.tuples(st.sampled_from("uat"), st.integers(1, 40)), max_size=30),
    st.integers(1, 5),
    st.integers(1, 100),
)
def test_the_last_rounds_are_an_end_within_both_limits(said: list[tuple[str, int]], rounds: int, tokens: int) -> None:
    whole = [Turn(Message(str(at), ROLES[who]), cost) for at, (who, cost) in enumerate(said)]
    last = last_rounds(whole, rounds=rounds, tokens=tokens)
    assert last == whole[len(whole) - len(last) :]
    assert sum(turn.tokens for turn in last) <= tokens
    speakers = [turn.message.role for turn in last]
    begun = sum(one is not Role.USER and two is Role.USER for one, two in pairwise(speakers))
    assert begun < rounds or not last
    if whole and whole[-1].tokens <= tokens:
        assert last


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When does my train leave?", "My train leaves at ten past eight"),
        ("我的火车几点开？", "我的火车八点十分开"),
    ],
)
def test_a_turn_that_holds_the_words_of_a_question_answers_it(question: str, answer: str) -> None:
    said = turns(f"u:{answer}", "a:Noted, thank you. 好的", f"u:{question}")
    [found] = match_session_turns(question, said)
    assert found.message.content == answer
    assert 0 < found.score <= 1
    assert 0.5 <= found.coverage <= 1


def test_at_most_three_turns_answer_and_the_newest_of_equals_is_first() -> None:
    said = turns(*(f"u:green tea number {number}" for number in range(5)), "u:just tea")
    found = match_session_turns("Is there green tea?", said)
    assert [one.message.content for one in found] == [f"green tea number {number}" for number in (4, 3, 2)]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_a_question_without_words_or_with_others_finds_nothing() -> None:
    assert match_session_turns("?!", turns("u:?!")) == []
    assert match_session_turns("Where did I park the car?", turns("u:I like green tea")) == []
