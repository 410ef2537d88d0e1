"""Counts of recalled memories, beside the memories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import BigInteger, and_, bindparam, case, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.rows.record_columns import RECORD_COLUMNS
from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.memories.owner_rows import lock, note_change
from ebbing.adapters.sql.memories.recorder import Recorder
from ebbing.adapters.sql.memories.row_values import record_from
from ebbing.adapters.sql.tables.columns import WHOLE, text_digest
from ebbing.adapters.sql.tables.conditions import chunks, covered, is_in, key_of, names_of, of_owner
from ebbing.adapters.sql.tables.owner_tables import FEEDBACK, MEMORY, RETURNED
from ebbing.domain.errors import MemoryNotFoundError
from ebbing.domain.forgetting.curves import after_signal
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.feedback import Feedback, Signal, Usage
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.shard import micros, moment
from ebbing.ports.stores.usage_log import KEPT_FEEDBACK, Returned

_OF_SEQ: Final = bindparam("of_seq", type_=WHOLE)
_SEQS: Final = select(MEMORY.c.id, MEMORY.c.seq).where(of_owner(MEMORY), is_in(MEMORY.c.id, "ids"))
_COUNTED: Final = select(RETURNED.c.seq).where(of_owner(RETURNED), is_in(RETURNED.c.seq, "seqs"))
_LAST: Final = bindparam("new_last_at", type_=BigInteger)
_COUNT: Final = (
    update(RETURNED)
    .where(of_owner(RETURNED), RETURNED.c.seq == _OF_SEQ)
    .values(
        times=RETURNED.c.times + bindparam("more", type_=BigInteger),
        last_at=case((RETURNED.c.last_at < _LAST, _LAST), else_=RETURNED.c.last_at),
    )
)
_MINE: Final = and_(of_owner(MEMORY), MEMORY.c.id == bindparam("of_id"), covered(MEMORY))
_RECORD: Final = select(MEMORY.c.seq, *(MEMORY.c[name] for name in RECORD_COLUMNS)).where(_MINE)
_SEQ: Final = select(MEMORY.c.seq).where(_MINE)
_TIMES: Final = select(RETURNED.c.times, RETURNED.c.last_at).where(of_owner(RETURNED), RETURNED.c.seq == _OF_SEQ)
_SIGNALS: Final = (
    select(FEEDBACK.c.recall, FEEDBACK.c.signal, FEEDBACK.c.at, FEEDBACK.c.reason, FEEDBACK.c.recall_key)
    .where(of_owner(FEEDBACK), FEEDBACK.c.seq == _OF_SEQ)
    .order_by(FEEDBACK.c.at)
)
_DROP_SIGNAL: Final = delete(FEEDBACK).where(
    of_owner(FEEDBACK),
    FEEDBACK.c.seq == _OF_SEQ,
    FEEDBACK.c.recall_key == bindparam("of_recall"),
    FEEDBACK.c.signal == bindparam("of_signal"),
)
_USED: Final = ("access_count", "last_accessed_at", "strength", "growth")
_USE: Final = (
    update(MEMORY)
    .where(of_owner(MEMORY), MEMORY.c.seq == _OF_SEQ)
    .values({name: bindparam(f"new_{name}") for name in _USED})
)


class SqlUsageLog:
    """A `UsageLog` over the tables `returned`, `feedback` and `memory`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def returned(self, batch: Sequence[Returned]) -> None:
        by_owner: defaultdict[Owner, list[Returned]] = defaultdict(list)
        for item in batch:
            by_owner[item.owner].append(item)

        async def work(db: AsyncConnection) -> None:
            for owner in sorted(by_owner):  # in one order, so that two who count never wait for each other
                await _count(db, owner, items=by_owner[owner])

        self._database.check()
        if by_owner:
            await self._database.write(work)

    async def tell(self, scope: Scope, feedback: Feedback, *, change: ChangeSet | None = None) -> bool:
        change = change or ChangeSet(Cause.FEEDBACK)
        counted, change_id = await self._database.write(lambda db: _tell(db, scope, feedback=feedback, change=change))
        if change_id is not None:
            change.ids[scope.owner] = change_id
        return counted

    async def usage(self, scope: Scope, memory_id: str) -> Usage:
        key = key_of(scope.owner)

        async def work(db: AsyncConnection) -> Usage:
            seq = (await db.execute(_SEQ, {**names_of(scope), "of_id": memory_id})).scalar()
            if seq is None:
                return Usage()
            times = (await db.execute(_TIMES, {**key, "of_seq": seq})).first()
            feedback = tuple(
                Feedback(memory_id, Signal(row.signal), row.recall, moment(row.at), row.reason)
                for row in await db.execute(_SIGNALS, {**key, "of_seq": seq})
            )
            return Usage(feedback=feedback) if times is None else Usage(times.times, moment(times.last_at), feedback)

        return await self._database.read(work)


async def _count(db: AsyncConnection, owner: Owner, *, items: Sequence[Returned]) -> None:
    row = await lock(db, owner)
    if row is None:
        return
    counts: dict[str, list[int]] = {}
    for item in items:
        count = counts.setdefault(item.memory_id, [0, 0])
        count[0] += item.times
        count[1] = max(count[1], micros(item.last_at))
    for ids in chunks(list(counts)):
        seqs = {seq: counts[memory_id] for memory_id, seq in await db.execute(_SEQS, {**row.key, "ids": ids})}
        if not seqs:
            continue
        counted = set((await db.execute(_COUNTED, {**row.key, "seqs": list(seqs)})).scalars())
        new: list[dict[str, Any]] = []
        more: list[dict[str, Any]] = []
        for seq, (times, at) in seqs.items():
            if seq in counted:
                more.append({**row.key, "of_seq": seq, "more": times, "new_last_at": at})
            else:
                new.append({**row.columns, "seq": seq, "times": times, "last_at": at})
        if new:
            await db.execute(insert(RETURNED), new)
        if more:
            await db.execute(_COUNT, more)


async def _tell(db: AsyncConnection, scope: Scope, *, feedback: Feedback, change: ChangeSet) -> tuple[bool, str | None]:
    """Whether the signal is new, and the id of the change set where it changed the record."""
    owner = await lock(db, scope.owner)
    row = (await db.execute(_RECORD, {**names_of(scope), "of_id": feedback.memory_id})).first()
    if owner is None or row is None:
        raise MemoryNotFoundError("no memory with this id belongs to this owner")
    seq, *columns = row
    of_row = {**owner.key, "of_seq": seq}
    signals = (await db.execute(_SIGNALS, of_row)).all()
    before = {Signal(signal.signal) for signal in signals if signal.recall == feedback.recall_id}
    if feedback.signal in before:
        return False, None
    await db.execute(insert(FEEDBACK), _signal_values(feedback, {**owner.columns, "seq": seq}))
    record = record_from(columns, scope)
    changed = after_signal(record, feedback, before=before)
    recorder = await Recorder.begin(db, owner, owner=scope.owner, change=change)
    if changed is not record:
        await recorder.keep({seq: False})
        last = changed.last_accessed_at
        used = (changed.access_count, None if last is None else micros(last), changed.strength, changed.growth)
        await db.execute(_USE, of_row | {f"new_{name}": value for name, value in zip(_USED, used, strict=True)})
    for old in signals[: max(len(signals) + 1 - KEPT_FEEDBACK, 0)]:
        await db.execute(_DROP_SIGNAL, {**of_row, "of_recall": old.recall_key, "of_signal": old.signal})
    change_id = await recorder.finish(feedback.at)
    await note_change(db, owner)
    return True, change_id


def _signal_values(feedback: Feedback, key: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **key,
        "recall_key": text_digest(feedback.recall_id),
        "signal": feedback.signal,
        "recall": feedback.recall_id,
        "at": micros(feedback.at),
        "reason": feedback.reason,
    }
