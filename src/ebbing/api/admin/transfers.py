"""Export and import of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ebbing.api.calls.call_context import CallContext
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.record import Kind
from ebbing.remember.import_records import import_records
from ebbing.results import ExportPage, ImportAnswer, RefusedRecord
from ebbing.transfer.record_lines import line_from_record
from ebbing.validation import checked_limit, checked_records


class Transfers:
    """The verbs that move records out of a store and into one."""

    def __init__(self, context: CallContext) -> None:
        self._context = context

    async def export(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int = 1_000,
        cursor: str | None = None,
    ) -> ExportPage:
        """Everything that is kept, with every field, newest first: memories, episodes, what is superseded or deleted.

        Returns:
            `{"records": […], "next_cursor": str | None}`; each record is a dict of JSON values for `import_`.

        Raises:
            InvalidInputError: a limit outside 1 to 1,000, a foreign cursor, or no owner.
        """
        scope = self._context.scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=filters)
        page = await self._context.store.page(
            scope, kinds=tuple(Kind), limit=checked_limit(limit), cursor=cursor, deleted=True
        )
        return {"records": [*map(line_from_record, page.records)], "next_cursor": page.next_cursor}

    async def import_(
        self, records: Sequence[Mapping[str, Any]], *, user_id: str | None = None, change_ids: Sequence[str] = ()
    ) -> ImportAnswer:
        """Store exported records with everything they hold; what is here already stays as it is.

        Args:
            records: as `export` gives them, at most 10,000 a call; a bad one is refused and never stops the others.
            user_id: whose they become; without it they stay whose they were.
            change_ids: of the answer to an earlier part of the same import: this part is undone together with it.

        Returns:
            `{"imported": int, "already_stored": int, "refused": [{"record": place in the call from 0, "reason"}],
            "change_ids"}`: what was imported of each owner is one change set (see `undo`).

        Raises:
            InvalidInputError: `records` is no list.
            TooLargeError: more than 10,000 records.
            StoreError: they could not be stored.
        """
        lines = checked_records(records)
        tenant, change = self._context.tenant, ChangeSet(Cause.IMPORT)
        for change_id in change_ids:
            scope = await self._context.store.change_log.scope_of(tenant, change_id)
            if scope is not None:
                change.ids[scope.owner] = change_id
        done = await import_records(await self._context.add_deps(change=change), lines, tenant=tenant, user_id=user_id)
        refused: list[RefusedRecord] = [
            {"record": place, "reason": reason} for place, reason in sorted(done.refused.items())
        ]
        change_ids = [*change.ids.values()]
        return {
            "imported": done.imported,
            "already_stored": done.already_stored,
            "refused": refused,
            "change_ids": change_ids,
        }
