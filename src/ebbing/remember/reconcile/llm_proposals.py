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
    pairs = zip(facts, candidates, strict=True)
    open_pairs = [pair for pair in pairs if pair[1] and _is_open(pair[0], confidence_threshold)]
    if not open_pairs:
        return None
    decided = await decide_with_model(
        llm,
        [fact.fact for fact, _ in open_pairs],
        related=[[fact.record for fact in memories] for _, memories in open_pairs],
        said_at=[fact.record.created_at for fact, _ in open_pairs],
    )
    answers = zip(open_pairs, decided.decisions, strict=True)
    decisions = {fact.record.id: decision for (fact, _), decision in answers if decision is not None}
    shown = chain.from_iterable(memories for _, memories in open_pairs)
    return LlmProposal(decisions, {memories.record.id: memories.record.version for memories in shown})


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
