"""CPU of one search: in this process, over HTTP, and of a bare route that returns the same bytes."""

from __future__ import annotations

import asyncio
import gc
import json
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ebbing import AsyncMemory
from evals.http.children import Child, ebbing, plain
from evals.http.wire import Connection, request
from evals.metrics import percentile
from evals.speed.measure import Figures, kinds
from evals.speed.population import User, questions

CONNECTIONS = 8
QUESTIONS = 2
"""Of each user: every one is asked before anything is measured, so that its vector is kept."""
TURNS = 7
REQUESTS = 1_000
"""Of each kind in a turn."""
SEARCH = "/v1/memories/search"
QUIET = {"EBBING_WORKER": "false"}
"""The upkeep is measured by `python -m evals upkeep`."""

Asked = Sequence[dict[str, Any]]


def cost(folder: Path, users: Sequence[User]) -> dict[str, Figures]:
    """Milliseconds of CPU for one request, medians over turns in which each kind is asked the same questions."""
    chosen = kinds(users)["typical"]
    asked = [{"user_id": user.name, "query": text} for user in chosen for text in questions(user, QUESTIONS)]
    with ExitStack() as opened:
        scratch = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="ebbing-evals-")))
        service = opened.enter_context(ebbing(folder, settings=QUIET))
        answers = asyncio.run(_answers(service, asked))
        kept = scratch / "answers.json"
        kept.write_text(json.dumps(answers, ensure_ascii=False), "utf-8")
        floor = opened.enter_context(plain(kept))
        spent = asyncio.run(_turns(folder, service, floor=floor, asked=asked))
    figures = {name: {"cpu_ms": percentile(found, 0.5), "turns": len(found)} for name, found in spent.items()}
    for name in ("search over HTTP", "AsyncMemory.search"):
        for other in ("bare route", "usual route"):
            ratios = [ours / theirs for ours, theirs in zip(spent[name], spent[other], strict=True)]
            figures[name][f"times the {other}"] = percentile(ratios, 0.5)
    sizes = [len(answer.encode()) for answer in answers.values()]
    held = [len(user.texts) for user in chosen]
    figures["questions"] = {
        "n": len(asked),
        "memories of a user": sum(held) / len(held),
        "bytes of an answer": sum(sizes) / len(sizes),
    }
    return figures


async def _answers(service: Child, asked: Asked) -> dict[str, str]:
    """Each body and what the service answers to it."""
    connection = await Connection.to(service.address)
    found = {}
    for body in asked:
        status, answer = await connection.send(request("POST", SEARCH, body))
        if status != 200:
            raise RuntimeError(f"a search was answered with {status}: {answer.decode()}")
        found[json.dumps(body, ensure_ascii=False)] = answer.decode()
    connection.close()
    return found


async def _turns(folder: Path, service: Child, *, floor: Child, asked: Asked) -> dict[str, list[float]]:
    """Milliseconds of CPU for one request: a figure for each turn of each kind."""
    kinds_of = {
        "bare route": (floor, "/plain"),
        "usual route": (floor, "/usual"),
        "search over HTTP": (service, SEARCH),
    }
    spent: dict[str, list[float]] = {name: [] for name in (*kinds_of, "AsyncMemory.search")}
    often = [asked[number % len(asked)] for number in range(REQUESTS)]
    async with AsyncMemory(folder) as memory:
        for turn in range(-1, TURNS):  # the first warms up
            for name, (child, path) in kinds_of.items():
                took = await _over_http(child, [request("POST", path, body) for body in often])
                if turn >= 0:
                    spent[name].append(took)
            took = await _in_process(memory, often)
            if turn >= 0:
                spent["AsyncMemory.search"].append(took)
    return spent


async def _over_http(child: Child, messages: Sequence[bytes]) -> float:
    connections = [await Connection.to(child.address) for _ in range(CONNECTIONS)]
    rest = iter(messages)

    async def ask(connection: Connection) -> None:
        for message in rest:
            status, _ = await connection.send(message)
            if status != 200:
                raise RuntimeError(f"{child.address} answered with {status}")

    before = child.cpu()
    await asyncio.gather(*map(ask, connections))
    spent = child.cpu() - before
    for connection in connections:
        connection.close()
    return 1e3 * spent / len(messages)


async def _in_process(memory: AsyncMemory, asked: Asked) -> float:
    gc.collect()
    began = time.process_time()
    for item in asked:
        await memory.search(item["query"], user_id=item["user_id"])
    return 1e3 * (time.process_time() - began) / len(asked)
