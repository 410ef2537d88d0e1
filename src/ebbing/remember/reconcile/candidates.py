"""The memories that a fact may repeat or contradict: of the same words, attribute, object or meaning."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.conflict.claim import STATE_ENDING
from ebbing.domain.conflict.decision import Decision, changed_by
from ebbing.domain.memory.record import Kind, MemoryRecord, content_hash
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import term_hash
from ebbing.index.shard import KINDS, Shard, digest, micros
from ebbing.ports.models.embedder import Calibration
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.remember.facts.known_memories import known_memory
from ebbing.remember.facts.new_fact import KnownMemory, NewFact

MAX_SIMILAR: Final = 5
"""Memories of much the same wording, and of much the same meaning, that are looked at for each fact."""
MAX_EXACT: Final = 20
"""Memories of the same attribute or object that are."""
MAX_RECENT: Final = 3
"""The last memories, which are looked at where something is new or over: it may be what was spoken of."""
MAX_NEAR_IN: Final = 5_000
"""Newest memories that a message is compared with by its vector."""
MIN_SIMILARITY: Final = 0.5
"""Calibrated similarity from which a memory is looked at."""


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """The candidates of some facts."""

    by_fact: tuple[tuple[KnownMemory, ...], ...]
    """For each fact, without repeats."""
    generation: int
    """Of the shard that this was read from."""

    @property
    def all(self) -> list[KnownMemory]:
        """Every candidate once."""
        by_id: dict[str, KnownMemory] = {}
        for memories in self.by_fact:
            for memory in memories:
                by_id[memory.record.id] = memory
        return list(by_id.values())


async def find_candidates(
    store: MemoryStore,
    facts: Sequence[NewFact],
    *,
    scope: Scope,
    now: datetime,
    calibration: Calibration | None,
    always: Sequence[str] = (),
) -> CandidateSet:
    """Return the current memories within the scope that may have to do with each fact; those with an id of `always` do.

    A scope that names a user or an agent reaches over its runs: what was said in another session is known.
    """
    shard = await store.shard(scope)
    current = current_rows(shard, scope, now=now)
    always_rows = _rows_of(shard, always, mask=current)
    rows_by_fact: list[dict[int, float]] = []
    ids: dict[str, None] = {}
    for fact in facts:
        rows = dict.fromkeys(always_rows, 0.0)
        rows |= _near(shard, fact, current=current, calibration=calibration)
        rows_by_fact.append(rows)
        ids |= dict.fromkeys(shard.ids[row] for row in rows)
    memories = await _known_memories(store, shard, ids=ids, scope=scope)
    by_fact = tuple(_with_similarity(shard, rows, memories=memories) for rows in rows_by_fact)
    return CandidateSet(by_fact, shard.generation)


async def current_in_these_words(store: MemoryStore, text: str, *, scope: Scope, now: datetime) -> list[MemoryRecord]:
    """Return the memories and messages that are in just these words, and neither over nor deleted."""
    shard, moment = await store.shard(scope), micros(now)
    current = shard.alive & (shard.valid_to > moment) & (shard.expires > moment)
    rows = np.flatnonzero(current & (shard.digest == digest(content_hash(text))))
    records = await store.get(owner_scope(scope), [shard.ids[row] for row in rows])
    return [record for record in records if record.is_active]


async def vectors_of_newest(
    store: MemoryStore, *, model_id: str, scope: Scope, now: datetime
) -> tuple[list[str], NDArray[np.float32]]:
    """Return the ids and vectors, shape (ids, dim), of the newest current memories of an owner.

    Args:
        model_id: of the embedder whose vectors are meant; where those of the store are another's, there are none.
    """
    shard = await store.shard(scope)
    if shard.model_id != model_id:
        return [], np.zeros((0, shard.dim), np.float32)
    rows = np.flatnonzero(current_rows(shard, scope, now=now) & shard.embedded)[-MAX_NEAR_IN:]
    return [shard.ids[row] for row in rows], shard.vectors[rows]


def _rows_of(shard: Shard, memory_ids: Sequence[str], *, mask: NDArray[np.bool_]) -> list[int]:
    """Return the rows of these ids, in their order, as far as the mask has them."""
    if not memory_ids:
        return []
    row_of = {memory_id: row for row, memory_id in enumerate(shard.ids[: shard.size])}
    rows = [row_of[memory_id] for memory_id in memory_ids if memory_id in row_of]
    return [row for row in rows if mask[row]]


def _with_similarity(
    shard: Shard, rows: Mapping[int, float], *, memories: Mapping[str, KnownMemory]
) -> tuple[KnownMemory, ...]:
    """Return the memories of these rows, each with its similarity to the fact."""
    similar: list[KnownMemory] = []
    for row, similarity in rows.items():
        memory = memories.get(shard.ids[row])
        if memory is not None:
            similar.append(replace(memory, similarity=similarity) if similarity else memory)
    return tuple(similar)


async def _known_memories(
    store: MemoryStore, shard: Shard, *, ids: Collection[str], scope: Scope
) -> dict[str, KnownMemory]:
    """Return the candidates of these ids. They are kept with the shard, whose rows are the scope's own, until theirs
    change.

    How strong a memory is and how often it was used may have changed since: see `refresh_candidates`.
    """
    memories: dict[str, KnownMemory] = shard.compared
    missing = [memory_id for memory_id in ids if memory_id not in memories]
    if missing:
        memories.update((record.id, known_memory(record)) for record in await store.get(owner_scope(scope), missing))
    return {memory_id: memories[memory_id] for memory_id in ids if memory_id in memories}


async def refresh_candidates(
    store: MemoryStore, candidates: CandidateSet, *, decisions: Iterable[Decision], scope: Scope
) -> list[KnownMemory]:
    """Return every candidate once, and those that the decisions change as they are in the store."""
    changed = dict.fromkeys(memory_id for decision in decisions for memory_id in changed_by(decision))
    if not changed:
        return candidates.all
    stored = {record.id: record for record in await store.get(owner_scope(scope), list(changed))}
    return [_renewed(memory, stored.get(memory.record.id)) for memory in candidates.all]


def _renewed(memory: KnownMemory, stored: MemoryRecord | None) -> KnownMemory:
    """Return the candidate as it is in the store. One that was changed there stays, so that it is not written over."""
    if stored is None or stored.version != memory.record.version:
        return memory
    return replace(memory, record=stored)


def owner_scope(scope: Scope) -> Scope:
    """Return the scope with all its runs, unless the run is all there is."""
    return replace(scope, run_id=None) if scope.run_id and (scope.user_id or scope.agent_id) else scope


def current_rows(shard: Shard, scope: Scope, *, now: datetime) -> NDArray[np.bool_]:
    """Return which rows are memories within the scope that neither are over nor have expired."""
    moment = micros(now)
    current: NDArray[np.bool_] = shard.alive & (shard.kind == KINDS.index(Kind.MEMORY))
    current &= (shard.valid_to > moment) & (shard.expires > moment)
    if scope.agent_id is not None:
        current &= shard.agent == shard.agents.find(scope.agent_id)
    return current


def _near(
    shard: Shard, fact: NewFact, *, current: NDArray[np.bool_], calibration: Calibration | None
) -> dict[int, float]:
    """Rows around one fact with their similarity."""
    actor = fact.record.actor
    mask = current & (shard.actor == (0 if actor is None else shard.actors.find(actor)))
    exact = (shard.digest == digest(content_hash(fact.fact.text))) | _same_matter(shard, fact)
    rows = list(np.flatnonzero(mask & exact)[-MAX_EXACT:])
    entry, claim = fact.insert.entry, fact.claim
    if entry is not None and shard.size:
        rows += _alike_in_words(shard, entry.terms["term"][entry.terms["tf"] > 0], mask=mask)
        words = claim.cues.seeks.union(*(end.words for end in claim.ends if end.needs == STATE_ENDING))
        if words:
            hashes = np.sort(np.fromiter(map(term_hash, words), np.uint64, len(words)))
            rows += _alike_in_words(shard, hashes, mask=mask)
    if claim.changed or claim.ends or claim.over or claim.cues.becomes:
        rows += list(np.flatnonzero(mask)[-MAX_RECENT:])
    similarity = _similarity(shard, fact, calibration=calibration)
    if similarity is not None:
        rows += _largest(np.where(mask, similarity, 0.0), MIN_SIMILARITY)
    return {int(row): 0.0 if similarity is None else float(similarity[row]) for row in dict.fromkeys(rows)}


def _same_matter(shard: Shard, fact: NewFact) -> NDArray[np.bool_]:
    ended = {name for end in fact.claim.ends for name in end.attributes}
    names = (
        code
        for name, code in shard.attributes.items()
        if name == fact.record.attribute or name in ended or name.rsplit(".", 1)[-1] in ended
    )
    same = np.zeros(shard.size, dtype=np.bool_)
    for code in names:
        same |= shard.attribute == code
    if fact.record.object is not None:
        same |= shard.object == shard.objects.find(fact.record.object)
    return same


def _alike_in_words(shard: Shard, terms: NDArray[np.uint64], *, mask: NDArray[np.bool_]) -> Iterable[int]:
    terms = np.ascontiguousarray(terms)
    matches = shard.postings.find(terms)
    rows_with_term = np.bincount(matches.term, minlength=len(terms))
    weights = np.log1p(shard.size / np.maximum(rows_with_term, 1))
    scores = np.bincount(matches.rows, weights=weights[matches.term], minlength=shard.size)
    return _largest(np.where(mask, scores, 0.0), 0.0)


def _similarity(shard: Shard, fact: NewFact, *, calibration: Calibration | None) -> NDArray[np.float32] | None:
    entry = fact.insert.entry
    if calibration is None or entry is None or entry.vector is None or entry.model_id != shard.model_id:
        return None
    return calibration.similarity(shard.vectors @ entry.vector)


def _largest(scores: NDArray[np.floating], least: float) -> list[int]:
    top = np.argpartition(scores, -MAX_SIMILAR)[-MAX_SIMILAR:] if len(scores) > MAX_SIMILAR else np.arange(len(scores))
    return [int(row) for row in top if scores[row] > least]
