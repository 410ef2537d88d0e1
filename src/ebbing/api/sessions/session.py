"""A running conversation: what was said is at hand at once, and remembered when it ends."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from types import TracebackType
from typing import Any, Final, Self, cast

from ebbing.api.memories.context_block import ContextBlocks
from ebbing.api.memories.searches import Searches
from ebbing.api.sessions.session_buffer import SessionBuffer
from ebbing.domain.errors import StoreError
from ebbing.domain.filters.query import Include
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.scope import Scope
from ebbing.language.text.token_count import estimate_tokens
from ebbing.ports.clock import Clock
from ebbing.ports.ids import Ids
from ebbing.ports.working_memory import Turn
from ebbing.recall.context.session_search import SessionMatch, match_session_turns
from ebbing.remember.intake.parse_messages import parse_messages
from ebbing.remember.intake.screening import off_record_places
from ebbing.results import ChatMessage, ContextAnswer, HitItem, SessionSearchAnswer, WorkingItem
from ebbing.validation import DEFAULT_TOP_K, checked_flag, checked_query, checked_threshold, checked_top_k

_log: Final = logging.getLogger("ebbing.sessions")


class AsyncSession:
    """One conversation; made by `AsyncMemory.session`.

    As a context manager it ends with the block, also when that raises. After its end it can be used again: then the
    same run goes on.
    """

    def __init__(
        self,
        scope: Scope,
        *,
        buffer: SessionBuffer,
        searches: Searches,
        contexts: ContextBlocks,
        clock: Clock,
        ids: Ids,
        infer: bool = True,
    ) -> None:
        self._scope, self._buffer = scope, buffer
        self._searches, self._contexts = searches, contexts
        self._clock, self._ids, self._infer = clock, ids, infer

    @property
    def run_id(self) -> str:
        """The name of the conversation, made up where none was given."""
        return str(self._scope.run_id)

    @property
    def private(self) -> bool:
        """Whether the conversation is off the record: until this is False again, nothing of it is written anywhere.

        What is said meanwhile is at hand in RAM as long as the conversation runs, and is gone when it ends. Reading
        goes on, and counts as no use. `end` puts the conversation on the record again.
        """
        return self._buffer.is_private(self._scope)

    @private.setter
    def private(self, is_private: bool) -> None:
        self._buffer.set_private(self._scope, checked_flag(is_private, "private"))

    async def add(self, messages: Any, *, private: bool = False) -> None:
        """Keep what was just said, without embedding or writing it.

        A message that asks not to be written down stays off the record with its replies, and so does the one before it
        where that is meant and not stored yet.

        Args:
            messages: as for `Memory.add`. One without an id gets one, one without a time is of now; one whose id is
                known takes the other's place.
            private: these messages are off the record.

        Raises:
            InvalidInputError: unusable messages.
            TooLargeError: a message over 100,000 characters.
            EbbingError: working memory is full, and what it holds cannot be stored; the error says why.
        """
        now, is_told_private = self._clock.now(), checked_flag(private, "private")
        is_private = await self._buffer.off_record(self._scope) or is_told_private
        turns: list[Turn] = []
        for message in parse_messages(messages):
            named = replace(message, id=message.id or self._ids.new(), timestamp=message.timestamp or now)
            tokens = max(estimate_tokens(message.content), 1)
            turns.append(Turn(named, tokens, is_private, self._infer))
        earlier = await self._buffer.stored_turns(self._scope)
        await self._buffer.hear(self._scope, _off_the_record(earlier, turns))

    async def messages(self) -> list[ChatMessage]:
        """Return the last rounds, oldest first, as a model takes them: `role`, `content`, and `name` if known.

        At most `EBBING_SESSION_TURNS` rounds of at most `EBBING_SESSION_TOKENS` estimated tokens.
        """
        return [_chat_item(turn.message) for turn in self._buffer.last(await self._buffer.stored_turns(self._scope))]

    async def holds_private(self) -> bool:
        """Return whether the conversation, or anything that is at hand of it, is off the record."""
        is_private = await self._buffer.off_record(self._scope)
        return is_private or any(turn.is_private for turn in await self._buffer.stored_turns(self._scope))

    async def search(
        self, /, query: str, *, top_k: int = DEFAULT_TOP_K, include: Include = "all", **options: Any
    ) -> SessionSearchAnswer:
        """As `Memory.search` over all that is known of the person, with what was said in this session in front.

        Up to three messages of the session that hold at least half of the question's words come first, of the kind
        `working`. They are left out with `include="memories"`, `filters` or `as_of`; and while working memory cannot
        be reached, where `failed_retrievers` names `working`.

        Raises:
            InvalidInputError: as for `Memory.search`.
        """
        most = checked_top_k(top_k, options.get("limit"))
        options = await self._unnoticed(options)
        answer: Any = await self._searches.search(query, top_k=top_k, include=include, **self._owner(), **options)
        results: list[HitItem | WorkingItem] = answer if isinstance(answer, list) else answer["results"]
        turns = await self._at_hand(answer)
        fits: list[SessionMatch] = []
        if include != "memories" and not options.get("filters") and options.get("as_of") is None:
            least = checked_threshold(options.get("threshold"))
            matches = match_session_turns(checked_query(query, include=include), turns)
            fits = [match for match in matches if match.score >= least]
        here = {fit.message.id: fit.message.content for fit in fits}
        # What left the last rounds may be stored already: it is told once.
        others = [item for item in results if not _is_told(item, here)]
        results[:] = [*(self._working_item(fit) for fit in fits), *others][:most]
        return cast(SessionSearchAnswer, answer)

    async def get_context(self, /, query: str | None = None, **options: Any) -> ContextAnswer:
        """As `Memory.get_context`, the question understood by the last rounds, which come with it as `messages`.

        Args:
            query: the question; without it the last user message of the session. With it the block is made without
                the session while working memory cannot be reached.
            options: as for `Memory.get_context`, without `messages` and the ids.

        Raises:
            InvalidInputError: as for `Memory.get_context`.
        """
        options = await self._unnoticed(options)
        try:
            messages = await self.messages()
        except StoreError:
            if query is None:
                raise
            messages = []  # the answer goes on with what is stored
        made = await self._contexts.get_context(query, messages=messages or None, **self._owner(), **options)
        return {**made, "messages": messages}

    async def end(self, *, strict: bool = False) -> bool:
        """End the conversation: tell so (`session.end`), by which it is remembered, and clear working memory.

        Returns:
            Whether all is remembered. If not, all stays as it is, until the next `end` or the memory's `close`. Ending
            what holds nothing, or a second time, does nothing.

        Raises:
            EbbingError: with `strict`, why it could not be remembered; without, nothing is raised.
        """
        raises = checked_flag(strict, "strict")
        failures = await self._buffer.end(self._scope)
        if not failures:
            self.private = False
            await self._buffer.off_record(self._scope)
        if failures and raises:
            raise failures[0]
        return not failures

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.end()

    def _owner(self) -> dict[str, Any]:
        """Everything of the person (and agent), not of this run alone; a run without them is its own owner."""
        names = {"user_id": self._scope.user_id, "agent_id": self._scope.agent_id}
        return {name: value for name, value in names.items() if value is not None} or {"run_id": self.run_id}

    async def _unnoticed(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options of a reading, which leaves no trace while the conversation is off the record.

        Nor does it while working memory cannot be reached, since nobody knows then.
        """
        try:
            is_private = await self._buffer.off_record(self._scope)
        except StoreError:
            is_private = True
        return {**options, "private": True} if is_private else options

    async def _at_hand(self, answer: Any) -> list[Turn]:
        """Return what was said; nothing, and the answer says so, while working memory cannot be reached."""
        try:
            return await self._buffer.stored_turns(self._scope)
        except StoreError as error:
            _log.warning("a search goes on without its session: %s", error.code)
            if isinstance(answer, dict):
                answer["failed_retrievers"] = {**answer.get("failed_retrievers", {}), "working": error.code}
            return []

    def _working_item(self, match: SessionMatch) -> WorkingItem:
        message = match.message
        return {
            "id": message.id,
            "memory": message.content,
            "kind": "working",
            "layer": "working",
            "role": message.role.value,
            "actor_id": message.name,
            "created_at": None if message.timestamp is None else message.timestamp.astimezone(UTC).isoformat(),
            "source_ids": [message.id],
            "run_id": self.run_id,
            "score": round(match.score, 4),
            "retriever_scores": {"working": round(match.coverage, 4)},
        }


def _off_the_record(earlier: Sequence[Turn], new: Sequence[Turn]) -> list[Turn]:
    """Return the new turns, marked where they are off the record, behind those of before that become so by them."""
    private = off_record_places([turn.message for turn in (*earlier, *new)]).places
    turns = enumerate((*earlier, *new))
    marked = [(place, replace(turn, is_private=True) if place in private else turn) for place, turn in turns]
    return [turn for place, turn in marked if place >= len(earlier) or turn not in earlier]


def _is_told(item: HitItem | WorkingItem, here: Mapping[str | None, str]) -> bool:
    """Return whether a result is one of these messages as it was stored, and not what was concluded from it."""
    same = [here[name] for name in item["source_ids"] if name in here]
    return bool(same) and (item["kind"] == "episode" or item["memory"] in same)


def _chat_item(message: Message) -> ChatMessage:
    item: ChatMessage = {"role": message.role.value, "content": message.content}
    if message.name:
        item["name"] = message.name
    return item


def as_given(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the messages in the form that `add` takes, with all that is known of them."""
    return [{**_chat_item(message), "id": message.id, "timestamp": message.timestamp} for message in messages]
