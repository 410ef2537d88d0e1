"""Which memories may be used, and which are put in front of a model unasked."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from ebbing.assistant import hits_to_inject
from ebbing.client.service import HostPolicy
from ebbing.domain.filters.query import Hit
from ebbing.domain.memory.record import Kind, MemoryRecord, MemoryType, Provenance, Role
from ebbing.domain.memory.scope import Scope
from ebbing.recall.context.usage_policy import DEFAULT, Policy, apply_usage_policy, is_standing, is_usable

NOW = datetime(2024, 5, 1, tzinfo=UTC)


def record(text: str, *, scope: str = "global", type: MemoryType = MemoryType.FACT) -> MemoryRecord:
    return MemoryRecord(text, Scope(user_id="u"), text, created_at=NOW, recorded_at=NOW, scope=scope, type=type)


def hit(text: str, score: float, *, scope: str = "global", type: MemoryType = MemoryType.FACT) -> Hit:
    return Hit(record(text, scope=scope, type=type), score=score, rank_score=score)


def texts(hits: list[Hit]) -> list[str]:
    return [one.record.content for one in hits]


@given(st.lists(st.floats(0.05, 1.0), max_size=12), st.sampled_from([DEFAULT, HostPolicy()]))
def test_scores_where_right_and_wrong_answers_overlap_hide_no_answer(
    scores: list[float], policy: Policy | HostPolicy
) -> None:
    hits = [hit(str(number), score) for number, score in enumerate(sorted(scores, reverse=True))]
    bound = Policy(top_k=policy.top_k, min_score=policy.min_score)
    assert apply_usage_policy(hits, bound) == hits[: policy.top_k]
    assert policy.top_k >= 10
    assert policy.max_chars == 1_200


def test_threshold_and_number_both_hold() -> None:
    hits = [hit(str(n), 0.9 - n / 20) for n in range(10)]
    assert texts(apply_usage_policy(hits, Policy(top_k=5))) == ["0", "1", "2", "3", "4"]
    assert texts(apply_usage_policy(hits, Policy(min_score=0.8))) == ["0", "1", "2"]
    assert apply_usage_policy([hit("weak", 0.04)]) == []
    assert texts(apply_usage_policy([hit("just", 0.05)])) == ["just"]


def test_memories_of_the_session_come_first_but_three_at_most() -> None:
    hits = [hit("g1", 0.95), *(hit(f"s{n}", 0.9 - n / 50, scope="session:x") for n in range(4)), hit("g2", 0.7)]
    assert texts(apply_usage_policy(hits, Policy(top_k=5), session="x")) == ["s0", "s1", "s2", "g1", "s3"]
    assert texts(apply_usage_policy(hits, Policy(top_k=5))) == ["g1", "s0", "s1", "s2", "s3"]


def test_a_memory_of_another_session_or_channel_may_not_be_used() -> None:
    assert is_usable(record("a"), session="x")
    assert is_usable(record("a", scope="session:x"), session="x")
    assert not is_usable(record("a", scope="session:y"), session="x")
    assert not is_usable(record("a", scope="session:x"))
    assert not is_usable(record("a", scope="session:None"))
    assert is_usable(record("a", scope="channel:web"), channel="web")
    assert not is_usable(record("a", scope="channel:web"), channel="app")


def test_advice_starts_from_likes_and_limits_at_half_the_score() -> None:
    hits = [
        hit("allergic", 0.2, type=MemoryType.CONSTRAINT),
        hit("likes", 0.15, type=MemoryType.PREFERENCE),
        hit("lives", 0.25),
        hit("hates", 0.14, type=MemoryType.PREFERENCE),
    ]
    policy = Policy(min_score=0.3)
    assert apply_usage_policy(hits, policy) == []
    assert texts(apply_usage_policy(hits, policy, advice=True)) == ["allergic", "likes"]


def test_a_raw_sentence_may_state_a_limit_too() -> None:
    def raw(text: str, role: Role) -> MemoryRecord:
        source = Provenance(method="raw")
        return MemoryRecord("1", Scope(user_id="u"), text, NOW, NOW, kind=Kind.EPISODE, role=role, provenance=source)

    assert is_standing(raw("我海鲜过敏，别推荐海鲜", Role.USER))
    assert is_standing(raw("I hate horror movies", Role.USER))
    assert not is_standing(raw("I saw a film", Role.USER))
    assert not is_standing(raw("I love helping you", Role.ASSISTANT))


def test_a_general_assistant_is_given_what_surely_answers() -> None:
    hits = [hit("sure", 0.81), hit("likely", 0.8)]
    assert texts(hits_to_inject(hits)) == ["sure"]
    assert hits_to_inject(hits[1:], "general") == []


def test_an_assistant_that_recommends_or_is_personal_is_always_given_everything() -> None:
    hits = [hit("sure", 0.9), hit("weak", 0.61)]
    assert texts(hits_to_inject(hits, "recommendation")) == texts(hits_to_inject(hits, "personal")) == ["sure", "weak"]


def test_an_assistant_with_tools_of_its_own_is_given_nothing_unasked() -> None:
    assert hits_to_inject([hit("sure", 0.99)], "tool") == []
