"""The graph of people, places and things that memories name."""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from ebbing.api.calls.call_context import CallContext
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.scope import Scope
from ebbing.people.entity_graph import SELF, Entity, Graph, Relation, graph_near
from ebbing.people.stored_graph import stored_graph
from ebbing.results import EntityItem, GraphAnswer, RelationItem
from ebbing.validation import checked_flag, checked_time

MAX_HOPS: Final = 5
MAX_SHOWN: Final = 10_000
MAX_NAMED: Final = 20
"""Memories that an entity names in a graph of limited size."""


class _GraphPart(NamedTuple):
    """The part of a graph that a call asks for."""

    about: str | None
    hops: int
    moment: datetime
    include_ended: bool


class Graphs:
    """The verbs that show who and what memories are about."""

    def __init__(self, context: CallContext) -> None:
        self._context = context

    async def graph(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        about: str | None = None,
        hops: int = 1,
        as_of: datetime | str | float | None = None,
        include_ended: bool = False,
        limit: int | None = None,
    ) -> GraphAnswer:
        """Return people, places, organisations and things in the memories, and the relations between them.

        It is worked out from the memories each time: what is deleted is gone from it, what is superseded has an end.

        Args:
            about: somebody or something by name, or by another word for them ("sister"); without it everything.
            hops: with `about`, so many relations away, 0 to 5.
            as_of: as it was at this moment; now unless given.
            include_ended: return what ended as well.
            limit: so many relations at most, the newest, 1 to 10,000; then entities that none of them names are left
                out, and each names at most 20 memories.

        Returns:
            `{"entities": [{"id", "name", "kind", "aliases", "memory_ids"}], "relations": [{"subject", "relation",
            "object", "memory_id", "since", "until"}], "truncated"}`; `subject` and `object` are ids of entities, `self`
            is the person. At most 10,000 relations, the newest; `truncated` says whether some were left out.

        Raises:
            InvalidInputError: no user or agent, hops outside 0 to 5, an unusable moment, or a blank `about`.
            StoreError: the memories cannot be read.
        """
        scope = self._context.scope(user_id=user_id, agent_id=agent_id)
        graph_query = self._checked(about, hops=hops, as_of=as_of, include_ended=include_ended)
        graph = await self._read(scope, graph_query)
        return _graph_item(graph) if limit is None else _capped(_graph_item(graph), limit)

    async def graph_dot(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        about: str | None = None,
        hops: int = 1,
        as_of: datetime | str | float | None = None,
        include_ended: bool = False,
    ) -> str:
        """Return the whole graph as text for Graphviz.

        Args and errors are those of `graph`.
        """
        scope = self._context.scope(user_id=user_id, agent_id=agent_id)
        graph_query = self._checked(about, hops=hops, as_of=as_of, include_ended=include_ended)
        return as_dot(await self._read(scope, graph_query))

    def _checked(
        self, about: str | None, *, hops: int, as_of: datetime | str | float | None, include_ended: bool
    ) -> _GraphPart:
        moment = checked_time(as_of, "as_of") or self._context.clock.now()
        ended = checked_flag(include_ended, "include_ended")
        if not isinstance(hops, int) or isinstance(hops, bool) or not 0 <= hops <= MAX_HOPS:
            raise InvalidInputError(f"hops must be a whole number from 0 to {MAX_HOPS}")
        if about is not None and not (isinstance(about, str) and about.strip()):
            raise InvalidInputError("about must be a name, or be left out")
        return _GraphPart(about, hops, moment, ended)

    async def _read(self, scope: Scope, graph_query: _GraphPart) -> Graph:
        store, past = self._context.store, graph_query.include_ended
        graph = await stored_graph(store, scope, at=graph_query.moment, past=past)
        return graph if graph_query.about is None else graph_near(graph, graph_query.about, hops=graph_query.hops)


def as_dot(graph: Graph) -> str:
    """Return a graph for Graphviz."""
    lines = ["digraph memory {"]
    lines += [f"  {_quoted(entity.id)} [label={_quoted(entity.name)}];" for entity in graph.entities]
    for relation in graph.relations:
        style = ", style=dashed" if relation.until else ""
        ends = f"{_quoted(relation.subject)} -> {_quoted(relation.object)}"
        lines.append(f"  {ends} [label={_quoted(relation.relation)}{style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    plain = "".join(char if char.isprintable() else " " for char in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _graph_item(graph: Graph) -> GraphAnswer:
    newest = sorted(graph.relations, key=lambda relation: relation.since, reverse=True)
    return {
        "entities": [*map(_entity_item, graph.entities)],
        "relations": [*map(_relation_item, newest[:MAX_SHOWN])],
        "truncated": len(newest) > MAX_SHOWN,
    }


def _with_few_memories(entity: EntityItem) -> EntityItem:
    return EntityItem(**{**entity, "memory_ids": entity["memory_ids"][:MAX_NAMED]})


def _capped(graph: GraphAnswer, limit: int) -> GraphAnswer:
    """Return the newest relations of a graph, and what they name.

    Raises:
        InvalidInputError: the limit is none.
    """
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MAX_SHOWN:
        raise InvalidInputError(f"limit must be a whole number from 1 to {MAX_SHOWN:,}")
    relations = graph["relations"][:limit]
    names = {SELF}
    for relation in relations:
        names |= {relation["subject"], relation["object"]}
    entities = [_with_few_memories(entity) for entity in graph["entities"] if entity["id"] in names]
    return {"entities": entities, "relations": relations, "truncated": len(relations) < len(graph["relations"])}


def _entity_item(entity: Entity) -> EntityItem:
    return {
        "id": entity.id,
        "name": entity.name,
        "kind": entity.kind,
        "aliases": entity.aliases,
        "memory_ids": entity.memory_ids,
    }


def _relation_item(relation: Relation) -> RelationItem:
    return {
        "subject": relation.subject,
        "relation": relation.relation,
        "object": relation.object,
        "memory_id": relation.memory_id,
        "since": relation.since.isoformat(),
        "until": relation.until.isoformat() if relation.until else None,
    }
