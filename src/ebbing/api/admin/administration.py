"""The part of the façade that looks after the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ebbing.api.base import Facade
from ebbing.domain.errors import ConfigurationError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.pending_extraction import EXTRACT
from ebbing.domain.memory.record import Kind
from ebbing.remember.import_records import bring_back
from ebbing.results import Item
from ebbing.transfer.record_lines import line_from_record
from ebbing.upkeep.repair.retry_extraction import extraction, retry_extractions, unread_counts
from ebbing.upkeep.worker.worker import Working
from ebbing.validation import checked_limit, checked_records
from ebbing.wiring.diagnose import diagnose


class Keeping(Facade):
    """What moves, counts, checks and clears everything at once."""

    async def export(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int = 1_000,
        cursor: str | None = None,
    ) -> Item:
        """Everything that is kept, with every field, newest first: memories, episodes, what is superseded or deleted.

        Returns:
            `{"records": […], "next_cursor": str | None}`; each record is a dict of JSON values for `import_`.

        Raises:
            InvalidInputError: a limit outside 1 to 1,000, a foreign cursor, or no owner.
        """
        scope = self._scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=filters)
        page = await self._components.store.page(
            scope, kinds=tuple(Kind), limit=checked_limit(limit), cursor=cursor, deleted=True
        )
        return {"records": [*map(line_from_record, page.records)], "next_cursor": page.next_cursor}

    async def import_(
        self, records: Sequence[Mapping[str, Any]], *, user_id: str | None = None, change_ids: Sequence[str] = ()
    ) -> Item:
        """Stores exported records with everything they hold; what is here already stays as it is.

        Args:
            records: as `export` gives them, at most 10,000 a call; a bad one is refused and never stops the others.
            user_id: whose they become; without it they stay whose they were.
            change_ids: of the answer to an earlier part of the same import: this part is undone together with it.

        Returns:
            `{"imported": int, "known": int, "refused": [{"record": place in the call from 0, "reason"}],
            "change_ids"}`: what was imported of each owner is one change set (see `undo`).

        Raises:
            InvalidInputError: `records` is no list.
            TooLargeError: more than 10,000 records.
            StoreError: they could not be stored.
        """
        lines = checked_records(records)
        tenant, change = self._components.settings.tenant, ChangeSet(Cause.IMPORT)
        for change_id in change_ids:
            whose = await self._components.store.change_log.scope_of(tenant, change_id)
            if whose is not None:
                change.ids[whose.owner] = change_id
        done = await bring_back(await self._using(change=change), lines, tenant=tenant, user_id=user_id)
        refused = [{"record": place, "reason": reason} for place, reason in sorted(done.refused.items())]
        change_ids = [*change.ids.values()]
        return {"imported": done.imported, "known": done.known, "refused": refused, "change_ids": change_ids}

    async def owners(self) -> list[Item]:
        """Everybody of whom something is stored, deleted records included: `[{"kind", "name"}]`.

        `kind` is `user`, `agent` or `run`.
        """
        owners = await self._components.store.owners(self._components.settings.tenant, deleted=True)
        return [{"kind": owner.kind, "name": owner.name} for owner in owners]

    async def stats(self) -> Item:
        """How much is kept: `owners, memories, episodes, deleted, bytes_on_disk, is_scrubbed, by_layer, by_type,
        by_model, unread`.

        `unread` is `{"waiting", "given_up"}`: batches of messages that a language model failed to read.
        """
        counts = asdict(await self._components.store.stats(self._components.settings.tenant))
        del counts["without_vector"]  # depends on the embedder, which this does not load: `diagnose` knows
        counts["unread"] = await unread_counts(self._components.store.jobs, tenant=self._components.settings.tenant)
        return counts

    async def retry_unread(self, *, limit: int = 20) -> Item:
        """Reads again what a language model failed to read, as far as it is due; call it now and then.

        A batch is due a minute after it failed, then after pauses that double up to six hours; after ten attempts it is
        given up. It ends early when the model does not answer.

        Args:
            limit: batches at most, 1 to 1,000.

        Returns:
            `{"read", "failed", "waiting", "given_up"}`, all of them batches: what this call did, and what is left.

        Raises:
            ConfigurationError: no language model is set.
            InvalidInputError: a limit outside 1 to 1,000.
            StoreError: what was read could not be stored; it is tried again later.
        """
        most = checked_limit(limit)
        if self._components.chat.asking is None:
            raise ConfigurationError(
                "reading again needs a language model: set EBBING_LLM_BASE_URL and EBBING_LLM_MODEL"
            )
        jobs = self._components.store.jobs
        duties = {EXTRACT: extraction(self._read_again)}
        done = await retry_extractions(
            Working(jobs, self._components.clock, self._components.chance, duties), limit=most
        )
        left = await unread_counts(jobs, tenant=self._components.settings.tenant)
        return {"read": done.done, "failed": done.failed, **left}

    async def backup(self, directory: str | Path) -> Item:
        """Copies the whole store, of all tenants, into a new or empty directory, as of one moment, while others go on.

        `ebbing backup restore` makes a store of it again. The copy is checked before this returns.

        Returns:
            `{"bytes", "path"}`.

        Raises:
            InvalidInputError: there is something in the directory, or the store keeps nothing on disk.
            StoreError: it could not be copied.
        """
        place = Path(directory)
        return {"bytes": await self._components.store.back_up(place), "path": str(place)}

    async def verify(self) -> list[str]:
        """Compares every index with what it was made from; each finding is a sentence. Empty is well."""
        return await self._components.store.verify()

    async def diagnose(self) -> Item:
        """What is on, what is off and why: `{"findings": [{"part", "state", "detail"}], "stats", "settings"}`."""
        return await diagnose(self._components)
