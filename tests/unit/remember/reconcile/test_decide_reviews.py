"""What may not be ended: by too much at once, by a name in common, or what warns of harm by what does not name it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ebbing.domain.conflict.decision import Add, AddForReview, Decision, Fact, Ignore, Supersede, Update
from ebbing.domain.memory.record import NEEDS_REVIEW, MemoryRecord, MemoryType, Role
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import Insert
from ebbing.remember.facts.known_memories import known_memory
from ebbing.remember.facts.new_fact import KnownMemory, NewFact, to_new_fact
from ebbing.remember.reconcile.apply_decisions import to_changes
from ebbing.remember.reconcile.decide import LlmProposal, decide

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
PEANUTS = Fact("User is allergic to peanuts", type=MemoryType.CONSTRAINT, tags=("constraint", "health"))


def heard(fact: Fact, *, name: str = "new", at: datetime = NOW, actor: str | None = None) -> NewFact:
    record = MemoryRecord(
        id=name,
        belongs_to=Scope(user_id="ann"),
        content=fact.text,
        created_at=at,
        recorded_at=at,
        type=fact.type,
        actor=actor,
        role=Role.USER,
        tags=fact.tags,
        attribute=fact.attribute,
        value=fact.value,
        object=fact.object,
        polarity=fact.polarity,
        confidence=fact.confidence,
    )
    return to_new_fact(fact, Insert(record, None))


def known(*facts: Fact, actor: str | None = None) -> list[KnownMemory]:
    return [
        known_memory(heard(fact, name=f"old{n}", at=NOW - HOUR, actor=actor).record) for n, fact in enumerate(facts)
    ]


def proposed(fact: Fact, around: list[KnownMemory], decision: Decision) -> Decision:
    versions = {one.record.id: one.record.version for one in around}
    return decide([heard(fact)], [around], confidence_threshold=0.7, proposal=LlmProposal({"new": decision}, versions))[
        0
    ]


CLUBS = (Fact("User sings in the choir"), Fact("User leads the choir"), Fact("User likes the choir"))
LEFT = Fact("User left the choir for the theatre", source_text="I left the choir for the theatre")


def test_a_sentence_that_would_end_three_memories_ends_none_and_is_put_up_for_review() -> None:
    around = known(*CLUBS)
    decision = proposed(LEFT, around, Supersede(LEFT, "old0", "over", closes=("old1", "old2")))
    assert isinstance(decision, AddForReview)
    assert decision.memory_ids == ("old0", "old1", "old2")


def test_a_sentence_may_end_two_memories() -> None:
    around = known(*CLUBS[:2])
    decision = proposed(LEFT, around, Supersede(LEFT, "old0", "over", closes=("old1",)))
    assert isinstance(decision, Supersede)


def test_the_facts_of_one_sentence_are_counted_together() -> None:
    sentence = "我不住北京了，辞职了，也和小林分手了，车也卖了"
    new = [
        Fact("用户不住北京了", source_text=sentence, ended=True),
        Fact("用户辞职了", source_text=sentence),
        Fact("用户把车卖了", source_text=sentence),
    ]
    around = known(
        Fact("用户住在北京", attribute="home", value="北京"),
        Fact("用户在腾讯上班", attribute="employer", value="腾讯"),
        Fact("用户有一辆车"),
    )
    one_by_one = [decide([heard(fact)], [around], confidence_threshold=0.7)[0] for fact in new]
    assert all(isinstance(decision, Supersede) for decision in one_by_one)
    together = decide(
        [heard(fact, name=f"new{n}") for n, fact in enumerate(new)], [around] * 3, confidence_threshold=0.7
    )
    assert all(isinstance(decision, AddForReview) for decision in together)


def test_what_waits_for_review_is_tagged_names_what_it_would_end_and_gives_no_value() -> None:
    fact = Fact("User lives in Rome", attribute="home", value="Rome")
    one = heard(fact)
    [change] = to_changes(
        [(one, AddForReview(fact, ("a", "b", "c"), "for review"))], candidates=(), now=NOW, wordings={}
    )
    assert NEEDS_REVIEW in change.record.tags
    assert change.record.related_ids == ("a", "b", "c")
    assert change.record.attribute is None


@pytest.mark.parametrize(
    "text",
    [
        "User is not hungry any more",
        "User moved to Denver",
        "User no longer eats at the corner bar",
        "User's rash is gone",
    ],
)
def test_a_model_ends_no_allergy_by_a_statement_that_does_not_name_it(text: str) -> None:
    fact = Fact(text)
    assert not isinstance(proposed(fact, known(PEANUTS), Supersede(fact, "old0", "over")), Supersede)


def test_a_model_rewords_no_allergy_into_something_else() -> None:
    fact = Fact("User eats everything now")
    assert not isinstance(proposed(fact, known(PEANUTS), Update(fact, "old0", "User eats everything", "more")), Update)


def test_a_statement_that_names_the_allergen_ends_the_allergy() -> None:
    fact = Fact("User is no longer allergic to peanuts", ended=True)
    assert isinstance(decide([heard(fact)], [known(PEANUTS)], confidence_threshold=0.7)[0], Supersede)


def test_the_loss_of_one_of_two_allergies_is_put_up_for_review() -> None:
    both = Fact("User is allergic to peanuts and shellfish", type=MemoryType.CONSTRAINT, tags=("health",))
    fact = Fact("User is no longer allergic to shellfish", ended=True)
    decision = proposed(fact, known(both), Supersede(fact, "old0", "over"))
    assert isinstance(decision, Add | AddForReview)


def test_a_model_ends_nothing_that_has_only_the_name_of_the_speaker_in_common() -> None:
    fact = Fact("周航没事了")
    around = known(Fact("周航是素食主义者", tags=("diet",)), actor="周航")
    new = heard(fact, actor="周航")
    plan = LlmProposal({"new": Supersede(fact, "old0", "over")}, {"old0": 1})
    assert isinstance(decide([new], [around], confidence_threshold=0.7, proposal=plan)[0], Add)


def test_a_value_of_nobody_in_particular_replaces_none() -> None:
    weight = Fact("用户70公斤", attribute="weight", value="70公斤")
    fact = Fact("用户12斤", attribute="weight", value="12斤", source_text="12斤，半年")
    assert isinstance(decide([heard(fact)], [known(weight)], confidence_threshold=0.7)[0], Ignore)


def test_a_second_job_leaves_the_first_the_only_value() -> None:
    fact = Fact("User also works as a DJ", attribute="job", value="DJ")
    decision = decide([heard(fact)], [known(Fact("User is a nurse", attribute="job", value="nurse"))],
                      confidence_threshold=0.7)[0]  # fmt: skip
    assert isinstance(decision, Add)
    assert not decision.is_the_value


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("User is a plumber, two kids and a beagle", "User got a new job as a teacher"),
        ("User is a plumber with two kids", "User is a teacher now"),
    ],
)
def test_a_new_job_does_not_end_the_children(before: str, after: str) -> None:
    old, new = Fact(before, attribute="job", value="plumber"), Fact(after, attribute="job", value="teacher")
    assert isinstance(decide([heard(new)], [known(old)], confidence_threshold=0.7)[0], AddForReview)
