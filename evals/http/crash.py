"""`kill -9` while many clients add, and the start after it: what of the acknowledged is lost, how long it takes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from evals.http.children import Child, ebbing
from evals.http.cost import SEARCH
from evals.http.load import ADD
from evals.http.wire import Connection, request
from evals.metrics import percentile
from evals.speed.measure import Figures

KILLS: Final = 3
CLIENTS: Final = 16
SECONDS: Final = 4.0
"""Adds go on so long before the kill."""
SEARCHED: Final = 50
"""Acknowledged memories that are also searched for, of each kill."""

Kept = dict[str, tuple[str, str]]
"""Id to user and text, of every add that was answered."""


def crash(folder: Path) -> dict[str, Figures]:
    """Acknowledged adds that a kill took or that are not found, and what a start takes until `/readyz` says 200."""
    kept: Kept = {}
    found: dict[str, int] = {"lost": 0, "not found by a search": 0, "searched": 0}
    starts: list[Child] = []
    for number in range(KILLS + 1):
        with ebbing(folder) as service:
            if number:
                starts.append(service)
                asyncio.run(_look(service, kept, found=found))
            if number < KILLS:
                kept = asyncio.run(_adding_until_killed(service, number))
                found["acknowledged"] = found.get("acknowledged", 0) + len(kept)
    return {
        "kill": {"kills": KILLS, **{name: float(count) for name, count in found.items()}},
        "start after it": {
            "p50_s": percentile([start.seconds for start in starts], 0.5),
            "worst_s": max(start.seconds for start in starts),
            "worst_cpu_s": max(start.cpu_seconds for start in starts),
        },
    }


async def _adding_until_killed(service: Child, number: int) -> Kept:
    kept: Kept = {}

    async def add(client: int) -> None:
        connection = await Connection.to(service.address)
        user = f"killed-{number}-{client}"
        for place in range(1_000_000):
            text = f"Locker {number}{client:02}{place:04} holds the key of house {place * 7 + client}."
            try:
                status, answer = await connection.send(request("POST", ADD, {"user_id": user, "text": text}))
            except OSError:
                return
            if status == 200:
                kept[json.loads(answer)["id"]] = (user, text)

    clients = [asyncio.create_task(add(client)) for client in range(CLIENTS)]
    await asyncio.sleep(SECONDS)
    service.kill()
    await asyncio.gather(*clients)
    return kept


async def _look(service: Child, kept: Kept, *, found: dict[str, int]) -> None:
    connection = await Connection.to(service.address)
    for memory_id, (user, text) in kept.items():
        status, answer = await connection.send(request("GET", f"{ADD}/{memory_id}?user_id={user}"))
        found["lost"] += status != 200 or json.loads(answer)["text"] != text
    for memory_id, (user, text) in _some(kept):
        status, answer = await connection.send(request("POST", SEARCH, {"user_id": user, "query": text}))
        ids = [hit["id"] for hit in json.loads(answer)["memories"]] if status == 200 else []
        found["searched"] += 1
        found["not found by a search"] += memory_id not in ids
    connection.close()


def _some(kept: Kept) -> Sequence[tuple[str, tuple[str, str]]]:
    """A few of them, the last among them: a kill would take those first."""
    every = list(kept.items())
    return every[-SEARCHED:]
