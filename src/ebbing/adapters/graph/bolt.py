"""The graphs of all owners on a server that speaks Bolt: Neo4j, FalkorDB and others, to be asked in Cypher.

A node is an `EbbingEntity`, an edge is a `RELATES_TO`; both name tenant and owner. Each statement is a transaction of
its own and can be repeated: what a process that was killed left half done, the next call puts right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from hashlib import blake2b
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from anyio import fail_after, move_on_after, to_thread
from neo4j import GraphDatabase
from neo4j.exceptions import AuthError, DriverError, Neo4jError, ServiceUnavailable
from neo4j.exceptions import ConfigurationError as UnfitServerError

from ebbing.domain.errors import ConfigurationError, GraphMirrorError
from ebbing.ports.indexes.graph_mirror import Edge, GraphPlace, Node, OwnerGraph

_Result = TypeVar("_Result")
_Rows = list[Mapping[str, Any]]
SCHEMES: Final = frozenset({"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"})
_CONNECT_SECONDS: Final = 3.0
_CALL_SECONDS: Final = 60.0
_BATCH: Final = 500
"""Rows of one statement, or as many ids of memories in them."""
_REFUSED: Final = "the graph server refuses the user or the password: check EBBING_GRAPH_USER and EBBING_GRAPH_PASSWORD"
_SETTINGS: Final = "check EBBING_GRAPH_USER, EBBING_GRAPH_PASSWORD and EBBING_GRAPH_DATABASE, its memory and its log"
_NO_ADDRESS: Final = (
    "EBBING_GRAPH_URL must be bolt://host:7687 or neo4j://host:7687; user and password are settings of their own"
)
_UNREACHABLE: Final = "the graph server cannot be reached: start it, look at its load, or check EBBING_GRAPH_URL"
_SLOW: Final = "the graph server takes too long: look at its load"
_FULL: Final = "the graph server is full: give it more memory or disk"
_TOO_OLD: Final = "the graph server is too old: it has to speak Bolt 5.2, as Neo4j 5.7 does"
_REFUSED_WORDS: Final = ("Unauthorized", "WRONGPASS")
_FULL_WORDS: Final = ("OutOfMemory", "Memory limit exceeded", "No space left")
"""In what an error says, on whatever server."""

_INDEX: Final = "CREATE INDEX FOR (n:EbbingEntity) ON (n.partition)"
_ECHO: Final = "RETURN $text AS text"
_QUOTES: Final = "a\"b\\c'd"
_NODES: Final = "MATCH (n:EbbingEntity {partition: $partition}) RETURN properties(n) AS values"
_EDGES: Final = (
    "MATCH (:EbbingEntity {partition: $partition})-[r:RELATES_TO]->(:EbbingEntity) RETURN properties(r) AS values"
)
_PUT_NODES: Final = (
    "UNWIND $rows AS row MERGE (n:EbbingEntity {partition: $partition, id: row.id}) SET n = row RETURN count(n)"
)
_PUT_EDGES: Final = (
    "UNWIND $rows AS row"
    " MATCH (a:EbbingEntity {partition: $partition, id: row.subject})"
    " MATCH (b:EbbingEntity {partition: $partition, id: row.object})"
    " MERGE (a)-[r:RELATES_TO {key: row.key}]->(b) SET r = row RETURN count(r)"
)
_DROP_EDGES: Final = (
    "UNWIND $rows AS row MATCH (:EbbingEntity {partition: $partition})-[r:RELATES_TO {key: row}]->() DELETE r"
)
_DROP_NODES: Final = "UNWIND $rows AS row MATCH (n:EbbingEntity {partition: $partition, id: row}) DETACH DELETE n"
_REMOVE: Final = "MATCH (n:EbbingEntity {partition: $partition}) DETACH DELETE n"
_CLEAR: Final = "MATCH (n:EbbingEntity) DETACH DELETE n"
_DROP_MARK: Final = "MATCH (m:EbbingMark) DELETE m"
_LEAVE_MARK: Final = "MERGE (m:EbbingMark {id: 'mark'}) SET m.mark = $mark RETURN count(m)"
_MARK: Final = "MATCH (m:EbbingMark) RETURN m.mark AS mark"
_MOVE_MARK: Final = "MATCH (m:EbbingMark) WHERE m.mark IN [$old, $new] SET m.mark = $new RETURN count(m) AS moved"


class BoltGraphMirror:
    """A `GraphMirror` on a server that speaks Bolt. Threads and event loops may share it."""

    def __init__(self, url: str, *, user: str = "", password: str = "", database: str | None = None) -> None:
        """Connected at the first use.

        Args:
            url: such as `bolt://host:7687` or `neo4j+s://host`, without a user.
            user: with `password`; neither where the server asks for none.
            password: never shown.
            database: the server's usual one unless given.

        Raises:
            ConfigurationError: the address is none.
        """
        try:
            parts = urlsplit(url)
            is_usable = parts.scheme in SCHEMES and parts.hostname and parts.port != 0
        except ValueError:  # its words repeat the address
            raise ConfigurationError(_NO_ADDRESS) from None
        if not is_usable or parts.username or parts.password:
            raise ConfigurationError(_NO_ADDRESS)
        place = f"{parts.hostname}:{parts.port or 7687}/{database or ''}"
        self.name = f"bolt {blake2b(place.encode(), digest_size=6).hexdigest()}"
        self._url, self._database = url, database
        self._auth = (user, password) if user or password else None
        self._driver: Any = None
        self._abandoned: Any = None
        """The last driver that was too slow."""
        self._writes_values = False
        """Whether values are written into the statement here, since the server does not take them as they are."""

    async def put(self, place: GraphPlace, graph: OwnerGraph) -> None:
        await self._in_a_thread(partial(self._put, place, graph))

    async def read(self, place: GraphPlace) -> OwnerGraph:
        return await self._in_a_thread(partial(self._read, place.partition))

    async def remove(self, partition: str) -> None:
        await self._in_a_thread(partial(self._run, _REMOVE, partition=partition))

    async def clear(self, mark: str) -> None:
        await self._in_a_thread(partial(self._clear, mark))

    async def mark(self) -> str | None:
        rows = await self._in_a_thread(partial(self._run, _MARK))
        return str(rows[0]["mark"]) if len(rows) == 1 else None

    async def move_mark(self, old: str, new: str) -> bool:
        rows = await self._in_a_thread(partial(self._run, _MOVE_MARK, old=old, new=new))
        return [row["moved"] for row in rows] == [1]

    async def aclose(self) -> None:
        driver, self._driver = self._driver, None
        if driver is not None:
            with move_on_after(_CONNECT_SECONDS):  # a server that stands still takes no farewell
                await to_thread.run_sync(driver.close, abandon_on_cancel=True)

    async def _in_a_thread(self, work: Callable[[], _Result]) -> _Result:
        try:
            with fail_after(_CALL_SECONDS):
                return await to_thread.run_sync(work, abandon_on_cancel=True)
        except TimeoutError as error:
            # What is under way must change nothing later, when the graph may be another one.
            self._abandoned = self._driver
            await self.aclose()
            raise GraphMirrorError(_SLOW) from error
        except (Neo4jError, DriverError, OSError, ValueError) as error:
            raise GraphMirrorError(_advice(error)) from error

    def _opened(self) -> Any:
        if self._driver is None:
            driver = GraphDatabase.driver(
                self._url,
                auth=self._auth,
                connection_timeout=_CONNECT_SECONDS,
                connection_acquisition_timeout=_CONNECT_SECONDS,
                max_transaction_retry_time=0,
                notifications_min_severity="OFF",
            )
            try:
                self._writes_values = _is_naive(partial(self._attempt, driver))
                self._make_index(driver)
            except BaseException:
                driver.close()
                raise
            self._driver = driver
        return self._driver

    def _make_index(self, driver: Any) -> None:
        with suppress(Neo4jError):  # it is there already
            self._attempt(driver, _INDEX)

    def _clear(self, mark: str) -> None:
        self._run(_DROP_MARK)
        self._run(_CLEAR)
        self._make_index(self._opened())  # a server that lost what it had lost this, too
        self._run(_LEAVE_MARK, mark=mark)

    def _run(self, statement: str, **values: Any) -> _Rows:
        driver = self._opened()
        if self._writes_values:
            return self._attempt(driver, _with_values(statement, values))
        return self._attempt(driver, statement, **values)

    def _attempt(self, driver: Any, statement: str, **values: Any) -> _Rows:
        try:
            return _rows(driver, statement, values=values, database=self._database)
        except ServiceUnavailable:  # a connection of the pool that was lost: every statement can be repeated
            if driver is self._abandoned:
                raise
            return _rows(driver, statement, values=values, database=self._database)

    def _read(self, partition: str) -> OwnerGraph:
        nodes = (_node(row["values"]) for row in self._run(_NODES, partition=partition))
        edges = (_edge(row["values"]) for row in self._run(_EDGES, partition=partition))
        return OwnerGraph(frozenset(nodes), frozenset(edges))

    def _put(self, place: GraphPlace, graph: OwnerGraph) -> None:
        owner = {"tenant": place.tenant, "owner": place.owner, "owner_kind": place.kind, "partition": place.partition}
        nodes = {node.id: {**owner, **_node_values(node)} for node in graph.nodes}
        edges = {_key(edge): {**owner, **_edge_values(edge)} for edge in graph.edges}
        partition = place.partition
        old_nodes = {row["values"]["id"]: row["values"] for row in self._run(_NODES, partition=partition)}
        old_edges = {row["values"]["key"]: row["values"] for row in self._run(_EDGES, partition=partition)}
        self._write(_PUT_NODES, partition, rows=_changed(nodes, old_nodes))
        self._write(_PUT_EDGES, partition, rows=_changed(edges, old_edges))
        self._write(_DROP_EDGES, partition, rows=sorted(old_edges.keys() - edges.keys()))
        self._write(_DROP_NODES, partition, rows=sorted(old_nodes.keys() - nodes.keys()))

    def _write(self, statement: str, partition: str, *, rows: Sequence[Any]) -> None:
        for batch in _batches(rows):
            self._run(statement, partition=partition, rows=batch)


def _rows(driver: Any, statement: str, *, values: dict[str, Any], database: str | None) -> _Rows:
    with driver.session(database=database) as session:
        return [record.data() for record in session.run(statement, values)]


def _is_naive(run: Callable[..., _Rows]) -> bool:
    """Whether a server takes a quote in a value for the end of the value, as FalkorDB does.

    FalkorDB also crashes over values of 4 kB. What is written into the statement may be as long as it is.
    """
    try:
        if run(_ECHO, text=_QUOTES) == [{"text": _QUOTES}]:
            return False
    except Neo4jError as error:
        if _is_refused(error):
            raise
    if run(_with_values(_ECHO, {"text": _QUOTES})) != [{"text": _QUOTES}]:
        raise GraphMirrorError("the graph server garbles texts with quotes: check its version")
    return True


def _with_values(statement: str, values: Mapping[str, Any]) -> str:
    """Return a statement that names its values itself, as FalkorDB reads it."""
    parameters = " ".join(f"{name}={_literal(value)}" for name, value in values.items())
    return f"CYPHER {parameters} {statement}" if parameters else statement


def _literal(value: Any) -> str:
    """Return a value as Cypher; FalkorDB cannot hold a NUL."""
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\x00", "\ufffd") + "'"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_literal(item)}" for name, item in value.items()) + "}"
    return "[" + ", ".join(map(_literal, value)) + "]"


def _changed(rows: Mapping[str, dict[str, Any]], old: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows that are not there as they are."""
    return [row for key, row in rows.items() if old.get(key) != row]


def _batches(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Return rows in parts that are not too large for one statement."""
    start, size = 0, 0
    for number, row in enumerate(rows):
        weight = len(row.get("memory_ids", "1")) if isinstance(row, dict) else 1
        if size and size + weight > _BATCH:
            yield rows[start:number]
            start, size = number, 0
        size += weight
    if rows:
        yield rows[start:]


def _node_values(node: Node) -> dict[str, Any]:
    return {
        "id": node.id,
        "name": node.name,
        "kind": node.kind,
        "aliases": list(node.aliases),
        "memory_ids": list(node.memory_ids),
    }


def _edge_values(edge: Edge) -> dict[str, Any]:
    values = {
        "key": _key(edge),
        "subject": edge.subject,
        "relation": edge.relation,
        "object": edge.object,
        "memory_id": edge.memory_id,
        "valid_from": edge.valid_from.isoformat(),
    }
    return values if edge.valid_to is None else {**values, "valid_to": edge.valid_to.isoformat()}


def _key(edge: Edge) -> str:
    """Return what names an edge among those of its owner."""
    parts = (edge.subject, edge.relation, edge.object, edge.memory_id, edge.valid_from.isoformat())
    return blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _node(values: Mapping[str, Any]) -> Node:
    return Node(values["id"], values["name"], values["kind"], tuple(values["aliases"]), tuple(values["memory_ids"]))


def _edge(values: Mapping[str, Any]) -> Edge:
    ends = values.get("valid_to")
    return Edge(
        values["subject"],
        values["relation"],
        values["object"],
        values["memory_id"],
        datetime.fromisoformat(values["valid_from"]),
        datetime.fromisoformat(ends) if ends else None,
    )


def _is_refused(error: Exception) -> bool:
    return isinstance(error, AuthError) or any(word in _words(error) for word in _REFUSED_WORDS)


def _words(error: Exception) -> str:
    """Return all that an error says; FalkorDB's own code is only in what the driver made nothing of."""
    return f"{getattr(error, 'code', '')} {error} {getattr(error, 'metadata', '')}"


def _advice(error: Exception) -> str:
    """Return what to do about what the driver raised."""
    if _is_refused(error):
        return _REFUSED
    if any(word in _words(error) for word in _FULL_WORDS):
        return _FULL
    if isinstance(error, UnfitServerError):
        return _TOO_OLD
    if isinstance(error, DriverError | OSError):
        return _UNREACHABLE
    code = getattr(error, "code", None) or type(error).__name__
    return f"the graph server refuses ({code}): {_SETTINGS}"
