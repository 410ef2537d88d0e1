"""Decisions of a model: sensible ones are taken, senseless ones lose nothing."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ebbing.domain.conflict.decision import Add, Fact, Keep, Supersede, Update
from ebbing.domain.errors import ModelUnavailableError
from ebbing.domain.memory.record import MemoryRecord, Role
from ebbing.domain.memory.scope import Scope
from ebbing.remember.llm.client import LlmOptions
from ebbing.remember.llm.decide import Decided, decide_with_model
from ebbing.testing.models.chat_model import ScriptedChatModel

pytestmark = pytest.mark.anyio

NOW = datetime(2024, 5, 1, tzinfo=UTC)
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")
SISTER = "0190d2a4-0000-7000-8000-00000000000a"
OTHER = "0190d2a4-0000-7000-8000-00000000000b"


def known(memory_id: str, text: str, **more: Any) -> MemoryRecord:
    said = NOW - timedelta(days=30)
    values = {"created_at": said, "recorded_at": said, "role": Role.USER} | more
    return MemoryRecord(id=memory_id, belongs_to=Scope("u"), content=text, **values)


def action(name: str, memory: Any = None, fact: Any = 0, **more: Any) -> dict[str, Any]:
    return {"fact": fact, "action": name, "memory": memory, "text": None, "reason": "because"} | more


async def decided(
    actions: Any, fact: Fact, *memories: MemoryRecord, said_at: datetime = NOW, asking: LlmOptions | None = None
) -> Decided:
    """What becomes of one fact; `actions` are the model's answer."""
    answer = {"decisions": actions} if isinstance(actions, list) else actions
    asking = asking or LlmOptions(ScriptedChatModel(answer))
    return await decide_with_model(asking, [fact], related=[memories], said_at=[said_at])


# ── the examples of the designs ──────────────────────────────────────────────────────────────────────────────────────


async def test_a_sister_gets_her_name_and_keeps_her_id() -> None:
    fact = Fact("Sister's name is Jesica")
    done = await decided([action("UPDATE", 0, text="Has a sister named Jesica")], fact, known(SISTER, "Has a sister"))
    assert done.decisions == (Update(fact, SISTER, text="Has a sister named Jesica", reason="because"),)


async def test_a_dog_of_the_sister_is_news() -> None:
    fact = Fact("Jesica has a dog")
    done = await decided([action("ADD")], fact, known(SISTER, "Has a sister named Jesica"))
    assert done.decisions == (Add(fact, "because"),)


async def test_loving_cheese_pizza_is_known_to_who_knows_that_it_is_liked() -> None:
    fact = Fact("Loves cheese pizza", polarity=1, object="cheese pizza")
    pizza = known(OTHER, "Likes cheese pizza", polarity=1, object="cheese pizza")
    done = await decided([action("NONE", 0)], fact, pizza)
    assert done.decisions == (Keep(fact, OTHER, "because"),)


async def test_disliking_cheese_pizza_ends_that_it_was_loved() -> None:
    fact = Fact("Dislikes cheese pizza", polarity=-1, object="cheese pizza")
    pizza = known(OTHER, "Loves cheese pizza", polarity=1, object="cheese pizza")
    done = await decided([action("DELETE", 0)], fact, pizza)
    assert done.decisions == (Supersede(fact, OTHER, "because"),)


async def test_cricket_with_friends_says_more_than_cricket() -> None:
    fact = Fact("Loves to play cricket with friends")
    done = await decided(
        [action("UPDATE", 0, text="Loves to play cricket with friends")], fact, known(OTHER, "User likes cricket")
    )
    assert done.decisions == (Update(fact, OTHER, text="Loves to play cricket with friends", reason="because"),)


async def test_moving_from_beijing_to_shanghai_ends_beijing() -> None:
    model = ScriptedChatModel({"decisions": [action("DELETE", 0, reason="搬家了")]})
    fact = Fact("用户住在上海", attribute="home", value="上海")
    done = await decided([], fact, known(OTHER, "用户住在北京", attribute="home"), asking=LlmOptions(model))
    assert done.decisions == (Supersede(fact, OTHER, "搬家了"),)
    assert "你负责维护" in model.prompts[0][0].content


async def test_like_that_became_dislike_is_no_better_wording() -> None:
    fact = Fact("用户不喜欢咖啡", polarity=-1, object="咖啡")
    coffee = known(OTHER, "用户喜欢咖啡", polarity=1, object="咖啡")
    done = await decided([action("UPDATE", 0, text="用户不喜欢咖啡")], fact, coffee)
    assert done.decisions == (Supersede(fact, OTHER, "because"),)


async def test_coffee_and_latte_stand_side_by_side() -> None:
    fact = Fact("User likes latte", polarity=1, object="latte")
    done = await decided([action("ADD")], fact, known(OTHER, "User likes coffee", polarity=1, object="coffee"))
    assert done.decisions == (Add(fact, "because"),)


# ── what the model may not do ────────────────────────────────────────────────────────────────────────────────────────


async def test_the_model_sees_small_numbers_and_no_ids() -> None:
    model = ScriptedChatModel({"decisions": []})
    await decided([], Fact("a"), known(SISTER, "b"), known(OTHER, "c"), asking=LlmOptions(model))
    shown = model.prompts[0][1].content
    assert not UUID.search(shown)
    assert [one["memory"] for one in json.loads(shown)["memories"]] == [0, 1]


@pytest.mark.parametrize(
    "bad",
    [
        action("UPDATE", 9_001, text="x"),
        action("DELETE", -1),
        action("DELETE", True),
        action("DELETE", SISTER),
        action("DELETE", None),
        action("DELETE", "٣"),
        action("DELETE", 10**30),
        action("ADD", fact=7),
        action("ADD", fact=-1),
        action("EXPLODE", 0),
        action("NONE", 42),
        {},
        "ADD",
        None,
        [[]],
    ],
)
async def test_a_senseless_action_is_left_out_and_loses_no_other(bad: Any) -> None:
    facts = [Fact("User has a cat"), Fact("User has a boat")]
    memories = [known(SISTER, "User has a pet")]
    asking = LlmOptions(ScriptedChatModel({"decisions": [bad, action("ADD", fact=1), bad]}))
    done = await decide_with_model(asking, facts, related=[memories, memories], said_at=[NOW, NOW])
    assert done.decisions == (None, Add(facts[1], "because"))
    assert done.failed is None


@pytest.mark.parametrize("answer", [{"decisions": None}, {"decisions": {"fact": 0}}, {}, {"memory": "x"}])
async def test_an_answer_without_decisions_decides_nothing(answer: Any) -> None:
    done = await decided(answer, Fact("a"), known(SISTER, "b"))
    assert done == Decided((None,))


async def test_a_fact_that_ends_two_memories_is_one_decision() -> None:
    fact = Fact("User moved to Leeds")
    memories = known(SISTER, "User lives in York"), known(OTHER, "User rents a flat in York")
    done = await decided([action("DELETE", 0), action("DELETE", 1)], fact, *memories)
    assert done.decisions == (Supersede(fact, SISTER, "because", closes=(OTHER,)),)


async def test_a_contradiction_with_an_addition_is_not_a_deletion_alone() -> None:
    fact = Fact("User moved to Leeds")
    done = await decided([action("ADD"), action("DELETE", 0)], fact, known(SISTER, "User lives in York"))
    assert done.decisions == (Supersede(fact, SISTER, "because"),)


async def test_two_facts_never_change_the_same_memory() -> None:
    facts = [Fact("Sister's name is Jesica"), Fact("Sister lives in Rome")]
    memories = [known(SISTER, "Has a sister")]
    actions = [action("UPDATE", 0, text="Has a sister named Jesica"), action("UPDATE", 0, fact=1, text="In Rome")]
    asking = LlmOptions(ScriptedChatModel({"decisions": actions}))
    done = await decide_with_model(asking, facts, related=[memories, memories], said_at=[NOW, NOW])
    assert isinstance(done.decisions[0], Update)
    assert done.decisions[1] is None


async def test_what_is_known_with_another_number_is_not_known() -> None:
    fact = Fact("User's phone ends in 77")
    assert (await decided([action("NONE", 0)], fact, known(OTHER, "User's phone ends in 12"))).decisions == (None,)


async def test_what_is_liked_is_not_known_to_who_knows_the_contrary() -> None:
    fact = Fact("User likes tea", polarity=1, object="tea")
    tea = known(OTHER, "User dislikes tea", polarity=-1, object="tea")
    assert (await decided([action("NONE", 0)], fact, tea)).decisions == (None,)


async def test_an_update_with_a_number_from_nowhere_takes_the_words_of_the_fact() -> None:
    fact = Fact("User has a dog named Rex")
    made_up = action("UPDATE", 0, text="User has a dog named Rex, 7 years old")
    done = await decided([made_up], fact, known(OTHER, "User has a dog"))
    assert done.decisions == (Update(fact, OTHER, text="User has a dog named Rex", reason="because"),)


async def test_an_update_that_changes_nothing_is_none() -> None:
    fact = Fact("User has a dog.")
    done = await decided([action("UPDATE", 0, text="user has a dog")], fact, known(OTHER, "User has a dog"))
    assert done.decisions == (Keep(fact, OTHER, "because"),)


async def test_older_news_does_not_end_a_newer_memory() -> None:
    fact = Fact("User lives in York", confidence=0.85)
    recent = known(OTHER, "User lives in Leeds", confidence=0.85)
    long_ago = NOW - timedelta(days=400)
    assert (await decided([action("DELETE", 0)], fact, recent, said_at=long_ago)).decisions == (None,)
    doubtful = known(OTHER, "User lives in Leeds", confidence=0.5)
    done = await decided([action("DELETE", 0)], fact, doubtful, said_at=long_ago)
    assert isinstance(done.decisions[0], Supersede)


async def test_the_agent_does_not_overrule_the_user() -> None:
    fact = Fact("Assistant likes jazz", about="agent")
    done = await decided([action("DELETE", 0)], fact, known(OTHER, "User likes jazz"))
    assert done.decisions == (None,)


# ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_what_resembles_nothing_is_not_put_before_the_model() -> None:
    model = ScriptedChatModel()
    done = await decide_with_model(LlmOptions(model), [Fact("a")], related=[[]], said_at=[NOW])
    assert done == Decided((None,))
    assert model.prompts == []


async def test_many_facts_are_decided_a_dozen_at_a_time() -> None:
    facts = [Fact(f"User has thing {at}") for at in range(30)]
    memories = [known(SISTER, "User has a thing")]
    model = ScriptedChatModel({"decisions": [action("ADD", fact=at) for at in range(12)]})
    done = await decide_with_model(LlmOptions(model), facts, related=[memories] * 30, said_at=[NOW] * 30)
    assert [one.fact for one in done.decisions if isinstance(one, Add)] == facts
    assert len(model.prompts) == 3


async def test_a_failed_model_leaves_every_fact_open() -> None:
    done = await decided(
        [], Fact("a"), known(SISTER, "b"), asking=LlmOptions(ScriptedChatModel(ModelUnavailableError("")))
    )
    assert done.decisions == (None,)
    assert done.failed is not None
    assert done.failed.reason == "model_unavailable"


async def test_a_custom_prompt_and_the_form_of_mem0_are_understood() -> None:
    answer = {
        "memory": [
            {"id": "0", "text": "Has a sister named Jesica", "event": "UPDATE", "old_memory": "Has a sister"},
            {"id": "1", "text": "User has a cat", "event": "NONE"},
        ]
    }
    model = ScriptedChatModel(answer)
    fact = Fact("Has a sister called Jesica")
    asking = LlmOptions(model, update_prompt="Decide carefully.")
    done = await decided([], fact, known(SISTER, "Has a sister"), known(OTHER, "User has a cat"), asking=asking)
    assert done.decisions == (
        Update(fact, SISTER, text="Has a sister named Jesica", reason="the model finds that it says more"),
    )
    assert model.prompts[0][0].content.startswith("Decide carefully.")
    assert '"decisions"' in model.prompts[0][0].content
