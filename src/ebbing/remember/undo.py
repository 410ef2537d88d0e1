"""Taking back what a call wrote: all of it in one transaction, and nothing of what happened since."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from ebbing.domain.errors import ConflictError
from ebbing.domain.forgetting.stages import TAKEN_APART, UNDONE
from ebbing.domain.memory.change_set import LoggedChange
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import Kind, MemoryRecord, Stage
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.change_log import RecordChange
from ebbing.ports.stores.memory_store import Change, MemoryStore, Revise
from ebbing.remember.add_deps import MAX_ATTEMPTS, AddDeps
from ebbing.remember.facts.doubts import without_doubts
from ebbing.remember.put_back import as_before, event_of, is_changed_since, is_current
from ebbing.remember.reconcile.known_messages import without_leaning
from ebbing.remember.reconcile.rivals import closed_rival, rivals_of
from ebbing.remember.reconcile.unmerge import Unmerge, deleted, is_apart, merged_records_of, unmerge_changes

CHANGED_SINCE: Final = "it was changed again since"
LEFT_WITH: Final = "what stands in its place was changed since"
HAS_RIVAL: Final = "another value of it is current by now"


@dataclass(frozen=True, slots=True)
class UndoReport:
    """The outcome of an undo."""

    restored: tuple[str, ...] = ()
    """Ids of memories that are as they were before."""
    deleted: tuple[str, ...] = ()
    """Ids of memories that the change had made, or that lean on its messages."""
    superseded: tuple[str, ...] = ()
    """Ids of memories that gave way to a restored one."""
    left: tuple[tuple[str, str], ...] = ()
    """Ids of memories that were left alone, and why."""
    gone: int = 0
    """Memories of the change that were erased for good."""


@dataclass(slots=True)
class _Plan:
    """The changes to write, and the report about them."""

    records: dict[str, MemoryRecord] = field(default_factory=dict)
    """By id, as they are to become."""
    done: dict[str, RecordChange] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    rivals: dict[str, tuple[MemoryRecord, str]] = field(default_factory=dict)
    """By id, memories that give way, and the id of the one they give way to."""


async def undo(
    deps: AddDeps, logged: LoggedChange, *, scope: Scope, memory_id: str | None = None, force: bool = False
) -> UndoReport:
    """Put back what a change set changed, delete what it made, and report what it left alone.

    Args:
        scope: everything of the owner.
        memory_id: take back only what became of this memory, and what cannot be without that: of a merge, all of it.
        force: put back also what was changed again since; memories that cannot stand beside it give way.

    Raises:
        ConflictError: somebody else changed the memories all the while; nothing was written.
    """
    for attempt in range(1, MAX_ATTEMPTS + 1):
        records = await deps.store.change_log.records(scope, logged.id)
        chosen = records if memory_id is None else _hanging_together(records, memory_id)
        plan = _planned(chosen, force=force, now=deps.clock.now())
        await _meet_rivals(deps, plan, scope=scope, since=logged, yields=force or memory_id is not None)
        changes = await _changes(deps.store, plan, scope=scope, now=deps.clock.now())
        try:
            if changes:
                await deps.store.write(scope, changes)
        except ConflictError:
            if attempt == MAX_ATTEMPTS:
                raise
            continue
        ids_without_vector = [
            change.record.id for change in changes if isinstance(change, Revise) and _wants_vector(change)
        ]
        await deps.note_missing_vectors(ids_without_vector, scope)
        touched = logged.inserted + logged.revised + logged.erased
        gone = touched - len(records) if memory_id is None else 0
        return _report(plan, changes, gone=max(0, gone))
    raise ConflictError("these memories were changed all the while: try again")


def _hanging_together(records: Sequence[RecordChange], memory_id: str) -> list[RecordChange]:
    """Return the change of one memory, with all that told or tells it in the place of others."""
    chosen, size = {memory_id}, 0
    while len(chosen) > size:
        size = len(chosen)
        for done in records:
            tellers = {
                state.superseded_by
                for state in (done.before, done.after)
                if state is not None and state.retired_at is not None and state.superseded_by is not None
            }
            if tellers & chosen or (done.now.id in chosen and tellers):
                chosen |= {done.now.id, *tellers}
    return [done for done in records if done.now.id in chosen]


def _planned(records: Sequence[RecordChange], *, force: bool, now: datetime) -> _Plan:
    plan = _Plan()
    if not force:
        plan.left = {done.now.id: CHANGED_SINCE for done in records if is_changed_since(done)}
        _leave_what_hangs_on_them(records, plan.left)
    for done in records:
        if done.now.id in plan.left:
            continue
        plan.done[done.now.id] = done
        if done.before is not None:
            plan.records[done.now.id] = as_before(done)
        elif done.now.deleted_at is None:
            reason = TAKEN_APART if done.now.is_compressed else UNDONE
            plan.records[done.now.id] = replace(deleted(done.now, reason, moment=now), retired_at=None)
    return plan


def _leave_what_hangs_on_them(records: Iterable[RecordChange], left: dict[str, str]) -> None:
    """Leave the rivals of a memory that is left alone as they are: else both would be current."""
    for done in records:
        in_its_place = done.after.superseded_by
        is_aside = done.before is not None and done.before.superseded_by != in_its_place
        if is_aside and in_its_place in left and done.now.id not in left:
            left[done.now.id] = LEFT_WITH


async def _meet_rivals(deps: AddDeps, plan: _Plan, *, scope: Scope, since: LoggedChange, yields: bool) -> None:
    """See to it that no memory becomes current beside one that it cannot stand beside, and did not stand beside."""
    store, now = deps.store, deps.clock.now()
    coming: list[MemoryRecord] = []
    leaving: set[str] = set()
    for record in plan.records.values():
        if not is_current(record):
            leaving.add(record.id)
        elif not is_current(plan.done[record.id].now):
            coming.append(record)
    for record in coming:
        rivals: list[MemoryRecord] = []
        for rival in await rivals_of(store, record, scope=scope, now=now, without=leaving):
            is_new = rival.id not in plan.rivals
            if is_new and not await _was_current(store, rival, scope=scope, since=since):
                rivals.append(rival)
        if rivals and not yields:
            plan.left[record.id] = HAS_RIVAL
            del plan.records[record.id]
            continue
        for rival in rivals:
            plan.rivals[rival.id] = (rival, record.id)


async def _was_current(store: MemoryStore, record: MemoryRecord, *, scope: Scope, since: LoggedChange) -> bool:
    """Return whether it was current when the change set was made."""
    done = await store.change_log.of_memory(scope, record.id)
    later = [later_change for later_change in done if later_change.logged.number > since.number]
    then = later[-1].before if later else record
    return then is not None and is_current(then)


async def _changes(store: MemoryStore, plan: _Plan, *, scope: Scope, now: datetime) -> list[Change]:
    apart = await _apart(store, plan, scope=scope, now=now)
    changes, latest = [*apart.changes], dict(apart.latest)
    for memory_id, record in plan.records.items():
        done = plan.done[memory_id]
        old = latest.get(memory_id, done.now)
        if _is_same(record, old):
            continue
        new = latest[memory_id] = replace(record, version=old.version + 1)
        entry = done.entry if done.before is not None and new.stage is done.before.stage else None
        changes.append(Revise(new, event_of(old, new), entry=entry, reason=UNDONE, sets_uses=True))
    for rival, winner in plan.rivals.values():
        changes.append(closed_rival(latest.get(rival.id, rival), winner, now=now))
    gone = [plan.done[record.id].now for record in plan.records.values() if record.deleted_at is not None]
    messages = [record for record in gone if record.kind is Kind.EPISODE]
    besides = set(latest)
    for rival, _ in plan.rivals.values():
        besides.add(rival.id)
    changes += await without_leaning(store, messages, besides=besides, scope=scope, now=now)
    return await without_doubts(store, changes, gone=gone, scope=scope)


async def _apart(store: MemoryStore, plan: _Plan, *, scope: Scope, now: datetime) -> Unmerge:
    """Return what other memories tell of those that are deleted or reworded: they would still say it."""
    reworded = [
        plan.done[record.id].now
        for record in plan.records.values()
        if record.deleted_at is not None or record.content != plan.done[record.id].now.content
    ]
    tellers = await merged_records_of(store, reworded, scope=scope) if reworded else []
    others = [record for record in tellers if record.id not in plan.records and not is_apart(record)]
    return await unmerge_changes(store, others, scope=scope, moment=now)


def _is_same(record: MemoryRecord, old: MemoryRecord) -> bool:
    return replace(record, version=old.version) == old


def _wants_vector(change: Revise) -> bool:
    entry = change.entry
    return entry is not None and entry.vector is None and change.record.stage is Stage.FULL and change.record.is_active


def _report(plan: _Plan, changes: Sequence[Change], *, gone: int) -> UndoReport:
    done = {name for name, record in plan.records.items() if not _is_same(record, plan.done[name].now)}
    made: Collection[str] = {name for name, record in plan.done.items() if record.before is None}
    leaning: list[str] = []
    for change in changes:
        if isinstance(change, Revise) and change.event is Event.DELETE:
            name = change.record.id
            if name not in plan.records:
                leaning.append(name)
    return UndoReport(
        restored=tuple(name for name in plan.records if name in done and name not in made),
        deleted=(*(name for name in plan.records if name in made), *leaning),
        superseded=tuple(plan.rivals),
        left=tuple(plan.left.items()),
        gone=gone,
    )
