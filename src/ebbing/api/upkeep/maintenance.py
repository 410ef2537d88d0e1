"""Maintenance on request: the daily round, its single steps, and the state of the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, cast

from ebbing.api.calls.call_context import CallContext
from ebbing.api.forgetting.deletions import delete_memories
from ebbing.api.memories.merge_sources import MergeSources
from ebbing.api.upkeep.maintenance_steps import DAILY
from ebbing.api.upkeep.rounds import MaintenanceRounds
from ebbing.domain.errors import ConfigurationError, InvalidInputError
from ebbing.domain.memory.change_set import Cause
from ebbing.domain.memory.pending_extraction import EXTRACTION_JOB
from ebbing.results import (
    BackupAnswer,
    DeletedMemoriesAnswer,
    DiagnoseAnswer,
    ForgettingAnswer,
    HabitAnswer,
    MaintenanceAnswer,
    MergeAnswer,
    OwnerItem,
    RetryAnswer,
    SplitAnswer,
    StatsAnswer,
    VacuumAnswer,
)
from ebbing.upkeep.habits.derive_habits import abstract
from ebbing.upkeep.merging.summarize import compress
from ebbing.upkeep.repair.retry_extraction import extraction, retry_extractions, unread_counts
from ebbing.upkeep.worker.worker import WorkerDeps
from ebbing.validation import checked_limit
from ebbing.wiring.diagnose import diagnose

MAX_LEVEL: Final = 3
FORGETTING_STEPS: Final = {
    name: step for name, step in DAILY.items() if name in {"expire", "consolidate", "decay", "purge"}
}


class MaintenanceApi:
    """`memory.maintenance`: work that no caller waits for, and the state of the store."""

    def __init__(self, context: CallContext, *, rounds: MaintenanceRounds) -> None:
        self._context, self._rounds = context, rounds
        self._sources = MergeSources(context)

    async def run(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        now: datetime | str | float | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> MaintenanceAnswer:
        """Do what the daily round does, of one owner or of all: what is due by then, so that a second run at the same
        time finds nothing left to do.

        Args:
            user_id: whose memories; without any id everybody's, one after the other. One id only: a round is about
                everything of an owner.
            now: the time to go by; a time to come shows what will be.
            dry_run: change nothing, and list in `changes` what would be.
            progress: called with how many owners are done, and of how many.

        Returns:
            `{"owners": int, "steps": {step: {count: int}}, "seconds": {step: float}, "now", "dry_run", "change_ids"}`:
            the round of each owner of whom something changed is one change set (see `undo`). Of a dry run also
            `changes`, each with the owner's id, `step`, `memory_id`, `action` and `reason`.

        Raises:
            InvalidInputError: more than one id, or an unusable one; a time that is none.
            StoreError: the store could not do it; what was done by then stays.
        """
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        return await self._rounds.run(
            DAILY, Cause.MAINTENANCE, owner_ids=ids, now=now, dry_run=dry_run, progress=progress
        )

    async def merge_duplicates(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        now: datetime | str | float | None = None,
        dry_run: bool = False,
    ) -> MergeAnswer:
        """Let one memory tell what several say, as far as something came since the last time, and sum up what
        happened once more than 20 memories of it are in no summary.

        Args:
            user_id: whose memories; without any id everybody's. One id only: it is about everything of an owner.
            now: the time to go by.
            dry_run: change nothing, and list in `changes` what would be.

        Returns:
            `{"merged", "clusters", "summarized", "saved_bytes", "owners", "now", "dry_run"}`: how many memories another
            one tells now, how many those are, how many summaries were written, and by how many UTF-8 bytes the texts
            that answers are made of became fewer; of a dry run also `changes`, as `run` lists them.

        Raises:
            InvalidInputError: more than one id, or an unusable one; a time that is none.
            StoreError: the store could not do it; what was done by then stays.
        """
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        done = await self._rounds.run({"compress": compress}, Cause.MERGE, owner_ids=ids, now=now, dry_run=dry_run)
        return cast(MergeAnswer, _with_counts(done))

    async def derive_habits(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        now: datetime | str | float | None = None,
        dry_run: bool = False,
        level: int | None = None,
    ) -> HabitAnswer:
        """Tell what was done on at least three days by one memory with a count: "User often buys coffee (3 times)".

        Args:
            user_id: whose memories; without any id everybody's. One id only: it is about everything of an owner.
            now: the time to go by. An occasion of which nothing else is said steps behind the habit after seven days.
            dry_run: change nothing, and list in `changes` what would be.
            level: 1 for the same thing done again, 2 for things of one kind, 3 for a habit; without it, what the
                occasions carry: 2 where they were of several things, 3 from six days in three weeks on.

        Returns:
            `{"abstracted", "raised", "merged", "owners", "now", "dry_run"}`: habits that are new, those that tell
            more, and how many memories another one tells now; of a dry run also `changes`.

        Raises:
            InvalidInputError: more than one id, or an unusable one; a time that is none; a level that is none.
            StoreError: the store could not do it; what was done by then stays.
        """
        if level is not None and (not isinstance(level, int) or isinstance(level, bool) or not 1 <= level <= MAX_LEVEL):
            raise InvalidInputError(f"level must be a whole number from 1 to {MAX_LEVEL}")
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        step = partial(abstract, level=level)
        done = await self._rounds.run({"abstract": step}, Cause.HABIT, owner_ids=ids, now=now, dry_run=dry_run)
        return cast(HabitAnswer, _with_counts(done))

    async def apply_forgetting(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        now: datetime | str | float | None = None,
        dry_run: bool = False,
    ) -> ForgettingAnswer:
        """Let what is of no use fade: the part of the daily round that expires, consolidates, fades and purges.

        Args:
            user_id: whose memories; without any id everybody's. One id only.
            now: the time to go by; a time to come shows what will be.
            dry_run: change nothing, and list in `changes` what would be.

        Returns:
            `{"processed", "decayed", "consolidated", "forgotten", "expired", "purged", "saved_bytes", "now",
            "dry_run"}`: how many records were looked at, went a stage further, became part of the long term, were
            packed (`restore` brings them back), ran out, were erased for good, and how many bytes of readable text that
            saved. A dry run has `changes` too, each with the owner's id, `step`, `memory_id`, `action` and `reason`.

        Raises:
            InvalidInputError: more than one id, or an unusable one; a time that is none.
            StoreError: the store could not do it; what was done by then stays.
        """
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        done = await self._rounds.run(FORGETTING_STEPS, Cause.FADE, owner_ids=ids, now=now, dry_run=dry_run)
        counts = Counter[str]()
        for step in done["steps"].values():
            counts.update(step)
        answer: ForgettingAnswer = {
            "processed": counts["processed"],
            "decayed": counts["decayed"],
            "consolidated": counts["consolidated"],
            "forgotten": counts["forgotten"],
            "expired": counts["expired"],
            "purged": counts["purged"],
            "saved_bytes": counts["saved_bytes"],
            "now": done["now"],
            "dry_run": done["dry_run"],
            "change_ids": done["change_ids"],
        }
        if "changes" in done:
            answer["changes"] = done["changes"]
        return answer

    async def delete_memories(
        self, memory_ids: Sequence[str], *, user_id: str | None = None, reason: str | None = None
    ) -> DeletedMemoriesAnswer:
        """Take memories of one owner out of every answer, as one change that `undo` takes back.

        Returns:
            `{"deleted", "missing", "change_id"}`: ids; `missing` are those of nobody or of others, or gone already.

        Raises:
            InvalidInputError: no ids, more than 1,000, or memories of several owners.
            TooLargeError: a reason over 1,000 characters.
        """
        return await delete_memories(self._context, memory_ids, user_id=user_id, reason=reason)

    async def split_merged(self, memory_id: str, *, user_id: str | None = None) -> SplitAnswer:
        """Put the records back that were merged into a memory, and remove that memory.

        Returns:
            What `get_sources` returned, with `restored`, the number of records, and `change_id`.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
            InvalidInputError: nothing was merged into it, or it was reworded by hand.
            ConflictError: somebody else changed it in between: try again.
        """
        return await self._sources.split_merged(memory_id, user_id=user_id)

    async def retry_failed_extractions(self, *, limit: int = 20) -> RetryAnswer:
        """Read again what a language model failed to read, as far as it is due; call it now and then.

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
        if self._context.components.chat.asking is None:
            raise ConfigurationError(
                "reading again needs a language model: set EBBING_LLM_BASE_URL and EBBING_LLM_MODEL"
            )
        jobs = self._context.store.jobs
        duties = {EXTRACTION_JOB: extraction(self._context.reextract)}
        done = await retry_extractions(
            WorkerDeps(jobs, self._context.clock, self._context.components.chance, duties), limit=most
        )
        left = await unread_counts(jobs, tenant=self._context.tenant)
        return {"read": done.done, "failed": done.failed, "waiting": left["waiting"], "given_up": left["given_up"]}

    async def list_owners(self) -> list[OwnerItem]:
        """Everybody of whom something is stored, deleted records included: `[{"kind", "name"}]`.

        `kind` is `user`, `agent` or `run`.
        """
        owners = await self._context.store.owners(self._context.tenant, deleted=True)
        return [{"kind": owner.kind, "name": owner.name} for owner in owners]

    async def stats(self) -> StatsAnswer:
        """Return how much is kept: `owners, memories, episodes, deleted, bytes_on_disk, is_scrubbed, by_layer, by_type,
        by_model, pending_extractions`.

        `pending_extractions` is `{"waiting", "given_up"}`: batches of messages that a language model failed to read.
        """
        counts = asdict(await self._context.store.stats(self._context.tenant))
        del counts["without_vector"]  # depends on the embedder, which this does not load: `diagnose` knows
        counts["pending_extractions"] = await unread_counts(self._context.store.jobs, tenant=self._context.tenant)
        return cast(StatsAnswer, counts)

    async def backup(self, directory: str | Path) -> BackupAnswer:
        """Copy the whole store, of all tenants, into a new or empty directory, as of one moment, while others go on.

        `ebbing backup restore` makes a store of it again. The copy is checked before this returns.

        Returns:
            `{"bytes", "path"}`.

        Raises:
            InvalidInputError: there is something in the directory, or the store keeps nothing on disk.
            StoreError: it could not be copied.
        """
        place = Path(directory)
        return {"bytes": await self._context.store.back_up(place), "path": str(place)}

    async def verify(self) -> list[str]:
        """Compare every index with what it was made from; each finding is a sentence. Empty is well."""
        return await self._context.store.verify()

    async def diagnose(self) -> DiagnoseAnswer:
        """Say what is on, what is off and why: `{"findings": [{"part", "state", "detail"}], "stats", "settings"}`."""
        return cast(DiagnoseAnswer, await diagnose(self._context.components))

    async def vacuum(self) -> VacuumAnswer:
        """Write the store's file anew, however large it is: give unused space back, and leave no trace of what was
        removed. Nobody can write meanwhile (a second for 100 MB or so), and the disk needs room for a second copy.

        Returns:
            `{"bytes_before", "bytes_on_disk", "scrubbed"}`; `scrubbed` is False while another process is reading, or
            where the disk is full.

        Raises:
            StoreError: the store cannot be read.
        """
        store, tenant = self._context.store, self._context.tenant
        before = (await store.stats(tenant)).bytes_on_disk
        scrubbed = await store.compact()
        return {
            "bytes_before": before,
            "bytes_on_disk": (await store.stats(tenant)).bytes_on_disk,
            "scrubbed": scrubbed,
        }


def _with_counts(answer: MaintenanceAnswer) -> dict[str, object]:
    """Return the answer of a round of one step, its counts at the top."""
    counts = {name: count for step in answer["steps"].values() for name, count in step.items()}
    rest = {name: value for name, value in answer.items() if name != "steps"}
    return {**counts, **rest}
