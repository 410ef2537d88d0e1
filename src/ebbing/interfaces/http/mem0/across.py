"""An agent, run or app that owns no memories: a filter across the owners of the tenant, for a key of all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ebbing.domain.errors import TooLargeError
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.interfaces.http.mem0.owner_params import APP_FILTER, OwnerQuery
from ebbing.interfaces.http.request_context import Caller
from ebbing.ports.stores.memory_store import ShareFilter

MOST_SHARERS: Final = 1_000
"""Owners whose memories one agent, run or app may be looked for in."""


async def across_owners(caller: Caller, owner_queries: Sequence[OwnerQuery]) -> list[OwnerQuery]:
    """Replace each agent, run or app that owns nothing by those owners whose memories name it.

    A credential for one user never gets here beyond that user: its questions all name them.

    Raises:
        TooLargeError: more than 1,000 owners.
    """
    queries: list[OwnerQuery] = []
    for owner_query in owner_queries:
        queries += [owner_query] if owner_query.owner["user_id"] is not None else await _shared(caller, owner_query)
    return queries


async def _shared(caller: Caller, owner_query: OwnerQuery) -> list[OwnerQuery]:
    agent, run = owner_query.owner["agent_id"], owner_query.owner["run_id"]
    tenant = caller.principal.tenant
    own: Owner | None = None
    share_filter = ShareFilter(app_id=_app(owner_query))
    if agent is not None or run is not None:
        own = Scope(agent_id=agent, run_id=run, tenant=tenant).owner
        share_filter = ShareFilter(agent_id=agent, run_id=None if agent is not None else run)
    shares = await caller.memory.components.store.shares(tenant, share_filter=share_filter)
    if any(share.owner == own for share in shares):
        return [owner_query]
    owners = [*dict.fromkeys(share.owner for share in shares if run is None or share.run_id == run)]
    if len(owners) > MOST_SHARERS:
        raise TooLargeError(f"memories of more than {MOST_SHARERS:,} owners fit: name a user_id beside it")
    if not owners:
        return [owner_query] if own is not None else []
    return [
        OwnerQuery(caller.owner_ids(**_ids(owner, agent_id=agent, run_id=run)), owner_query.filters) for owner in owners
    ]


def _app(owner_query: OwnerQuery) -> str | None:
    name = owner_query.filters.get(APP_FILTER)
    return name if isinstance(name, str) else None


def _ids(owner: Owner, *, agent_id: str | None, run_id: str | None) -> dict[str, Any]:
    """The ids of a call about an owner's memories, with those that were asked for."""
    return {"agent_id": agent_id, "run_id": run_id, f"{owner.kind}_id": owner.name}
