"""Who wins when a fact meets what is known: the decider without a model."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from ebbing.domain.conflict.decision import Add, AddClosed, Decision, Fact, Ignore, Keep, Supersede, Update
from ebbing.domain.memory.record import MemoryRecord, MemoryType
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Insert
from ebbing.privacy.guarding.trust import TrustTier
from ebbing.remember.facts.known_memories import known_memory
from ebbing.remember.facts.new_fact import KnownMemory, NewFact, to_new_fact
from ebbing.remember.reconcile.decide import decide

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)


def home(city: str, **more: object) -> Fact:
    return Fact(f"User lives in {city}", attribute="home", value=city, **more)  # type: ignore[arg-type]


def taste(text: str, thing: str, polarity: int = 1) -> Fact:
    return Fact(text, type=MemoryType.PREFERENCE, object=thing, value=thing, polarity=polarity)


def heard(fact: Fact, *, name: str = "new", at: datetime = NOW, trust: TrustTier = TrustTier.USER) -> NewFact:
    record = MemoryRecord(
        id=name,
        belongs_to=Scope(user_id="ann"),
        content=fact.text,
        created_at=at,
        recorded_at=at,
        type=fact.type,
        attribute=fact.attribute,
        value=fact.value,
        object=fact.object,
        polarity=fact.polarity,
        confidence=fact.confidence,
        trust=trust,
    )
    return to_new_fact(fact, Insert(record, None))


def known(fact: Fact, *, name: str = "old", at: datetime = NOW - HOUR, similarity: float = 0.0) -> KnownMemory:
    return known_memory(heard(fact, name=name, at=at).record, similarity)


def decided(new: NewFact, *old: KnownMemory, threshold: float = 0.7) -> Decision:
    return decide([new], [old], confidence_threshold=threshold)[0]


def test_a_fact_about_nothing_known_is_added() -> None:
    assert isinstance(decided(heard(home("Boston"))), Add)


def test_the_same_words_are_kept_once() -> None:
    decision = decided(heard(home("Boston")), known(home("Boston")))
    assert isinstance(decision, Keep)
    assert decision.memory_id == "old"


def test_another_value_closes_the_known_one() -> None:
    decision = decided(heard(home("Denver")), known(home("Boston")))
    assert isinstance(decision, Supersede)
    assert (decision.memory_id, decision.reason) == ("old", "another value for home")


def test_every_value_that_no_longer_holds_is_closed() -> None:
    decision = decided(heard(home("Denver")), known(home("Boston")), known(home("Austin"), name="other"))
    assert isinstance(decision, Supersede)
    assert {decision.memory_id, *decision.closes} == {"old", "other"}


def test_a_more_exact_value_rewords_the_memory() -> None:
    decision = decided(heard(home("Boston Back Bay")), known(home("Boston")))
    assert isinstance(decision, Update)
    assert decision.text == "User lives in Boston Back Bay"


def test_a_fact_of_earlier_is_stored_as_something_that_was() -> None:
    decision = decided(heard(home("Boston"), at=NOW - 2 * HOUR), known(home("Denver")))
    assert isinstance(decision, AddClosed)
    assert decision.memory_id == "old"


def test_a_fact_of_earlier_wins_if_it_is_much_surer() -> None:
    doubtful = known(home("Denver", confidence=0.7))
    earlier = heard(home("Boston", confidence=0.95), at=NOW - 2 * HOUR)
    assert isinstance(decided(earlier, doubtful), Supersede)
    barely = heard(home("Boston", confidence=0.9), at=NOW - 2 * HOUR)
    assert isinstance(decided(barely, doubtful), AddClosed)


def test_what_one_is_not_sure_of_is_ignored() -> None:
    assert isinstance(decided(heard(home("Boston", confidence=0.6))), Ignore)
    assert isinstance(decided(heard(home("Boston", confidence=0.6)), threshold=0.5), Add)


def test_a_tool_may_state_but_neither_prefer_nor_overrule_the_user() -> None:
    assert isinstance(decided(heard(home("Boston"), trust=TrustTier.TOOL)), Add)
    assert isinstance(decided(heard(taste("User likes tea", "tea"), trust=TrustTier.TOOL)), Ignore)
    assert isinstance(decided(heard(home("Denver"), trust=TrustTier.TOOL), known(home("Boston"))), Ignore)


def test_the_opposite_taste_closes_the_known_one() -> None:
    decision = decided(heard(taste("User hates tea", "tea", -1)), known(taste("User likes tea", "tea")))
    assert isinstance(decision, Supersede)


def test_a_similar_text_about_another_thing_stands_beside() -> None:
    near = known(taste("User likes coffee", "coffee"), similarity=0.99)
    assert isinstance(decided(heard(taste("User likes latte", "latte")), near), Add)


def test_other_numbers_are_another_statement_however_similar() -> None:
    near = known(Fact("User paid 200 dollars for the bike"), similarity=0.99)
    assert isinstance(decided(heard(Fact("User paid 300 dollars for the bike")), near), Add)


def test_a_paraphrase_with_the_same_words_and_numbers_is_known() -> None:
    near = known(Fact("User owns a small red bike from 2019"), similarity=0.97)
    assert isinstance(decided(heard(Fact("User has a little red bike from 2019")), near), Keep)


def test_what_no_rule_reads_is_ignored_unless_it_ends_something() -> None:
    news = Fact("User cancelled their gym membership", tentative=True)
    assert isinstance(decided(heard(news)), Ignore)
    assert isinstance(decided(heard(news), known(Fact("User has a gym membership"))), Supersede)


def test_facts_of_one_call_are_compared_with_each_other() -> None:
    first, second = heard(home("Boston"), name="first"), heard(home("Denver"), name="second")
    one, two = decide([first, second], [(), ()], confidence_threshold=0.7)
    assert isinstance(one, Add)
    assert isinstance(two, Supersede)
    assert two.memory_id == "first"


def test_a_memory_is_closed_once_by_several_facts() -> None:
    old = known(home("Boston"))
    facts = [heard(home("Denver"), name="first"), heard(home("Austin"), name="second")]
    one, two = decide(facts, [(old,), (old,)], confidence_threshold=0.7)
    assert isinstance(one, Supersede)
    assert isinstance(two, Supersede)
    assert (one.memory_id, two.memory_id) == ("old", "first")


def test_another_speaker_lives_another_life() -> None:
    mine = known(home("Boston"))
    other = replace(mine, claim=replace(mine.claim, speaker="user:Bo"))
    assert isinstance(decided(heard(home("Denver")), other), Add)
