"""The part of the façade that removes for good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ebbing.api.sessions.sessions import Conversing
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import Topic
from ebbing.ports.memory_store import Receipt
from ebbing.remember.reconcile.unmerge import erase_apart_within
from ebbing.results import Item


class Erasing(Conversing):
    """What leaves no trace of somebody."""

    async def delete_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
    ) -> Item:
        """Erases everything of a user, agent or run for good: from the records, the index, the history, the queue, the
        running sessions and the caches, and from the disk.

        Returns:
            `{"message", "deleted", "at", "scrubbed"}`: `deleted` counts what went, as `memories`, `episodes`,
            `history`, `index_entries`, `source_ids`, `uses`, `jobs`, `edits` (of a profile) and `turns` (of running
            sessions). `scrubbed` is False where removed texts still lie in unused parts of the file, because another
            process is reading or the file is very large: they are overwritten as soon as that is possible, also after
            a restart.

        Raises:
            MissingOwnerError: no owner; to erase everybody's, `reset`.
            StoreError: it could not be done; nothing was removed from the store.
        """
        scope = self._scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=filters)
        turns = await self._conversations.forget(scope.covers)
        if scope == Scope.of(scope.owner):
            self._components.usage.forget(lambda owner: owner == scope.owner)
            self._components.following.forget(lambda owner: owner == scope.owner)
        else:
            await erase_apart_within(self._components.store, scope)
        receipt = await self._components.store.erase(scope)
        await self._announce(Topic.MEMORY_DELETED, scope, is_bulk=True)
        anything = turns or receipt != Receipt()
        message = "Memories deleted successfully!" if anything else "Nothing was deleted: no memories fit"
        return await self._receipt(receipt, turns=turns, message=message)

    async def reset(self) -> Item:
        """Erases everything of this memory's tenant for good, and returns a receipt as `delete_all` does.

        Raises:
            StoreError: it could not be done; nothing was removed from the store.
        """
        tenant = self._components.settings.tenant
        turns = await self._conversations.forget(lambda session: session.tenant == tenant)
        self._components.usage.forget(lambda owner: owner.tenant == tenant)
        self._components.following.forget(lambda owner: owner.tenant == tenant)
        receipt = await self._components.store.reset(tenant)
        return await self._receipt(receipt, turns=turns, message="Memory reset successfully!")

    async def compact(self) -> Item:
        """Writes the store's file anew, however large it is: gives unused space back, and leaves no trace of what was
        removed. Nobody can write meanwhile (a second for 100 MB or so), and the disk needs room for a second copy.

        Returns:
            `{"bytes_before", "bytes_on_disk", "scrubbed"}`; `scrubbed` is False while another process is reading, or
            where the disk is full.

        Raises:
            StoreError: the store cannot be read.
        """
        store, tenant = self._components.store, self._components.settings.tenant
        before = (await store.stats(tenant)).bytes_on_disk
        scrubbed = await store.compact()
        return {
            "bytes_before": before,
            "bytes_on_disk": (await store.stats(tenant)).bytes_on_disk,
            "scrubbed": scrubbed,
        }

    async def _receipt(self, receipt: Receipt, *, turns: int, message: str) -> Item:
        return {
            "message": message,
            "deleted": {**asdict(receipt), "turns": turns},
            "at": self._components.clock.now().isoformat(),
            "scrubbed": await self._scrubbed(),
        }
