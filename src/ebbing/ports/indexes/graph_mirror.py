"""Where the graph of people and things is shown to programs that ask it in a language of their own, such as Cypher."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple, Protocol

MOST_MEMORY_IDS: Final = 1_000
"""Of one node, the newest: a person is named by every memory, and servers take no value of any length."""


class GraphPlace(NamedTuple):
    """Whose graph it is."""

    tenant: str
    kind: str
    """`user`, `agent` or `run`."""
    owner: str
    partition: str
    """Stands for the owner; a store gives it to nobody twice (`ports.stores.outbox.Followed`)."""


@dataclass(frozen=True, slots=True)
class Node:
    """Somebody or something that memories name."""

    id: str
    """The same for as long as the memories name it so; `self` is the person."""
    name: str
    kind: str
    """`person`, `pet`, `place`, `organisation`, `thing` or `topic`."""
    aliases: tuple[str, ...]
    memory_ids: tuple[str, ...]
    """In the order in which they were said; at most `MOST_MEMORY_IDS`."""


@dataclass(frozen=True, slots=True)
class Edge:
    """How one node stands to another, by one memory."""

    subject: str
    relation: str
    object: str
    memory_id: str
    valid_from: datetime
    valid_to: datetime | None
    """When it ended; None while it holds."""


@dataclass(frozen=True, slots=True)
class OwnerGraph:
    """Everything of one owner: what ended has an end, what was erased is not there. The order means nothing."""

    nodes: frozenset[Node] = frozenset()
    edges: frozenset[Edge] = frozenset()


class GraphMirror(Protocol):
    """A copy of the graphs of all owners on a server. It is derived: it may be behind, and can be built again.

    Every call is safe to repeat, and one that was broken off is mended by its repetition. One program at a time
    changes it; any number of programs may read it meanwhile, and may see a change of an owner half done.

    Raises:
        GraphMirrorError: the server is down, slow or refuses. The message says what to do, and holds no password and
            nothing of a memory. Nothing of the store is touched.
    """

    @property
    def name(self) -> str:
        """The technology, and where it is; it names the place in the outbox."""
        ...

    async def put(self, place: GraphPlace, graph: OwnerGraph) -> None:
        """Make an owner's graph this and nothing else; the ends of every edge are among the nodes."""
        ...

    async def read(self, place: GraphPlace) -> OwnerGraph:
        """Return what is there of an owner; an empty graph where nothing is."""
        ...

    async def remove(self, partition: str) -> None:
        """Remove everything of an owner; nothing there is no error."""
        ...

    async def clear(self, mark: str) -> None:
        """Remove everything of all owners, and nothing that others keep on the same server; leave a mark."""
        ...

    async def mark(self) -> str | None:
        """Return the mark that was left last; None where there is none, as on a server that lost what it had.

        It is kept where the graphs are. So whoever brings back an older state of them brings back its mark.
        """
        ...

    async def move_mark(self, old: str, new: str) -> bool:
        """Put a mark in the place of another; False, and nothing is changed, where neither of the two is there."""
        ...

    async def aclose(self) -> None:
        """Let go of connections; safe to repeat."""
        ...
