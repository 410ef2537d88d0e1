"""Searches and adds of one, two and three replicas on one PostgreSQL: how many a second, and the CPU of each.

    PYTHONPATH=. python scripts/measure_replicas.py
    PYTHONPATH=. python scripts/measure_replicas.py --models

PostgreSQL is started for this, from the programs of this machine. Clients are one process without pauses between their
requests, which takes CPU of the same machine: where there are few cores, what counts is the CPU of a request.

Without `--models` the services search and store by keywords alone: what is measured is everything but the models. With
it every question is new and is embedded, its best answers are read by the reader, and every added text is embedded.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import Final

import psutil

from ebbing import Memory
from ebbing.adapters.embedders.e5 import E5Embedder
from ebbing.wiring.build import build, load_settings
from evals.http.children import Child, ebbing
from evals.http.wire import Connection, request
from evals.speed.population import ConstantEmbedder, User, population, questions
from tests.own_servers import OwnServer, own_server

QUESTIONS: Final = 5
"""For each user."""
_BACKLOG: Final = re.compile(rb"(?m)^ebbing_embedding_backlog (\S+)")


@dataclass(frozen=True, slots=True)
class Cost:
    """What requests of one kind took."""

    kind: str
    replicas: int
    requests: int
    seconds: float
    service_cpu: float
    database_cpu: float
    client_cpu: float

    def row(self) -> str:
        """Return a row of the table."""
        cores = (self.service_cpu + self.database_cpu + self.client_cpu) / self.seconds
        return (
            f"| {self.kind} | {self.replicas} | {self.requests / self.seconds:.0f}"
            f" | {1000 * self.service_cpu / self.requests:.1f} | {1000 * self.database_cpu / self.requests:.1f}"
            f" | {1000 * self.client_cpu / self.requests:.1f} | {cores:.2f} |"
        )


HEADER: Final = (
    "| what | replicas | a second | ms of CPU, replicas | ms of CPU, PostgreSQL | ms of CPU, clients | cores in use |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
)


@contextmanager
def fleet(number: int, settings: Mapping[str, str]) -> Iterator[list[Child]]:
    """So many services."""
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        yield [stack.enter_context(ebbing(Path(folder), settings=settings)) for _ in range(number)]


def database_cpu(server: OwnServer) -> float:
    """Return the seconds of CPU of the server's processes, also of those that have ended."""
    assert server.process is not None
    postmaster = psutil.Process(server.process.pid)
    times = postmaster.cpu_times()
    ended = times.children_user + times.children_system
    for process in postmaster.children():
        own = process.cpu_times()
        ended += own.user + own.system
    return float(times.user + times.system + ended)


async def measure(
    kind: str, messages: Iterator[bytes], *, services: Sequence[Child], server: OwnServer, options: argparse.Namespace
) -> Cost:
    """Send requests from all clients until the time is over, and wait until no text waits for its vector."""
    connections = [await Connection.to(services[number % len(services)].address) for number in range(options.clients)]
    done = 0
    began, own = time.perf_counter(), time.process_time()
    spent, database = sum(service.cpu() for service in services), database_cpu(server)

    async def send(connection: Connection) -> None:
        nonlocal done
        while time.perf_counter() - began < options.seconds:
            status, answer = await connection.send(next(messages))
            assert status == 200, (status, answer)
            done += 1

    await asyncio.gather(*map(send, connections))
    seconds = time.perf_counter() - began
    own = time.process_time() - own
    for service in services:
        await caught_up(service)
    for connection in connections:
        connection.close()
    spent = sum(service.cpu() for service in services) - spent
    return Cost(kind, len(services), done, seconds, spent, database_cpu(server) - database, own)


async def caught_up(service: Child) -> None:
    """Wait until no text of a service waits for its vector."""
    connection = await Connection.to(service.address)
    while True:
        _, told = await connection.send(request("GET", "/metrics"))
        if not float(_BACKLOG.findall(told)[0]):
            connection.close()
            return
        await asyncio.sleep(0.2)


def searches(users: Sequence[User], *, name: str) -> Iterator[bytes]:
    """Yield questions that nobody has asked."""
    chance = Random(name)
    asked = [(user.name, text) for user in users for text in questions(user, QUESTIONS)]
    for number in count():
        user, text = chance.choice(asked)
        body = {"user_id": user, "query": f"{text} {name} {number}", "limit": 10}
        yield request("POST", "/v1/memories/search", body)


def adds(users: Sequence[User], *, name: str) -> Iterator[bytes]:
    """Yield texts that nobody has."""
    chance = Random(name)
    for number in count():
        user = chance.choice(users)
        body = {"user_id": user.name, "text": f"{chance.choice(user.texts)} {name} {number}"}
        yield request("POST", "/v1/memories", body)


def fill(address: str, users: Sequence[User]) -> None:
    """Store the memories of everybody, under the name of the model that the services use."""
    settings = load_settings({"store": address, "reader": "off"})
    with Memory(components=build(settings, embedder=ConstantEmbedder(E5Embedder.model_id))) as memory:
        for user in users:
            memory.add(list(user.texts), user_id=user.name, infer=False)


async def measure_fleet(
    services: Sequence[Child], users: Sequence[User], *, server: OwnServer, options: argparse.Namespace
) -> None:
    """Warm the services up, and print what searches and adds cost."""
    warm = argparse.Namespace(clients=options.clients, seconds=options.seconds / 3)
    name = f"n{len(services)}"
    for kind, messages in (
        ("search", searches(users, name=name)),
        ("add", adds(users, name=name)),
    ):
        await measure(kind, messages, services=services, server=server, options=warm)
        print((await measure(kind, messages, services=services, server=server, options=options)).row(), flush=True)


def main() -> None:
    """Measure one, two and three replicas."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--users", type=int, default=400)
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--models", action="store_true", help="with new questions, the embedder and the reader")
    options = parser.parse_args()
    users = [user for user in population(options.memories, options.users) if len(user.texts) <= 250]
    with own_server("postgres", "-c", "max_connections=200", "-c", "shared_buffers=128MB") as server:
        address = server.address.render_as_string(hide_password=False)
        fill(address, users)
        settings = {"EBBING_STORE": address, "EBBING_WORKER": "false"}
        if not options.models:
            settings |= {"EBBING_EMBEDDER": "none", "EBBING_READER": "off"}
        print(f"{sum(len(user.texts) for user in users):,} memories of {len(users):,} users\n\n{HEADER}")
        for number in (1, 2, 3):
            with fleet(number, settings) as services:
                asyncio.run(measure_fleet(services, users, server=server, options=options))


if __name__ == "__main__":
    main()
