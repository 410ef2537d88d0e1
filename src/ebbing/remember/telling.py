"""Which statements that no rule reads tell something after all: those that end or replace what is known."""

from __future__ import annotations

from collections.abc import Sequence

from ebbing.domain.decision import Fact, Ignore
from ebbing.ports.memory_store import MemoryStore
from ebbing.remember.decide import decide
from ebbing.remember.draft import Draft, Drafting
from ebbing.remember.embed import Embedding, embedded
from ebbing.remember.heard import heard_as
from ebbing.remember.relate import relate


async def telling(
    store: MemoryStore, found: Sequence[tuple[Fact, Draft]], *, drafting: Drafting
) -> list[tuple[Fact, Draft]]:
    """The facts without the tentative ones that touch nothing known, nor each other; by words alone, so at once."""
    if not any(fact.tentative for fact, _ in found):
        return list(found)
    inserts = await embedded(Embedding(), [draft for _, draft in found])
    heard = [heard_as(fact, insert) for (fact, _), insert in zip(found, inserts, strict=True)]
    related = await relate(store, heard, scope=drafting.scope, now=drafting.now, calibration=None)
    decisions = decide(heard, related.candidates, confidence_threshold=0.0)
    return [
        (fact, draft)
        for (fact, draft), decision in zip(found, decisions, strict=True)
        if not (fact.tentative and isinstance(decision, Ignore))
    ]
