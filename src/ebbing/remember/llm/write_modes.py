"""Facts from a conversation in each of the ways in which it can be read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.pending_extraction import ExtractionFailure, WriteMode
from ebbing.domain.memory.record import MemoryType
from ebbing.remember.llm.client import Budget, LlmOptions
from ebbing.remember.llm.extract import LlmExtraction, extract_with_model

Nominate = Callable[[Sequence[Message]], Sequence[Fact]]
"""The rules: the facts that they find in messages."""


async def read_facts(
    mode: WriteMode,
    messages: Sequence[Message],
    *,
    nominate: Nominate,
    llm: LlmOptions | None,
    now: datetime,
    agent_facts: bool = False,
    before: Sequence[Message] = (),
    known_places: Collection[int] = (),
) -> LlmExtraction:
    """Return what is worth remembering of a conversation; never raises a `ModelError`.

    Without a model every mode but `RAW` reads by the rules. Where a model fails, the rules' facts stand in for the
    messages that it did not read, and `failed` names these, so that they can be read again.

    Args:
        messages: redacted already, since with a model they leave the machine; one that nothing is to be learnt from
            is passed with blank content.
        nominate: the rules, which hint to the model and stand in for it.
        now: the moment of messages without a timestamp.
        agent_facts: what the assistant says of itself counts too.
        before: earlier turns of the same conversation, for context only.
        known_places: indices of messages that were read before: context as well.
    """
    if mode is WriteMode.RAW:
        raw = [_raw(message, number) for number, message in enumerate(messages) if number not in known_places]
        return LlmExtraction(tuple(raw))
    hints = tuple(hint for hint in nominate(messages) if hint.source not in known_places)
    if mode is WriteMode.RULES or llm is None:
        return LlmExtraction(hints)
    budget = Budget(llm.budget_seconds)
    readings = [
        await extract_with_model(
            llm, messages, now=now, hints=hints, before=before, known_places=known_places, mode=mode
        )
    ]
    if agent_facts and mode is WriteMode.LLM:
        rest = replace(llm, budget_seconds=budget.left)
        readings.append(
            await extract_with_model(
                rest, messages, now=now, about="agent", hints=hints, before=before, known_places=known_places
            )
        )
    return _joined(readings, hints, values_only=mode is WriteMode.STRUCTURED)


def _joined(readings: Sequence[LlmExtraction], hints: Sequence[Fact], *, values_only: bool) -> LlmExtraction:
    facts = [fact for reading in readings for fact in reading.facts]
    failures = [reading.failed for reading in readings if reading.failed is not None]
    if not failures:
        return LlmExtraction(tuple(facts))
    missed = sorted({number for failure in failures for number in failure.messages})
    stand_ins = [hint for hint in hints if hint.source in missed and (hint.attribute or not values_only)]
    waits = [failure.retry_after_seconds for failure in failures if failure.retry_after_seconds is not None]
    failed = ExtractionFailure(failures[-1].reason, tuple(missed), max(waits, default=None))
    distinct = {(fact.source, fact.text.casefold()): fact for fact in [*stand_ins, *facts]}
    return LlmExtraction(tuple(distinct.values()), failed)


def _raw(message: Message, number: int) -> Fact:
    return Fact(message.content, MemoryType.EPISODIC, source=number, method="raw", about="user")
