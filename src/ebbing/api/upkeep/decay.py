"""The part of the façade that lets fade."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Final

from ebbing.api.upkeep.maintenance import KeepingUp
from ebbing.api.upkeep.maintenance_steps import DAILY
from ebbing.domain.memory.change_set import Cause
from ebbing.results import Item

FADING: Final = {name: step for name, step in DAILY.items() if name in {"expire", "consolidate", "decay", "purge"}}


class Fading(KeepingUp):
    """What lets memories fade when somebody says so, beside the daily round."""

    async def decay(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        now: datetime | str | float | None = None,
        dry_run: bool = False,
    ) -> Item:
        """Lets what is of no use fade: the part of the daily round that expires, consolidates, fades and purges.

        Args:
            user_id: whose memories; without any id everybody's. One id only.
            now: the time to go by; a time to come shows what will be.
            dry_run: change nothing, and list in `changes` what would be.

        Returns:
            `{"processed", "decayed", "consolidated", "forgotten", "expired", "purged", "saved_bytes", "now",
            "dry_run"}`: how many records were looked at, went a stage further, became part of the long term, were
            packed (`restore` brings them back), ran out, were erased for good, and how many bytes of readable text that
            saved. A dry run has `changes` too, each with the owner's id, `step`, `memory_id`, `what` and `why`.

        Raises:
            InvalidInputError: more than one id, or an unusable one; a time that is none.
            StoreError: the store could not do it; what was done by then stays.
        """
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        done = await self._go_round(FADING, Cause.FADE, whose=ids, now=now, dry_run=dry_run)
        counts = Counter(dict.fromkeys(_COUNTED, 0))
        for step in done["steps"].values():
            counts.update(step)
        answer: Item = {name: counts[name] for name in _COUNTED}
        return answer | {name: done[name] for name in ("now", "dry_run", "change_ids", "changes") if name in done}


_COUNTED: Final = ("processed", "decayed", "consolidated", "forgotten", "expired", "purged", "saved_bytes")
