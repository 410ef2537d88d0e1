"""From a weak question to its memories: the question, its conversation, a rewrite."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest

from ebbing.domain.errors import EmbeddingError
from ebbing.domain.filters.query import Hit
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import MemoryRecord, MemoryType, Role
from ebbing.domain.memory.scope import Scope
from ebbing.ports.models.query_rewriter import RewriteRequest
from ebbing.privacy.guarding.quote import block
from ebbing.recall.context.query_fallback import (
    ConversationQuery,
    FallbackOptions,
    QueryStrategy,
    checked_rewrite,
    conversation_query,
    rewrite_request,
    search_with_fallback,
)
from ebbing.recall.context.usage_policy import Policy
from ebbing.testing.models.rewriter import FakeQueryRewriter

NOW = datetime(2024, 5, 1, tzinfo=UTC)
BEFORE = (Message("我昨晚失眠了"), Message("辛苦了", Role.ASSISTANT))
WEAK = ConversationQuery("你今天有什么不一样？", BEFORE)
CLEAR = ConversationQuery("我家的猫平时最喜欢睡在哪里？", BEFORE)

pytestmark = pytest.mark.anyio


def hit(text: str, score: float) -> Hit:
    record = MemoryRecord(text, Scope(user_id="u"), text, created_at=NOW, recorded_at=NOW, type=MemoryType.FACT)
    return Hit(record, score=score, rank_score=score)


class Shelf:
    """Finds by the words a query holds, and keeps the queries."""

    def __init__(self, found: Mapping[str, float], *, broken: str | None = None) -> None:
        self.found, self.broken = found, broken
        self.queries: list[str] = []

    async def look(self, text: str, conversation: str = "") -> Sequence[Hit]:
        text = conversation or text
        self.queries.append(text)
        if self.broken is not None and self.broken in text:
            raise EmbeddingError("the endpoint does not answer")
        found = sorted(self.found.items(), key=lambda one: -one[1])
        return [hit(word, score) for word, score in found if word in text]


async def test_a_clear_question_is_answered_by_itself() -> None:
    shelf = Shelf({"猫": 0.9})
    found = await search_with_fallback(CLEAR, shelf.look, options=FallbackOptions())
    assert (found.rung, found.query) == (QueryStrategy.QUESTION, "我家的猫平时最喜欢睡在哪里？")
    assert shelf.queries == ["我家的猫平时最喜欢睡在哪里？"]


async def test_a_weak_question_is_searched_for_with_its_conversation_at_once() -> None:
    shelf = Shelf({"失眠": 0.8, "今天": 0.9})
    found = await search_with_fallback(WEAK, shelf.look, options=FallbackOptions())
    assert found.rung is QueryStrategy.CONVERSATION
    assert found.query == "我昨晚失眠了\n你今天有什么不一样？"
    assert [one.record.content for one in found.hits] == ["今天", "失眠"]


async def test_a_clear_question_whose_best_score_is_too_low_is_tried_with_its_conversation() -> None:
    shelf = Shelf({"猫": 0.59, "失眠": 0.6})
    found = await search_with_fallback(CLEAR, shelf.look, options=FallbackOptions())
    assert (found.rung, [one.record.content for one in found.hits]) == (QueryStrategy.CONVERSATION, ["失眠", "猫"])
    assert shelf.queries[0] == "我家的猫平时最喜欢睡在哪里？"


async def test_a_middling_answer_is_kept_where_no_later_step_finds_a_better_one() -> None:
    found = await search_with_fallback(
        CLEAR, Shelf({"我家的猫平时最喜欢睡在哪里？": 0.5, "失眠": 0.4}, broken="失眠").look, options=FallbackOptions()
    )
    assert (found.rung, [one.record.content for one in found.hits]) == (
        QueryStrategy.QUESTION,
        ["我家的猫平时最喜欢睡在哪里？"],
    )


async def test_a_weak_question_without_a_conversation_is_searched_for_as_it_is() -> None:
    shelf = Shelf({"今天": 0.9})
    found = await search_with_fallback(
        ConversationQuery("你今天有什么不一样？"),
        shelf.look,
        options=FallbackOptions(rewriter=FakeQueryRewriter("失眠")),
    )
    assert (found.rung, shelf.queries) == (QueryStrategy.QUESTION, ["你今天有什么不一样？"])


async def test_a_rewrite_is_asked_for_only_when_both_cheaper_steps_found_nothing() -> None:
    rewriter = FakeQueryRewriter("用户昨晚失眠，询问今天状态有何变化")
    shelf = Shelf({"状态": 0.9})
    found = await search_with_fallback(WEAK, shelf.look, options=FallbackOptions(rewriter=rewriter))
    assert (found.rung, found.query) == (QueryStrategy.REWRITE, "用户昨晚失眠，询问今天状态有何变化")
    assert [one.user_question for one in rewriter.requests] == ["你今天有什么不一样？"]

    unused = FakeQueryRewriter("状态")
    assert (
        await search_with_fallback(WEAK, Shelf({"失眠": 0.9}).look, options=FallbackOptions(rewriter=unused))
    ).rung is QueryStrategy.CONVERSATION
    assert unused.requests == []


async def test_a_weak_question_is_not_searched_for_by_itself_where_its_conversation_names_a_topic() -> None:
    shelf = Shelf({"用户问题": 0.1})
    found = await search_with_fallback(WEAK, shelf.look, options=FallbackOptions(rewriter=FakeQueryRewriter("状态")))
    assert found.rung is QueryStrategy.NONE
    assert found.hits == ()
    assert shelf.queries == ["我昨晚失眠了\n你今天有什么不一样？", "状态"]


@pytest.mark.parametrize("question", ["what do you know about me?", "who am i?", "你知道我什么？"])
async def test_a_question_about_the_one_who_asks_is_searched_for_by_itself_as_well(question: str) -> None:
    shelf = Shelf({})
    await search_with_fallback(ConversationQuery(question, BEFORE), shelf.look, options=FallbackOptions())
    assert question in shelf.queries


async def test_the_question_alone_comes_last_where_its_conversation_names_no_topic_either() -> None:
    shelf, talk = Shelf({"用户问题": 0.1}), ConversationQuery("你今天有什么不一样？", (Message("嗯嗯"),))
    await search_with_fallback(talk, shelf.look, options=FallbackOptions(rewriter=FakeQueryRewriter("状态")))
    assert shelf.queries[-2:] == ["状态", "你今天有什么不一样？"]


@pytest.mark.parametrize(
    "rewriter",
    [
        FakeQueryRewriter(failure=EmbeddingError("down")),
        FakeQueryRewriter(failure=TimeoutError()),
        FakeQueryRewriter("状态", delay=5),
        FakeQueryRewriter('{"query": "状态"}'),
        FakeQueryRewriter("状态\n因为用户失眠"),
        FakeQueryRewriter(""),
    ],
    ids=["error", "timeout", "slow", "json", "two lines", "empty"],
)
async def test_a_rewriter_that_fails_leaves_what_the_other_steps_found(rewriter: FakeQueryRewriter) -> None:
    shelf = Shelf({"状态": 0.9, "不一样？": 0.7})
    weak_only = Shelf({"状态": 0.9})
    options = FallbackOptions(policy=Policy(min_score=0.8), rewriter=rewriter, rewrite_seconds=0.05)
    assert (await search_with_fallback(WEAK, weak_only.look, options=options)).rung is QueryStrategy.NONE
    assert (await search_with_fallback(CLEAR, shelf.look, options=options)).rung is QueryStrategy.NONE
    assert len(rewriter.requests) == 2


async def test_a_search_that_breaks_on_a_later_step_does_not_break_the_answer() -> None:
    shelf = Shelf({"今天": 0.9}, broken="用户问题")
    assert (await search_with_fallback(CLEAR, shelf.look, options=FallbackOptions())).rung is QueryStrategy.NONE
    with pytest.raises(EmbeddingError):
        await search_with_fallback(CLEAR, Shelf({}, broken="猫").look, options=FallbackOptions())


def test_the_conversation_keeps_its_end_within_1200_characters() -> None:
    turns = [Message(f"{n}" * 500) for n in range(6)]
    query = conversation_query(ConversationQuery("What was that?", turns))
    assert len(query) == 1_200
    assert query.splitlines()[-1] == "User question: What was that?"
    assert query.splitlines()[-2] == "5" * 500
    assert query.startswith("3")
    assert "2" not in query
    assert len(conversation_query(ConversationQuery("x" * 4_000, turns))) == 1_200


def test_only_the_last_turns_of_the_two_who_talk_count() -> None:
    turns = [Message("old"), Message("secret", Role.SYSTEM), Message("a"), Message("call()", Role.TOOL), Message("b")]
    assert conversation_query(ConversationQuery("And?", turns), turns=2) == "a\nb\nUser question: And?"
    assert conversation_query(ConversationQuery("And?", turns), turns=0) == "User question: And?"


def test_memories_that_were_put_into_a_turn_are_not_searched_for_again() -> None:
    turns = [Message(f"hello\n\n{block(['User likes tea'])}")]
    assert conversation_query(ConversationQuery("And?", turns)) == "hello\nUser question: And?"


def test_the_label_is_in_the_language_of_the_question() -> None:
    assert conversation_query(ConversationQuery("😀", [Message("我很累")])).endswith("用户问题：😀")
    assert conversation_query(ConversationQuery("why?", [Message("我很累")])).endswith("User question: why?")


def test_the_rewriter_is_given_names_question_and_conversation_as_json() -> None:
    request = rewrite_request(ConversationQuery("你今天有什么不一样？", BEFORE, user_name="小雨", char_name="阿尔法"))
    assert json.loads(request.as_json()) == {
        "user_name": "小雨",
        "char_name": "阿尔法",
        "user_question": "你今天有什么不一样？",
        "recent_conversation": "小雨: 我昨晚失眠了\n阿尔法: 辛苦了",
    }
    assert "小雨" in request.as_json()  # readable for a model, not escaped


def test_a_speaker_with_a_name_of_their_own_keeps_it_and_lines_stay_lines() -> None:
    request = rewrite_request(ConversationQuery("And?", [Message("one\ntwo", name="Ann"), Message("x" * 3_000)]))
    assert request.recent_conversation.startswith("user: xxx")
    assert len(request.recent_conversation) <= 1_200
    assert (
        rewrite_request(ConversationQuery("And?", [Message("one\ntwo", name="Ann")])).recent_conversation
        == "Ann: one two"
    )


@pytest.mark.parametrize(
    ("answer", "query"),
    [
        ("  How did Sam's interview go?\n", "How did Sam's interview go?"),
        ("“用户昨晚失眠”", "用户昨晚失眠"),
        ('"quoted"', "quoted"),
        ("3 cats that Sam has", "3 cats that Sam has"),
        ("x" * 300, "x" * 300),
        ("x" * 301, None),
        ("a", None),
        ("", None),
        ("one\ntwo", None),
        ("# heading", None),
        ("- item", None),
        ("1. item", None),
        ("**bold** query", None),
        ("`code`", None),
        ("```\nquery\n```", None),
        ('{"query": "x"}', None),
        ("[x, y]", None),
        ("tab\tinside", None),
        ("nul\x00inside", None),
        (None, None),
        (["query"], None),
    ],
)
def test_a_rewrite_is_used_only_as_one_plain_line(answer: object, query: str | None) -> None:
    assert checked_rewrite(answer) == query


async def test_the_fake_names_the_last_turn() -> None:
    answer = await FakeQueryRewriter().rewrite(RewriteRequest("u", "c", "And?", "u: I moved\nc: Oh"))
    assert answer == "Oh And?"
