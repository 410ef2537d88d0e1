"""The proposals of a language model about facts, which `decide` judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from ebbing.domain.conflict.decision import Decision, Update
from ebbing.domain.memory.record import MemoryRecord
from ebbing.index.index_entry import IndexEntry
from ebbing.remember.add_deps import AddDeps
from ebbing.remember.facts.drafts import Draft
from ebbing.remember.facts.new_fact import KnownMemory, NewFact
from ebbing.remember.llm.client import LlmOptions
from ebbing.remember.llm.decide import decide_with_model
from ebbing.remember.reconcile.decide import LlmProposal, refusal_of


async def ask_llm(
    llm: LlmOptions,
    facts: Sequence[NewFact],
    *,
    candidates: Sequence[Sequence[KnownMemory]],
    confidence_threshold: float,
) -> LlmProposal | None:
    """Return one decision for each fact about which the model says something usable; None where it is not asked.

    It is not asked about what is not to be kept anyway, nor about what the rules only suspect to be news.
    """
    open_facts: list[NewFact] = []
    shown: list[list[MemoryRecord]] = []
    for fact, memories in zip(facts, candidates, strict=True):
        if memories and _is_open(fact, confidence_threshold):
            open_facts.append(fact)
            shown.append([memory.record for memory in memories])
    if not open_facts:
        return None
    answer = await decide_with_model(
        llm,
        [fact.fact for fact in open_facts],
        related=shown,
        said_at=[fact.record.created_at for fact in open_facts],
    )
    decisions: dict[str, Decision] = {}
    for fact, decision in zip(open_facts, answer.decisions, strict=True):
        if decision is not None:
            decisions[fact.record.id] = decision
    return LlmProposal(decisions, {record.id: record.version for record in chain.from_iterable(shown)})


def _is_open(fact: NewFact, confidence_threshold: float) -> bool:
    return not fact.fact.tentative and refusal_of(fact, confidence_threshold) is None


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
