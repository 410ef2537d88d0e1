"""The importance of each new fact, by its text and its candidates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal

from ebbing.domain.conflict.claim import Words
from ebbing.domain.forgetting.importance import Substance, measured_importance, seed_importance
from ebbing.language.claims.normalize_values import content_share
from ebbing.remember.facts.new_fact import KnownMemory, NewFact

_NAME: Final = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][\w'-]+")
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_SECONDS_A_DAY: Final = 86_400.0


def with_importance(
    facts: Sequence[NewFact],
    candidates: Sequence[Sequence[KnownMemory]],
    *,
    formula: Literal["measured", "formula-v1"],
    now: datetime,
) -> list[NewFact]:
    """Return the facts with the importance that their memories get, in [0, 1]."""
    return [
        _with_importance(fact, _importance(fact, _scarcity(fact, memories), formula=formula, now=now))
        for fact, memories in zip(facts, candidates, strict=True)
    ]


def _importance(fact: NewFact, scarcity: float, *, formula: str, now: datetime) -> float:
    text = fact.fact.text
    if formula == "formula-v1":
        age_days = (now - fact.record.created_at).total_seconds() / _SECONDS_A_DAY
        return seed_importance(fact.fact.type, scarcity=scarcity, age_days=age_days, certainty=fact.fact.confidence)
    return measured_importance(
        Substance(
            specifics=len({*_NAME.findall(text), *_NUMBER.findall(text)}),
            novelty=scarcity,
            content_share=content_share(text),
            statement=fact.fact.importance,
            size=len(text.encode()),
        )
    )


def _scarcity(fact: NewFact, memories: Sequence[KnownMemory]) -> float:
    """1 − the largest similarity to what is known: the calibrated one, or the share of common words."""
    return 1.0 - max(
        (max(memory.similarity, _overlap(fact.claim.words, memory.claim.words)) for memory in memories), default=0.0
    )


def _overlap(first: Words, second: Words) -> float:
    return len(first & second) / len(first | second) if first and second else 0.0


def _with_importance(fact: NewFact, importance: float) -> NewFact:
    record = replace(fact.record, importance=importance)
    return NewFact(fact.fact, replace(fact.insert, record=record), fact.claim)
