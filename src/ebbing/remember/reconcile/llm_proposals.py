"""What a language model would do about facts, before it is judged by `decide`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from ebbing.domain.conflict.decision import Update
from ebbing.index.index_entry import IndexEntry
from ebbing.remember.add_deps import AddDeps
from ebbing.remember.facts.drafts import Draft
from ebbing.remember.facts.new_fact import KnownMemory, NewFact
from ebbing.remember.llm.client import LlmOptions
from ebbing.remember.llm.decide import decide_with_model
from ebbing.remember.reconcile.decide import LlmProposal, refused


async def ask_llm(
    llm: LlmOptions,
    heard: Sequence[NewFact],
    *,
    candidates: Sequence[Sequence[KnownMemory]],
    confidence_threshold: float,
) -> LlmProposal | None:
    """One decision for each fact about which the model says something usable; None where it is not asked.

    It is not asked about what is not to be kept anyway, nor about what the rules only suspect to be news.
    """
    around = zip(heard, candidates, strict=True)
    asked = [pair for pair in around if pair[1] and _is_open(pair[0], confidence_threshold)]
    if not asked:
        return None
    decided = await decide_with_model(
        llm,
        [one.fact for one, _ in asked],
        related=[[one.record for one in known] for _, known in asked],
        said_at=[one.record.created_at for one, _ in asked],
    )
    answers = zip(asked, decided.decisions, strict=True)
    decisions = {one.record.id: decision for (one, _), decision in answers if decision is not None}
    shown = chain.from_iterable(known for _, known in asked)
    return LlmProposal(decisions, {known.record.id: known.record.version for known in shown})


def _is_open(heard: NewFact, confidence_threshold: float) -> bool:
    return not heard.fact.tentative and refused(heard, confidence_threshold) is None


async def embed_rewordings(
    deps: AddDeps, facts: Sequence[NewFact], *, proposal: LlmProposal | None
) -> dict[str, IndexEntry | None]:
    """Return the index entries of the wordings that the model gives to known memories, and that no fact has itself."""
    decisions = {} if proposal is None else proposal.decisions
    drafts: list[Draft] = []
    for fact in facts:
        decision = decisions.get(fact.record.id)
        if isinstance(decision, Update) and decision.text != fact.record.content:
            drafts.append(Draft(replace(fact.record, content=decision.text), utterance=False))
    return {insert.record.content: insert.entry for insert in await deps.embed(drafts)}
