"""What a language model proposes counts where nothing speaks against it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ebbing.domain.conflict.decision import Add, AddClosed, Decision, Fact, Ignore, Keep, Supersede, Update
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Insert
from ebbing.privacy.guarding.trust import TrustTier
from ebbing.remember.facts.known_memories import known_memory
from ebbing.remember.facts.new_fact import KnownMemory, NewFact, to_new_fact
from ebbing.remember.reconcile.decide import LlmProposal, decide

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
CHOIR = Fact("User sings in the choir")
LEFT = Fact("User has no time for singing")


def heard(fact: Fact, *, name: str = "new", at: datetime = NOW, trust: TrustTier = TrustTier.USER) -> NewFact:
    record = MemoryRecord(
        id=name,
        belongs_to=Scope(user_id="ann"),
        content=fact.text,
        created_at=at,
        recorded_at=at,
        attribute=fact.attribute,
        value=fact.value,
        confidence=fact.confidence,
        trust=trust,
    )
    return to_new_fact(fact, Insert(record, None))


def known(fact: Fact = CHOIR, *, at: datetime = NOW - HOUR, **more: Any) -> KnownMemory:
    return known_memory(heard(fact, name="old", at=at, **more).record)


def decided(new: NewFact, old: KnownMemory, proposal: Decision, *, version: int = 1) -> Decision:
    proposed = LlmProposal({new.record.id: proposal}, {old.record.id: version})
    return decide([new], [[old]], confidence_threshold=0.7, proposal=proposed)[0]


@pytest.mark.parametrize(
    "proposal",
    [Supersede(LEFT, "old", "over"), Keep(LEFT, "old", "known"), Update(LEFT, "old", "User sang in a choir", "more")],
)
def test_a_proposal_about_what_the_rules_leave_open_counts(proposal: Decision) -> None:
    assert decided(heard(LEFT), known(), proposal) is proposal


def test_a_proposal_about_a_memory_that_was_changed_since_is_dropped() -> None:
    assert isinstance(decided(heard(LEFT), known(), Supersede(LEFT, "old", "over"), version=0), Add)


def test_a_proposal_about_a_memory_that_is_not_there_is_dropped() -> None:
    assert isinstance(decided(heard(LEFT), known(), Supersede(LEFT, "other", "over")), Add)
    assert isinstance(decided(heard(LEFT), known(), Supersede(LEFT, "old", "over", closes=("other",))), Add)


def test_a_memory_that_an_earlier_fact_closed_is_not_closed_again() -> None:
    first, second = heard(LEFT, name="one"), heard(Fact("User prefers to paint"), name="two")
    closing = {one.record.id: Supersede(one.fact, "old", "over") for one in (first, second)}
    decisions = decide(
        [first, second], [[known()], [known()]], confidence_threshold=0.7, proposal=LlmProposal(closing, {"old": 1})
    )
    assert [type(one) for one in decisions] == [Supersede, Add]


@pytest.mark.parametrize("proposal", [Supersede(LEFT, "old", "over"), Update(LEFT, "old", "User left", "more")])
def test_a_document_cannot_change_what_the_user_said_by_way_of_the_model(proposal: Decision) -> None:
    assert isinstance(decided(heard(LEFT, trust=TrustTier.DOCUMENT), known(), proposal), Add)
    assert decided(heard(LEFT, trust=TrustTier.DOCUMENT), known(trust=TrustTier.DOCUMENT), proposal) is proposal


def test_the_model_cannot_let_older_news_end_a_newer_memory() -> None:
    assert isinstance(decided(heard(LEFT, at=NOW - 2 * HOUR), known(), Supersede(LEFT, "old", "over")), Add)


def test_what_the_rules_end_is_ended() -> None:
    york = Fact("User lives in York", attribute="home", value="York")
    leeds = Fact("User lives in Leeds", attribute="home", value="Leeds")
    for proposal in (Add(leeds, "new"), Keep(leeds, "old", "known"), Update(leeds, "old", "User lives", "more")):
        assert isinstance(decided(heard(leeds), known(york), proposal), Supersede)
        assert isinstance(decided(heard(leeds, at=NOW - 2 * HOUR), known(york), proposal), AddClosed)


def test_the_same_words_are_not_stored_twice() -> None:
    assert isinstance(decided(heard(CHOIR), known(), Add(CHOIR, "new")), Keep)


def test_a_doubtful_fact_is_not_kept_whatever_the_model_says() -> None:
    doubtful = replace(LEFT, confidence=0.6)
    assert isinstance(decided(heard(doubtful), known(), Supersede(doubtful, "old", "over")), Ignore)
