"""Working memory that lasts as long as its process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice, takewhile

from ebbing.domain.message import Message
from ebbing.domain.scope import Scope
from ebbing.language.tokens import estimate_tokens
from ebbing.ports.clock import Clock


@dataclass(slots=True)
class _Session:
    used_at: datetime
    messages: list[Message] = field(default_factory=list)
    tokens: int = 0


class EphemeralWorkingMemory:
    """A `WorkingMemory` in the memory of one process; threads and event loops may share it.

    Args:
        clock: tells when a session was used.
        most_sessions: open at once.
        most_tokens: a session that holds so many (estimated) takes no further message.
    """

    def __init__(self, clock: Clock, *, most_sessions: int = 1_000, most_tokens: int = 32_000) -> None:
        self._clock, self._most_sessions, self._most_tokens = clock, most_sessions, most_tokens
        self._sessions: dict[Scope, _Session] = {}
        self._lock = threading.Lock()

    async def append(self, session: Scope, message: Message) -> bool:
        tokens = estimate_tokens(message.content)
        with self._lock:
            held = self._sessions.get(session)
            if held is None and len(self._sessions) >= self._most_sessions:
                return False
            held = held or _Session(self._clock.now())
            place = _place_of(message, held.messages)
            if place is not None:
                tokens -= estimate_tokens(held.messages[place].content)
            if tokens > 0 and held.tokens >= self._most_tokens:
                return False
            if place is None:
                held.messages.append(message)
            else:
                held.messages[place] = message
            held.tokens += tokens
            self._use(session, held)
            return True

    async def read(self, session: Scope) -> list[Message]:
        with self._lock:
            held = self._sessions.get(session)
            return [] if held is None else held.messages.copy()

    async def drop(self, session: Scope, messages: Sequence[Message]) -> None:
        gone = set(messages)
        with self._lock:
            held = self._sessions.get(session)
            if held is None:
                return
            held.tokens -= sum(estimate_tokens(one.content) for one in held.messages if one in gone)
            held.messages = [one for one in held.messages if one not in gone]
            if not held.messages:
                del self._sessions[session]

    async def touch(self, session: Scope) -> None:
        with self._lock:
            held = self._sessions.get(session)
            if held is not None:
                self._use(session, held)

    async def sessions(self, *, idle_since: datetime | None = None, limit: int | None = None) -> list[Scope]:
        with self._lock:
            idle = takewhile(lambda one: idle_since is None or one[1].used_at <= idle_since, self._sessions.items())
            return [session for session, _ in islice(idle, limit)]

    def _use(self, session: Scope, held: _Session) -> None:
        """The order of the dict is that of use, so that the idle ones are found without looking at the others."""
        self._sessions.pop(session, None)
        held.used_at = self._clock.now()
        self._sessions[session] = held


def _place_of(message: Message, messages: Sequence[Message]) -> int | None:
    if message.id is None:
        return None
    return next((at for at, held in enumerate(messages) if held.id == message.id), None)
