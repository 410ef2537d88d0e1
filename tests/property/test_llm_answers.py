"""Whatever JSON a model answers with, reading it gives facts and decisions, or none; never an error."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ebbing.domain.conflict.decision import Add, Fact, Keep, Supersede, Update
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.privacy.guarding.strip_recalled import strip_recalled
from ebbing.remember.llm.parse_decisions import Case, decisions_of, proposals
from ebbing.remember.llm.parse_facts import SourceReading, facts_in, summary_in
from ebbing.remember.llm.transcript import Piece, chunks

NOW = datetime(2024, 5, 1, tzinfo=UTC)
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 5)
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(["I like tea", "我喜欢茶", "ADD", "UPDATE", "DELETE", "NONE", "home", "preference", "2024-05-02"])
)
NAMES = st.sampled_from(
    "text category type message quote sure confidence attribute value fact action memory reason id event summary "
    "should_remember".split()
)
ITEMS = st.dictionaries(NAMES, VALUES | st.lists(VALUES, max_size=2), max_size=9) | VALUES
READING = SourceReading([Piece(0, Message("I like tea. 我喜欢茶"), "I like tea. 我喜欢茶")], rule="m p.en.1", now=NOW)
MEMORIES = [
    MemoryRecord(name, Scope("u"), text, created_at=NOW, recorded_at=NOW, role=Role.USER, polarity=polarity)
    for name, text, polarity in (("a", "User likes tea", 1), ("b", "User has 2 cats", 0))
]
CASES = [Case(at, Fact(text), tuple(MEMORIES), NOW) for at, text in enumerate(["User loves tea", "User has 3 cats"])]


@given(st.lists(ITEMS, max_size=6) | VALUES)
def test_facts_are_clean_whatever_the_answer(items: Any) -> None:
    for fact in facts_in(items, READING):
        assert 0 < len(fact.text) <= 600
        assert "\n" not in fact.text
        assert 0.5 <= fact.confidence <= 0.9
        assert 0.0 <= fact.importance <= 1.0
        assert (fact.source, fact.about, fact.method) == (0, "user", "llm")
        assert fact.attribute is None or fact.value


@given(st.dictionaries(NAMES, VALUES, max_size=9))
def test_a_summary_is_one_fact_or_none(value: dict[str, Any]) -> None:
    assert len(summary_in(value, READING)) <= 1


@given(st.lists(ITEMS, max_size=8))
def test_decisions_name_only_what_was_shown_and_change_it_once(items: list[Any]) -> None:
    proposed: dict[int, list[Any]] = {}
    for case, proposal in proposals(items, cases=CASES, memories=MEMORIES):
        proposed.setdefault(case.number, []).append(proposal)
    changed: set[str] = set()
    touched: list[str] = []
    for case in CASES:
        decision = decisions_of(case, proposed.get(case.number, ()), changed=changed)
        assert decision is None or isinstance(decision, Add | Keep | Supersede | Update)
        if isinstance(decision, Supersede | Update):
            touched += [decision.memory_id, *decision.closes]
        if isinstance(decision, Keep):
            touched += decision.closes
    assert len(touched) == len(set(touched))
    assert set(touched) <= {"a", "b"}


@given(st.lists(st.text(max_size=400), max_size=12), st.integers(30, 400))
def test_every_message_of_a_conversation_is_shown_in_order(texts: list[str], limit: int) -> None:
    talk = [Message(text.strip()) for text in texts]
    shown = [piece.number for chunk in chunks(talk, limit_tokens=limit) for piece in chunk.pieces]
    assert shown == sorted(shown)
    assert set(shown) == {at for at, message in enumerate(talk) if strip_recalled(message.content).strip()}
