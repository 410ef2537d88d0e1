"""A graph mirror in RAM, for tests of what fills it."""

from __future__ import annotations

from ebbing.domain.errors import GraphMirrorError
from ebbing.ports.indexes.graph_mirror import GraphPlace, OwnerGraph


class GraphMirrorInRam:
    """A `GraphMirror` that forgets everything with the program."""

    name = "ram"

    def __init__(self) -> None:
        self.graphs: dict[str, OwnerGraph] = {}
        """By partition."""
        self.left: str | None = None
        """The mark."""
        self.is_down = False
        """Set it, and every call fails."""

    async def put(self, place: GraphPlace, graph: OwnerGraph) -> None:
        self._check()
        self.graphs[place.partition] = graph

    async def read(self, place: GraphPlace) -> OwnerGraph:
        self._check()
        return self.graphs.get(place.partition, OwnerGraph())

    async def remove(self, partition: str) -> None:
        self._check()
        self.graphs.pop(partition, None)

    async def clear(self, mark: str) -> None:
        self._check()
        self.graphs.clear()
        self.left = mark

    async def mark(self) -> str | None:
        self._check()
        return self.left

    async def move_mark(self, old: str, new: str) -> bool:
        self._check()
        if self.left not in {old, new}:
            return False
        self.left = new
        return True

    async def aclose(self) -> None:
        """Nothing is held."""

    def _check(self) -> None:
        if self.is_down:
            raise GraphMirrorError("the graph server cannot be reached: start it")
