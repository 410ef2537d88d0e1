"""The context block: profile, relevant and recent memories for a prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, TypedDict, Unpack, cast

from ebbing.api.answers.items import hit_item, memory_item
from ebbing.api.calls.call_context import CallContext, measured
from ebbing.api.people.portraits import Portraits
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.filters.query import Hit, Query
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.domain.memory.risk import confidence_at, is_risky
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import Topic
from ebbing.ports.models.embedder import Calibration
from ebbing.ports.models.query_rewriter import QueryRewriter
from ebbing.privacy.names import person_name
from ebbing.recall.context.context_block import Context, Shape, context
from ebbing.recall.context.query_fallback import ConversationQuery, FallbackOptions, SearchFn
from ebbing.recall.context.render import GROUPS, Group
from ebbing.recall.context.usage_policy import DEFAULT, Policy
from ebbing.recall.search import search
from ebbing.remember.intake.parse_messages import parse_messages, parse_time
from ebbing.results import ContextAnswer, ContextItem
from ebbing.validation import MAX_QUERY_LENGTH, MAX_TOP_K, checked_flag, checked_query, checked_timezone, zone_of

MAX_CONTEXT_TOKENS: Final = 100_000
_LOOKED_AT: Final = 3
"""Times `top_k`: what is searched for, so that enough is left when the policy has judged."""
_READ: Final = 2
"""Times `top_k`: how many candidates the reader looks at. Of what a block holds anyway, it would choose none …"""
_MAX_READ: Final = 24
"""… and at most so many, since each costs milliseconds."""


class ContextOptions(TypedDict, total=False):
    """What else `get_context` can be told."""

    filters: Mapping[str, Any] | None
    """What every memory must be like, those of the profile too; see docs/filters.md."""
    top_k: int
    """Relevant memories at most, 1 to 50; 5 unless said otherwise."""
    min_score: float
    """Calibrated relevance in [0, 1] from which a memory is used; 0.05 unless said otherwise."""
    turns: int
    """Messages before the question that count as its conversation, 0 to 50; 6 unless said otherwise."""
    with_turns: bool
    """The messages around the best memories come along, and what was said later about the same; True unless False."""
    rewriter: QueryRewriter | None
    """Rewrites a question that neither itself nor its conversation finds anything for; the language model
    that is set, unless given. None leaves it out."""
    session_id: str | None
    """Memories of the scope `session:{id}` may be used, and come first."""
    channel: str | None
    """Memories of the scope `channel:{name}` may be used."""
    timezone: str | None
    """IANA name of the zone in which days begin and end; without it, each message by its own clock."""
    user_name: str | None
    char_name: str | None
    groups: Sequence[Group]
    """What the block holds, of `profile`, `relevant` and `recent`; all three unless given."""
    without: Sequence[str]
    """Ids of memories that the prompt shows already: they are left out."""
    private: bool
    """Leave no trace of the question: it counts as no use, and nobody is told of it."""


class ContextBlocks:
    """The verb that prepares a prompt."""

    def __init__(self, context: CallContext, *, portraits: Portraits) -> None:
        self._context, self._portraits = context, portraits

    @measured("context")
    async def get_context(
        self,
        query: str | None = None,
        *,
        messages: Any = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        max_tokens: int = 1_000,
        reference_date: datetime | str | float | None = None,
        **options: Unpack[ContextOptions],
    ) -> ContextAnswer:
        """Profile, relevant and recent memories as a block for a prompt, within a budget.

        Args:
            query: the question; without it the last user message of `messages`, without both no relevant memories.
            messages: the conversation, in the forms that `add` takes; a question that leans on it is understood by it.
            max_tokens: estimated tokens of the block at most, 1 to 100,000.
            reference_date: the "now" of the conversation; the clock's unless given.
            options: `top_k`, `min_score`, `turns`, `with_turns`, `rewriter`, `session_id`, `channel`, `user_name`,
                `char_name`, `filters`, `groups`, `without`, `private`, `timezone`: see `ContextOptions`.

        Returns:
            `{"context", "profile_summary", "recent_topics", "memories": [{…, "group"}], "query_strategy", "tokens"}`;
            `query_strategy` is `question`, `conversation`, `rewrite` or `none`. A relevant memory has its `score`,
            `risk` and `risky`.

        Raises:
            InvalidInputError: unusable words, or no owner.
        """
        fallback = _climb({"rewriter": self._context.components.chat.rewriter, **options})
        scope, row_filter = self._context.scope_and_filter(
            user_id=user_id, agent_id=agent_id, run_id=run_id, filters=options.get("filters")
        )
        fallback = replace(fallback, calibration=await self._calibration())
        shape = _shape(max_tokens, options)
        talk = _talk(query, messages, options=options)
        now = self._context.clock.now() if reference_date is None else parse_time(reference_date, "reference_date")
        is_private = checked_flag(options.get("private", False), "private")
        present = () if talk is None else talk.hashes
        base_query = Query(
            "", min(_LOOKED_AT * fallback.policy.top_k, MAX_TOP_K), now, filter=row_filter, present=present
        )
        base_query.timezone = checked_timezone(options.get("timezone"))
        base_query.default_timezone = zone_of(self._context.settings.timezone)
        made = await context(
            self._context.store,
            await self._look(scope, base_query, talk=talk, top_k=fallback.policy.top_k, is_private=is_private),
            scope=scope,
            profile=await self._portraits.get(scope, row_filter, now=now, fallback=fallback, is_private=is_private),
            talk=talk,
            query=base_query,
            options=fallback,
            shape=shape,
        )
        if not is_private:
            # What stands in every block, as profile and news do, says nothing about its use, nor do the turns around.
            self._context.components.usage.returned(scope, made.answering_hits, at=self._context.clock.now())
            await self._context.publish(Topic.MEMORY_ACCESSED, scope, memory_ids=made.answering_hits)
        return context_item(made, now)

    async def _calibration(self) -> Calibration | None:
        embedder = await self._context.components.embedder.get()
        return None if embedder is None else embedder.calibration

    async def _look(
        self, scope: Scope, base_query: Query, *, talk: ConversationQuery | None, top_k: int, is_private: bool
    ) -> SearchFn:
        deps = await self._context.search_deps(is_private=is_private)
        depth = max(deps.answer_options.depth, min(_READ * top_k, _MAX_READ))
        deps = replace(deps, answer_options=replace(deps.answer_options, depth=depth))

        async def look(text: str, conversation: str = "") -> Sequence[Hit]:
            query = replace(base_query, text=text[:MAX_QUERY_LENGTH], conversation=conversation)
            query.is_complete = talk is None or bool(conversation) or talk.is_said_by(text)
            return (await search(deps, scope, query=query)).hits

        return look


def context_item(made: Context, now: datetime) -> ContextAnswer:
    """Return a context as plain values."""
    memories: list[ContextItem] = []
    for group, records in made.rendered.shown.items():
        for record in records:
            item = cast(ContextItem, memory_item(record))
            if record.id in made.hits:
                item = cast(ContextItem, {**hit_item(made.hits[record.id]), **item})
                item["risk"] = made.risks[record.id]
                item["risky"] = is_risky(item["risk"])
            item["group"] = group
            item["confidence_now"] = round(confidence_at(record, now), 4)
            memories.append(item)
    return {
        "context": made.rendered.text,
        "profile_summary": made.profile_summary,
        "recent_topics": list(made.recent_topics),
        "memories": memories,
        "query_strategy": made.rung.value,
        "tokens": made.rendered.tokens,
    }


def _talk(query: str | None, messages: Any, *, options: ContextOptions) -> ConversationQuery | None:
    """Return the question and what was said before it; None without a question."""
    turns: Sequence[Message] = [] if messages is None else parse_messages(messages)
    speakers = {name: options.get(name) for name in ("user_name", "char_name")}
    names = {name: None if text is None else person_name(str(text)) for name, text in speakers.items()}
    if query is not None:
        question = checked_query(query, include="all")
        if turns and turns[-1].role is Role.USER and turns[-1].content == question:
            turns = turns[:-1]
        return ConversationQuery(question, turns, **names)
    last = next((at for at in reversed(range(len(turns))) if turns[at].role is Role.USER), None)
    return None if last is None else ConversationQuery(turns[last].content[:MAX_QUERY_LENGTH], turns[:last], **names)


def _climb(options: ContextOptions) -> FallbackOptions:
    for name in options:
        if name not in ContextOptions.__annotations__:
            raise TypeError(f"get_context() got an unexpected keyword argument {name!r}")
    score = options.get("min_score", DEFAULT.min_score)
    leaning = options.get("min_score", DEFAULT.leaning_min_score)
    topicless = options.get("min_score", DEFAULT.topicless_min_score)
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        raise InvalidInputError("min_score must be a number from 0 to 1")
    return FallbackOptions(
        policy=Policy(
            top_k=_whole(options.get("top_k", DEFAULT.top_k), "top_k", most=MAX_TOP_K),
            min_score=score,
            leaning_min_score=leaning,
            topicless_min_score=topicless,
        ),
        turns=_whole(options.get("turns", 6), "turns", least=0, most=50),
        with_turns=checked_flag(options.get("with_turns", True), "with_turns"),
        rewriter=options.get("rewriter"),
        session=options.get("session_id"),
        channel=options.get("channel"),
    )


def _shape(max_tokens: int, options: ContextOptions) -> Shape:
    groups, without = options.get("groups", GROUPS), options.get("without", ())
    if isinstance(groups, str) or not groups or not set(groups) <= set(GROUPS):
        raise InvalidInputError("groups must be a list of profile, relevant and recent")
    if isinstance(without, str) or not all(isinstance(memory_id, str) for memory_id in without):
        raise InvalidInputError("without must be a list of ids of memories")
    tokens = _whole(max_tokens, "max_tokens", most=MAX_CONTEXT_TOKENS)
    return Shape(tokens, frozenset(groups), frozenset(without))


def _whole(value: object, label: str, *, most: int, least: int = 1) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidInputError(f"{label} must be a whole number from {least} to {most}")
    return value
