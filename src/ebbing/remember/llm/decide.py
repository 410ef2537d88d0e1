"""Decisions about facts by a language model that sees the known memories."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ebbing.domain.conflict.decision import Decision, Fact
from ebbing.domain.memory.pending_extraction import ExtractionFailure
from ebbing.domain.memory.record import MemoryRecord
from ebbing.language.text.detect_language import detect
from ebbing.ports.models.chat_model import Turn
from ebbing.prompts.library import custom_prompt, prompt
from ebbing.remember.llm.client import Budget, LlmOptions, ask_llm_for_json
from ebbing.remember.llm.parse_decisions import Case, Proposal, decisions_of, proposals
from ebbing.remember.llm.schemas import DECISIONS, LOOSE_DECISIONS

_MAX_CASES_A_CALL: Final = 12
"""Facts that are decided by one call."""
_MAX_MEMORIES_A_CASE: Final = 5
"""Memories that are shown for each fact."""
_MAX_SHOWN_CHARS: Final = 400
"""Characters of a memory that the model sees."""


@dataclass(frozen=True, slots=True)
class Decided:
    """The decisions of a model."""

    decisions: tuple[Decision | None, ...] = ()
    """One a fact, in order. None where nothing known resembles it or the model said nothing usable: for the resolver
    that needs no model. The text of an `Update` may hold what the memory held too, so it is embedded anew."""
    failed: ExtractionFailure | None = None
    """Why some facts were not put before the model."""


async def decide_with_model(
    llm: LlmOptions,
    facts: Sequence[Fact],
    *,
    related: Sequence[Sequence[MemoryRecord]],
    said_at: Sequence[datetime],
) -> Decided:
    """Return one decision a fact; never raises a `ModelError`.

    The model sees facts and memories under small numbers. What it says is checked action by action: a number that was
    not shown, an action that does not exist, and one that the facts speak against are left out and lose no other.

    Args:
        related: for each fact the current memories that resemble it, the likeliest first; five are shown.
        said_at: for each fact when it was said. What is older than a memory does not end it.
    """
    budget = Budget(llm.budget_seconds)
    cases = [
        Case(number, fact, tuple(memories[:_MAX_MEMORIES_A_CASE]), moment)
        for number, (fact, memories, moment) in enumerate(zip(facts, related, said_at, strict=True))
    ]
    decisions: dict[int, Decision] = {}
    changed: set[str] = set()
    failed: ExtractionFailure | None = None
    for batch in _batches([case for case in cases if case.related]):
        proposed = await _proposed(llm, batch, budget=budget)
        if isinstance(proposed, ExtractionFailure):
            failed = proposed
            continue
        for case in batch:
            decision = decisions_of(case, proposed.get(case.number, ()), changed=changed)
            if decision is not None:
                decisions[case.number] = decision
    return Decided(tuple(decisions.get(case.number) for case in cases), failed)


def _batches(cases: list[Case]) -> Iterator[list[Case]]:
    for begin in range(0, len(cases), _MAX_CASES_A_CALL):
        yield cases[begin : begin + _MAX_CASES_A_CALL]


async def _proposed(
    llm: LlmOptions, cases: list[Case], *, budget: Budget
) -> dict[int, list[Proposal]] | ExtractionFailure:
    memories = list({record.id: record for case in cases for record in case.related}.values())
    turns = [Turn("system", _cases_prompt(llm, cases)), Turn("user", _shown(cases, memories))]
    schema = LOOSE_DECISIONS if llm.update_prompt else DECISIONS
    reply = await ask_llm_for_json(llm, turns, schema=schema, budget=budget)
    if isinstance(reply, ExtractionFailure):
        return reply
    items = reply.value.get("decisions", reply.value.get("memory"))
    proposals_of: dict[int, list[Proposal]] = {}
    for case, proposal in proposals(items if isinstance(items, list) else [], cases=cases, memories=memories):
        proposals_of.setdefault(case.number, []).append(proposal)
    return proposals_of


def _cases_prompt(llm: LlmOptions, cases: Sequence[Case]) -> str:
    language = detect("\n".join(case.fact.text for case in cases))
    own = llm.update_prompt
    rules = custom_prompt("decide", own) if own else prompt("decide", language)
    return f"{rules.text}\n\n{prompt('decide_form', language).text}"


def _shown(cases: Sequence[Case], memories: Sequence[MemoryRecord]) -> str:
    shown: Mapping[str, list[dict[str, Any]]] = {
        "memories": [
            {"memory": number, "text": record.content[:_MAX_SHOWN_CHARS], "date": f"{record.said_at:%Y-%m-%d}"}
            for number, record in enumerate(memories)
        ],
        "facts": [
            {"fact": number, "text": case.fact.text, "date": f"{case.said_at:%Y-%m-%d}"}
            for number, case in enumerate(cases)
        ],
    }
    return json.dumps(shown, ensure_ascii=False, indent=1)
