"""What becomes of a chat after its answer: remembered in the background, each message once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from typing import Any, Final

from ebbing.domain.errors import EbbingError, InvalidInputError
from ebbing.interfaces.http.chat_proxy.chat_sessions import ChatSession
from ebbing.interfaces.http.chat_proxy.conversation import Turn, can_be_stored
from ebbing.interfaces.http.request_context import OwnerParams
from ebbing.memory import AsyncMemory
from ebbing.remember.intake.parse_messages import parse_messages
from ebbing.remember.intake.screening import off_record_places

MAX_WRITES: Final = 64
"""Writes of a tenant under way at once. One more is left out: the host sends it again with the next message."""
_CLOSE_SECONDS: Final = 10.0
_log: Final = logging.getLogger("ebbing.proxy")


class Remembering:
    """Writes beside the conversations, those of one session one after the other."""

    def __init__(self) -> None:
        self._under_way: dict[asyncio.Task[None], str] = {}
        """Writes with the tenant of each."""

    @property
    def is_under_way(self) -> bool:
        """Whether anything is being remembered."""
        return bool(self._under_way)

    def begin(self, memory: AsyncMemory, session: ChatSession, *, owner: OwnerParams, turns: Sequence[Turn]) -> None:
        """Start to remember what is new of a conversation; returns at once."""
        tenant = session.owner[0]
        if sum(other == tenant for other in self._under_way.values()) >= MAX_WRITES:
            _log.warning("too many chats are being remembered at once: one is left for its next message")
            return
        task = asyncio.create_task(self._logged(_write(memory, session, owner=owner, turns=turns)))
        self._under_way[task] = tenant
        task.add_done_callback(self._under_way.pop)

    async def finish(self, seconds: float = _CLOSE_SECONDS) -> None:
        """Wait for what is under way, then drop it."""
        tasks = set(self._under_way)
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _logged(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # nobody waits for it: it is tried again with the next message
            code = error.code if isinstance(error, EbbingError) else type(error).__name__
            _log.warning("a chat could not be remembered yet: %s", code)


async def _write(memory: AsyncMemory, session: ChatSession, *, owner: OwnerParams, turns: Sequence[Turn]) -> None:
    """Remember the messages that are not yet; the round before them is given again, so that they are understood."""
    async with session.writing:
        storable = [turn for turn in turns if can_be_stored(turn) and turn.id not in session.withheld]
        first = next((at for at, turn in enumerate(storable) if not session.is_stored(turn)), None)
        if first is None:
            return
        begin = next((at for at in reversed(range(first)) if storable[at].role == "user"), 0)
        part = storable[begin:]
        ids: dict[str, Any] = {**owner, "run_id": session.name_by(turns)}
        try:
            await _take_back(memory, session, turns=part, user_id=owner["user_id"])
            await memory.add([session.to_add(turn) for turn in part], **ids)
        except InvalidInputError as error:  # the policy blocks one of them: the others are to be remembered
            _log.warning("a message of a chat may not be stored and was left out: %s", error.code)
            for turn in part:
                await _add_alone(memory, session.to_add(turn), ids=ids)
        session.stored.update((turn.id, turn.text_hash) for turn in part)


async def _add_alone(memory: AsyncMemory, message: dict[str, Any], *, ids: dict[str, Any]) -> None:
    try:
        await memory.add([message], **ids)
    except InvalidInputError:
        return  # it is told already, and is to be tried no more


async def _take_back(memory: AsyncMemory, session: ChatSession, *, turns: Sequence[Turn], user_id: str | None) -> None:
    """Delete what was remembered of a message that the next one puts off the record."""
    places = off_record_places(parse_messages([session.to_add(turn) for turn in turns])).places
    for place in sorted(places):
        turn = turns[place]
        if session.stored.get(turn.id) == turn.text_hash and user_id is not None:
            await memory.delete(source_id=session.stored_id(turn), user_id=user_id)
