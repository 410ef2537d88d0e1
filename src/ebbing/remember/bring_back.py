"""Records that were exported elsewhere, or earlier, become memories again with everything they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from ebbing.domain.errors import ConflictError, InvalidInputError
from ebbing.domain.record import MemoryRecord
from ebbing.domain.scope import Scope
from ebbing.remember.add import Remembering
from ebbing.remember.draft import Draft
from ebbing.remember.embed import embedded
from ebbing.transfer.portable import record_from_line

REASON: Final = "imported"
TAKEN: Final = "a memory with this id belongs to somebody else in this store"


@dataclass(slots=True)
class BroughtBack:
    """What became of the records."""

    imported: int = 0
    known: int = 0
    """Here already: the same id, or the same message."""
    refused: dict[int, str] = field(default_factory=dict)
    """Place in the call, from 0, and why."""


async def bring_back(
    using: Remembering, lines: Sequence[Mapping[str, Any]], *, tenant: str, user_id: str | None
) -> BroughtBack:
    """Stores what `line_from_record` wrote, one transaction an owner; what is here already stays as it is.

    A line that cannot be used is refused and told of; it never stops the others.
    """
    result = BroughtBack()
    records: list[tuple[int, MemoryRecord]] = []
    for place, line in enumerate(lines):
        try:
            records.append((place, record_from_line(line, tenant=tenant, user_id=user_id)))
        except InvalidInputError as error:
            result.refused[place] = str(error)
    records.sort(key=lambda numbered: repr(numbered[1].whose.owner))
    for _, group in groupby(records, key=lambda numbered: numbered[1].whose.owner):
        await _of_one_owner(using, dict(group), result=result)
    return result


async def _of_one_owner(using: Remembering, records: dict[int, MemoryRecord], *, result: BroughtBack) -> None:
    whose = next(iter(records.values())).whose
    scope = Scope.of(whose.owner)
    held = {record.id for record in await using.store.get(scope, [one.id for one in records.values()], deleted=True)}
    fresh: dict[int, MemoryRecord] = {}
    for place, record in records.items():
        if record.id in held:
            result.known += 1
        elif await using.store.scope_of(whose.tenant, record.id) is not None:
            result.refused[place] = TAKEN
        else:
            held.add(record.id)
            fresh[place] = record
    inserts = await embedded(using.embedding, [_draft(record) for record in fresh.values()])
    if not inserts:
        return
    try:
        ids = await using.store.write(scope, inserts)
    except ConflictError:
        result.refused |= dict.fromkeys(fresh, "another program was storing the same memories: import again")
        return
    await using.note_bare(inserts, scope)
    new = sum(kept == record.id for kept, record in zip(ids, fresh.values(), strict=True))
    result.imported += new
    result.known += len(ids) - new


def _draft(record: MemoryRecord) -> Draft:
    said = record.is_verbatim
    return Draft(record, utterance=said, once=said and bool(record.provenance.source_ids), reason=REASON)
