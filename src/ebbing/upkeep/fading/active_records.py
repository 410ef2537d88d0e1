"""What of an owner is there to be looked after: the records that hold now, weighed against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from ebbing.domain.forgetting.curves import SECONDS_A_DAY
from ebbing.domain.forgetting.importance import owners_importance, seed_importance
from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.forgetting.stages import times_said
from ebbing.domain.memory.record import Kind, Layer, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.index.shard import Shard
from ebbing.language.text.text_compression import full_text
from ebbing.language.wording.shorten import telegraphic
from ebbing.ports.models.embedder import Calibration
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.upkeep.fading.text_value import Numbers, Vocabulary, log_odds, row_values, shares

_AT_ONCE: Final = 1_000


@dataclass(frozen=True, slots=True)
class ActiveRecords:
    """The records that hold now, each beside its row of the shard."""

    shard: Shard
    records: tuple[MemoryRecord, ...]
    rows: tuple[int, ...]

    @property
    def size(self) -> int:
        """UTF-8 bytes of their texts."""
        return sum(len(record.content.encode("utf-8", "surrogatepass")) for record in self.records)


async def load_active(store: MemoryStore, scope: Scope, *, now: datetime) -> ActiveRecords:
    """Reads everything of an owner that is neither deleted nor told by another, superseded, expired or at work.

    The records say of each use that was noted by now; the shard need not.
    """
    shard = await store.shard(scope)
    records: list[MemoryRecord] = []
    cursor: str | None = None
    while True:
        page = await store.page(scope, kinds=tuple(Kind), limit=_AT_ONCE, cursor=cursor)
        records += [record for record in page.records if _holds(record, now)]
        cursor = page.next_cursor
        if cursor is None:
            break
    row_of = {shard.ids[row]: int(row) for row in np.flatnonzero(shard.alive)}
    with_rows = [(record, row_of[record.id]) for record in records if record.id in row_of]
    return ActiveRecords(shard, tuple(record for record, _ in with_rows), tuple(row for _, row in with_rows))


def importances(
    here: ActiveRecords, *, policy: UpkeepPolicy, calibration: Calibration | None, now: datetime
) -> Sequence[float]:
    """How much each record matters, in [0, 1].

    By default the share of the owner's records whose texts are less likely to be needed; what was said n times counts
    ln(n) more. `formula-v1` weighs scarcity, impact, recency and certainty instead.
    """
    if policy.importance == "formula-v1":
        return _by_seed(here, calibration=calibration, now=now)
    texts = [full_text(record) for record in here.records]
    odds = log_odds(
        row_values(here.shard),
        texts,
        shorts=[telegraphic(text) for text in texts],
        rows=np.array(here.rows, dtype=np.int64),
        words=Vocabulary(texts),
    )
    odds += np.log([times_said(record) for record in here.records])
    weighed: list[float] = []
    for share, record in zip(shares(odds).tolist(), here.records, strict=True):
        weighed.append(owners_importance(share, first=record.importance, texts=len(texts)))
    return weighed


def _by_seed(here: ActiveRecords, *, calibration: Calibration | None, now: datetime) -> list[float]:
    novelty: Numbers = row_values(here.shard).novelty[list(here.rows)]
    scarce = np.where(np.isnan(novelty), 1.0, novelty)
    if calibration is not None:
        scarce = 1.0 - calibration.similarity((1.0 - scarce).astype(np.float32)).astype(np.float64)
    weighed: list[float] = []
    for scarcity, record in zip(scarce.tolist(), here.records, strict=True):
        age_days = (now - record.created_at).total_seconds() / SECONDS_A_DAY
        weighed.append(seed_importance(record.type, scarcity=scarcity, age_days=age_days, certainty=record.confidence))
    return weighed


def _holds(record: MemoryRecord, now: datetime) -> bool:
    ends = [moment for moment in (record.valid_to, record.expires_at) if moment is not None]
    return record.layer is not Layer.WORKING and all(moment > now for moment in ends)
