"""What a talk keeps off the record beyond the call that asked for it: the next message, and what answers the last one.

Of the messages nothing is written: a row says that something is meant, and holds digests of names and ids.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from hashlib import blake2b
from typing import Final

from ebbing.api.calls.call_context import CallContext
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.request_log import KeptRequest
from ebbing.privacy.guarding.trust import TrustTier
from ebbing.remember.intake.screening import (
    NOTHING_OFF_RECORD,
    OWN,
    MessagesOnRecord,
    StillOffRecord,
    messages_on_record,
)
from ebbing.remember.intake.second_looks import requests_in

REQUEST_AGE: Final = timedelta(minutes=30)
"""How long "what I tell you next is off the record" waits for the next message."""
_MOST_IDS: Final = 1_000
_CALLER: Final = "ebbing.off_record"


class TalksOffRecord:
    """Screens the messages of a call by what the calls before it asked for."""

    def __init__(self, context: CallContext, *, is_later: bool = False) -> None:
        """With `is_later` each call stands by itself: its messages were screened when they were said."""
        self._context, self._is_later = context, is_later

    @asynccontextmanager
    async def screened(
        self, scope: Scope, messages: Sequence[Message], *, trust: TrustTier | None, is_private: bool
    ) -> AsyncIterator[MessagesOnRecord]:
        """Give the messages that may be stored, as `messages_on_record` does, and note what the next call leaves out.

        It is noted before anything is done, so that no call in between misses it. Where the call fails, all is put back
        as it was, so that the call may be made again.

        Raises:
            StoreError: what was asked for before could not be read, or it could not be noted.
        """
        requests = None
        if trust in OWN and not is_private:
            requests = await requests_in(messages, load=self._context.add_deps)
        if self._is_later:
            yield messages_on_record(messages, trust=trust, is_private=is_private, requests=requests)
            return
        still = await self._still(scope)
        recorded = messages_on_record(messages, trust=trust, is_private=is_private, still=still, requests=requests)
        if recorded.still is not None:
            await self._note(scope, recorded.still)
        try:
            yield recorded
        except BaseException:
            if recorded.still is not None:
                await self._note(scope, still)
            raise

    async def _note(self, scope: Scope, still: StillOffRecord) -> None:
        request, requests = self._request(scope, still), self._context.store.requests
        await requests.drop(request)
        if still != NOTHING_OFF_RECORD:
            await requests.begin(request)

    async def _still(self, scope: Scope) -> StillOffRecord:
        request = await self._context.store.requests.get(scope.tenant, _CALLER, key=_key(scope))
        if request is None or request.answer is None:
            return NOTHING_OFF_RECORD
        values = json.loads(request.answer)
        ids = frozenset(values["ids"])
        if request.begun_at < self._context.clock.now() - REQUEST_AGE:
            return StillOffRecord(ids=ids)
        return StillOffRecord(values["replies"], frozenset(values["next_of"]), ids)

    def _request(self, scope: Scope, still: StillOffRecord) -> KeptRequest:
        now, ids = self._context.clock.now(), sorted(still.ids)[:_MOST_IDS]
        answer = json.dumps({"replies": still.replies, "next_of": sorted(still.next_of), "ids": ids})
        owner = Scope.of(scope.owner)
        return KeptRequest(
            scope.tenant, _CALLER, _key(scope), "", now, now, belongs_to=owner, status=200, answer=answer
        )


def _key(scope: Scope) -> str:
    """Return what names a talk: the names themselves may be off the record."""
    names = json.dumps([scope.user_id, scope.agent_id, scope.run_id])
    return blake2b(names.encode(), digest_size=16).hexdigest()
