"""One user after the other under every keeper, in two processes."""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from ebbing.ports.models.embedder import Embedder
from evals.datasets import LOADERS
from evals.embedding import KeptE5, warm
from evals.forgetting.keepers import Keeper, KeepEverything, Upkept, rivals
from evals.forgetting.lived import Lived
from evals.forgetting.lives import Life, set_lives, year_lives
from evals.forgetting.living import live

EVERYTHING = KeepEverything()
SETS = ("locomo", "beam-100k", "memdaily-zh", "year")
BUDGETS: dict[str, tuple[float, ...]] = {
    "locomo": (0.40, 0.25),
    "beam-100k": (0.40, 0.25),
    "memdaily-zh": (0.25,),
    "year": (),
}
"""Shares of what keeping everything takes, per user. In the year the default capacity rules."""
CURVES = {"Ebbing": "power", "Ebbing, exponential": "exponential"}
"""The curves that are measured, the default one first."""
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Plan:
    """What one call of the command measures."""

    data: Path
    sets: Sequence[str]
    embedder: str = "e5"
    cache: Path = Path(".evals-cache")
    users: Mapping[str, int] = field(default_factory=dict)
    """How many users of a set, where not all."""
    days: int = 365
    seed: int = 1
    processes: int = 2
    has_models: bool = False
    """Whether the trained models stand beside the embedder, as the product comes: five times as long."""


@dataclass
class UserResult:
    """One user of one set under every keeper, by its name."""

    set: str
    user: str
    lived: dict[str, Lived]
    seconds: float


def run(plan: Plan) -> list[UserResult]:
    """Every user of every set; the longest lives first, so that no process waits long at the end."""
    jobs = [(name, number) for name in sorted(plan.sets, key=SETS.index, reverse=True) for number in _users(plan, name)]
    results: list[UserResult] = []
    began = time.perf_counter()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(plan.processes, mp_context=context) as pool:
        for done in _finished(pool, [pool.submit(_warmed, plan, name, number) for name, number in jobs]):
            _tell(began, f"embedded {done}")
        for result in _finished(pool, [pool.submit(_lived, plan, name, number) for name, number in jobs]):
            results.append(result)
            _tell(began, f"{result.set} {result.user}, {len(results)} of {len(jobs)}, took {result.seconds:.0f} s")
    return sorted(results, key=lambda one: (SETS.index(one.set), one.user))


def _finished(pool: ProcessPoolExecutor, futures: Sequence[Future[Done]]) -> Iterator[Done]:
    try:
        for future in as_completed(futures):
            yield future.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise


def _users(plan: Plan, name: str) -> range:
    if name == "year":
        return range(plan.users.get(name, 20))
    return range(min(plan.users.get(name, 10**6), len(LOADERS[name](plan.data).users)))


def _life(plan: Plan, name: str, number: int) -> Life:
    if name == "year":
        [life] = year_lives([number], days=plan.days, seed=plan.seed)
    else:
        [life] = set_lives(name, plan.data, numbers=[number])
    return life


@cache
def _embedder(name: str, folder: Path) -> Embedder | str:
    return KeptE5(folder) if name == "e5" else name


def _warmed(plan: Plan, name: str, number: int) -> str:
    """Fills the cache of vectors, so that the time that a life takes is the product's."""
    embedder = _embedder(plan.embedder, plan.cache)
    life = _life(plan, name, number)
    if not isinstance(embedder, str):
        asyncio.run(warm(embedder, life.texts, questions=life.questions))
    return f"{name} {life.user}"


def _lived(plan: Plan, name: str, number: int) -> UserResult:
    """One user under every keeper. What the product leaves in the year is what the newest may take."""
    began = time.perf_counter()
    life, embedder = _life(plan, name, number), _embedder(plan.embedder, plan.cache)
    live_under = partial(live, life, embedder=embedder, has_models=plan.has_models)
    lived = {EVERYTHING.name: asyncio.run(live_under(EVERYTHING))}
    whole = lived[EVERYTHING.name].footprints[-1].size
    budgets = {f"{share:.0%}": int(share * whole) for share in BUDGETS[name]}
    for keeper in ours(budgets):
        lived[keeper.name] = asyncio.run(live_under(keeper))
    if not budgets:
        budgets = {"as much": lived["Ebbing"].footprints[-1].size}
    for keeper in rivals(budgets):
        lived[keeper.name] = asyncio.run(live_under(keeper))
    return UserResult(name, life.user, lived, time.perf_counter() - began)


def ours(budgets: Mapping[str, int]) -> list[Keeper]:
    """The product with either curve, for every budget; without one, with the capacity that it has by itself."""
    if not budgets:
        return [Upkept(name, {"forgetting_curve": curve}) for name, curve in CURVES.items()]
    return [
        Upkept(f"{name} {share}", {"forgetting_curve": curve, "owner_text_limit_bytes": budget})
        for name, curve in CURVES.items()
        for share, budget in budgets.items()
    ]


def _tell(began: float, what: str) -> None:
    print(f"{time.perf_counter() - began:6.0f} s  {what}", file=sys.stderr, flush=True)
