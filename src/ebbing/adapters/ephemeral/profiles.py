"""Profiles in RAM, beside the rooms of the memories that they are made from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from ebbing.adapters.ephemeral.owner_rows import Room
from ebbing.domain.memory.profile import ProfileEdit, ProfileEntry, Snapshot
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.ports.profile_store import Kept


class EphemeralProfileStore:
    """A `ProfileStore` over the rooms of an ephemeral store; `opened` locks them, or says that the store is closed."""

    def __init__(self, rooms: dict[Owner, Room], opened: Callable[[], AbstractContextManager[None]]) -> None:
        self._rooms, self._opened = rooms, opened
        self._defaults: dict[str, tuple[ProfileEntry, ...]] = {}
        self._settings: dict[str, dict[str, Any]] = {}

    async def read(self, scope: Scope) -> Kept:
        with self._opened():
            room = self._rooms.get(scope.owner)
            stored = replace(room.profile, generation=room.generation) if room else Kept()
            return replace(stored, defaults=self._defaults.get(scope.tenant, ()))

    async def keep(self, scope: Scope, snapshot: Snapshot, *, seen: int) -> bool:
        with self._opened():
            room = self._rooms.get(scope.owner)
            if room is None or room.profile.revision != seen:
                return False
            room.profile = replace(room.profile, snapshot=snapshot, revision=seen + 1)
            return True

    async def edit(self, scope: Scope, put: Sequence[ProfileEdit], *, drop: Sequence[str] = ()) -> None:
        with self._opened():
            room = self._rooms.setdefault(scope.owner, Room())
            edits = {edit.slot: edit for edit in room.profile.edits if edit.slot not in drop}
            edits |= {edit.slot: edit for edit in put}
            for edit in put:
                room.brought.pop(edit.slot, None)
            room.keep_edits(edits.values())

    async def set_defaults(self, tenant: str, entries: Sequence[ProfileEntry]) -> None:
        with self._opened():
            self._defaults.pop(tenant, None)
            if entries:
                self._defaults[tenant] = tuple(entries)

    async def settings(self, tenant: str) -> dict[str, Any]:
        with self._opened():
            return dict(self._settings.get(tenant, {}))

    async def change_settings(self, tenant: str, changes: Mapping[str, Any]) -> None:
        with self._opened():
            merged = {**self._settings.get(tenant, {}), **json.loads(json.dumps(dict(changes)))}
            self._settings[tenant] = {name: merged[name] for name in sorted(merged) if merged[name] is not None}

    def reset(self, tenant: str) -> None:
        """Forgets what a tenant set; call it with the rooms locked."""
        self._defaults.pop(tenant, None)
        self._settings.pop(tenant, None)
