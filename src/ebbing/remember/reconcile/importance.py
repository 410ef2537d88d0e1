"""How much each new fact matters, given its text and what is known around it."""

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
_DAY: Final = 86_400.0


def with_importance(
    heard: Sequence[NewFact],
    candidates: Sequence[Sequence[KnownMemory]],
    *,
    formula: Literal["measured", "seed"],
    now: datetime,
) -> list[NewFact]:
    """The facts with the importance that their memories get, in [0, 1]."""
    return [
        _with_importance(one, _importance(one, _scarcity(one, around), formula=formula, now=now))
        for one, around in zip(heard, candidates, strict=True)
    ]


def _importance(heard: NewFact, scarcity: float, *, formula: str, now: datetime) -> float:
    text = heard.fact.text
    if formula == "seed":
        age_days = (now - heard.record.created_at).total_seconds() / _DAY
        return seed_importance(heard.fact.type, scarcity=scarcity, age_days=age_days, certainty=heard.fact.confidence)
    return measured_importance(
        Substance(
            specifics=len({*_NAME.findall(text), *_NUMBER.findall(text)}),
            novelty=scarcity,
            content_share=content_share(text),
            statement=heard.fact.importance,
            size=len(text.encode()),
        )
    )


def _scarcity(heard: NewFact, around: Sequence[KnownMemory]) -> float:
    """1 − the largest similarity to what is known: the calibrated one, or the share of common words."""
    return 1.0 - max((max(one.similarity, _overlap(heard.claim.words, one.claim.words)) for one in around), default=0.0)


def _overlap(one: Words, other: Words) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0


def _with_importance(heard: NewFact, importance: float) -> NewFact:
    record = replace(heard.record, importance=importance)
    return NewFact(heard.fact, replace(heard.insert, record=record), heard.claim)
