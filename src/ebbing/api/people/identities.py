"""Identities: the names of people in channels, and merges of users."""

from __future__ import annotations

import json
from typing import Final

from ebbing.api.calls.call_context import CallContext
from ebbing.api.sessions.session_buffer import SessionBuffer
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.identity import Identity, Merge
from ebbing.domain.memory.scope import Scope, checked_name
from ebbing.results import IdentityItem, IdentityMerge, IdentityPage, UnlinkAnswer
from ebbing.validation import checked_limit

Merges = list[IdentityMerge]
_BAD_CURSOR: Final = "the cursor is not one that a page gave: start again without one"


class IdentitiesApi:
    """`memory.identities`: who comes from which channel, and which users are the same person."""

    def __init__(self, context: CallContext, *, sessions: SessionBuffer) -> None:
        self._context, self._sessions = context, sessions

    async def resolve(self, channel: str, channel_user_id: str) -> IdentityItem:
        """Return whose memory somebody has who comes from a channel; somebody new gets an id from now on.

        Args:
            channel: where they come from, such as `web`, `wechat` or `slack`.
            channel_user_id: what they are called there.

        Returns:
            `{"user_id", "channel", "channel_user_id", "is_primary", "linked_at"}`; `user_id` is that of
            every call about them.

        Raises:
            InvalidInputError: a blank name, or one over 256 characters.
            StoreError: it could not be stored.
        """
        where, name = checked_name("channel", channel), checked_name("channel_user_id", channel_user_id)
        identity = await self._context.store.identities.get_or_create(
            self._context.tenant,
            where,
            channel_user_id=name,
            unified_id=self._context.ids.new(),
            at=self._context.clock.now(),
        )
        return _identity_item(identity)

    async def link(self, channel: str, channel_user_id: str, *, user_id: str) -> IdentityItem:
        """Make a name in a channel one of this user's, and return it as `resolve` does.

        Raises:
            ConflictError: it is the name of somebody else: merge the two, or unlink it first.
            InvalidInputError: a blank name, or one over 256 characters.
            StoreError: it could not be stored.
        """
        where, name = checked_name("channel", channel), checked_name("channel_user_id", channel_user_id)
        linked = await self._context.store.identities.link(
            self._context.tenant,
            where,
            channel_user_id=name,
            unified_id=checked_name("user_id", user_id),
            at=self._context.clock.now(),
        )
        return _identity_item(linked)

    async def unlink(self, channel: str, channel_user_id: str) -> UnlinkAnswer:
        """Forget a name in a channel; the memories stay whose they are.

        Returns:
            `{"unlinked"}`: False if nobody came under it.

        Raises:
            InvalidInputError: a blank name, or one over 256 characters.
            StoreError: it could not be stored.
        """
        where, name = checked_name("channel", channel), checked_name("channel_user_id", channel_user_id)
        return {
            "unlinked": await self._context.store.identities.unlink(self._context.tenant, where, channel_user_id=name)
        }

    async def list(self, *, user_id: str | None = None, limit: int = 100, cursor: str | None = None) -> IdentityPage:
        """Return names in channels, of one user or of all, in the order of channel and name.

        Returns:
            `{"identities": […], "next_cursor": str | None}`, each as `resolve` returns it.

        Raises:
            InvalidInputError: a limit outside 1 to 1,000, or a foreign cursor.
        """
        most = checked_limit(limit)
        user = None if user_id is None else checked_name("user_id", user_id)
        identities = await self._context.store.identities.list(
            self._context.tenant, unified_id=user, limit=most + 1, after=_after(cursor)
        )
        shown = identities[:most]
        is_more = len(identities) > most
        following = json.dumps([shown[-1].channel, shown[-1].channel_user_id]) if is_more else None
        return {"identities": [*map(_identity_item, shown)], "next_cursor": following}

    async def merge(self, target_user_id: str, source_user_id: str) -> IdentityMerge:
        """Make two users one: all memories, messages, changes, jobs, counts and edits go to the target.

        It is done as a whole or not at all, and `unmerge` undoes it. Running sessions of the source are stored
        first. From then on nothing is found under the source.

        Args:
            target_user_id: the user who stays.
            source_user_id: the user whose memories move.

        Returns:
            `{"id", "target_user_id", "source_user_id", "at", "memories", "episodes", "undone_at"}`: `id` is what
            `unmerge` takes, the counts are of what moved.

        Raises:
            IdentityNotFoundError: nobody of the name of the source has a memory or comes from a channel.
            InvalidInputError: both are the same, or together they have more than 16 million rows.
            StoreError: it could not be done; nothing was.
        """
        target, source = checked_name("target_user_id", target_user_id), checked_name("source_user_id", source_user_id)
        leaving = Scope(user_id=source, tenant=self._context.tenant)
        for session in await self._context.components.working.sessions(within=leaving):
            await self._sessions.end(session)
        await self._context.components.usage.flush()
        done = await self._context.store.identities.merge(
            self._context.tenant, target, gone=source, at=self._context.clock.now()
        )
        return _merge_item(done)

    async def unmerge(self, merge_id: int) -> IdentityMerge:
        """Part again whom a merge made one: what had been of the other is theirs again, and so are their names.

        What came after the merge stays with the one who was kept. A memory that the one closed because of what the
        other said holds again, and what was compressed from memories of both is taken apart.

        Returns:
            The merge, as `merge` returns it.

        Raises:
            IdentityNotFoundError: there is no such merge.
            InvalidInputError: it was undone already, or the one who was kept was merged into somebody else since: undo
                that merge first.
            StoreError: it could not be done; nothing was.
        """
        if not isinstance(merge_id, int) or isinstance(merge_id, bool) or not 0 < merge_id < 1 << 63:
            raise InvalidInputError("merge_id must be the number that merge returned")
        await self._context.components.usage.flush()
        return _merge_item(
            await self._context.store.identities.undo(self._context.tenant, merge_id, at=self._context.clock.now())
        )

    async def list_merges(self, *, user_id: str | None = None, limit: int = 100) -> Merges:
        """Return merges of users, of one or of all, the latest first; those too that were undone.

        Raises:
            InvalidInputError: a limit outside 1 to 1,000.
        """
        user = None if user_id is None else checked_name("user_id", user_id)
        merges = await self._context.store.identities.merges(
            self._context.tenant, unified_id=user, limit=checked_limit(limit)
        )
        return [*map(_merge_item, merges)]


def _identity_item(identity: Identity) -> IdentityItem:
    return {
        "user_id": identity.unified_id,
        "channel": identity.channel,
        "channel_user_id": identity.channel_user_id,
        "is_primary": identity.is_primary,
        "linked_at": identity.linked_at.isoformat(),
    }


def _merge_item(merge: Merge) -> IdentityMerge:
    return {
        "id": merge.id,
        "target_user_id": merge.target,
        "source_user_id": merge.gone,
        "at": merge.at.isoformat(),
        "memories": merge.memories,
        "episodes": merge.episodes,
        "undone_at": merge.undone_at.isoformat() if merge.undone_at else None,
    }


def _after(cursor: object) -> tuple[str, str] | None:
    if cursor is None:
        return None
    try:
        place = json.loads(cursor) if isinstance(cursor, str) else None
    except json.JSONDecodeError:
        raise InvalidInputError(_BAD_CURSOR) from None
    if not (isinstance(place, list) and len(place) == 2 and all(isinstance(item, str) for item in place)):
        raise InvalidInputError(_BAD_CURSOR)
    return place[0], place[1]
