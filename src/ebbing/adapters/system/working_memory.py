"""Working memory that lasts as long as its process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count, islice, takewhile

from ebbing.domain.memory.scope import Scope
from ebbing.ports.clock import Clock
from ebbing.ports.working_memory import Turn, is_within


@dataclass(slots=True)
class _Session:
    used_at: datetime
    turns: list[Turn] = field(default_factory=list)
    tokens: int = 0


class InProcessWorkingMemory:
    """A `WorkingMemory` in the memory of one process; threads and event loops may share it.

    Args:
        clock: tells when a session was used.
        most_sessions: open at once.
        most_tokens: a session that holds so many (estimated) takes no further message.
    """

    is_shared = False

    def __init__(self, clock: Clock, *, most_sessions: int = 1_000, most_tokens: int = 32_000) -> None:
        self._clock, self._most_sessions, self._most_tokens = clock, most_sessions, most_tokens
        self._sessions: dict[Scope, _Session] = {}
        self._private: set[Scope] = set()
        self._storing: dict[str, Scope] = {}
        self._numbers = count()
        self._lock = threading.Lock()

    async def append(self, session: Scope, turn: Turn) -> bool:
        with self._lock:
            open_session = self._sessions.get(session)
            if open_session is None and len(self._sessions) >= self._most_sessions:
                return False
            open_session = open_session or _Session(self._clock.now())
            place = _place_of(turn, open_session.turns)
            more = turn.tokens - sum(old.tokens for old in open_session.turns[place : place + 1])
            if more > 0 and open_session.tokens >= self._most_tokens:
                return False
            open_session.turns[place : place + 1] = [turn]
            open_session.tokens += more
            self._use(session, open_session)
            return True

    async def read(self, session: Scope) -> list[Turn]:
        with self._lock:
            open_session = self._sessions.get(session)
            return [] if open_session is None else open_session.turns.copy()

    async def drop(self, session: Scope, turns: Sequence[Turn]) -> None:
        gone = set(turns)
        with self._lock:
            open_session = self._sessions.get(session)
            if open_session is None:
                return
            open_session.turns = [turn for turn in open_session.turns if turn not in gone]
            open_session.tokens = sum(turn.tokens for turn in open_session.turns)
            if not open_session.turns:
                del self._sessions[session]

    async def touch(self, session: Scope) -> None:
        with self._lock:
            open_session = self._sessions.get(session)
            if open_session is not None:
                self._use(session, open_session)

    async def sessions(
        self,
        *,
        within: Scope | str | None = None,
        idle_since: datetime | None = None,
        limit: int | None = None,
    ) -> list[Scope]:
        with self._lock:
            idle = takewhile(lambda entry: idle_since is None or entry[1].used_at <= idle_since, self._sessions.items())
            return list(islice((session for session, _ in idle if is_within(within, session)), limit))

    async def set_private(self, session: Scope, is_private: bool) -> None:
        (self._private.add if is_private else self._private.discard)(session)

    async def is_private(self, session: Scope) -> bool:
        return session in self._private

    async def begin_storing(self, session: Scope) -> str:
        note = str(next(self._numbers))
        self._storing[note] = session
        return note

    async def end_storing(self, session: Scope, note: str) -> None:  # noqa: ARG002
        self._storing.pop(note, None)

    async def is_storing(self, within: Scope | str) -> bool:
        return any(is_within(within, session) for session in list(self._storing.values()))

    async def aclose(self) -> None:
        """There is nothing to close."""

    def _use(self, session: Scope, open_session: _Session) -> None:
        """The order of the dict is that of use, so that the idle ones are found without looking at the others."""
        self._sessions.pop(session, None)
        open_session.used_at = self._clock.now()
        self._sessions[session] = open_session


def _place_of(turn: Turn, turns: Sequence[Turn]) -> int:
    """Where it belongs: in the place of the turn with its id, else behind the last."""
    if turn.message.id is None:
        return len(turns)
    return next((at for at, turn_held in enumerate(turns) if turn_held.message.id == turn.message.id), len(turns))
