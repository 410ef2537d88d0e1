"""Working memory in the store's database, shared by all processes that use it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import and_, bindparam, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.tables.columns import text_digest
from ebbing.adapters.sql.tables.conditions import REACH, chunks, is_in, key_of, of_owner, optional
from ebbing.adapters.sql.tables.session_tables import SESSION, SESSION_NOTE, SESSION_TURN
from ebbing.adapters.system.shared_sessions import PlacedTurn, SharedWorkingMemory, turn_from, turn_text
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import micros
from ebbing.ports.clock import Clock
from ebbing.ports.ids import Ids
from ebbing.ports.working_memory import Turn, is_within

_NOTE_LIFETIME: Final = timedelta(minutes=2)
_PRIVATE: Final = "private"

_THIS: Final = and_(of_owner(SESSION), SESSION.c.session == bindparam("of_session"))
_TURNS: Final = and_(of_owner(SESSION_TURN), SESSION_TURN.c.session == bindparam("of_session"))
_TURN: Final = and_(_TURNS, SESSION_TURN.c.turn == bindparam("of_turn"))
_NOTE: Final = and_(
    of_owner(SESSION_NOTE),
    SESSION_NOTE.c.session == bindparam("of_session"),
    SESSION_NOTE.c.note == bindparam("of_note"),
)
_LOCK: Final = select(SESSION.c.tokens, SESSION.c.last_place).where(_THIS).with_for_update()
_COUNT: Final = (
    select(func.count())
    .select_from(SESSION)
    .execution_options(**{REACH: "service: so many sessions are open, of everybody"})
)
_CHANGE: Final = (
    update(SESSION)
    .where(_THIS)
    .values({name: bindparam(f"new_{name}") for name in ("used_at", "tokens", "last_place")})
)
_TOUCH: Final = update(SESSION).where(_THIS).values(used_at=bindparam("new_used_at"))
_FREE: Final = update(SESSION).where(_THIS).values(tokens=SESSION.c.tokens - bindparam("freed"))
_CLOSE: Final = delete(SESSION).where(_THIS)
_READ: Final = select(SESSION_TURN.c.place, SESSION_TURN.c.body).where(_TURNS).order_by(SESSION_TURN.c.place)
_SESSION_TURNS: Final = select(SESSION_TURN.c.turn, SESSION_TURN.c.tokens, SESSION_TURN.c.body).where(_TURNS)
_EARLIER: Final = select(SESSION_TURN.c.place, SESSION_TURN.c.tokens).where(_TURN)
_DROP_TURN: Final = delete(SESSION_TURN).where(_TURN)
_DROP_TURNS: Final = delete(SESSION_TURN).where(_TURNS, is_in(SESSION_TURN.c.turn, "turns"))
_IDLE: Final = select(SESSION.c.tenant, SESSION.c.names, SESSION.c.used_at).order_by(SESSION.c.used_at)
_OF_ALL: Final = _IDLE.execution_options(**{REACH: "service: forgotten sessions are ended, of everybody"})
_OF_TENANT: Final = _IDLE.where(SESSION.c.tenant == bindparam("of_tenant")).execution_options(
    **{REACH: "tenant: its sessions are listed"}
)
_OF_OWNER: Final = _IDLE.where(of_owner(SESSION))
_READ_NOTE: Final = select(SESSION_NOTE.c.note).where(_NOTE)
_DROP_NOTE: Final = delete(SESSION_NOTE).where(_NOTE)
_NOTES: Final = (
    select(SESSION_NOTE.c.tenant, SESSION_NOTE.c.names)
    .where(SESSION_NOTE.c.tenant == bindparam("of_tenant"), optional(SESSION_NOTE.c.owner, "of_owner"))
    .where(SESSION_NOTE.c.until > bindparam("now"))
    .execution_options(**{REACH: "tenant: what is on its way into the store is looked for"})
)
_DROP_OLD_NOTES: Final = (
    delete(SESSION_NOTE)
    .where(SESSION_NOTE.c.until <= bindparam("now"))
    .execution_options(**{REACH: "service: notes of processes that have died are dropped"})
)


class SqlWorkingMemory(SharedWorkingMemory):
    """A `WorkingMemory` in a database; what is off the record stays in this process.

    Args:
        database: closed by the store.
        clock: tells when a session was used.
        ids: names what has no name of its own.
        most_sessions: open at once, of everybody; a few more where several processes open some at the same moment.
        most_tokens: a session that holds so many (estimated) takes no further message.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        ids: Ids,
        most_sessions: int = 100_000,
        most_tokens: int = 32_000,
    ) -> None:
        sessions = SqlSessions(database, clock, ids=ids, most_sessions=most_sessions, most_tokens=most_tokens)
        super().__init__(sessions, clock, most_sessions=most_sessions, most_tokens=most_tokens)


class SqlSessions:
    """The `SharedSessions` in a database."""

    def __init__(self, database: Database, clock: Clock, *, ids: Ids, most_sessions: int, most_tokens: int) -> None:
        self._database, self._clock, self._ids = database, clock, ids
        self._most_sessions, self._most_tokens = most_sessions, most_tokens

    async def put(self, session: Scope, placed: PlacedTurn, *, is_exact: bool, tokens_beside: int) -> bool:
        turn, key = placed.turn, _key(session)
        name = text_digest(f"id:{turn.message.id}") if turn.message.id is not None else self._ids.new().replace("-", "")
        used_at = micros(self._clock.now())

        async def work(db: AsyncConnection) -> bool:
            row = (await db.execute(_LOCK, key)).first()
            if row is None and (await db.execute(_COUNT)).scalar_one() >= self._most_sessions:
                return False
            tokens, last_place = (0, 0) if row is None else (row.tokens, row.last_place)
            earlier = (await db.execute(_EARLIER, {**key, "of_turn": name})).first()
            more = turn.tokens - (0 if earlier is None else earlier.tokens)
            if more > 0 and tokens + tokens_beside >= self._most_tokens:
                return False
            place = placed.place if is_exact else max(placed.place, last_place + 1)
            if earlier is not None:
                place = earlier.place
                await db.execute(_DROP_TURN, {**key, "of_turn": name})
            counts = {"used_at": used_at, "tokens": tokens + more, "last_place": max(last_place, place)}
            if row is None:
                await db.execute(insert(SESSION), {**_columns(session), "names": _names(session), **counts})
            else:
                await db.execute(_CHANGE, {**key, **{f"new_{column}": value for column, value in counts.items()}})
            values = {"turn": name, "place": place, "tokens": turn.tokens, "body": turn_text(turn)}
            await db.execute(insert(SESSION_TURN), {**_columns(session), **values})
            return True

        return await self._database.write(work)

    async def read(self, session: Scope) -> list[PlacedTurn]:
        rows = await self._database.rows(_READ, _key(session))
        return [PlacedTurn(row.place, turn_from(row.body)) for row in rows]

    async def drop(self, session: Scope, turns: Sequence[Turn]) -> None:
        key, gone = _key(session), {turn_text(turn) for turn in turns}

        async def work(db: AsyncConnection) -> None:
            if (await db.execute(_LOCK, key)).first() is None:
                return
            rows = (await db.execute(_SESSION_TURNS, key)).all()
            leaving = [row for row in rows if row.body in gone]
            for part in chunks([row.turn for row in leaving]):
                await db.execute(_DROP_TURNS, {**key, "turns": part})
            if len(leaving) == len(rows):
                await db.execute(_CLOSE, key)
            else:
                await db.execute(_FREE, {**key, "freed": sum(row.tokens for row in leaving)})

        await self._database.write(work)

    async def touch(self, session: Scope) -> None:
        values = {**_key(session), "new_used_at": micros(self._clock.now())}
        await self._database.write(lambda db: db.execute(_TOUCH, values))

    async def sessions(
        self, *, within: Scope | str | None, idle_since: datetime | None, limit: int | None
    ) -> list[tuple[int, Scope]]:
        statement, values = _listing(within)
        if idle_since is not None:
            statement = statement.where(SESSION.c.used_at <= micros(idle_since))
        if within is None or isinstance(within, str):
            statement = statement.limit(limit)
        rows = await self._database.rows(statement, values)
        sessions = [(int(row.used_at), _session(row)) for row in rows]
        return [item for item in sessions if is_within(within, item[1])][:limit]

    async def set_private(self, session: Scope, is_private: bool) -> None:
        key = {**_key(session), "of_note": _PRIVATE}

        async def work(db: AsyncConnection) -> None:
            if not is_private:
                await db.execute(_DROP_NOTE, key)
            elif (await db.execute(_READ_NOTE, key)).first() is None:
                await db.execute(insert(SESSION_NOTE), {**_columns(session), "note": _PRIVATE, "names": ""})

        await self._database.write(work)

    async def is_private(self, session: Scope) -> bool:
        return await self._database.row(_READ_NOTE, {**_key(session), "of_note": _PRIVATE}) is not None

    async def begin_storing(self, session: Scope) -> str:
        note, now = self._ids.new(), self._clock.now()
        values = {"note": note, "names": _names(session), "until": micros(now + _NOTE_LIFETIME)}

        async def work(db: AsyncConnection) -> None:
            await db.execute(_DROP_OLD_NOTES, {"now": micros(now)})
            await db.execute(insert(SESSION_NOTE), {**_columns(session), **values})

        await self._database.write(work)
        return note

    async def end_storing(self, session: Scope, note: str) -> None:
        values = {**_key(session), "of_note": note}
        await self._database.write(lambda db: db.execute(_DROP_NOTE, values))

    async def is_storing(self, within: Scope | str) -> bool:
        key = {"of_tenant": within, "of_owner": None} if isinstance(within, str) else key_of(within.owner)
        rows = await self._database.rows(_NOTES, {**key, "now": micros(self._clock.now())})
        return any(is_within(within, _session(row)) for row in rows)

    async def aclose(self) -> None:
        """The store closes the database."""


def _listing(within: Scope | str | None) -> tuple[Any, dict[str, Any]]:
    """Return the statement that lists sessions, and its values."""
    if within is None:
        return _OF_ALL, {}
    return (_OF_TENANT, {"of_tenant": within}) if isinstance(within, str) else (_OF_OWNER, key_of(within.owner))


def _names(session: Scope) -> str:
    return json.dumps([session.user_id, session.agent_id, session.run_id])


def _session(row: Any) -> Scope:
    user_id, agent_id, run_id = json.loads(row.names)
    return Scope(user_id=user_id, agent_id=agent_id, run_id=run_id, tenant=row.tenant)


def _key(session: Scope) -> dict[str, Any]:
    return {**key_of(session.owner), "of_session": text_digest(_names(session))}


def _columns(session: Scope) -> dict[str, Any]:
    return {"tenant": session.tenant, "owner": session.owner.digest, "session": text_digest(_names(session))}
