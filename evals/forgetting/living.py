"""Lets a user's time pass under one keeper: add by add, night by night, exam by exam, through the public API."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from ebbing.memory import AsyncMemory
from ebbing.ports.models.embedder import Embedder
from ebbing.testing.clock import ManualClock
from ebbing.wiring.build import build, load_settings
from evals.embedding import with_bundled_models
from evals.forgetting.keepers import Keeper, Upkept, everything, size
from evals.forgetting.lived import Footprint, Lived, Mark
from evals.forgetting.lives import TOP, Exam, Life, Marks, Sitting, Turn
from evals.forgetting.tracing import traced
from evals.year.words import holds

NIGHT = timedelta(hours=3)
"""When memories are looked after, after midnight."""


async def live(life: Life, keeper: Keeper, *, embedder: Embedder | str, has_models: bool = False) -> Lived:
    """Everything from the first word to the last exam, with the trained models or without."""
    clock = ManualClock(life.turns[0].at)
    settings = load_settings({"store": "ephemeral", **keeper.settings})
    made = build(settings, embedder=embedder, clock=clock)
    if has_models:
        made = with_bundled_models(made)
    async with AsyncMemory(components=made) as memory:
        return await _Living(life, keeper, memory, clock).to_the_end()


@dataclass
class _Living:
    """One user under way."""

    life: Life
    keeper: Keeper
    memory: AsyncMemory
    clock: ManualClock
    lived: Lived = field(default_factory=Lived)

    async def to_the_end(self) -> Lived:
        life, lived = self.life, self.lived
        begins = self.clock.now()
        night = begins.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1) + NIGHT
        for moment in sorted((*life.turns, *life.sittings), key=lambda one: one.at):
            night = await self._nights(night, moment.at)
            self.clock.set(moment.at)
            if isinstance(moment, Turn):
                await self._say(moment)
            else:
                await self._sit(moment, day=(moment.at - begins).days + 1)
        lived.lasting, lived.missed = len(life.lasting), await self._missed()
        if isinstance(self.keeper, Upkept):
            lived.traces = await traced(self.memory, life)
            lived.judged = self.keeper.watch.judged
        return lived

    async def _nights(self, night: datetime, until: datetime) -> datetime:
        """Looks after the memory on every night up to a moment; the first night after it."""
        while night <= until:
            self.clock.set(night)
            await self.keeper.look_after(self.memory, self.life.user, now=night)
            night += timedelta(days=1)
        return night

    async def _say(self, turn: Turn) -> None:
        """Adds what is said. A question is answered from the memory; what the answer rests on was used."""
        user, messages = self.life.user, list(turn.messages)
        if turn.need is not None:
            asked = messages[0]
            found = await self.memory.search(asked["content"], user_id=user)
            used = [hit["id"] for hit in found["results"] if holds(hit["memory"], turn.need.fact.value)]
            reply = turn.need.known if used else turn.need.unknown
            messages.append({**asked, "role": "assistant", "content": reply, "id": f"{asked['id'][:-1]}a"})
            for memory_id in used:
                await self.memory.feedback(memory_id, "used", user_id=user, recall_id=found["recall_id"])
        await self.memory.add(messages, user_id=user, run_id=turn.session, infer=turn.infer)

    async def _sit(self, sitting: Sitting, *, day: int) -> None:
        user = self.life.user
        await self.keeper.before_exam(self.memory, user, now=sitting.at)
        items = await everything(self.memory, user)
        self.lived.footprints.append(Footprint(day, len(items), sum(map(size, items))))
        for exam in sitting.exams:
            self.lived.marks.append(Mark(exam.id, exam.group, day, await self._mark(exam)))

    async def _mark(self, exam: Exam) -> Marks:
        more: dict[str, Any] = {} if exam.when is None else {"reference_date": exam.when}
        return exam.marks(await self.memory.search(exam.text, user_id=self.life.user, top_k=TOP, **more))

    async def _missed(self) -> list[str]:
        """Lasting facts that no record names."""
        if not self.life.lasting:
            return []
        texts = [item["memory"] for item in await everything(self.memory, self.life.user)]
        return [fact.id for fact in self.life.lasting if not any(holds(text, fact.value) for text in texts)]
