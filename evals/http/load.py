"""Many clients at once, each with the next request as soon as the last is answered: errors and how long it takes.

Four requests of five are searches, one remembers a sentence. All clients share one thread of this process, so that the
service has the rest of the machine; what this process takes of it is told, too, and what the service owes at the end.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from evals.extraction import LANGUAGES, items
from evals.http.children import Child, ebbing
from evals.http.cost import QUESTIONS, SEARCH
from evals.http.wire import Connection, request
from evals.metrics import percentile
from evals.speed.measure import Figures, kinds
from evals.speed.population import User, questions

ADD: Final = "/v1/memories"
ADDS: Final = 0.2
_SEED: Final = 5


def load(folder: Path, users: Sequence[User], *, clients: int, seconds: float) -> dict[str, Figures]:
    """Milliseconds of searches and adds at the service with its default settings."""
    chosen = kinds(users)["typical"]
    with ebbing(folder) as service:
        return asyncio.run(_run(service, chosen, clients=clients, seconds=seconds))


def sentences() -> list[str]:
    """What users say in the extraction sets: in both languages, half of it holds facts."""
    return [
        message["content"]
        for language in LANGUAGES
        for _, item in items("extraction", language)
        for message in item["messages"]
        if message["role"] == "user"
    ]


async def _run(service: Child, users: Sequence[User], *, clients: int, seconds: float) -> dict[str, Figures]:
    asked = [
        request("POST", SEARCH, {"user_id": user.name, "query": text})
        for user in users
        for text in questions(user, QUESTIONS)
    ]
    said = _adds(users)
    await asyncio.gather(*(_all(service, asked[number::clients]) for number in range(clients)))
    connections = [await Connection.to(service.address) for _ in range(clients)]
    took: dict[str, list[float]] = {"search": [], "add": []}
    failed: list[Any] = []
    began, spent, own = time.perf_counter(), service.cpu(), time.process_time()
    end = began + seconds

    async def ask(connection: Connection, rng: Random) -> None:
        while (start := time.perf_counter()) < end:
            kind = "add" if rng.random() < ADDS else "search"
            try:
                status, _ = await connection.send(next(said) if kind == "add" else rng.choice(asked))
            except (OSError, TimeoutError) as error:
                failed.append(error)
                return
            took[kind].append(1e3 * (time.perf_counter() - start))
            if status != 200:
                failed.append(status)

    await asyncio.gather(*(ask(item, Random(_SEED + number)) for number, item in enumerate(connections)))
    passed = time.perf_counter() - began
    whole = took["search"] + took["add"]
    figures = {
        name: _spread(found) for name, found in (("all", whole), ("search", took["search"]), ("add", took["add"]))
    }
    figures["all"] |= {"errors": len(failed), "clients": clients, "per_second": len(whole) / passed}
    figures["cpu"] = {
        "service, cores": (service.cpu() - spent) / passed,
        "clients, cores": (time.process_time() - own) / passed,
    }
    figures["vectors"] = await _caught_up(connections[0])
    for connection in connections:
        connection.close()
    return figures


async def _caught_up(connection: Connection) -> Figures:
    """How many texts waited for their vectors when the clients stopped, and how long the last of them did."""
    began, first = time.perf_counter(), None
    while True:
        _, told = await connection.send(request("GET", "/metrics"))
        waiting = float(re.findall(rb"(?m)^ebbing_embedding_backlog (\S+)", told)[0])
        first = waiting if first is None else first
        if not waiting:
            return {"behind": first, "caught up, s": time.perf_counter() - began}
        await asyncio.sleep(0.2)


async def _all(service: Child, messages: Sequence[bytes]) -> None:
    """Each once, over a connection of its own: the service closes those that nobody uses for five seconds."""
    connection = await Connection.to(service.address)
    for message in messages:
        await connection.send(message)
    connection.close()


def _adds(users: Sequence[User]) -> Iterator[bytes]:
    """Requests that remember what was not said before."""
    said = sentences()
    Random(_SEED).shuffle(said)
    for number in itertools.count():
        text = f"{said[number % len(said)]} ({number})"
        yield request("POST", ADD, {"user_id": users[number % len(users)].name, "messages": text})


def _spread(found: Sequence[float]) -> Figures:
    if not found:
        return {"n": 0}
    p50, p99 = percentile(found, 0.5), percentile(found, 0.99)
    return {"p50_ms": p50, "p99_ms": p99, "max_ms": max(found), "p99 / p50": p99 / p50, "n": len(found)}
