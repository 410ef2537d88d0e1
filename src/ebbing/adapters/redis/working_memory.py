"""Working memory in Redis, shared by all processes that name the same server."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from ebbing.adapters.redis.connection import RedisConnection
from ebbing.adapters.redis.keys import PREFIX, member_of, opening_of, session_key, session_of
from ebbing.adapters.redis.session_scripts import BEGIN_STORING, DROP, PUT, STORING
from ebbing.adapters.system.shared_sessions import PlacedTurn, SharedWorkingMemory, turn_from, turn_text
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import micros
from ebbing.ports.clock import Clock
from ebbing.ports.ids import Ids
from ebbing.ports.working_memory import Turn, is_within

_USED: Final = f"{PREFIX}sessions:used"
_NAMES: Final = f"{PREFIX}sessions:names"
_STORING: Final = f"{PREFIX}sessions:storing"
_NOTE_SECONDS: Final = 120


class RedisWorkingMemory(SharedWorkingMemory):
    """A `WorkingMemory` in Redis; what is off the record stays in this process.

    Args:
        connection: closed with it.
        clock: tells when a session was used.
        ids: names what has no name of its own.
        most_sessions: open at once, of everybody.
        most_tokens: a session that holds so many (estimated) takes no further message.
    """

    def __init__(
        self,
        connection: RedisConnection,
        clock: Clock,
        *,
        ids: Ids,
        most_sessions: int = 100_000,
        most_tokens: int = 32_000,
    ) -> None:
        sessions = RedisSessions(connection, clock, ids=ids, most_sessions=most_sessions, most_tokens=most_tokens)
        super().__init__(sessions, clock, most_sessions=most_sessions, most_tokens=most_tokens)


class RedisSessions:
    """The `SharedSessions` in Redis."""

    def __init__(
        self, connection: RedisConnection, clock: Clock, *, ids: Ids, most_sessions: int, most_tokens: int
    ) -> None:
        self._connection, self._clock, self._ids = connection, clock, ids
        self._most_sessions, self._most_tokens = most_sessions, most_tokens

    async def put(self, session: Scope, placed: PlacedTurn, *, is_exact: bool, tokens_beside: int) -> bool:
        turn = placed.turn
        field = f"id:{turn.message.id}" if turn.message.id is not None else f"new:{self._ids.new()}"
        values = (
            *(field, turn_text(turn), member_of(session)),
            *(turn.tokens, placed.place, int(is_exact)),
            *(tokens_beside, self._most_tokens, self._most_sessions),
            micros(self._clock.now()),
        )
        return bool(await self._connection.run(PUT, keys=_keys(session), values=values))

    async def read(self, session: Scope) -> list[PlacedTurn]:
        values: list[str] = await self._connection.call(lambda client: client.hvals(session_key(session, "turns")))
        return sorted(map(_placed, values), key=lambda item: item.place)

    async def drop(self, session: Scope, turns: Sequence[Turn]) -> None:
        values = [member_of(session), *(turn_text(turn) for turn in turns)]
        await self._connection.run(DROP, keys=_keys(session), values=values)

    async def touch(self, session: Scope) -> None:
        used = {member_of(session): micros(self._clock.now())}
        await self._connection.call(lambda client: client.zadd(_USED, used, xx=True))

    async def sessions(
        self, *, within: Scope | str | None, idle_since: datetime | None, limit: int | None
    ) -> list[tuple[int, Scope]]:
        latest = float("inf") if idle_since is None else micros(idle_since)
        if within is None:
            return [(int(used), session_of(member)) for member, used in await self._idle(latest, limit)]
        sessions = [
            (int(used), session_of(member))
            for member, used in await self._named(opening_of(within))
            if used is not None and used <= latest
        ]
        covered = [item for item in sessions if is_within(within, item[1])]
        return sorted(covered, key=lambda item: item[0])[:limit]

    async def set_private(self, session: Scope, is_private: bool) -> None:
        key = session_key(session, "private")

        async def work(client: Any) -> Any:
            return await (client.set(key, 1) if is_private else client.delete(key))

        await self._connection.call(work)

    async def is_private(self, session: Scope) -> bool:
        return bool(await self._connection.call(lambda client: client.exists(session_key(session, "private"))))

    async def begin_storing(self, session: Scope) -> str:
        note = f"{self._ids.new()}{member_of(session)}"
        await self._connection.run(BEGIN_STORING, keys=[_STORING], values=[note, _NOTE_SECONDS])
        return note

    async def end_storing(self, session: Scope, note: str) -> None:  # noqa: ARG002
        await self._connection.call(lambda client: client.zrem(_STORING, note))

    async def is_storing(self, within: Scope | str) -> bool:
        notes = await self._connection.run(STORING, keys=[_STORING])
        return any(is_within(within, session_of(note[note.index("[") :])) for note in notes)

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def _idle(self, latest: float, limit: int | None) -> list[tuple[str, float]]:
        """Return all sessions that were not used after a moment, with that of their last use."""
        part = {} if limit is None else {"offset": 0, "num": limit}

        async def work(client: Any) -> Any:
            return await client.zrange(_USED, "-inf", latest, byscore=True, withscores=True, **part)

        sessions: list[tuple[str, float]] = await self._connection.call(work)
        return sessions

    async def _named(self, opening: str) -> list[tuple[str, float | None]]:
        """Return the sessions whose members begin so, with the moment of their last use."""

        async def work(client: Any) -> list[tuple[str, float | None]]:
            members: list[str] = await client.zrangebylex(_NAMES, f"[{opening}", f"[{opening}\x7f")
            used: list[float | None] = await client.zmscore(_USED, members) if members else []
            return list(zip(members, used, strict=True))

        return await self._connection.call(work)


def _keys(session: Scope) -> list[str]:
    return [session_key(session, "turns"), session_key(session, "counts"), _USED, _NAMES]


def _placed(value: str) -> PlacedTurn:
    place, _, text = value.split(" ", 2)
    return PlacedTurn(int(place), turn_from(text))
