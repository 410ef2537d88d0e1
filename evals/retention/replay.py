"""Lets users live, so that something is known of what their memories were used for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Final

from ebbing.domain.memory.feedback import Feedback, Signal
from ebbing.domain.memory.scope import Scope
from ebbing.memory import AsyncMemory
from ebbing.ports.models.embedder import Embedder
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings
from evals.forgetting.keepers import Upkept
from evals.forgetting.lives import Exam, Life, Turn, set_lives, year_lives
from evals.forgetting.living import live
from evals.retention.watch import HORIZON, Judged, Watch

EVERY: Final = 5
"""Nights from one round of the upkeep to the next: `python -m evals forgetting` has one every night, and takes long."""
ROOM: Final = 2**30


async def year_user(number: int, *, days: int, seed: int, embedder: Embedder | str) -> list[Judged]:
    """A person of the synthetic year: what answers a question in the talk was of use, if a search brought it back."""
    [life] = year_lives([number], days=days, seed=seed)
    sittings = tuple(replace(sitting, exams=()) for sitting in life.sittings)
    lived = await live(replace(life, sittings=sittings), Upkept("Ebbing", every=EVERY), embedder=embedder)
    return lived.judged


async def set_user(name: str, data: Path, *, number: int) -> list[Judged]:
    """A user of a set of conversations; see `life_judged`."""
    [life] = set_lives(name, data, numbers=[number])
    return await life_judged(life)


async def life_judged(life: Life) -> list[Judged]:
    """Somebody whose questions have no times: half are asked while they talk, half afterwards.

    Each of the first half is put at some moment between its evidence and the day after the last message, each of the
    others within the thirty days after that; the evidence of a question is what is of use to it.
    """
    clock, watch, end = ManualClock(life.turns[0].at), Watch(), life.sittings[0].at
    settings = load_settings({"store": "ephemeral", "owner_text_limit_bytes": ROOM})
    async with AsyncMemory(components=build(settings, embedder="none", clock=clock)) as memory:
        moments = sorted([*life.turns, *_uses(life, end=end)], key=lambda one: one.at)
        for moment in moments:
            if moment.at <= end:
                await _happens(moment, memory, life=life, clock=clock)
        clock.set(end)
        await memory.maintenance.run(user_id=life.user, now=end)
        await watch.look(memory.components.store, life.user, now=end)
        for moment in moments:
            if moment.at > end:
                await _happens(moment, memory, life=life, clock=clock)
        await watch.look(memory.components.store, life.user, now=end + HORIZON)
    return watch.judged


@dataclass(frozen=True, slots=True)
class _Use:
    """A question is asked, and its evidence is of use."""

    at: datetime
    exam: Exam


def _uses(life: Life, *, end: datetime) -> Iterator[_Use]:
    rng = Random(f"retention/{life.user}")
    said = {message["id"]: turn.at for turn in life.turns for message in turn.messages}
    for exam in life.sittings[0].exams:
        known = [said[name] for name in exam.sources if name in said]
        if not known:
            continue
        before, share = rng.random() < 0.5, rng.random()
        yield _Use(max(known) + share * (end - max(known)) if before else end + share * HORIZON, exam)


async def _happens(moment: Turn | _Use, memory: AsyncMemory, *, life: Life, clock: ManualClock) -> None:
    clock.set(moment.at)
    if isinstance(moment, Turn):
        await memory.add(list(moment.messages), user_id=life.user, run_id=moment.session, infer=False)
        return
    store, scope = memory.components.store, Scope(user_id=life.user)
    for record in await store.from_sources(scope, sorted(moment.exam.sources)):
        await store.usage.tell(scope, Feedback(record.id, Signal.USED, moment.exam.id, moment.at))
