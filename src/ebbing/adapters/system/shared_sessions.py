"""Working memory that several processes share, but for what is off the record: that stays in the RAM of this one."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from ebbing.domain.errors import EbbingError
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import micros
from ebbing.ports.clock import Clock
from ebbing.ports.working_memory import Turn, is_within


@dataclass(frozen=True, slots=True)
class PlacedTurn:
    """A turn, and where in its session it stands: microseconds since 1970, made to rise."""

    place: int
    turn: Turn


class SharedSessions(Protocol):
    """What the processes share: as `WorkingMemory`, and without any turn that is off the record.

    Raises:
        StoreError: it could not be done; nothing was changed.
    """

    async def put(self, session: Scope, placed: PlacedTurn, *, is_exact: bool, tokens_beside: int) -> bool:
        """Keeps a turn, in the place of the one with its id; False, and nothing changed, where there is no room.

        Args:
            placed: with the place for a new turn; if that is not `is_exact`, it comes behind all others anyway.
            tokens_beside: what the session holds in the process that asks.
        """
        ...

    async def read(self, session: Scope) -> list[PlacedTurn]:
        """The turns of a session in their order."""
        ...

    async def drop(self, session: Scope, turns: Sequence[Turn]) -> None:
        """See `WorkingMemory.drop`."""
        ...

    async def touch(self, session: Scope) -> None:
        """See `WorkingMemory.touch`."""
        ...

    async def sessions(
        self, *, within: Scope | str | None, idle_since: datetime | None, limit: int | None
    ) -> list[tuple[int, Scope]]:
        """The sessions with the moment of their last use in microseconds; see `WorkingMemory.sessions`."""
        ...

    async def set_private(self, session: Scope, is_private: bool) -> None:
        """See `WorkingMemory.set_private`."""
        ...

    async def is_private(self, session: Scope) -> bool:
        """See `WorkingMemory.is_private`."""
        ...

    async def begin_storing(self, session: Scope) -> str:
        """See `WorkingMemory.begin_storing`."""
        ...

    async def end_storing(self, session: Scope, note: str) -> None:
        """See `WorkingMemory.end_storing`."""
        ...

    async def is_storing(self, within: Scope | str) -> bool:
        """See `WorkingMemory.is_storing`."""
        ...

    async def aclose(self) -> None:
        """See `WorkingMemory.aclose`."""
        ...


@dataclass(slots=True)
class _PrivatePart:
    """What a session holds in this process alone."""

    used_at: int
    turns: list[PlacedTurn] = field(default_factory=list)

    def tokens(self, *, without: PlacedTurn | None = None) -> int:
        """Return what they cost in a prompt."""
        return sum(placed.turn.tokens for placed in self.turns if placed is not without)


class SharedWorkingMemory:
    """A `WorkingMemory` over sessions that processes share.

    Turns off the record stand between the others by the time at which they came in.

    Args:
        shared: holds everything that is on the record.
        clock: tells when a session was used, and where its turns stand.
        most_sessions: with nothing but turns off the record, in this process.
        most_tokens: a session that holds so many (estimated) takes no further message.
    """

    is_shared = True

    def __init__(self, shared: SharedSessions, clock: Clock, *, most_sessions: int, most_tokens: int) -> None:
        self._shared, self._clock = shared, clock
        self._most_sessions, self._most_tokens = most_sessions, most_tokens
        self._parts: dict[Scope, _PrivatePart] = {}
        self._lock = threading.Lock()
        self.set_private = shared.set_private
        self.is_private = shared.is_private
        self.begin_storing = shared.begin_storing
        self.end_storing = shared.end_storing
        self.is_storing = shared.is_storing
        self.aclose = shared.aclose

    async def append(self, session: Scope, turn: Turn) -> bool:
        if turn.is_private:
            return await self._append_privately(session, turn)
        now = micros(self._clock.now())
        part = self._part(session)
        earlier = _same_id(part.turns, turn)
        placed = PlacedTurn(now if earlier is None else earlier.place, turn)
        other_tokens = part.tokens(without=earlier)
        if not await self._shared.put(session, placed, is_exact=earlier is not None, tokens_beside=other_tokens):
            return False
        if earlier is not None:
            self._replace(session, [earlier], new=[])
        return True

    async def _append_privately(self, session: Scope, turn: Turn) -> bool:
        now = micros(self._clock.now())
        public, part = await self._shared.read(session), self._part(session)
        placed = [*public, *part.turns]
        earlier = _same_id(placed, turn)
        tokens = sum(other.turn.tokens for other in placed)
        more = turn.tokens - (earlier.turn.tokens if earlier else 0)
        if (more > 0 and tokens >= self._most_tokens) or (not placed and len(self._parts) >= self._most_sessions):
            return False
        place = max([now, *(other.place + 1 for other in placed)]) if earlier is None else earlier.place
        new = PlacedTurn(place, turn)
        await self._shared.touch(session)
        self._replace(session, [] if earlier is None else [earlier], new=[new])
        if earlier is not None and not earlier.turn.is_private:
            try:
                await self._shared.drop(session, [earlier.turn])
            except EbbingError:
                self._replace(session, [new], new=[])
                raise
        return True

    async def read(self, session: Scope) -> list[Turn]:
        placed = [*await self._shared.read(session), *self._part(session).turns]
        return [item.turn for item in sorted(placed, key=lambda item: item.place)]

    async def drop(self, session: Scope, turns: Sequence[Turn]) -> None:
        public = [turn for turn in turns if not turn.is_private]
        if public:
            await self._shared.drop(session, public)
        gone = {turn for turn in turns if turn.is_private}
        self._replace(session, [placed for placed in self._part(session).turns if placed.turn in gone], new=[])

    async def touch(self, session: Scope) -> None:
        await self._shared.touch(session)
        with self._lock:
            if session in self._parts:
                self._parts[session].used_at = micros(self._clock.now())

    async def sessions(
        self,
        *,
        within: Scope | str | None = None,
        idle_since: datetime | None = None,
        limit: int | None = None,
    ) -> list[Scope]:
        used = await self._shared.sessions(within=within, idle_since=idle_since, limit=limit)
        latest = None if idle_since is None else micros(idle_since)
        with self._lock:
            parts = [(part.used_at, session) for session, part in self._parts.items() if is_within(within, session)]
        public = {session for _, session in used}
        for used_at, session in parts:
            is_idle = latest is None or used_at <= latest
            if is_idle and session not in public and not await self._shared.read(session):
                used.append((used_at, session))
        used.sort(key=lambda item: item[0])
        return [session for _, session in used[:limit]]

    def _part(self, session: Scope) -> _PrivatePart:
        """A copy of what a session holds here."""
        with self._lock:
            part = self._parts.get(session)
            return _PrivatePart(0) if part is None else _PrivatePart(part.used_at, part.turns.copy())

    def _replace(self, session: Scope, old: Sequence[PlacedTurn], *, new: Sequence[PlacedTurn]) -> None:
        now = micros(self._clock.now())
        with self._lock:
            part = self._parts.pop(session, None) or _PrivatePart(now)
            part.used_at = now if new else part.used_at
            part.turns = [*(placed for placed in part.turns if placed not in old), *new]
            if part.turns:
                self._parts[session] = part


def _same_id(placed: Sequence[PlacedTurn], turn: Turn) -> PlacedTurn | None:
    """Return the turn whose place another one takes."""
    if turn.message.id is None:
        return None
    return next((other for other in placed if other.turn.message.id == turn.message.id), None)


def turn_text(turn: Turn) -> str:
    """Return a turn as text, the same for turns that are equal; of ASCII alone, so that any store can hold it."""
    message = turn.message
    said_at = None if message.timestamp is None else message.timestamp.isoformat()
    fields = [message.content, message.role.value, message.name, message.id, said_at, turn.tokens, turn.infer]
    return json.dumps(fields)


def turn_from(text: str) -> Turn:
    """Return the turn that a text of `turn_text` stands for."""
    content, role, name, message_id, said_at, tokens, infer = json.loads(text)
    timestamp = None if said_at is None else datetime.fromisoformat(said_at)
    return Turn(Message(content, Role(role), name, message_id, timestamp), tokens, infer=infer)
