"""Records that were exported elsewhere, or earlier, become memories again with everything they hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Final
from uuid import UUID

from ebbing.domain.errors import ConflictError, InvalidInputError
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.privacy.guarding.trust import TrustTier, trust_in
from ebbing.privacy.names import person_name
from ebbing.remember.add_deps import AddDeps
from ebbing.remember.facts.drafts import Draft
from ebbing.remember.vectors.embed_drafts import ids_without_vector
from ebbing.transfer.record_lines import record_from_line

REASON: Final = "imported"


@dataclass(slots=True)
class ImportReport:
    """The outcome of an import."""

    imported: int = 0
    already_stored: int = 0
    """Here already: the same id, or the same message."""
    refused: dict[int, str] = field(default_factory=dict)
    """Place in the call, from 0, and why."""


async def import_records(
    deps: AddDeps, lines: Sequence[Mapping[str, Any]], *, tenant: str, user_id: str | None
) -> ImportReport:
    """Store what `line_from_record` wrote, one transaction an owner; what is here already stays as it is.

    A line that cannot be used is refused and told of; it never stops the others.
    """
    result = ImportReport()
    records: list[tuple[int, MemoryRecord]] = []
    for place, line in enumerate(lines):
        try:
            records.append((place, _as_imported(record_from_line(line, tenant=tenant, user_id=user_id))))
        except InvalidInputError as error:
            result.refused[place] = str(error)
    records.sort(key=lambda numbered: repr(numbered[1].belongs_to.owner))
    for _, group in groupby(records, key=lambda numbered: numbered[1].belongs_to.owner):
        await _of_one_owner(deps, dict(group), result=result)
    return result


def _as_imported(record: MemoryRecord) -> MemoryRecord:
    """Return the record with the trust of a file, whatever it says of itself, and a speaker's name that is one."""
    actor = None if record.actor is None else person_name(record.actor)
    return replace(record, trust=max(trust_in(record), TrustTier.IMPORT, key=[*TrustTier].index), actor=actor)


async def _of_one_owner(deps: AddDeps, records: dict[int, MemoryRecord], *, result: ImportReport) -> None:
    scope = Scope.of(next(iter(records.values())).belongs_to.owner)
    names = await _id_mapping(deps, list(records.values()), scope=scope)
    fresh: dict[int, MemoryRecord] = {}
    for place, record in records.items():
        name = names.local_id(record.id)
        if name in names.own_ids:
            result.already_stored += 1
        else:
            names.own_ids.add(name)
            fresh[place] = _renamed(record, names)
    inserts = await deps.embed([_draft(record) for record in fresh.values()])
    if not inserts:
        return
    try:
        ids = await deps.store.write(scope, inserts)
    except ConflictError:
        result.refused |= dict.fromkeys(fresh, "another program was storing the same memories: import again")
        return
    await deps.note_missing_vectors(ids_without_vector(inserts), scope)
    new = sum(stored_id == record.id for stored_id, record in zip(ids, fresh.values(), strict=True))
    result.imported += new
    result.already_stored += len(ids) - new


@dataclass(frozen=True, slots=True)
class _IdMapping:
    """Under which ids the owner has, or will have, the records.

    An id that belongs to somebody else in this store becomes another one, always the same: nobody learns by an import
    what others have, and a repeated import stores nothing twice.
    """

    owner: Owner
    own_ids: set[str]
    """Ids that the owner has."""
    foreign: set[str]
    """Ids that somebody else has."""

    def local_id(self, memory_id: str) -> str:
        """Return the id that it has with this owner."""
        other = _other(memory_id, self.owner)
        is_other = memory_id not in self.own_ids and (memory_id in self.foreign or other in self.own_ids)
        return other if is_other else memory_id


async def _id_mapping(deps: AddDeps, records: Sequence[MemoryRecord], *, scope: Scope) -> _IdMapping:
    named = {record.id for record in records}.union(*map(_referred, records))
    others = {_other(memory_id, scope.owner) for memory_id in named}
    own_ids = {record.id for record in await deps.store.get(scope, sorted(named | others), deleted=True)}
    return _IdMapping(scope.owner, own_ids, await deps.store.taken(sorted(named - own_ids)))


def _referred(record: MemoryRecord) -> set[str]:
    """Return the ids of other memories that a record names."""
    return {*record.related_ids, *record.compression_sources, *filter(None, [record.superseded_by])}


def _renamed(record: MemoryRecord, names: _IdMapping) -> MemoryRecord:
    return replace(
        record,
        id=names.local_id(record.id),
        related_ids=tuple(map(names.local_id, record.related_ids)),
        compression_sources=tuple(map(names.local_id, record.compression_sources)),
        superseded_by=names.local_id(record.superseded_by) if record.superseded_by else None,
    )


def _other(memory_id: str, owner: Owner) -> str:
    """Return an id for a copy of a memory with another owner: UUID version 8, made of both."""
    named = json.dumps([memory_id, owner.tenant, owner.kind, owner.name])
    number = int.from_bytes(hashlib.blake2b(named.encode("utf-8", "surrogatepass"), digest_size=16).digest())
    return str(UUID(int=number & ~(0xF << 76 | 3 << 62) | 8 << 76 | 2 << 62))


def _draft(record: MemoryRecord) -> Draft:
    is_message = record.is_verbatim
    return Draft(record, utterance=is_message, once=is_message and bool(record.provenance.source_ids), reason=REASON)
