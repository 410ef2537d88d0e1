"""The part of the façade that lets one memory tell what several said, and brings those back."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Final

from ebbing.api.upkeep.maintenance import KeepingUp
from ebbing.domain.errors import InvalidInputError, MemoryNotFoundError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.ports.event_bus import Topic
from ebbing.recall.merge_sources import told_by
from ebbing.remember.reconcile.unmerge import take_apart, tellers_of
from ebbing.results import Item, memory_item
from ebbing.upkeep.habits.derive_habits import abstract
from ebbing.upkeep.merging.compress import compress
from ebbing.validation import checked_flag

MAX_LEVEL: Final = 3


class Compressing(KeepingUp):
    """What makes few memories of many, and many of few."""

    async def compress(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        now: datetime | str | float | None = None,
        dry_run: bool = False,
    ) -> Item:
        """Lets one memory tell what several say, as far as something came since the last time, and sums up what
        happened once more than 20 memories of it are in no summary.

        Args:
            user_id: whose memories; without any id everybody's. One id only: it is about everything of an owner.
            now: the time to go by.
            dry_run: change nothing, and list in `changes` what would be.

        Returns:
            `{"merged", "clusters", "summarized", "saved_bytes", "owners", "now", "dry_run"}`: how many memories another
            one tells now, how many those are, how many summaries were written, and by how many UTF-8 bytes the texts
            that answers are made of became fewer; of a dry run also `changes`, as `upkeep` lists them.

        Raises:
            InvalidInputError: more than one id, or an unusable one; a time that is none.
            StoreError: the store could not do it; what was done by then stays.
        """
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        return _flat(await self._go_round({"compress": compress}, Cause.MERGE, whose=ids, now=now, dry_run=dry_run))

    async def abstract(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        now: datetime | str | float | None = None,
        dry_run: bool = False,
        level: int | None = None,
    ) -> Item:
        """Tells what was done on at least three days by one memory with a count: "User often buys coffee (3 times)".

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
        return _flat(await self._go_round({"abstract": step}, Cause.HABIT, whose=ids, now=now, dry_run=dry_run))

    async def expand(self, memory_id: str, *, user_id: str | None = None, restore: bool = False) -> Item:
        """What a memory tells in the place of others: those others as they were said, the oldest first.

        Args:
            restore: let them tell for themselves again, and remove the memory that told them.

        Returns:
            `{"id", "memory", "mentions", "first_said_at", "last_said_at", "sources": [items], "restored": int}`;
            `sources` is empty for a memory that tells nothing but itself.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
            InvalidInputError: `restore` of a memory that tells nothing but itself, or that was reworded by hand.
            ConflictError: somebody else changed it in between: try again.
        """
        back = checked_flag(restore, "restore")
        scope = await self._known_scope(memory_id, user_id)
        found = await self._components.store.get(scope, [memory_id])
        if not found:
            raise MemoryNotFoundError("this memory is deleted: restore it first")
        [record] = found
        sources = await told_by(self._components.store, record)
        restored, change, now = 0, ChangeSet(Cause.SPLIT), self._components.clock.now()
        if back:
            tellers = await tellers_of(self._components.store, [record], scope=scope)
            if not record.is_compressed or record.provenance.method == "user":
                raise InvalidInputError("this memory tells nothing but itself: there is nothing to restore")
            restored = await take_apart(self._components.store.within(change), tellers, scope=scope, at=now)
            await self._announce(Topic.MEMORY_UPDATED, scope, memory_ids=(one.id for one in sources))
            await self._announce(Topic.MEMORY_DELETED, scope, memory_ids=(one.id for one in tellers))
        return {
            "id": record.id,
            "memory": record.content,
            "mentions": record.mentions,
            "first_said_at": (record.first_said_at or record.created_at).isoformat(),
            "last_said_at": record.created_at.isoformat(),
            "sources": [*map(memory_item, sources)],
            "restored": restored,
            "change_id": change.only_id,
        }


def _flat(told: Item) -> Item:
    """The answer of a round of one step, its counts at the top."""
    steps = told.pop("steps")
    counts: Item = {name: count for step in steps.values() for name, count in step.items()}
    return counts | told
