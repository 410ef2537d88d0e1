"""What fades goes from stage to stage: without its vector, shortened, packed; each can be undone until it is erased.

Two things drive it: time, along the forgetting curve, and room, where an owner's texts outgrow their capacity. With a
capacity, time decides who goes first and room how far; without one, time decides both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Final

from anyio import to_thread

from ebbing.domain.forgetting.curves import idle_days, never_fades, retention
from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.forgetting.stages import is_later, is_protected, stage_at
from ebbing.domain.forgetting.usage_model import usage_features
from ebbing.domain.memory.record import MemoryRecord, Stage
from ebbing.domain.memory.scope import Scope
from ebbing.index.near_rows import find_neighbours
from ebbing.language.text.analyzer import TextFlag
from ebbing.language.text.text_compression import full_text
from ebbing.ports.models.embedder import Calibration
from ebbing.ports.stores.memory_store import Change
from ebbing.upkeep.fading.absorb import absorb
from ebbing.upkeep.fading.active_records import ActiveRecords, importances, load_active
from ebbing.upkeep.fading.capacity import CapacityItem, brief, shortened
from ebbing.upkeep.fading.fade_record import StageChange, entry_of_answer, holds_question_terms, is_change, to_revision
from ebbing.upkeep.fading.text_value import row_values
from ebbing.upkeep.fading.usage_model import usage_model_of
from ebbing.upkeep.step import PlannedChange, StepContext, StepReport

MARK: Final = "decay.day"
"""Under this name the store knows the day on which an owner's memories were last weighed against each other."""
_WRITTEN: Final = 200
"""Records in one transaction at most."""
_DONE: Final = {Stage.KEYWORD_ONLY: "drop vector", Stage.SHORTENED: "shorten", Stage.ARCHIVED: "pack"}


async def decay(deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False) -> StepReport:
    """Lets fade what time or want of room lets fade, once on each UTC day of `now`: memories are weighed against those
    that are left, and a second run would let fade what the first has spared. One that was cut short goes on.

    Counts the records that were `processed`, those that `decayed` to another stage, those of them that were
    `forgotten` (packed, to be erased after the grace period), those `consolidated` into a long-term memory instead,
    and the `saved_bytes` of readable text.

    Raises:
        ConflictError: somebody else changed one of the records in between; what was done by then stays.
        StoreError: the store could not do it.
    """
    day = now.astimezone(UTC).date().toordinal()
    if await deps.store.mark(scope, MARK) == day:
        return StepReport("decay")
    here = await load_active(deps.store, scope, now=now)
    calibration = deps.embedder.calibration if deps.embedder else None
    plan = partial(plan_changes, here, policy=deps.policy, calibration=calibration, now=now)
    moves = await to_thread.run_sync(plan) if here.records else []
    report = StepReport("decay", {"processed": len(here.records), "decayed": sum(map(is_change, moves))})
    gone = [move for move in moves if move.stage is Stage.ARCHIVED]
    taken = absorb(here, gone, policy=deps.policy, calibration=calibration, now=now)
    changes: list[Change] = [*taken.changes]
    needed = await usage_model_of(deps.store, scope)
    for move in moves:
        if move.record.id in taken.into:
            why = "a long-term memory tells it from now on"
            report.changes.append(PlannedChange(move.record.id, "merge", why))
            continue
        change = to_revision(move, now=now)
        changes.append(replace(change, entry=entry_of_answer(move, here.shard)) if move.question else change)
        if is_change(move):
            why = f"{move.why}; {needed.as_text(usage_features(move.record, now))}"
            report.changes.append(PlannedChange(move.record.id, _DONE[move.stage], why))
    report.counts |= {
        "forgotten": len(gone) - len(taken.into),
        "consolidated": len(taken.into),
        "saved_bytes": sum(_saved(move) for move in moves),
    }
    if not dry_run:
        for at in range(0, len(changes), _WRITTEN):
            await deps.store.write(scope, changes[at : at + _WRITTEN])
        await deps.store.set_mark(scope, MARK, value=day)
    return report


def plan_changes(
    here: ActiveRecords, *, policy: UpkeepPolicy, calibration: Calibration | None, now: datetime
) -> list[StageChange]:
    """The moves that are due, in the order of the records."""
    if _is_at_rest(here, policy, now=now):
        return []
    standing = row_values(here.shard)
    weighed = importances(here, policy=policy, calibration=calibration, now=now)
    lodgers: list[CapacityItem] = []
    moves: dict[int, StageChange] = {}
    for place, (record, row, importance) in enumerate(zip(here.records, here.rows, weighed, strict=True)):
        item = CapacityItem(
            record=record,
            row=row,
            importance=importance,
            remembered=retention(replace(record, importance=importance), now, curve=policy.curve),
            is_protected=is_protected(record),
            answers=bool(standing.answers[row]),
            text=record.content,
            whole=full_text(record),
        )
        move = _by_time(item, policy, now=now)
        if move is not None:
            moves[place] = move
            item = replace(item, text=move.text)
        lodgers.append(item)
    over = sum(_size(item.text) for item in lodgers) - policy.owner_text_limit_bytes
    if policy.owner_text_limit_bytes and over > 0:
        moves |= _by_room(here, lodgers, over=over, policy=policy)
    _tell_answers(here, lodgers, moves=moves)
    return [moves[place] for place in sorted(moves)]


def _tell_answers(here: ActiveRecords, lodgers: Sequence[CapacityItem], *, moves: dict[int, StageChange]) -> None:
    """Notes with each answer that stays that the question before it goes, the first time that one does."""
    near, place_of = find_neighbours(here.shard), {item.row: place for place, item in enumerate(lodgers)}
    for item in [lodgers[place] for place, move in moves.items() if move.stage is Stage.ARCHIVED]:
        row = int(near.next[item.row])
        if row not in place_of or not near.previous_other[row] or not here.shard.flags[item.row] & TextFlag.QUESTION:
            continue
        at = place_of[row]
        move = moves.get(at) or _note(lodgers[at], why="the question that it answers goes")
        if move.stage is not Stage.ARCHIVED and not holds_question_terms(here.shard, row):
            moves[at] = replace(move, question=item.whole)


def _is_at_rest(here: ActiveRecords, policy: UpkeepPolicy, *, now: datetime) -> bool:
    """Whether nothing can be due however little each record matters: then they need not be weighed."""
    if policy.owner_text_limit_bytes and here.size > policy.owner_text_limit_bytes:
        return False
    least = (retention(replace(item, importance=0.0), now, curve=policy.curve) for item in here.records)
    due = (
        _stage_due(item, policy, remembered=remembered) for item, remembered in zip(here.records, least, strict=True)
    )
    return not any(is_later(stage, item.stage) for item, stage in zip(here.records, due, strict=True))


def _stage_due(record: MemoryRecord, policy: UpkeepPolicy, *, remembered: float) -> Stage:
    """The stage that time alone has brought a record to.

    Where there is a capacity, time alone takes the vector and no word: further goes what others need the room of.
    Measured, packing by time lost evidence while the room was not used up (`python -m evals forgetting`).
    """
    stage = Stage.FULL if is_protected(record) else stage_at(remembered, policy.curve)
    return Stage.KEYWORD_ONLY if policy.owner_text_limit_bytes and is_later(stage, Stage.KEYWORD_ONLY) else stage


def _by_time(item: CapacityItem, policy: UpkeepPolicy, *, now: datetime) -> StageChange | None:
    """The move to the stage that time has come to, if that is a later one."""
    stage = _stage_due(item.record, policy, remembered=item.remembered)
    if not is_later(stage, item.record.stage):
        return None
    text = brief(item.text) if stage is Stage.SHORTENED else item.text
    days = idle_days(item.record, now)
    why = f"it was of no use for {days:.0f} days"
    if stage is Stage.ARCHIVED or not text:
        return _move(item, Stage.ARCHIVED, text="", why=why)
    return _move(item, stage, text=text, why=why)


def _by_room(
    here: ActiveRecords, lodgers: Sequence[CapacityItem], *, over: int, policy: UpkeepPolicy
) -> dict[int, StageChange]:
    """What has to be shortened so that the rest has room, by place; nothing of what never fades."""
    places = [place for place, item in enumerate(lodgers) if item.text and not never_fades(item.record)]
    texts = shortened(here.shard, [lodgers[place] for place in places], over=over)
    why = f"there is room for {policy.owner_text_limit_bytes:,} bytes, and other memories are worth more of it"
    moves: dict[int, StageChange] = {}
    for at, text in texts.items():
        place, stage = places[at], Stage.SHORTENED if text else Stage.ARCHIVED
        moves[place] = _move(lodgers[place], stage, text=text, why=why)
    return moves


def _move(item: CapacityItem, stage: Stage, *, text: str, why: str) -> StageChange:
    return StageChange(item.record, item.row, stage, text, item.answers, item.importance, item.remembered, why)


def _note(item: CapacityItem, *, why: str) -> StageChange:
    return _move(item, item.record.stage, text=item.record.content, why=why)


def _saved(move: StageChange) -> int:
    return _size(move.record.content) - _size(move.text)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
