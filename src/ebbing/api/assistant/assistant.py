"""`memory.assistant`: when to recall unasked, who answers, what is offered, and how it is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Unpack, get_args

from ebbing.api.calls.call_context import CallContext
from ebbing.api.memories.context_block import ContextBlocks, ContextOptions
from ebbing.api.people.portraits import Portraits
from ebbing.assistant.inject import AgentKind
from ebbing.assistant.personalise import (
    choose_worker,
    first_mentioned,
    generation_hints,
    limits_about,
    rank_offers,
)
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.filters.tree import EVERYTHING
from ebbing.language.signals.limits import strictest
from ebbing.language.signals.preferences import Tastes, read_tastes
from ebbing.recall.context.query_fallback import FallbackOptions
from ebbing.recall.context.usage_policy import DEFAULT
from ebbing.results import DroppedItem, OfferAnswer, OfferItem, RecallDecision, StyleAnswer, WorkerRoute

MAX_ITEMS: Final = 1_000
_LARGEST: Final = 1e15
"""A number of an item, at most."""
_LIMITED: Final = {"max_duration": "duration", "max_price": "price", "max_distance": "distance"}
"""By the name of a limit, the field of an item that it bounds."""


class AssistantApi:
    """`memory.assistant`: when to recall unasked, who answers, what is offered, and how it is said."""

    def __init__(self, context: CallContext, *, contexts: ContextBlocks, portraits: Portraits) -> None:
        self._context, self._contexts, self._portraits = context, contexts, portraits

    async def recall(
        self,
        query: str | None = None,
        *,
        agent: AgentKind = "general",
        messages: Any = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        max_tokens: int = 1_000,
        **options: Unpack[ContextOptions],
    ) -> RecallDecision:
        """Decide whether memories go into a prompt unasked, and prepare them.

        Args:
            query: the question; without it the last user message of `messages`.
            agent: `general` gets only what scores above 0.8. `recommendation` and `personal` always get profile,
                relevant and recent memories. `tool` gets nothing: it asks for memories itself.
            options: as for `get_context`; `min_score` is the bound for a `general` agent.

        Raises:
            InvalidInputError: unusable words, no owner, or another kind of agent.
        """
        if agent not in get_args(AgentKind):
            raise InvalidInputError(f"agent must be one of {', '.join(get_args(AgentKind))}")
        if agent == "tool":
            self._context.scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=options.get("filters"))
            return RecallDecision(inject=False, reason="tools", context="", memories=[])
        if agent == "general":
            options = {"min_score": DEFAULT.inject_above, "groups": ["relevant"], "with_turns": False, **options}
        answer = await self._contexts.get_context(
            query,
            messages=messages,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            max_tokens=max_tokens,
            **options,
        )
        reason = "nothing"
        if answer["context"]:
            reason = "sure" if agent == "general" else "always"
        return RecallDecision(
            inject=bool(answer["context"]), reason=reason, context=answer["context"], memories=answer["memories"]
        )

    async def route(
        self,
        workers: Mapping[str, str],
        *,
        default: str,
        topic: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
    ) -> WorkerRoute:
        """Choose the worker for what the person likes, and say what it should look for and leave out.

        Args:
            workers: by topic, the name of the worker for it, such as `{"science fiction": "movies:scifi"}`.
            default: the worker where no topic is a favourite.
            topic: what is asked for, such as `films`: limits that speak of it count, else all of them.

        Raises:
            InvalidInputError: no owner, or unusable arguments.
        """
        words = [default, *workers, *workers.values()] if isinstance(workers, Mapping) else [None]
        if not all(isinstance(word, str) and word.strip() for word in words):
            raise InvalidInputError("workers must map topics to names of workers, and default must be a name")
        tastes, statements = await self._read_profile(user_id, agent_id)
        choice = choose_worker(tastes, workers, default=default)
        return WorkerRoute(
            worker=choice.worker,
            favourite=choice.favourite,
            prefer=list(choice.prefer),
            exclude=list(choice.exclude),
            filters=strictest(limits_about(statements, topic)),
        )

    async def rank(
        self,
        items: Sequence[Mapping[str, Any]],
        *,
        topic: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
    ) -> OfferAnswer:
        """Drop what the person avoids or what breaks a limit, and lift what they like by 1.2; no second retrieval.

        It goes by names and numbers, and is no medical safeguard.

        Args:
            items: each with `text`, optionally `score` (1 unless given), `duration` in minutes, `price`, and `distance`
                in kilometres; at most 1,000. More fields come back as they are.
            topic: as for `route`.

        Raises:
            InvalidInputError: no owner, or unusable items.
        """
        _check(items)
        tastes, statements = await self._read_profile(user_id, agent_id)
        limits = strictest(limits_about(statements, topic))
        unwanted = (*tastes.avoids, *tastes.dislikes)
        dropped: list[DroppedItem] = []
        within: list[Mapping[str, Any]] = []
        for item in items:
            broken_limit = _broken_limit(item, limits)
            reason = broken_limit or first_mentioned(_text_of(item), unwanted)
            if reason is not None:
                dropped.append(DroppedItem(item=item, reason=reason))
            if broken_limit is None:
                within.append(item)
        offers = rank_offers(within, tastes, text=_text_of, score=_score_of)
        return OfferAnswer(
            offers=[OfferItem(item=offer.item, score=offer.score, favourite=offer.favourite) for offer in offers],
            dropped=dropped,
        )

    async def style(
        self, *, language: str = "en", user_id: str | None = None, agent_id: str | None = None
    ) -> StyleAnswer:
        """Say how the person wants to be answered: language, tone and length, as far as they said so.

        Args:
            language: of the hints, `zh` or `en`.

        Raises:
            InvalidInputError: no owner, or another language.
        """
        if language not in {"zh", "en"}:
            raise InvalidInputError("language must be zh or en")
        tastes, _ = await self._read_profile(user_id, agent_id)
        manner = tastes.manner
        return StyleAnswer(
            hints=generation_hints(tastes, language),
            language=manner.language,
            tone=manner.tone,
            max_words=manner.max_words,
            max_characters=manner.max_characters,
            brief=manner.brief,
        )

    async def _read_profile(self, user_id: str | None, agent_id: str | None) -> tuple[Tastes, list[str]]:
        """Return what the profile says, the oldest first: with what the person set right by hand."""
        scope = self._context.scope(user_id=user_id, agent_id=agent_id, filters=None)
        portrait = await self._portraits.get(
            scope, EVERYTHING, now=self._context.clock.now(), fallback=FallbackOptions()
        )
        statements = [entry.text for entry in sorted(portrait.entries, key=lambda entry: entry.last_at)]
        return read_tastes(statements), statements


def _check(items: Sequence[Mapping[str, Any]]) -> None:
    if not isinstance(items, list | tuple) or len(items) > MAX_ITEMS:
        raise InvalidInputError(f"items must be a list of at most {MAX_ITEMS:,} objects")
    numbers = ("score", *_LIMITED.values())
    for place, item in enumerate(items):
        if not isinstance(item, Mapping) or not isinstance(item.get("text"), str):
            raise InvalidInputError(f"item {place} must be an object with a text")
        if not all(_is_number(item[name]) for name in numbers if item.get(name) is not None):
            raise InvalidInputError(f"item {place}: {', '.join(numbers)} must be numbers up to {_LARGEST:.0e}")


def _is_number(value: object) -> bool:
    """Return whether it is a number that can be compared: no infinity, and not "not a number"."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def _broken_limit(item: Mapping[str, Any], limits: Mapping[str, float]) -> str | None:
    """Return the name of a limit that an item exceeds; a number that it does not name breaks none."""
    for name, most in limits.items():
        value = item.get(_LIMITED[name])
        if value is not None and value > most:
            return name
    return None


def _text_of(item: Mapping[str, Any]) -> str:
    text: str = item["text"]
    return text


def _score_of(item: Mapping[str, Any]) -> float:
    score = item.get("score")
    return 1.0 if score is None else float(score)
