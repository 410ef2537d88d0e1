"""The memories that name what a memory names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ebbing.api.calls.call_context import CallContext
from ebbing.api.people.graph import Graphs
from ebbing.domain.memory.scope import Scope
from ebbing.people.entity_graph import SELF
from ebbing.recall.context.render import memory_text
from ebbing.results import EntityItem, NeighboursAnswer


async def neighbours_of(
    context: CallContext, graphs: Graphs, *, scope: Scope, memory_id: str, limit: int
) -> NeighboursAnswer:
    """Return what a memory names and which others name it; see `OverviewApi.neighbours`."""
    graph = await graphs.graph(user_id=scope.user_id, agent_id=scope.agent_id, include_ended=True)
    relations = [relation for relation in graph["relations"] if relation["memory_id"] == memory_id]
    ends: set[str] = set()
    for relation in relations:
        ends |= {relation["subject"], relation["object"]} - {SELF}
    entities = [entity for entity in graph["entities"] if memory_id in entity["memory_ids"] or entity["id"] in ends]
    shares = _shares(entities, memory_id)
    nearest = sorted(shares, key=lambda other: -len(shares[other]))[:limit]
    records = {record.id: record for record in await context.store.get(scope.whole, nearest)}
    return {
        "entities": [{**entity, "memory_ids": entity["memory_ids"][:limit]} for entity in entities],
        "relations": relations,
        "memories": [
            {"id": record.id, "memory": memory_text(record), "shares": shares[record.id]}
            for record in map(records.get, nearest)
            if record is not None
        ],
    }


def _shares(entities: Sequence[EntityItem], memory_id: str) -> dict[str, list[str]]:
    """Return the names that each other memory shares with this one; the owner's own counts for nothing."""
    shares: defaultdict[str, list[str]] = defaultdict(list)
    for entity in entities:
        others = [] if entity["id"] == SELF else [other for other in entity["memory_ids"] if other != memory_id]
        for other in others:
            shares[other].append(entity["name"])
    return shares
