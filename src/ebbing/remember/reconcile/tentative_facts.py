"""Which statements that no rule reads tell something after all: of people known by name, or of what is over or new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ebbing.domain.conflict.decision import Fact, Ignore
from ebbing.language.claims.relations import aliases
from ebbing.ports.memory_store import MemoryStore
from ebbing.remember.extraction.keep_filter import NAMED
from ebbing.remember.extraction.rule_extractor import extract
from ebbing.remember.facts.drafts import Draft, Drafting, fact_draft
from ebbing.remember.facts.new_fact import Candidate, heard_as
from ebbing.remember.intake.screening import Screened
from ebbing.remember.reconcile.candidates import relate
from ebbing.remember.reconcile.decide import decide
from ebbing.remember.vectors.embed_drafts import Embedding, embedded


async def telling(
    store: MemoryStore, found: Sequence[tuple[Fact, Draft]], *, kept: Sequence[Screened], drafting: Drafting
) -> list[tuple[Fact, Draft]]:
    """The facts without the tentative ones that touch nothing known, nor each other; by words alone, so at once.

    What is said of somebody by a name that is known is read as what is said of "my son Arjun".
    """
    if not any(fact.tentative for fact, _ in found):
        return list(found)
    inserts = await embedded(Embedding(), [draft for _, draft in found])
    heard = [heard_as(fact, insert) for (fact, _), insert in zip(found, inserts, strict=True)]
    related = await relate(store, heard, scope=drafting.scope, now=drafting.now, calibration=None)
    decisions = decide(heard, related.candidates, confidence_threshold=0.0)
    told: list[tuple[Fact, Draft]] = []
    for (fact, draft), decision, around in zip(found, decisions, related.candidates, strict=True):
        known = _of_somebody(fact, around, said=kept[fact.source], drafting=drafting) if fact.tentative else None
        if known is not None:
            told.append((known, fact_draft(known, kept[fact.source], drafting=drafting)))
        elif not fact.tentative or not (fact.rule == NAMED or isinstance(decision, Ignore)):
            told.append((fact, draft))
    return told


def _of_somebody(fact: Fact, around: Sequence[Candidate], *, said: Screened, drafting: Drafting) -> Fact | None:
    """The fact about one of the speaker's people whose name the statement begins with: "Arjun turned 8"."""
    for one in around:
        for alias in aliases(one.record.content):
            if fact.text.startswith(f"{alias.name} "):
                whole = replace(said.message, content=f"my {alias.word} {fact.text}")
                read = extract([whole], now=drafting.now)
                return replace(read[0], source=fact.source, source_text=fact.source_text) if read else None
    return None
