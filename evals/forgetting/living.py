"""Lets a user's time pass under one keeper: add by add, day by day, exam by exam, through the public API."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from ebbing.memory import AsyncMemory
from ebbing.ports.embedder import Embedder
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings
from evals.forgetting.keepers import Keeper, Upkept, everything, size
from evals.forgetting.lived import Footprint, Lived, Mark
from evals.forgetting.lives import TOP, Exam, Life, Marks, Sitting, Turn
from evals.forgetting.tracing import traced
from evals.year.words import holds

NIGHT = timedelta(hours=3)
"""When memories are looked after, after midnight."""


async def live(life: Life, keeper: Keeper, *, embedder: Embedder | str) -> Lived:
    """Everything from the first word to the last exam."""
    begins = life.turns[0].at
    clock = ManualClock(begins)
    settings = load_settings({"store": "ephemeral", **keeper.settings})
    lived = Lived(lasting=len(life.lasting))
    async with AsyncMemory(parts=build(settings, embedder=embedder, clock=clock)) as memory:
        night = _first_night(begins)
        for moment in sorted((*life.turns, *life.sittings), key=lambda one: one.at):
            night = await _nights(memory, life, keeper=keeper, clock=clock, between=(night, moment.at))
            clock.set(moment.at)
            if isinstance(moment, Turn):
                await _say(memory, life.user, turn=moment)
            else:
                await keeper.before_exam(memory, life.user, now=moment.at)
                await _sit(memory, life.user, sitting=moment, day=(moment.at - begins).days + 1, lived=lived)
        lived.missed = await _missed(memory, life)
        if isinstance(keeper, Upkept):
            lived.traces = await traced(memory, life.user, exams=life.sittings[-1].exams)
    return lived


async def _sit(memory: AsyncMemory, user: str, *, sitting: Sitting, day: int, lived: Lived) -> None:
    items = await everything(memory, user)
    lived.footprints.append(Footprint(day, len(items), sum(map(size, items))))
    for exam in sitting.exams:
        lived.marks.append(Mark(exam.id, exam.group, day, await _mark(memory, user, exam=exam)))


def _first_night(begins: datetime) -> datetime:
    return begins.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1) + NIGHT


async def _nights(
    memory: AsyncMemory, life: Life, *, keeper: Keeper, clock: ManualClock, between: tuple[datetime, datetime]
) -> datetime:
    """Looks after the memory on every night up to a moment; the first night after it."""
    night, until = between
    while night <= until:
        clock.set(night)
        await keeper.look_after(memory, life.user, now=night)
        night += timedelta(days=1)
    return night


async def _say(memory: AsyncMemory, user: str, *, turn: Turn) -> None:
    """Adds what is said. A question that needs the memory is answered from it; what the answer rests on was used."""
    messages = list(turn.messages)
    if turn.need is not None:
        asked = messages[0]
        found = await memory.search(asked["content"], user_id=user)
        is_known = any(holds(hit["memory"], turn.need.fact.value) for hit in found["results"])
        reply = turn.need.known if is_known else turn.need.unknown
        messages.append({**asked, "role": "assistant", "content": reply, "id": f"{asked['id'][:-1]}a"})
        if is_known:
            await memory.credit(reply, found, question=asked["content"], user_id=user)
    await memory.add(messages, user_id=user, run_id=turn.session, infer=turn.infer)


async def _mark(memory: AsyncMemory, user: str, *, exam: Exam) -> Marks:
    more: dict[str, Any] = {} if exam.when is None else {"reference_date": exam.when}
    return exam.marks(await memory.search(exam.text, user_id=user, top_k=TOP, **more))


async def _missed(memory: AsyncMemory, life: Life) -> list[str]:
    if not life.lasting:
        return []
    texts = [item["memory"] for item in await everything(memory, life.user)]
    return [fact.id for fact in life.lasting if not any(holds(text, fact.value) for text in texts)]
