"""Whether somebody else has a memory with an id cannot be told by the time of an answer: the work is the same.

Time itself is compared too (slow), by how often the one of two calls takes longer, which no pause of the machine moves.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import httpx
import pytest

from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.api.calls.call_context import CallContext
from ebbing.domain.memory.scope import Scope
from ebbing.interfaces.http.app import create_app
from ebbing.memory import AsyncMemory
from ebbing.wiring.build import build, load_settings
from tests.interfaces.http.service import LOCAL

pytestmark = pytest.mark.anyio

UNKNOWN = "01900000-0000-7000-8000-000000000000"
ONE = "/v1/memories/{id}"
CALLS: list[tuple[str, str, Any]] = [
    ("GET", ONE, None),
    ("PUT", ONE, {"text": "mine"}),
    ("DELETE", ONE, None),
    ("DELETE", f"{ONE}?hard=true", None),
    ("POST", f"{ONE}/restore", None),
    ("POST", f"{ONE}/feedback", {"signal": "used"}),
    *(("GET", f"{ONE}/{what}", None) for what in ("history", "explain", "sources")),
    *((method, f"{ONE}/", {"text": "mine"} if method == "PUT" else None) for method in ("GET", "PUT", "DELETE")),
    *(("GET", path, None) for path in (f"{ONE}/history/", "/memories/{id}", "/memories/{id}/history")),
    ("PUT", "/memories/{id}", {"text": "mine"}),
    ("DELETE", "/memories/{id}", None),
]
MOST_STEPS = 40
"""Instructions of SQLite's machine by which finding a row and finding none may differ: a microsecond or two."""


@dataclass
class Work:
    """What the store was asked to do."""

    statements: list[str] = field(default_factory=list)
    steps: int = 0

    def step(self) -> None:
        """SQLite's machine did one instruction."""
        self.steps += 1


@contextmanager
def traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    """Notes what every connection does that is opened meanwhile."""
    work, connect = Work(), Connections._connect

    def watched(self: Connections) -> sqlite3.Connection:
        db = connect(self)
        db.set_trace_callback(work.statements.append)
        db.set_progress_handler(work.step, 1)
        return db

    monkeypatch.setattr(Connections, "_connect", watched)
    yield work


@asynccontextmanager
async def strangers(path: Path) -> AsyncIterator[tuple[httpx.AsyncClient, dict[str, str], list[str]]]:
    """A service, the header of emma's key, and ids that are bob's, in her tenant and in another."""
    memory = AsyncMemory(components=build(load_settings({"path": path, "embedder": "none", "worker": False})))
    app = create_app(memory)
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 50_000))
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url=LOCAL) as client:
        key = (await memory.api_keys.create("write", user_id="emma"))["key"]
        ids = []
        for view in (memory, memory.for_tenant("globex")):
            added = await view.add("Bob likes tea.", user_id="bob", infer=False)
            ids.append(added["results"][0]["id"])
        yield client, {"X-API-Key": key}, ids


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
async def test_a_strangers_id_costs_the_work_of_an_unknown_one(
    method: str, path: str, *, body: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with traced(monkeypatch) as work:
        async with strangers(tmp_path) as (client, key, ids):
            unknown, *others = [
                await _worked(client, work, method=method, path=path, body=body, key=key, memory_id=one)
                for one in (UNKNOWN, *ids)
            ]
    for other in others:
        assert other.statements == unknown.statements
        assert abs(other.steps - unknown.steps) <= MOST_STEPS
    assert unknown.statements


async def test_a_service_that_reads_before_it_looks_whose_it_is_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope_of = CallContext.find_scope

    async def careless(self: CallContext, memory_id: str, user_id: str | None) -> Scope | None:
        scope = await scope_of(self, memory_id, None)
        if scope is not None:
            await self.components.store.get(scope, [memory_id])
        return await scope_of(self, memory_id, user_id)

    monkeypatch.setattr(CallContext, "find_scope", careless)
    with pytest.raises(AssertionError):
        await test_a_strangers_id_costs_the_work_of_an_unknown_one(
            "GET", ONE, body=None, tmp_path=tmp_path, monkeypatch=monkeypatch
        )


@pytest.mark.slow
async def test_a_strangers_id_takes_the_time_of_an_unknown_one(tmp_path: Path) -> None:
    chance, pairs = Random(11), 1_000
    async with strangers(tmp_path) as (client, key, ids):
        for (method, path), stranger in product([("GET", ONE), ("DELETE", ONE)], ids):
            slower = 0
            for _ in range(pairs):
                took = {}
                for one in chance.sample([stranger, UNKNOWN], 2):
                    began = perf_counter()
                    await client.request(method, path.format(id=one), headers=key)
                    took[one] = perf_counter() - began
                slower += took[stranger] > took[UNKNOWN]
            # Were both the same, one run in a million would leave these bounds.
            assert 0.42 < slower / pairs < 0.58, f"{method} {path}: {slower} of {pairs} took longer"


async def _worked(
    client: httpx.AsyncClient,
    work: Work,
    *,
    method: str,
    path: str,
    body: Any,
    key: dict[str, str],
    memory_id: str,
) -> Work:
    """What one call costs the store, with the id left out of what it says."""
    for _ in range(2):  # what is done once, such as opening a connection, is done by the first
        work.statements.clear()
        work.steps = 0
        await client.request(method, path.format(id=memory_id), json=body, headers=key)
    return Work([statement.replace(memory_id, "ID") for statement in work.statements], work.steps)
