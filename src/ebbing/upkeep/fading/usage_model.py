"""Learns from what an owner's memories were used for how likely a memory is needed again.

Once a month it looks back: how did each memory stand 30 days ago, and was it of use since? A logistic regression drawn
toward what was known before turns that into the owner's own coefficients, kept as one number beside the owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import numpy as np
from anyio import to_thread
from numpy.typing import NDArray

from ebbing.domain.forgetting.usage_model import (
    DEFAULT_USAGE_MODEL,
    HORIZON_DAYS,
    MAX_COEFFICIENT,
    UsageFeatures,
    UsageModel,
    usage_features,
)
from ebbing.domain.memory.feedback import REINFORCING
from ebbing.domain.memory.record import Kind, Layer, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.upkeep.step import StepContext, StepReport

MIN_OUTCOMES: Final = 20
"""So many memories that were used, and as many that were not, are learned from. From a handful of uses a month one
learns chance: in the synthetic year such fits told it worse than what is usual does."""
SURENESS: Final = 4.0
"""How firmly coefficients are drawn toward those that were known: the precision (1 / variance) of each …"""
_OF_THE_INTERCEPT: Final = 0.1
"""… and its share for the intercept: people differ more in how much they ask than in what they ask for."""
_MODEL_MARK: Final = "retention"
_DAY_MARK: Final = "retention.day"
_STEPS_A_UNIT: Final = 128
_BITS: Final = 12
_ROUNDS: Final = 25
_CLOSE: Final = 1e-9
_FURTHEST: Final = 30.0
_AT_ONCE: Final = 1_000

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A memory as it stood at a moment, and whether it was of use in the time that followed."""

    memory_id: str
    footing: UsageFeatures
    was_used: bool


async def learn(deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False) -> StepReport:
    """Fits the owner's coefficients once in 30 days; counts the `outcomes` looked at and the `learned` models.

    Too few outcomes of either kind teach nothing: then what was known before goes on.

    Raises:
        StoreError: the store could not do it.
    """
    report = StepReport("retention", {"outcomes": 0, "learned": 0})
    today = now.astimezone(UTC).date().toordinal()
    if today - await deps.store.mark(scope, _DAY_MARK) < HORIZON_DAYS:
        return report
    results = await outcomes(deps.store, scope, at=now - timedelta(days=HORIZON_DAYS), until=now)
    before = await usage_model_of(deps.store, scope)
    learned = await to_thread.run_sync(partial(fit, results, before=before))
    report.counts |= {"outcomes": len(results), "learned": int(learned is not None)}
    if not dry_run:
        # The day goes first: killed in between, a month is not learned rather than learned twice.
        await deps.store.set_mark(scope, _DAY_MARK, value=today)
        if learned is not None:
            await deps.store.set_mark(scope, _MODEL_MARK, value=_number(learned))
    return report


async def usage_model_of(store: MemoryStore, scope: Scope) -> UsageModel:
    """What was learned of the scope's owner; `USUAL` of whom nothing was.

    Raises:
        StoreError: the store could not do it.
    """
    number = await store.mark(scope, _MODEL_MARK)
    return _model(number) if number else DEFAULT_USAGE_MODEL


async def outcomes(store: MemoryStore, scope: Scope, *, at: datetime, until: datetime) -> list[Outcome]:
    """Every record that held at `at`, as it stood then, with whether it was of use after that and by `until`.

    What was deleted since then counts too, as long as it is not erased. What was merged into another record since was
    of use if that was.

    Raises:
        StoreError: the store could not do it.
    """
    records, uses = await _log(store, scope)
    used = {name for name, moments in uses.items() if any(at < moment <= until for moment in moments)}
    outcome_list: list[Outcome] = []
    for record in records:
        if _was_there(record, at):
            features = _stood(record, at, uses=uses.get(record.id, ()))
            outcome_list.append(Outcome(record.id, features, not used.isdisjoint(_ids_of(record))))
    return outcome_list


def fit(results: Sequence[Outcome], *, before: UsageModel, sureness: float = SURENESS) -> UsageModel | None:
    """The coefficients that explain the outcomes best, drawn toward `before`; the same for the same outcomes.

    Logistic regression with a ridge penalty, by Newton's method. A fit by which a memory becomes likelier as time goes
    by is made again without age, then without time: with little to learn from, chance would say so.

    Args:
        sureness: precision of the normal distribution around `before` that each coefficient is drawn from, above 0.

    Returns:
        None where fewer than 20 were used, or fewer than 20 were not: go on with `before`.
    """
    was_used = np.array([outcome.was_used for outcome in results], dtype=np.float64)
    if min(was_used.sum(), len(results) - was_used.sum()) < MIN_OUTCOMES:
        return None
    features = np.array([outcome.footing.features for outcome in results], dtype=np.float64)
    drawn_to = np.array(before.coefficients)

    def model(columns: list[int]) -> UsageModel:
        weights = np.zeros(drawn_to.size)
        firm = sureness * np.array([_OF_THE_INTERCEPT, 1.0, 1.0, 1.0, 1.0])[columns]
        weights[columns] = _newton(features[:, columns], was_used, drawn_to=drawn_to[columns], firm=firm)
        return UsageModel(*np.clip(weights, -MAX_COEFFICIENT, MAX_COEFFICIENT).tolist())

    return next(fitted for fitted in map(model, _TRIED) if fitted.falls_with_time)


_TRIED: Final = ([0, 1, 2, 3, 4], [0, 1, 2, 3], [0, 2, 3])
"""Columns of `UsageFeatures.features`: all, without age, without any time."""


def _newton(features: Numbers, was_used: Numbers, *, drawn_to: Numbers, firm: Numbers) -> Numbers:
    """The weights with the least log loss and penalty, shape (columns,); from `drawn_to`, downhill all the way."""
    weights, loss = drawn_to, _loss(features, was_used, weights=drawn_to)
    for _ in range(_ROUNDS):
        chances = _chances(features, weights)
        slope = features.T @ (was_used - chances) - firm * (weights - drawn_to)
        bend = (features.T * (chances * (1 - chances))) @ features + np.diag(firm)
        step = np.linalg.solve(bend, slope)
        for _ in range(_ROUNDS):
            candidate = weights + step
            lost = _loss(features, was_used, weights=candidate) + float(np.sum(firm * (candidate - drawn_to) ** 2)) / 2
            if lost <= loss:
                break
            step = step / 2
        else:
            break
        weights, gained, loss = candidate, loss - lost, lost
        if gained < _CLOSE:
            break
    return weights


def _loss(features: Numbers, was_used: Numbers, *, weights: Numbers) -> float:
    """Log loss of all outcomes together, in nats."""
    odds = features @ weights
    return float(np.sum(np.logaddexp(0.0, odds) - was_used * odds))


def _chances(features: Numbers, weights: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-np.clip(features @ weights, -_FURTHEST, _FURTHEST)))


async def _log(store: MemoryStore, scope: Scope) -> tuple[list[MemoryRecord], dict[str, Sequence[datetime]]]:
    """Every record of the owner, deleted and merged ones too, and when those were of use that ever were."""
    records: list[MemoryRecord] = []
    cursor: str | None = None
    while True:
        page = await store.page(scope, kinds=tuple(Kind), limit=_AT_ONCE, cursor=cursor, deleted=True)
        records += page.records
        cursor = page.next_cursor
        if cursor is None:
            break
    uses: dict[str, Sequence[datetime]] = {}
    for record in records:
        if record.access_count:
            usage = await store.usage.usage(scope, record.id)
            # Used and praised in one answer is one use.
            uses[record.id] = [
                *{signal.recall_id: signal.at for signal in usage.feedback if signal.signal in REINFORCING}.values()
            ]
    return records, uses


def _was_there(record: MemoryRecord, at: datetime) -> bool:
    ends = (record.valid_to, record.expires_at, record.deleted_at, record.retired_at)
    begun = max(record.created_at, record.recorded_at) <= at
    return begun and record.layer is not Layer.WORKING and all(end is None or end > at for end in ends)


def _ids_of(record: MemoryRecord) -> set[str]:
    """Under which ids it may have been of use since."""
    return {record.id, record.superseded_by or ""} if record.retired_at is not None else {record.id}


def _stood(record: MemoryRecord, at: datetime, *, uses: Sequence[datetime]) -> UsageFeatures:
    """How it stood: uses that came later are taken back."""
    before = [moment for moment in uses if moment <= at]
    last = record.last_accessed_at
    if before or (last is not None and last > at):
        last = max(before, default=None)
    later = len(uses) - len(before)
    return usage_features(replace(record, access_count=record.access_count - later, last_accessed_at=last), at)


def _number(model: UsageModel) -> int:
    """All coefficients in one whole number, so that they are written and read at once; never 0."""
    number = 0
    for value in model.coefficients:
        number = number << _BITS | round(value * _STEPS_A_UNIT) + (1 << _BITS - 1)
    return number


def _model(number: int) -> UsageModel:
    places = reversed(range(len(DEFAULT_USAGE_MODEL.coefficients)))
    parts = [(number >> _BITS * place & (1 << _BITS) - 1) - (1 << _BITS - 1) for place in places]
    return UsageModel(*(part / _STEPS_A_UNIT for part in parts))
