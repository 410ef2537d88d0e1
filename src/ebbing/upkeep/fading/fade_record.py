"""One record moves to another stage of fading."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ebbing.domain.forgetting.stages import FADED, PENDING_DELETION
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.record import MemoryRecord, Stage
from ebbing.index.index_entry import FIELD_ASKED, IndexEntry, entry_for
from ebbing.index.shard import Shard
from ebbing.language.text.analyzer import TextFlag, analyse, query_terms
from ebbing.language.text.text_compression import full_text, pack
from ebbing.ports.stores.memory_store import Revise


@dataclass(frozen=True, slots=True)
class StageChange:
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
    question: str = ""
    """The question that it answers, where that goes now: from then on the answer is found by its words too."""


def is_change(move: StageChange) -> bool:
    """Whether something fades by it; else it only notes what will be needed later."""
    return move.stage is not move.record.stage or move.text != move.record.content


def to_revision(move: StageChange, *, now: datetime) -> Revise:
    """The change that makes a move. What is cut away stays packed in the record.

    A shortened text is found by all that it said, in words and meaning: its index entry stays, and so does that of a
    packed one, without the vector.
    """
    old, flags = move.record, int(TextFlag.ANSWER) if move.answers else 0
    if not is_change(move):
        return Revise(replace(old, version=old.version + 1), Event.NONE, reason=move.why, adds_flags=flags)
    fading: dict[str, Any] = {
        "version": old.version + 1,
        "stage": move.stage,
        "importance": move.importance,
        "strength": move.remembered,
    }
    if move.stage is Stage.KEYWORD_ONLY:
        return Revise(replace(old, **fading), Event.NONE, reason=move.why, adds_flags=flags, drops_vector=True)
    fading["packed"] = old.packed or pack(old.content)
    if move.stage is Stage.SHORTENED:
        event = Event.FADE if old.packed is None else Event.NONE
        return Revise(replace(old, content=move.text, **fading), event, reason=move.why, adds_flags=flags)
    tags = old.tags if PENDING_DELETION in old.tags else (*old.tags, PENDING_DELETION)
    reason = f"{FADED}: {move.why}"
    gone = replace(old, tags=tags, deleted_at=now, delete_reason=reason, **fading)
    return Revise(gone, Event.DELETE, reason=reason, adds_flags=flags, drops_vector=True)


def entry_of_answer(move: StageChange, shard: Shard) -> IndexEntry:
    """The index entry of an answer whose question goes: "Luna and Oliver!" is still found by "pets" and "names"."""
    record, row = move.record, move.row
    keeps = move.stage in {Stage.FULL, Stage.SHORTENED} and bool(shard.embedded[row])
    analysis = analyse(full_text(record), speaker=record.actor, said_at=record.said_at)
    entry = entry_for(
        replace(analysis, question=query_terms(move.question)),
        vector=shard.vectors[row] if keeps else None,
        model_id=shard.model_id if keeps else None,
        utterance=bool(shard.flags[row] & TextFlag.UTTERANCE),
    )
    return replace(entry, flags=entry.flags | TextFlag.ANSWER)


def holds_question_terms(shard: Shard, row: int) -> bool:
    """Whether a row took over the words of its question before."""
    return bool((shard.postings.terms_of(row)["fields"] & FIELD_ASKED).any())
