"""The product beside `mem0ai`, call by call, at 10,000 memories and with the same vectors."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

from ebbing import Memory
from evals.speed.floors import TOP, timed
from evals.speed.measure import Figures, Pair, kinds
from evals.speed.population import ConstantEmbedder, User, questions

SEARCHES = 100
ADDS = 60


class Mem0:
    """mem0 in its own interpreter; its answers tell what a call took inside, without the pipe."""

    def __init__(self, python: Path, folder: Path) -> None:
        worker = Path(__file__).with_name("mem0_worker.py")
        self._process = subprocess.Popen(
            [str(python), str(worker), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)

    def ask(self, **request: Any) -> dict[str, Any]:
        """Sends one request; the answer has `ms`."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("mem0's worker ended: see its messages above")
        answer: dict[str, Any] = json.loads(line)
        return answer


def compare(python: Path, folder: Path, *, users: Sequence[User], embedder: ConstantEmbedder) -> dict[str, Figures]:
    """Searches and adds of typical users in turns: `folder` holds the product's store of these users."""
    chosen = kinds(users)["typical"]
    searches, adds, sizes = Pair([], []), Pair([], []), []
    with (
        tempfile.TemporaryDirectory(prefix="ebbing-mem0-") as scratch,
        Mem0(python, Path(scratch)) as mem0,
        Memory(path=folder, embedder=embedder) as memory,
    ):
        for user in users:
            mem0.ask(do="fill", users={user.name: user.texts})
        for user in chosen:
            memory.search("warm up", user_id=user.name, top_k=TOP)
        for number in range(SEARCHES):
            user = chosen[number % len(chosen)]
            question = questions(user, number + 1)[-1]
            answer = mem0.ask(do="search", text=question, user=user.name)
            searches.floor.append(answer["ms"])
            sizes.append(answer["found"])
            searches.product.append(timed(partial(memory.search, question, user_id=user.name, top_k=TOP)))
        for number in range(ADDS):
            user = chosen[number % len(chosen)]
            text = f"{user.texts[0]} {number}"
            adds.floor.append(mem0.ask(do="add", text=text, user=user.name)["ms"])
            adds.product.append(timed(partial(memory.add, text, user_id=user.name, infer=False)))
    return {"search": _times_faster(searches) | {"mem0_results": sum(sizes) / len(sizes)}, "add": _times_faster(adds)}


def _times_faster(pair: Pair) -> Figures:
    figures = pair.figures()
    return {
        "p50_ms": figures["p50_ms"],
        "p99_ms": figures["p99_ms"],
        "mem0_p50_ms": figures["floor_p50_ms"],
        "mem0_p99_ms": figures["floor_p99_ms"],
        "times_faster": 1 / figures["ratio"],
        "n": figures["n"],
    }
