"""Names of persons, and persons made one, beside the rooms of their memories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count

from ebbing.adapters.ephemeral.jobs import EphemeralJobQueue
from ebbing.adapters.ephemeral.move_owner import moved, part
from ebbing.adapters.ephemeral.owner_rows import Room
from ebbing.adapters.ephemeral.service import EphemeralRequestLog
from ebbing.domain.errors import ConflictError, IdentityNotFoundError, InvalidInputError
from ebbing.domain.memory.identity import MERGE_GRACE, Identity, Merge
from ebbing.domain.memory.profile import ProfileEdit
from ebbing.domain.memory.record import Kind
from ebbing.domain.memory.scope import Owner

Name = tuple[str, str, str]
"""Tenant, channel and name in it."""


@dataclass(slots=True)
class _Done:
    """A merge, and what it takes to undo it."""

    tenant: str
    merge: Merge
    first_seq: int
    last_seq: int
    names: dict[Name, bool]
    """The names of the one who went, and whether each was their first."""
    waiting: list[ProfileEdit] = field(default_factory=list)
    """Edits that gave way to others of the same slots."""


@dataclass(frozen=True, slots=True)
class Home:
    """The parts of a store that a merge touches."""

    rooms: dict[Owner, Room]
    owners: dict[str, Owner]
    """By memory id."""
    jobs: EphemeralJobQueue
    requests: EphemeralRequestLog
    numbers: Iterator[int]
    """Of changes."""


class EphemeralIdentityBook:
    """An `IdentityBook` in the memory of one process; `opened` locks it, or says that the store is closed."""

    def __init__(self, home: Home, opened: Callable[[], AbstractContextManager[None]]) -> None:
        self._home, self._opened = home, opened
        self._names: dict[Name, Identity] = {}
        self._merges: dict[int, _Done] = {}
        self._numbers = count(1)

    async def find(self, tenant: str, channel: str, *, channel_user_id: str) -> Identity | None:
        with self._opened():
            return self._names.get((tenant, channel, channel_user_id))

    async def get_or_create(
        self, tenant: str, channel: str, *, channel_user_id: str, unified_id: str, at: datetime
    ) -> Identity:
        with self._opened():
            return self._linked((tenant, channel, channel_user_id), to=unified_id, at=at)

    async def link(self, tenant: str, channel: str, *, channel_user_id: str, unified_id: str, at: datetime) -> Identity:
        with self._opened():
            linked = self._linked((tenant, channel, channel_user_id), to=unified_id, at=at)
        if linked.unified_id != unified_id:
            raise ConflictError("this name is somebody else's: merge the two, or unlink it first")
        return linked

    async def unlink(self, tenant: str, channel: str, *, channel_user_id: str) -> bool:
        with self._opened():
            return self._names.pop((tenant, channel, channel_user_id), None) is not None

    async def list(
        self, tenant: str, *, unified_id: str | None = None, limit: int = 100, after: tuple[str, str] | None = None
    ) -> list[Identity]:
        with self._opened():
            identities = sorted(
                (name[1:], identity)
                for name, identity in self._names.items()
                if name[0] == tenant and unified_id in {None, identity.unified_id} and name[1:] > (after or ("", ""))
            )
        return [identity for _, identity in identities[:limit]]

    async def merge(self, tenant: str, target: str, *, gone: str, at: datetime) -> Merge:
        if target == gone:
            raise InvalidInputError("a person cannot be merged with themselves: name two")
        with self._opened():
            staying, leaving = Owner(tenant, "user", target), Owner(tenant, "user", gone)
            names, room = self._names_of(tenant, gone), self._home.rooms.get(leaving)
            if room is None and not names:
                raise IdentityNotFoundError("nobody of this name has a memory or comes from a channel")
            records = [item.record for item in room.kept.values()] if room else []
            memories = sum(record.kind is Kind.MEMORY for record in records)
            merge = Merge(next(self._numbers), target, gone, at, memories, len(records) - memories)
            last = self._home.rooms.get(staying, Room()).last_seq
            done = self._merges[merge.id] = _Done(tenant, merge, last + 1, last + (room.last_seq if room else 0), names)
            if room is not None:
                self._move(leaving, staying, by=last, rows=(1, room.last_seq))
                done.waiting = _give_edits(room, self._home.rooms[staying], number=merge.id)
                del self._home.rooms[leaving]
            for name in names:
                self._names[name] = replace(self._names[name], unified_id=target, is_primary=False)
            self._home.jobs.move(leaving, target)
            self._home.requests.move(leaving, target)
            return merge

    async def undo(self, tenant: str, merge_id: int, *, at: datetime) -> Merge:
        with self._opened():
            done = self._merges.get(merge_id)
            if done is None or done.tenant != tenant:
                raise IdentityNotFoundError("there is no merge with this id: `identities.list_merges` shows the merges")
            self._refuse(done)
            staying, back = Owner(tenant, "user", done.merge.kept), Owner(tenant, "user", done.merge.gone)
            room = self._home.rooms.get(staying)
            if room is not None and done.last_seq >= done.first_seq:
                by = self._home.rooms.get(back, Room()).last_seq
                rows = (done.first_seq, done.last_seq)
                self._move(staying, back, by=by - done.first_seq + 1, rows=rows)
                self._shift_older(done, by=by)
                _take_edits(room, self._home.rooms[back], number=merge_id, waiting=done.waiting)
                part(room, self._home.rooms[back], at=at, numbers=self._home.numbers)
            for name, is_primary in done.names.items():
                identity = self._names.get(name)
                if identity is not None and identity.unified_id == done.merge.kept:
                    self._names[name] = replace(identity, unified_id=done.merge.gone, is_primary=is_primary)
            done.merge = replace(done.merge, undone_at=at)
            return done.merge

    async def merges(self, tenant: str, *, unified_id: str | None = None, limit: int = 100) -> Sequence[Merge]:
        with self._opened():
            mine = [done.merge for done in reversed(self._merges.values()) if done.tenant == tenant]
        return [item for item in mine if unified_id in {None, item.kept, item.gone}][:limit]

    def forget(self, tenant: str, *, name: str | None = None) -> int:
        """Forgets the names and merges of a person, or of a tenant; how many names. Call it with the rooms locked."""
        gone = [
            key for key, identity in self._names.items() if key[0] == tenant and name in {None, identity.unified_id}
        ]
        for key in gone:
            del self._names[key]
        for number, done in list(self._merges.items()):
            if done.tenant == tenant and name in {None, done.merge.kept, done.merge.gone}:
                del self._merges[number]
        return len(gone)

    def forget_memory(self, memory_id: str) -> None:
        """Forgets the waiting edits that name a memory."""
        for done in self._merges.values():
            done.waiting = [edit for edit in done.waiting if edit.memory_id != memory_id]

    def late_heir(self, owner: Owner, now: datetime) -> Owner:
        """Whose the memories are that somebody writes under a name that was merged away a short time ago."""
        for done in reversed(self._merges.values()):
            merge = done.merge
            if (done.tenant, "user", merge.gone) == (owner.tenant, owner.kind, owner.name):
                is_late = merge.undone_at is None and merge.at > now - MERGE_GRACE
                return owner._replace(name=merge.kept) if is_late else owner
        return owner

    def _linked(self, key: Name, *, to: str, at: datetime) -> Identity:
        if key not in self._names:
            is_first = not self._names_of(key[0], to)
            self._names[key] = Identity(key[1], key[2], to, is_first, at)
        return self._names[key]

    def _names_of(self, tenant: str, unified_id: str) -> dict[Name, bool]:
        return {
            name: identity.is_primary
            for name, identity in self._names.items()
            if name[0] == tenant and identity.unified_id == unified_id
        }

    def _move(self, of: Owner, to: Owner, *, by: int, rows: tuple[int, int]) -> None:
        source, target = self._home.rooms[of], self._home.rooms.setdefault(to, Room())
        for memory_id in moved(source, target, to=to, by=by, rows=rows):
            self._home.owners[memory_id] = to

    def _refuse(self, done: _Done) -> None:
        if done.merge.undone_at is not None:
            raise InvalidInputError("this merge was undone already")
        for number, other in self._merges.items():
            is_later = number > done.merge.id and other.tenant == done.tenant and other.merge.undone_at is None
            if is_later and other.merge.gone == done.merge.kept:
                raise InvalidInputError(
                    "the person who was kept was merged into somebody else since: undo that merge first"
                )

    def _shift_older(self, done: _Done, *, by: int) -> None:
        for number, other in self._merges.items():
            is_older = number < done.merge.id and other.tenant == done.tenant and other.merge.undone_at is None
            if is_older and other.merge.kept == done.merge.gone:
                other.first_seq += by
                other.last_seq += by


def _give_edits(room: Room, to: Room, *, number: int) -> list[ProfileEdit]:
    """Hands over the edits of a profile; those whose slot is taken there wait."""
    taken = {edit.slot for edit in to.profile.edits}
    edits = [edit for edit in room.profile.edits if edit.slot not in taken]
    to.brought |= {edit.slot: (*room.brought.get(edit.slot, ()), number) for edit in edits}
    to.keep_edits([*to.profile.edits, *edits])
    return [edit for edit in room.profile.edits if edit.slot in taken]


def _take_edits(room: Room, back: Room, *, number: int, waiting: Sequence[ProfileEdit]) -> None:
    """Gives back the edits that a merge brought, and those that waited."""
    brought = {slot for slot, by in room.brought.items() if by[-1:] == (number,)}
    returning = [edit for edit in room.profile.edits if edit.slot in brought]
    taken = {edit.slot for edit in back.profile.edits}
    for edit in returning:
        earlier = room.brought.pop(edit.slot)[:-1]
        if earlier:
            back.brought[edit.slot] = earlier
    back.keep_edits([*back.profile.edits, *(edit for edit in (*returning, *waiting) if edit.slot not in taken)])
    room.keep_edits([edit for edit in room.profile.edits if edit.slot not in brought])
