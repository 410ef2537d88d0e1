"""What keeps profiles, and what people did to them by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ebbing.domain.memory.profile import ProfileEdit, ProfileEntry, Snapshot
from ebbing.domain.memory.scope import Scope


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """All that is kept of one owner's profile."""

    snapshot: Snapshot | None = None
    """The last one that was worked out; without entries, and of generation −1, where it no longer holds."""
    edits: tuple[ProfileEdit, ...] = ()
    """What the person did by hand."""
    defaults: tuple[ProfileEntry, ...] = ()
    """What holds for everybody of the tenant."""
    revision: int = 0
    """Rises with every snapshot that is kept and every edit of this owner."""
    generation: int = -1
    """Of the owner's rows now, as their shard tells it; a snapshot of another one may be out of date."""


class ProfileStore(Protocol):
    """Profiles beside the memories that they are made from, as durable as these.

    A profile belongs to a scope's owner, whatever agent or run the scope names. It can be worked out from the memories
    and the edits at any time, so a lost one costs time and nothing else. Whatever removes a memory for good removes
    every snapshot of its owner's profile with it, and the edits that name it; erasing all that an owner has removes
    their edits too, and resetting a tenant its defaults and settings.

    Raises:
        StoreError: the store could not do it; nothing was written.
        StoreClosedError: after the store was closed.
    """

    async def read(self, scope: Scope) -> StoredProfile:
        """What is kept."""
        ...

    async def keep(self, scope: Scope, snapshot: Snapshot, *, seen: int) -> bool:
        """Keeps a profile that was worked out of what stood there at revision `seen`.

        Returns:
            False when somebody else kept or edited one in between, or the owner is not known: nothing was written.
        """
        ...

    async def edit(self, scope: Scope, put: Sequence[ProfileEdit], *, drop: Sequence[str] = ()) -> None:
        """Notes what a person did, in place of earlier edits of the same slots, and forgets the edits of the slots in
        `drop`; all or none, and the snapshot no longer holds."""
        ...

    async def set_defaults(self, tenant: str, entries: Sequence[ProfileEntry]) -> None:
        """What holds for everybody of a tenant from now on, in place of what did."""
        ...

    async def settings(self, tenant: str) -> dict[str, Any]:
        """What a tenant set for all of its memories, by name."""
        ...

    async def change_settings(self, tenant: str, changes: Mapping[str, Any]) -> None:
        """Sets JSON values by name, and removes those that are None; other settings stay."""
        ...
