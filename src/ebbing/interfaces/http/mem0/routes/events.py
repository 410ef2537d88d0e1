"""What was done for mem0's clients lately: they ask for it by an event's id."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from fastapi import Request
from starlette.responses import Response

from ebbing.domain.errors import NotFoundError
from ebbing.interfaces.http.mem0.owner_params import OwnerQuery
from ebbing.interfaces.http.mem0.responses import Item
from ebbing.interfaces.http.request_context import Caller, Reader
from ebbing.interfaces.http.schema.operations import operations
from ebbing.interfaces.http.schema.response_models import ObjectResponse
from ebbing.interfaces.http.schema.responses import encoded

MAX_EVENTS: Final = 10_000
"""Events of all tenants that are remembered, until the service stops."""
_PAGE: Final = 100

router = operations("mem0 platform", prefix="/v1")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was done; it holds ids, and nothing that anybody said."""

    id: str
    tenant: str
    user: str | None
    kind: str
    at: datetime
    results: tuple[Item, ...] = ()
    owner_queries: tuple[OwnerQuery, ...] = ()
    """What an export is to hold; shown to nobody."""


class Events:
    """The last events, in memory alone: they tell what was done, and nothing depends on them."""

    def __init__(self) -> None:
        self._events: OrderedDict[str, Event] = OrderedDict()
        self._lock = threading.Lock()

    def note(
        self,
        caller: Caller,
        kind: str,
        *,
        user: str | None,
        results: Sequence[Item] = (),
        owner_queries: Sequence[OwnerQuery] = (),
    ) -> str:
        """Keeps an event and gives its id."""
        components, principal = caller.memory.components, caller.principal
        owner = principal.user or user
        event = Event(
            components.ids.new(),
            principal.tenant,
            owner,
            kind,
            at=components.clock.now(),
            results=tuple(results),
            owner_queries=tuple(owner_queries),
        )
        with self._lock:
            self._events[event.id] = event
            while len(self._events) > MAX_EVENTS:
                self._events.popitem(last=False)
        return event.id

    def of(self, caller: Caller) -> list[Event]:
        """What a caller may see, the newest first."""
        with self._lock:
            events = list(self._events.values())
        return [event for event in reversed(events) if _may_see(caller, event)]

    def get(self, caller: Caller, event_id: str) -> Event:
        """One event.

        Raises:
            NotFoundError: none of this id that this caller may see.
        """
        with self._lock:
            event = self._events.get(event_id)
        if event is None or not _may_see(caller, event):
            raise NotFoundError("no event with this id: they are kept until the service stops, the last 10,000")
        return event


def events_of(request: Request) -> Events:
    """The events of this service."""
    state = request.app.state
    if not hasattr(state, "mem0_events"):
        state.mem0_events = Events()
    events: Events = state.mem0_events
    return events


@router.get("/events/", response_model=ObjectResponse)
async def list_events(caller: Reader, request: Request) -> Response:
    """List the last events, the newest first, at most 100."""
    events = events_of(request).of(caller)
    shown = [*map(event_out, events[:_PAGE])]
    return encoded({"count": len(events), "next": None, "previous": None, "results": shown})


@router.get("/event/{event_id}/", response_model=ObjectResponse)
async def get_event(caller: Reader, event_id: str, *, request: Request) -> Response:
    """Get an event by the id that an add or an erasure returned."""
    return encoded(event_out(events_of(request).get(caller, event_id)))


def event_out(event: Event) -> Item:
    """An event in the platform's shape; ours have happened by the time that anybody hears of them."""
    at = event.at.isoformat()
    times: dict[str, Any] = dict.fromkeys(("created_at", "updated_at", "started_at", "completed_at"), at)
    return {
        "id": event.id,
        "event_type": event.kind,
        "status": "SUCCEEDED",
        "payload": {},
        "metadata": {},
        "results": list(event.results),
        "latency": 0.0,
        "error": None,
        **times,
    }


def _may_see(caller: Caller, event: Event) -> bool:
    principal = caller.principal
    return event.tenant == principal.tenant and principal.user in {None, event.user}
