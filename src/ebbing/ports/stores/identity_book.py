"""What knows under which names a person comes, and makes two of them one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ebbing.domain.memory.identity import Identity, Merge


class IdentityBook(Protocol):
    """Names of persons within a tenant, beside the memories that belong to them.

    A merge and its undoing are one transaction each: all or nothing of it is done, also when the process is killed.
    Erasing everything of a user erases their names and merges; resetting a tenant erases all of them.

    Raises:
        StoreError: the store could not do it; nothing was written.
        StoreClosedError: after the store was closed.
    """

    async def find(self, tenant: str, channel: str, *, channel_user_id: str) -> Identity | None:
        """Who comes under this name."""
        ...

    async def get_or_create(
        self, tenant: str, channel: str, *, channel_user_id: str, unified_id: str, at: datetime
    ) -> Identity:
        """Who comes under this name; where nobody did, `unified_id` from now on. Of two at once one is told."""
        ...

    async def link(self, tenant: str, channel: str, *, channel_user_id: str, unified_id: str, at: datetime) -> Identity:
        """Makes a name one of this person's; a name that is theirs already stays as it is.

        Raises:
            ConflictError: it is the name of somebody else.
        """
        ...

    async def unlink(self, tenant: str, channel: str, *, channel_user_id: str) -> bool:
        """Forgets a name; False if nobody came under it."""
        ...

    async def list(
        self, tenant: str, *, unified_id: str | None = None, limit: int = 100, after: tuple[str, str] | None = None
    ) -> list[Identity]:
        """Names, of one person or of all, in the order of channel and name, from after that pair."""
        ...

    async def merge(self, tenant: str, target: str, *, gone: str, at: datetime) -> Merge:
        """Makes two persons one: everything of `gone` becomes `kept`'s, and so do their names.

        Memories, episodes, history, index entries, counts of use, source ids and jobs move, and the edits of the
        profile where `kept` made none of the same thing. For an hour, what is written under the name of `gone` goes
        to `kept` as well.

        Raises:
            IdentityNotFoundError: nobody of the name `gone` has a memory or a name.
            InvalidInputError: both are the same, or together they have more rows than one owner can.
        """
        ...

    async def undo(self, tenant: str, merge_id: int, *, at: datetime) -> Merge:
        """Parts again whom a merge made one: what had been of `gone`, and is left, is theirs again.

        What came later stays with `kept`. Where the one was closed by what the other keeps, or told by it, it holds
        again.

        Raises:
            IdentityNotFoundError: there is no such merge.
            InvalidInputError: it was undone, or `kept` was merged into somebody else since: undo that first.
        """
        ...

    async def merges(self, tenant: str, *, unified_id: str | None = None, limit: int = 100) -> Sequence[Merge]:
        """Merges, of one person or of all, the latest first; those too that were undone."""
        ...
