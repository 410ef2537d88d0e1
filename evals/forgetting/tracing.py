"""What became of the messages that hold an answer: for whoever wants to know why it is no longer found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.memory import AsyncMemory
from evals.forgetting.lived import Lived
from evals.forgetting.lives import Life

_SHOWN = 90
"""Characters of a text."""


async def traced(memory: AsyncMemory, life: Life) -> dict[str, list[str]]:
    """By question of the last sitting, one line a record that was read from its messages, deleted or not."""
    behind = _by_source(await _records(memory, life.user))
    said = {message["id"]: message["content"] for turn in life.turns for message in turn.messages}
    return {
        exam.id: [line for name in sorted(exam.sources) for line in _lines(name, said[name], behind=behind)]
        for exam in life.sittings[-1].exams
    }


def _lines(name: str, text: str, *, behind: Mapping[str, Sequence[MemoryRecord]]) -> list[str]:
    if name not in behind:
        return [f"{name}: gone | {text[:_SHOWN]}"]
    return [f"{name}: {_state(record)}" for record in behind[name]]


def lost(whole: Lived, ours: Lived) -> list[str]:
    """The questions of the last sitting that keeping everything answers better, with what became of the evidence."""
    last = whole.marks[-1].day
    best = {mark.exam: mark for mark in whole.marks if mark.day == last}
    lines = []
    for mark in ours.marks:
        if mark.day != last or _sum(mark.marks) >= _sum(best[mark.exam].marks):
            continue
        lines.append(f"{mark.exam} [{mark.group}] {_told(best[mark.exam].marks)} → {_told(mark.marks)}")
        lines += [f"    {line}" for line in ours.traces.get(mark.exam, [])]
    return lines


async def _records(memory: AsyncMemory, user: str) -> Sequence[MemoryRecord]:
    found: list[MemoryRecord] = []
    cursor: str | None = None
    while True:
        page = await memory.components.store.page(
            Scope(user_id=user), kinds=tuple(Kind), limit=1_000, cursor=cursor, deleted=True
        )
        found += page.records
        cursor = page.next_cursor
        if cursor is None:
            return found


def _by_source(records: Iterable[MemoryRecord]) -> Mapping[str, Sequence[MemoryRecord]]:
    behind: dict[str, list[MemoryRecord]] = defaultdict(list)
    for record in records:
        for name in record.provenance.source_ids:
            behind[name].append(record)
    return behind


def _state(record: MemoryRecord) -> str:
    state = [record.kind.value, record.type.value, record.stage.value, f"I {record.importance:.2f}"]
    state += [f"{record.mentions} ×"] if record.mentions > 1 else []
    state += [f"used {record.access_count} ×"] if record.access_count else []
    state += ["superseded"] if record.valid_to else []
    state += [f"retired for {record.superseded_by}"] if record.retired_at else []
    state += [f"deleted: {record.delete_reason}"] if record.deleted_at else []
    return f"{', '.join(state)} | {record.content[:_SHOWN]}"


def _sum(marks: Mapping[str, float]) -> float:
    return sum(marks.values())


def _told(marks: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in marks.items())
