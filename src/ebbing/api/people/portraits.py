"""The profile as one call may see it."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from ebbing.api.calls.call_context import CallContext
from ebbing.api.people.profile_refresher import ProfileRefresher
from ebbing.domain.filters.query import Query
from ebbing.domain.filters.tree import EVERYTHING, Filter
from ebbing.domain.memory.profile import Portrait
from ebbing.domain.memory.scope import Scope
from ebbing.recall.context.query_fallback import FallbackOptions
from ebbing.recall.context.usage_policy import is_usable
from ebbing.recall.rows import apply_filter, current_rows


class Portraits:
    """Reads profiles: of a whole owner, or of what a scope, filters and a session allow."""

    def __init__(self, context: CallContext, *, refresher: ProfileRefresher) -> None:
        self._context, self._refresher = context, refresher

    async def get(
        self, scope: Scope, slots: Filter, *, now: datetime, fallback: FallbackOptions, is_private: bool = False
    ) -> Portrait:
        """Return the profile as a call may see it.

        With `is_private` one that had to be worked out is not kept for the next time.
        """
        profiles, store = self._context.profiles, self._context.store
        if slots == EVERYTHING and scope == Scope.of(scope.owner) and not (fallback.session or fallback.channel):
            portrait, is_kept = await profiles.current(scope, now=now)
            if not is_kept and portrait.entries and not is_private:
                self._refresher.asked(scope)
            return portrait
        shard = await store.shard(scope)
        mask = current_rows(shard, scope, query=Query("", 1, now, include="memories"))
        return await profiles.of_part(
            scope,
            shard,
            mask=await apply_filter(store, shard, scope=scope, mask=mask, filter_=slots),
            now=now,
            usable=partial(is_usable, session=fallback.session, channel=fallback.channel),
            by_hand=slots == EVERYTHING,
        )
