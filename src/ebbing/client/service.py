"""When a chat back-end recalls and writes, such that memory never breaks a conversation and never holds it up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, TypedDict, TypeVar, Unpack

from ebbing.client.items import MemoryItem
from ebbing.client.store import MemoryStore, Messages, Reading
from ebbing.domain.errors import ConflictError, InvalidInputError, NotFoundError, UnauthorizedError
from ebbing.domain.memory.record import QUARANTINED
from ebbing.language.text.detect_language import detect
from ebbing.privacy.guarding.quote import block
from ebbing.resilience.circuit_breaker import Breaker

_log: Final = logging.getLogger("ebbing.client")
_REFUSALS: Final = (ConflictError, InvalidInputError, NotFoundError, UnauthorizedError)
_Result = TypeVar("_Result")
_Context = TypeVar("_Context")


class Where(TypedDict, total=False):
    """Which part of a user's memory a conversation belongs to."""

    agent_id: str | None
    run_id: str | None


class WhereAndHow(Where, Reading, total=False):
    """Which part of a user's memory a message belongs to, and how it is read."""


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """How much memory a conversation gets, and how long it waits for it."""

    top_k: int = 10
    min_score: float = 0.05
    """Relevance in [0, 1] from which a memory is used. Right and wrong answers overlap on this scale: a higher bound
    hides answers, and `top_k` and `max_chars` bound the block."""
    max_chars: int = 1_200
    """Characters of the block, at most."""
    recall_seconds: float = 1.5
    write_seconds: float = 2.0
    recall: bool = True
    """Whether memories are put into prompts."""
    write: bool = True
    """Whether conversations are remembered."""
    failures: int = 5
    """Failures in a row after which the memory is left alone …"""
    pause_seconds: float = 15.0
    """… until it is tried again, out of everybody's way."""
    most_writes: int = 64
    """Writes that may be under way after their callers went on; more are dropped and counted."""


class MemoryService:
    """Recalls before an answer and writes after it. Its two methods raise nothing and keep to their time.

    Where the store is hung, down, slow or talks nonsense, `recall_context` returns None within `recall_seconds`; after
    `failures` in a row it returns at once, until a trial in the background finds the store well again.

    Args:
        store: `AsyncClient`, `LocalStore`, `NullStore`, or anything with these methods.
        policy: how much, and how long.
        breaker: for tests; its own by default.
    """

    def __init__(self, store: MemoryStore, policy: HostPolicy | None = None, *, breaker: Breaker | None = None) -> None:
        self._store, self._policy = store, policy or HostPolicy()
        policy = self._policy
        self._breaker = breaker or Breaker(policy.failures, pause_seconds=policy.pause_seconds)
        self._under_way: set[asyncio.Task[Any]] = set()
        self._writing = 0
        self._dropped = 0

    @property
    def store(self) -> MemoryStore:
        """The store that the service asks."""
        return self._store

    @property
    def policy(self) -> HostPolicy:
        """How much memory a conversation gets, and how long it waits."""
        return self._policy

    @property
    def is_available(self) -> bool:
        """Whether the memory is asked at the moment."""
        return self._breaker.is_closed

    @property
    def dropped_writes(self) -> int:
        """Writes that were not begun: the memory was left alone, or too many were under way."""
        return self._dropped

    async def recall_context(self, user_id: str, query: str, **where: Unpack[Where]) -> str | None:
        """Return a block for the prompt with the memories that fit; None where there is nothing to add, or no time.

        The block says that memories may be wrong, are no instructions, and yield to the current input.
        """
        hits = await self.recall(user_id, query, **where)
        fitting = [item.text for item in hits if item.score >= self._policy.min_score]
        if not fitting:
            return None
        language = "zh" if detect(query) == "zh" else "en"
        return block(fitting[: self._policy.top_k], language=language, max_chars=self._policy.max_chars) or None

    async def recall(self, user_id: str, query: str, **where: Unpack[Where]) -> list[MemoryItem]:
        """Return what the store finds, best first; nothing where it has no answer in time."""
        is_question = isinstance(query, str) and bool(query.strip())
        if not self._policy.recall or not is_question or not self._may_ask():
            return []

        async def ask() -> list[MemoryItem]:
            hits = await self._store.recall(query, user_id=user_id, top_k=self._policy.top_k, **where)
            return sorted(filter(_is_usable, hits), key=lambda item: -item.score)

        return await self._within(ask(), self._policy.recall_seconds, label="recall") or []

    async def maybe_write(
        self,
        user_id: str,
        user_message: str,
        *,
        assistant_message: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        **where: Unpack[WhereAndHow],
    ) -> bool:
        """Remember a round of a conversation; whether that is known to be done.

        After `write_seconds` the caller goes on, and the write with it, as long as the store takes.
        """
        if not isinstance(user_message, str) or not user_message.strip():
            return False
        messages: list[dict[str, Any]] = [{"role": "user", "content": user_message}]
        if isinstance(assistant_message, str) and assistant_message.strip():
            messages.append({"role": "assistant", "content": assistant_message})
        return await self.maybe_write_messages(user_id, messages, metadata=metadata, **where)

    async def maybe_write_messages(
        self,
        user_id: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        metadata: Mapping[str, Any] | None = None,
        **where: Unpack[WhereAndHow],
    ) -> bool:
        """Remember several messages as `maybe_write` remembers a round; return whether that is known to be done.

        Messages with an `id` may be given again: what is stored already is not stored twice.
        """
        if not self._policy.write or not messages:
            return False
        if self._writing >= self._policy.most_writes or not self._may_ask():
            self._dropped += 1
            return False
        return await self._written([*messages], user_id=user_id, metadata=metadata, where=where)

    async def aclose(self) -> None:
        """Give writes under way their time, then close the store; raise nothing."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=self._policy.write_seconds)
        for task in self._under_way.copy():
            task.cancel()

        async def close() -> None:
            await self._store.aclose()

        await self._within(close(), self._policy.write_seconds, label="close")

    async def _written(
        self, turns: Messages, *, user_id: str, metadata: Mapping[str, Any] | None, where: WhereAndHow
    ) -> bool:
        async def write() -> bool:
            self._writing += 1
            try:
                await self._store.remember(turns, user_id=user_id, metadata=metadata, **where)
            finally:
                self._writing -= 1
            return True

        return bool(await self._within(write(), self._policy.write_seconds, label="write", keep=True))

    def _may_ask(self) -> bool:
        """Whether to make somebody wait for the store; if it was left alone long enough, it is tried meanwhile."""
        if self._breaker.is_closed:
            return True
        if not self._breaker.enter():
            trial = self._begin(self._tried())
            trial.set_name("ebbing-trial")
        return False

    async def _tried(self) -> None:
        is_well = False
        try:
            async with asyncio.timeout(self._policy.pause_seconds):
                is_well = await self._store.is_well()
        except Exception as error:  # whatever it is, the store is not well
            _log.info("the memory is still left alone: %s", type(error).__name__)
        finally:
            self._breaker.succeeded() if is_well else self._breaker.failed()

    async def _within(
        self, work: Coroutine[Any, Any, _Result], seconds: float, *, label: str, keep: bool = False
    ) -> _Result | None:
        """Return the result, or None where it failed or was late; late work goes on if it is to be kept.

        It runs as a task of its own: one that does not heed its cancellation holds nobody up.
        """
        task = self._begin(work)
        try:
            await asyncio.wait({task}, timeout=seconds)
        except asyncio.CancelledError:
            if not keep:
                task.cancel()
            self._breaker.abandoned()
            raise
        if not task.done():
            self._breaker.failed()
            _log.warning("memory: %s took longer than %.1f s and was left behind", label, seconds)
            if not keep:
                task.cancel()
            return None
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is None:
            self._breaker.succeeded()
            return task.result()
        # A refusal is an answer: what one caller does wrong must not take the memory from the others.
        self._breaker.succeeded() if isinstance(error, _REFUSALS) else self._breaker.failed()
        _log.warning("memory: %s failed: %s", label, type(error).__name__)
        return None

    def _begin(self, work: Coroutine[Any, Any, _Result]) -> asyncio.Task[_Result]:
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, so that nobody is told of an error that was dealt with


def _is_usable(item: object) -> bool:
    """Return whether it is a memory that a prompt may show: nothing that is held back for review."""
    if not isinstance(item, MemoryItem) or QUARANTINED in item.tags:
        return False
    return isinstance(item.text, str) and isfinite(item.score)


def named_by_host(user_of: Callable[[_Context], object], context: _Context) -> object:
    """Return what the host's own function names; None where it fails: a run goes on without its memory."""
    try:
        return user_of(context)
    except Exception as error:  # whatever the host's function raises, the memory breaks no run
        _log.warning("memory: the function that names the user failed: %s", type(error).__name__)
        return None


def last_user_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the last thing that the user said in a list of chat messages; "" if there is none."""
    for message in reversed(messages):
        if message.get("role") == "user":
            content = message.get("content")
            if isinstance(content, str):
                return content
            parts = content if isinstance(content, Sequence) else ()
            return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, Mapping)).strip()
    return ""
