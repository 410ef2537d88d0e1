"""The two blocks of a prompt: who the person is, frozen for the conversation, and what bears on the question."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.http.chat_proxy.chat_sessions import NOTHING, Block, ChatSession
from ebbing.interfaces.http.chat_proxy.conversation import Turn
from ebbing.interfaces.http.request_context import OwnerParams
from ebbing.memory import AsyncMemory
from ebbing.recall.context.usage_policy import DEFAULT
from ebbing.resilience.circuit_breaker import Breaker
from ebbing.wiring.config.settings import Settings

BLOCK_TOKENS: Final = 600
"""Estimated tokens of a block, at most."""
_LAST_TURNS: Final = 9
"""Messages by which a question is understood."""
_LAST_CHARS: Final = 4_000
"""Characters of each of them, at most."""
_MAX_BREAKERS: Final = 1_000
"""Tenants whose failures are counted; of more, the one that was quiet longest begins anew."""
_log: Final = logging.getLogger("ebbing.proxy")

Outcome = Literal["used", "nothing", "late", "failed", "off"]
"""What came of a recall: memories, none that fit, not in time, an error; or it was not to be."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a prompt gets."""

    profile: Block = NOTHING
    question: Block = NOTHING
    outcome: Outcome = "off"


class RecallBlocks:
    """Asks the memory for both blocks, within a budget. It raises nothing.

    A tenant's memory that failed five times in a row is left alone for a while, so that nobody waits for it in vain.
    """

    def __init__(self, settings: Settings) -> None:
        self._agent = settings.proxy_agent
        self._seconds = settings.proxy_recall_timeout_ms / 1_000
        self._breakers: OrderedDict[str, Breaker] = OrderedDict()
        """By tenant: one whose memory fails silences no other's."""
        self._under_way: set[asyncio.Task[Outcome]] = set()

    async def recall(
        self, memory: AsyncMemory, session: ChatSession, *, owner: OwnerParams, turns: Sequence[Turn], private: bool
    ) -> Recalled:
        """Return the blocks for the question that the turns end with.

        The profile is asked for once in a conversation, the question once for all calls that answer it.

        Args:
            private: leave no trace of the question.
        """
        if self._agent == "tool" or not turns:
            return Recalled()
        question = next((turn for turn in reversed(turns) if turn.role == "user"), turns[-1])
        ask = _Ask(memory, session, owner=owner, private=private, agent=self._agent)
        outcome = await self._in_time(ask, turns, question=question)
        profile = session.profile or NOTHING
        block = session.question if session.question_id == question.id else NOTHING
        is_used = bool(profile.text or block.text)
        return Recalled(profile, block, "used" if is_used and outcome == "nothing" else outcome)

    async def _in_time(self, ask: _Ask, turns: Sequence[Turn], *, question: Turn) -> Outcome:
        """Ask within the budget. What takes longer is stopped, in its own time."""
        breaker = self._breaker_of(ask.tenant)
        if breaker.enter():
            return "failed"
        task = asyncio.create_task(self._outcome_of(ask, turns, question=question))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        try:
            await asyncio.wait({task}, timeout=self._seconds)
        except asyncio.CancelledError:
            task.cancel()
            breaker.abandoned()
            raise
        if not task.done():
            task.cancel()
            breaker.failed()
            _log.warning("the memory took longer than %d ms, and a chat went on without", round(self._seconds * 1_000))
            return "late"
        outcome: Outcome = "failed" if task.cancelled() else task.result()
        breaker.failed() if outcome == "failed" else breaker.succeeded()
        return outcome

    def _breaker_of(self, tenant: str) -> Breaker:
        breaker = self._breakers.setdefault(tenant, Breaker(pause_seconds=15.0))
        self._breakers.move_to_end(tenant)
        if len(self._breakers) > _MAX_BREAKERS:
            self._breakers.popitem(last=False)
        return breaker

    async def _outcome_of(self, ask: _Ask, turns: Sequence[Turn], *, question: Turn) -> Outcome:
        try:
            await ask.drop_deleted()
            await ask.profile()
            await ask.question(turns, question=question)
        except InvalidInputError as error:  # a question that no memory can be asked, such as a lone NUL
            _log.info("the memory could not be asked, and a chat went on without: %s", error.code)
            return "nothing"
        except Exception as error:  # whatever it is, the chat goes on without memory
            _log.warning("the memory failed, and a chat went on without: %s", type(error).__name__)
            return "failed"
        return "nothing"


class _Ask:
    """What one request asks of the memory; what is found is left in the session as soon as it is there."""

    def __init__(
        self, memory: AsyncMemory, session: ChatSession, *, owner: OwnerParams, private: bool, agent: str
    ) -> None:
        self._get: Callable[..., Any] = memory.get_context
        self._memory, self._user, self.tenant = memory, owner["user_id"], session.owner[0]
        self._session = session
        self._options: dict[str, Any] = {**owner, "run_id": None, "max_tokens": BLOCK_TOKENS, "private": private}
        self._bounds: dict[str, Any] = (
            {"min_score": DEFAULT.inject_above, "with_turns": False} if agent == "general" else {}
        )

    async def drop_deleted(self) -> None:
        """Let go of a block that shows what is no longer there: another process may have deleted it."""
        session = self._session
        if session.profile is not None and not await self._are_there(session.profile):
            session.profile = None
        if session.question_id and not await self._are_there(session.question):
            session.question_id, session.question = "", NOTHING

    async def _are_there(self, block: Block) -> bool:
        for memory_id in block.memory_ids:
            is_stored = ":" not in memory_id  # what is set for the whole tenant has a made-up id, such as default:0
            if is_stored and await self._memory.get(memory_id, user_id=self._user) is None:
                return False
        return True

    async def profile(self) -> None:
        """Freeze who the person is."""
        if self._session.profile is None:
            self._session.profile = _block(await self._get(groups=["profile"], **self._options))

    async def question(self, turns: Sequence[Turn], *, question: Turn) -> None:
        """Look for what bears on the question, beside what the profile says; once for all calls that answer it."""
        if self._session.question_id == question.id:
            return
        shown = self._session.profile or NOTHING
        messages = [{"role": turn.role, "content": turn.text[-_LAST_CHARS:]} for turn in turns[-_LAST_TURNS:]]
        answer = await self._get(
            messages=messages, groups=["relevant"], without=list(shown.memory_ids), **self._bounds, **self._options
        )
        self._session.question, self._session.question_id = _block(answer), question.id


def _block(answer: Mapping[str, Any]) -> Block:
    """Return the block of an answer, which may come from a memory that talks nonsense.

    Raises:
        TypeError: it is no answer.
    """
    text, memories = answer["context"], answer["memories"]
    if not isinstance(text, str):
        raise TypeError("a context must be a text")
    return Block(text, tuple(str(item["id"]) for item in memories))
