"""What fades goes from stage to stage: without its vector, shortened, packed; each can be undone until it is erased.

Two things drive it: time, along the forgetting curve, and room, where an owner's texts outgrow their capacity. With a
capacity, time decides who goes first and room how far; without one, time decides both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final

from anyio import to_thread

from ebbing.domain.fading import is_later, is_protected, stage_at
from ebbing.domain.forgetting import idle_days, never_fades, retention
from ebbing.domain.record import Stage
from ebbing.domain.scope import Scope
from ebbing.domain.upkeep_policy import UpkeepPolicy
from ebbing.index.neighbours import neighbours
from ebbing.language.analyse import TextFlag
from ebbing.language.packing import full_text
from ebbing.ports.embedder import Calibration
from ebbing.ports.memory_store import Change
from ebbing.upkeep.absorb import absorbed
from ebbing.upkeep.faded import Move, carried_out, is_change
from ebbing.upkeep.living import Living, importances, living
from ebbing.upkeep.room import Lodger, brief, shortened
from ebbing.upkeep.step import Planned, StepReport, Upkeeping
from ebbing.upkeep.worth import standing_of

_WRITTEN: Final = 200
"""Records in one transaction at most."""
_DONE: Final = {Stage.WORDS: "drop vector", Stage.SHORT: "shorten", Stage.PACKED: "pack"}


async def decay(using: Upkeeping, scope: Scope, *, now: datetime, dry_run: bool = False) -> StepReport:
    """Lets fade what time or want of room lets fade.

    Counts the records that were `processed`, those that `decayed` to another stage, those of them that were
    `forgotten` (packed, to be erased after the grace period), those `consolidated` into a long-term memory instead,
    and the `saved_bytes` of readable text.

    Raises:
        ConflictError: somebody else changed one of the records in between; what was done by then stays.
        StoreError: the store could not do it.
    """
    here = await living(using.store, scope, now=now)
    calibration = using.embedder.calibration if using.embedder else None
    plan = partial(planned, here, policy=using.policy, calibration=calibration, now=now)
    moves = await to_thread.run_sync(plan) if here.records else []
    report = StepReport("decay", {"processed": len(here.records), "decayed": sum(map(is_change, moves))})
    gone = [move for move in moves if move.stage is Stage.PACKED]
    taken = absorbed(here, gone, policy=using.policy, calibration=calibration, now=now)
    changes: list[Change] = [*taken.changes]
    for move in moves:
        if move.record.id in taken.into:
            why = "a long-term memory tells it from now on"
            report.changes.append(Planned(move.record.id, "merge", why))
            continue
        changes.append(carried_out(move, here.shard, now=now))
        if is_change(move):
            report.changes.append(Planned(move.record.id, _DONE[move.stage], move.why))
    report.counts |= {
        "forgotten": len(gone) - len(taken.into),
        "consolidated": len(taken.into),
        "saved_bytes": sum(_saved(move) for move in moves),
    }
    if not dry_run:
        for at in range(0, len(changes), _WRITTEN):
            await using.store.write(scope, changes[at : at + _WRITTEN])
    return report


def planned(here: Living, *, policy: UpkeepPolicy, calibration: Calibration | None, now: datetime) -> list[Move]:
    """The moves that are due, in the order of the records."""
    standing = standing_of(here.shard)
    weighed = importances(here, policy=policy, calibration=calibration, now=now)
    lodgers: list[Lodger] = []
    moves: dict[int, Move] = {}
    for place, (record, row, importance) in enumerate(zip(here.records, here.rows, weighed, strict=True)):
        one = Lodger(
            record=record,
            row=row,
            importance=importance,
            remembered=retention(replace(record, importance=importance), now, curve=policy.curve),
            is_protected=is_protected(record),
            answers=bool(standing.answers[row]),
            text=record.content,
            whole=full_text(record),
        )
        move = _by_time(one, policy, now=now)
        if move is not None:
            moves[place] = move
            one = replace(one, text=move.text)
        lodgers.append(one)
    over = sum(_size(one.text) for one in lodgers) - policy.capacity_bytes
    if policy.capacity_bytes and over > 0:
        moves |= _by_room(here, lodgers, over=over, policy=policy)
    for place in _bereft(here, lodgers, moves=moves):
        one = lodgers[place]
        moves[place] = _move(one, one.record.stage, text=one.record.content, why="the question that it answers goes")
    return [moves[place] for place in sorted(moves)]


def _bereft(here: Living, lodgers: Sequence[Lodger], *, moves: Mapping[int, Move]) -> list[int]:
    """The places of answers that stay as they are while the question before them goes."""
    near, place_of = neighbours(here.shard), {one.row: place for place, one in enumerate(lodgers)}
    gone = [lodgers[place].row for place, move in moves.items() if move.stage is Stage.PACKED]
    after = [place_of.get(int(near.next[row]), -1) for row in gone if near.next[row] >= 0]
    flagged = (here.shard.flags & TextFlag.ANSWER) != 0
    return [at for at in after if at >= 0 and at not in moves and lodgers[at].answers and not flagged[lodgers[at].row]]


def _by_time(one: Lodger, policy: UpkeepPolicy, *, now: datetime) -> Move | None:
    """The stage that the curve has come to, if that is a later one.

    Where there is a capacity, time alone takes the vector and no word: further goes what others need the room of.
    Measured, packing by time lost evidence while the room was not used up (`python -m evals forgetting`).
    """
    stage = Stage.FULL if one.is_protected else stage_at(one.remembered, policy.curve)
    if policy.capacity_bytes and is_later(stage, Stage.WORDS):
        stage = Stage.WORDS
    if not is_later(stage, one.record.stage):
        return None
    text = brief(one.text) if stage is Stage.SHORT else one.text
    days = idle_days(one.record, now)
    why = f"it was of no use for {days:.0f} days, and {one.remembered:.0%} of it is remembered"
    if stage is Stage.PACKED or not text:
        return _move(one, Stage.PACKED, text="", why=why)
    return _move(one, stage, text=text, why=why)


def _by_room(here: Living, lodgers: Sequence[Lodger], *, over: int, policy: UpkeepPolicy) -> dict[int, Move]:
    """What has to be shortened so that the rest has room, by place; nothing of what never fades."""
    places = [place for place, one in enumerate(lodgers) if one.text and not never_fades(one.record)]
    texts = shortened(here.shard, [lodgers[place] for place in places], over=over)
    why = f"there is room for {policy.capacity_bytes:,} bytes, and other memories are worth more of it"
    return {
        places[at]: _move(lodgers[places[at]], Stage.SHORT if text else Stage.PACKED, text=text, why=why)
        for at, text in texts.items()
    }


def _move(one: Lodger, stage: Stage, *, text: str, why: str) -> Move:
    return Move(one.record, one.row, stage, text, one.answers, one.importance, one.remembered, why)


def _saved(move: Move) -> int:
    return _size(move.record.content) - _size(move.text)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
