"""Erasure: delete_all and reset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ebbing.api.calls.call_context import CallContext
from ebbing.api.sessions.session_buffer import SessionBuffer
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import Topic
from ebbing.ports.stores.memory_store import Receipt
from ebbing.remember.facts.doubts import take_doubts_back_within
from ebbing.remember.reconcile.unmerge import erase_apart_within
from ebbing.results import ErasureAnswer


class Erasure:
    """The verbs that leave no trace."""

    def __init__(self, context: CallContext, *, sessions: SessionBuffer) -> None:
        self._context, self._sessions = context, sessions

    async def delete_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
    ) -> ErasureAnswer:
        """Erase everything of a user, agent or run for good: from the records, the index, the history, the queue, the
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
        scope = self._context.scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=filters)
        turns = await self._sessions.forget(scope)
        if scope == Scope.of(scope.owner):
            self._context.components.usage.forget(lambda owner: owner == scope.owner)
            self._context.components.following.forget(lambda owner: owner == scope.owner)
        else:
            await erase_apart_within(self._context.store, scope)
            await take_doubts_back_within(self._context.store, scope)
        receipt = await self._context.store.erase(scope)
        await self._context.publish(Topic.MEMORY_DELETED, scope, is_bulk=True)
        anything = turns or receipt != Receipt()
        message = "Memories deleted successfully!" if anything else "Nothing was deleted: no memories fit"
        return await self._receipt(receipt, turns=turns, message=message)

    async def reset(self) -> ErasureAnswer:
        """Erase everything of this memory's tenant for good, and return a receipt as `delete_all` does.

        Raises:
            StoreError: it could not be done; nothing was removed from the store.
        """
        tenant = self._context.tenant
        turns = await self._sessions.forget(tenant)
        self._context.components.usage.forget(lambda owner: owner.tenant == tenant)
        self._context.components.following.forget(lambda owner: owner.tenant == tenant)
        receipt = await self._context.store.reset(tenant)
        return await self._receipt(receipt, turns=turns, message="Memory reset successfully!")

    async def _receipt(self, receipt: Receipt, *, turns: int, message: str) -> ErasureAnswer:
        return {
            "message": message,
            "deleted": {**asdict(receipt), "turns": turns},
            "at": self._context.clock.now().isoformat(),
            "scrubbed": await self._context.scrub(),
        }
