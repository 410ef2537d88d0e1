"""Facts from a conversation, read by a language model."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.pending_extraction import ExtractionFailure, WriteMode
from ebbing.domain.memory.record import Role
from ebbing.language.text.detect_language import detect
from ebbing.ports.models.chat_model import Schema, Turn
from ebbing.prompts.library import Prompt, custom_prompt, instructed, prompt
from ebbing.remember.llm.client import Budget, LlmOptions, ask_llm_for_json
from ebbing.remember.llm.parse_facts import SourceReading, facts_in, summary_in
from ebbing.remember.llm.schemas import FACTS, LOOSE_FACTS, SUMMARY
from ebbing.remember.llm.transcript import Chunk, chunks

Subject = Literal["user", "agent"]
_SPEAKER: Final = {"user": Role.USER, "agent": Role.ASSISTANT}
_HOPELESS: Final = frozenset({"model_unavailable", "model_timeout", "out_of_time"})
"""After these the other chunks are not tried: they would only wait as long again."""


@dataclass(frozen=True, slots=True)
class LlmExtraction:
    """The facts that a model read, and why it failed."""

    facts: tuple[Fact, ...] = ()
    failed: ExtractionFailure | None = None
    """Some messages could not be read: keep them, and read them again later."""


@dataclass(frozen=True, slots=True)
class _Task:
    """The settings that all chunks of one conversation share."""

    llm: LlmOptions
    prompt: Prompt
    form: Schema
    now: datetime
    about: Subject
    hints: Sequence[Fact]
    budget: Budget
    values_only: bool = False
    """Only facts that give the value of an attribute count."""


async def extract_with_model(
    llm: LlmOptions,
    messages: Sequence[Message],
    *,
    now: datetime,
    about: Subject = "user",
    hints: Sequence[Fact] = (),
    before: Sequence[Message] = (),
    known_places: Collection[int] = (),
    mode: WriteMode = WriteMode.LLM,
) -> LlmExtraction:
    """Return the facts that a model finds in a conversation; never raises a `ModelError`.

    Facts about the user come from user messages only, facts about the agent from assistant messages only, each traced
    to the words that say it. What system and tools say is not shown to the model. The messages should be redacted.

    Args:
        now: the moment of messages without a timestamp.
        hints: what the rules found, shown to the model as suggestions.
        before: earlier turns, shown so that "she" and "there" can be understood; nothing is learnt from them.
        known_places: indices of messages that were read before: context as well.
        mode: `LLM` for all that is worth knowing, `STRUCTURED` for values of attributes, `SUMMARIZE` for one sentence
            a chunk at most.
    """
    budget = Budget(llm.budget_seconds)
    speakers = (_SPEAKER[about],)
    parts = chunks(messages, limit_tokens=llm.chunk_tokens, speakers=speakers, before=before, known_places=known_places)
    if not parts:
        return LlmExtraction()
    language = detect("\n".join(message.content[:200] for message in messages if message.role is _SPEAKER[about]))
    prompt, form = _prompted(llm, mode, about=about, language=language)
    if llm.instructions:
        prompt = instructed(prompt, llm.instructions)
    return await _all(
        parts,
        _Task(
            llm,
            prompt,
            form,
            now=now,
            about=about,
            hints=hints,
            budget=budget,
            values_only=mode is WriteMode.STRUCTURED,
        ),
    )


def _prompted(asking: LlmOptions, mode: WriteMode, *, about: Subject, language: str) -> tuple[Prompt, Schema]:
    """Return what the model is told, and the form of its answer."""
    if mode is WriteMode.SUMMARIZE:
        return prompt("summarize", language), SUMMARY
    if mode is WriteMode.STRUCTURED:
        return prompt("structured", language), FACTS
    if about == "agent":
        return prompt("extract_agent", language), FACTS
    if asking.fact_prompt:
        return custom_prompt("extract_user", asking.fact_prompt), LOOSE_FACTS
    return prompt("extract_user", language), FACTS


async def _all(parts: Sequence[Chunk], task: _Task) -> LlmExtraction:
    facts: dict[tuple[int, str], Fact] = {}
    missed: list[int] = []
    failed: ExtractionFailure | None = None
    for chunk in parts:
        read = LlmExtraction(failed=failed) if failed and failed.reason in _HOPELESS else await _read_chunk(chunk, task)
        for fact in read.facts:
            facts.setdefault((fact.source, fact.text.casefold()), fact)
        if read.failed is not None:
            failed = read.failed
            missed += chunk.numbers if read.failed.messages == () else read.failed.messages
    if failed is not None:
        failed = ExtractionFailure(failed.reason, tuple(dict.fromkeys(missed)), failed.retry_after_seconds)
    return LlmExtraction(tuple(facts.values()), failed)


async def _read_chunk(chunk: Chunk, task: _Task) -> LlmExtraction:
    """Return the facts of one chunk. If the answer was cut off, ask again for each half, where there are halves."""
    spoken = [piece for piece in chunk.pieces if piece.message.role is _SPEAKER[task.about]]
    if not spoken:
        return LlmExtraction()
    turns = [Turn("system", task.prompt.text), Turn("user", _shown(chunk, task))]
    reply = await ask_llm_for_json(task.llm, turns, schema=task.form, budget=task.budget)
    if isinstance(reply, ExtractionFailure):
        return LlmExtraction(failed=reply)
    halves = chunk.halves() if reply.truncated else ()
    if halves:
        return await _all(halves, task)
    reading = SourceReading(
        spoken,
        rule=f"{task.llm.model.model_id} {task.prompt.version}",
        now=task.now,
        about=task.about,
        traced=task.form is FACTS,
    )
    if task.form is SUMMARY:
        return LlmExtraction(tuple(summary_in(reply.value, reading)))
    facts = facts_in(reply.value.get("facts"), reading)
    return LlmExtraction(
        tuple(fact for fact in facts if fact.attribute or not task.values_only),
        ExtractionFailure("answer_cut", chunk.numbers) if reply.truncated else None,
    )


def _shown(chunk: Chunk, task: _Task) -> str:
    hints = [
        {"message": hint.source, "text": hint.text}
        for hint in task.hints
        if hint.about == task.about and hint.source in chunk.numbers
    ]
    if not hints:
        return chunk.text
    suggested = json.dumps(hints, ensure_ascii=False)
    return f"{chunk.text}\n\nA simple reader suggests these; some may be wrong, and some are missing:\n{suggested}"
