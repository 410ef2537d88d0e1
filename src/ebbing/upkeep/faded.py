"""One record moves to another stage of fading."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from ebbing.domain.events import Event
from ebbing.domain.fading import FADED, PENDING_DELETION
from ebbing.domain.record import MemoryRecord, Stage
from ebbing.index.entry import IndexEntry, entry_for
from ebbing.index.shard import Shard
from ebbing.language.analyse import TextFlag, analyse
from ebbing.language.packing import full_text, pack
from ebbing.ports.memory_store import Revise


@dataclass(frozen=True, slots=True)
class Move:
    """What becomes of a record."""

    record: MemoryRecord
    row: int
    """Of the shard."""
    stage: Stage
    text: str
    """What is to be read of it from now on."""
    answers: bool
    """It follows a question of somebody else: noted, since the question may go."""
    importance: float
    remembered: float
    """Retention, in [0, 1]."""
    why: str
    """A sentence for the owner."""


def is_change(move: Move) -> bool:
    """Whether something fades by it; else it only notes what will be needed later."""
    return move.stage is not move.record.stage or move.text != move.record.content


def carried_out(move: Move, shard: Shard, *, now: datetime) -> Revise:
    """The change that makes a move. What is cut away stays packed in the record."""
    old = move.record
    if not is_change(move):
        record = replace(old, version=old.version + 1)
        return Revise(record, Event.NONE, entry=_entry(record, move, shard=shard, with_vector=True), reason=move.why)
    record = replace(
        old, version=old.version + 1, stage=move.stage, importance=move.importance, strength=move.remembered
    )
    if move.stage is Stage.WORDS:
        return Revise(record, Event.NONE, entry=_entry(record, move, shard=shard, with_vector=False), reason=move.why)
    record = replace(record, packed=old.packed or pack(old.content))
    if move.stage is Stage.SHORT:
        record = replace(record, content=move.text)
        event = Event.FADE if old.packed is None else Event.NONE
        return Revise(record, event, entry=_entry(record, move, shard=shard, with_vector=True), reason=move.why)
    tags = old.tags if PENDING_DELETION in old.tags else (*old.tags, PENDING_DELETION)
    record = replace(record, tags=tags, deleted_at=now, delete_reason=f"{FADED}: {move.why}")
    return Revise(
        record, Event.DELETE, entry=_entry(record, move, shard=shard, with_vector=False), reason=record.delete_reason
    )


def _entry(record: MemoryRecord, move: Move, *, shard: Shard, with_vector: bool) -> IndexEntry:
    """The searchable side: a shortened text is found by all that it said, in words and meaning."""
    row = move.row
    keeps = with_vector and bool(shard.embedded[row])
    entry = entry_for(
        analyse(full_text(record), speaker=record.actor, said_at=record.created_at),
        vector=shard.vectors[row] if keeps else None,
        model_id=shard.model_id if keeps else None,
        utterance=bool(shard.flags[row] & TextFlag.UTTERANCE),
    )
    return replace(entry, flags=entry.flags | TextFlag.ANSWER) if move.answers else entry
