"""Memories that a later message leaves without ground, as a trained model judges the two.

The model reads each message beside the memories nearest to it, in the words of the person that they were made of. What
it thinks is over is put in doubt (`doubts`): it stays, and is not told as what holds now.

It also looks at what rules end. "My gym buddy outgrew his egg allergy" ends nobody else's allergy. Where the model
finds an end next to impossible, the memory stays as it is. A new value of an attribute that has one value at a time is
left to the rules, unless it lifts a limit. So are what is put right, and wishes of how to answer.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Final, TypeVar

import anyio
import numpy as np
from numpy.typing import NDArray

from ebbing.domain.conflict.closing import holds_the_value
from ebbing.domain.conflict.decision import Decision, closed_by
from ebbing.domain.errors import EbbingError
from ebbing.domain.memory.record import QUARANTINED, MemoryRecord, MemoryType
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import passage, spoken
from ebbing.language.signals.talk_signs import shows
from ebbing.ports.models.change_model import ChangeModel, EarlierAndLater
from ebbing.ports.stores.memory_store import Insert, MemoryStore
from ebbing.privacy.guarding.trust import may_change
from ebbing.remember.facts.doubts import READ, bears_on_health, is_open_to_doubt, states_something
from ebbing.remember.facts.new_fact import KnownMemory, NewFact, trust_of
from ebbing.remember.reconcile.candidates import owner_scope, vectors_of_newest

LEAST: Final = 0.35
"""Probability from which a message by itself puts a memory in doubt …"""
LEAST_IN_COMPANY: Final = 0.37
"""… one of a talk, where few messages end anything …"""
LEAST_OF_HEALTH: Final = 0.5
"""… one about health: a dose that is over harms, and so does an illness that is not told …"""
LEAST_OF_HARM: Final = 0.7
"""… and a limit, what is for life, or how to answer: where it is missing, somebody may be hurt or annoyed."""
LEAST_BELIEVED: Final = 0.03
"""Probability below which an end is not believed: so it is with no more than one of a hundred that are right."""
MAX_NEAR: Final = 8
"""Memories nearest to a message that it is read beside."""
SECONDS: Final = 5.0
"""How long the model may take for a call; then nothing is put in doubt."""
_LIMITS: Final = frozenset({MemoryType.CONSTRAINT, MemoryType.PROCEDURAL})
_MAX_LOOKED_AT: Final = 24
"""Memories nearest to a message among which those are."""
_AT_ONCE: Final = 256
"""Messages that are compared with all memories at once."""
_PAIRS_AT_ONCE: Final = 64
"""Pairs that the model is asked about at once: a call that is cancelled waits no longer than for these."""

_log = logging.getLogger(__name__)

_Key = TypeVar("_Key")
_Pairing = TypeVar("_Pairing")
Texts = tuple[str, str]
"""A memory in the words that it was made of, and the message that would end it."""


@dataclass(frozen=True, slots=True)
class _WithVector:
    """A message or a memory, with its vector."""

    record: MemoryRecord
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Pair:
    """A memory, and a message that may leave it without ground."""

    memory: _WithVector
    message: _WithVector
    before: str
    """What was said before the message."""
    in_company: bool

    @property
    def key(self) -> tuple[str, int, str]:
        """Names what is judged: a memory in one wording, and a message."""
        record = self.memory.record
        return record.id, record.version, self.message.record.id

    @property
    def least(self) -> float:
        """The probability from which the memory is put in doubt."""
        record = self.memory.record
        if record.type in _LIMITS:
            return LEAST_OF_HARM
        if bears_on_health(record):
            return LEAST_OF_HARM if shows("grave", record.content) else LEAST_OF_HEALTH
        return LEAST_IN_COMPANY if self.in_company else LEAST

    @property
    def texts(self) -> EarlierAndLater:
        """Both as the model sees them."""
        memory, message = self.memory, self.message
        return EarlierAndLater(
            earlier=spoken(memory.record, memory.record.provenance.source_text or ""),
            later=passage(message.record),
            before=self.before,
            earlier_vector=memory.vector,
            later_vector=message.vector,
            in_company=self.in_company,
        )


@dataclass(slots=True)
class OutdatedMemories:
    """Finds what some new messages leave without ground; what was judged once is not judged again."""

    store: MemoryStore
    model: ChangeModel | None
    in_company: bool
    """Whether the messages are part of a running talk, or of one among several people."""
    stored_before: Sequence[MemoryRecord] = ()
    """What was said before the messages, newest first: the newest stands before the first of them in a running talk."""
    _judged: dict[tuple[str, int, str], float] = field(default_factory=dict)

    async def find(
        self,
        messages: Sequence[Insert],
        *,
        new_memories: Sequence[Insert],
        scope: Scope,
        now: datetime,
        besides: Collection[str],
        sure_again: Mapping[str, MemoryRecord],
    ) -> dict[str, str]:
        """Return the id of the message by the id of each memory that it leaves without ground.

        Args:
            messages: what was said, in order, with vectors.
            new_memories: what is made of them, and not stored yet.
            besides: memories that change anyway.
            sure_again: memories by id that were in doubt in the store, and will not be.
        """
        model = self.model
        if model is None:
            return {}
        stating: list[_WithVector] = []
        turns_before: list[str] = []
        stored_before = self.stored_before if self.in_company else ()
        texts_before = map(_text_before, stored_before)
        before = next(filter(None, texts_before), "")
        for message in _with_vectors(messages, model.model_id):
            if states_something(message.record):
                stating.append(message)
                turns_before.append(before)
            before = _text_before(message.record) or before
        if not stating:
            return {}
        unstored = _with_vectors(new_memories, model.model_id)
        new = [each for each in unstored if is_open_to_doubt(each.record)]
        near = await self._near(stating, new, model_id=model.model_id, scope=scope, now=now, sure_again=sure_again)
        pairs: list[_Pair] = []
        for message, before, memories in zip(stating, turns_before, near, strict=True):
            for memory in memories:
                pair = _Pair(memory, message, before, self.in_company)
                if memory.record.id not in besides:
                    pairs.append(pair)
        return await self._judge(model, pairs)

    async def endings(
        self, messages: Sequence[Insert], *, new_memories: Sequence[Insert], scope: Scope, now: datetime
    ) -> frozenset[str]:
        """Return the ids of the messages that leave a memory without ground."""
        doubted = await self.find(messages, new_memories=new_memories, scope=scope, now=now, besides=(), sure_again={})
        return frozenset(doubted.values())

    async def _near(
        self,
        messages: Sequence[_WithVector],
        new: Sequence[_WithVector],
        *,
        model_id: str,
        scope: Scope,
        now: datetime,
        sure_again: Mapping[str, MemoryRecord],
    ) -> list[list[_WithVector]]:
        """Return for each message the memories nearest to it that it may put in doubt, nearest first."""
        ids, vectors = await vectors_of_newest(self.store, model_id=model_id, scope=scope, now=now)
        if not ids and not new:
            return [[] for _ in messages]
        parts = [vectors] if ids else []
        parts += [memory.vector[None] for memory in new]
        rows_by_message = await _nearest_rows(messages, np.concatenate(parts))
        rows = set(chain.from_iterable(rows_by_message)).intersection(range(len(ids)))
        row_of_id = {ids[row]: row for row in rows}
        memories = dict(enumerate(new, start=len(ids)))
        for record in await self.store.get(owner_scope(scope), list(row_of_id)):
            current = sure_again.get(record.id, record)
            if is_open_to_doubt(current):
                row = row_of_id[record.id]
                memories[row] = _WithVector(current, vectors[row])
        near: list[list[_WithVector]] = []
        for message, nearest in zip(messages, rows_by_message, strict=True):
            near.append(_doubtable(message, map(memories.get, nearest)))
        return near

    async def _judge(self, model: ChangeModel, pairs: Sequence[_Pair]) -> dict[str, str]:
        texts_by_key = {pair.key: pair.texts for pair in pairs}
        await _ask(model.changes, texts_by_key, shares=self._judged, otherwise="no memory is put in doubt")
        outdated: dict[str, str] = {}
        for pair in pairs:
            if self._judged.get(pair.key, 0.0) >= pair.least:
                outdated.setdefault(pair.memory.record.id, pair.message.record.id)
        return outdated


@dataclass(slots=True)
class DisbelievedEndings:
    """Finds them; what was judged once is not judged again."""

    model: ChangeModel | None
    besides: frozenset[str]
    """Memories of messages that are edited: what these say was never true."""
    _judged: dict[Texts, float] = field(default_factory=dict)

    async def find(
        self, facts: Sequence[NewFact], decisions: Sequence[Decision], *, candidates: Sequence[Sequence[KnownMemory]]
    ) -> frozenset[tuple[int, str]]:
        """Return the place of the fact and the id of the memory, of each ending that is not believed.

        Args:
            facts: what was read.
            decisions: what is to become of each fact.
            candidates: the memories that may have to do with each fact.
        """
        if self.model is None:
            return frozenset()
        texts_by_ending: dict[tuple[int, str], Texts] = {}
        for place, (fact, decision, memories) in enumerate(zip(facts, decisions, candidates, strict=True)):
            for memory_id, texts in _endings(fact, decision, memories=memories):
                if memory_id not in self.besides:
                    texts_by_ending[place, memory_id] = texts
        every_text = texts_by_ending.values()
        await _ask(
            self.model.ends,
            dict(zip(every_text, every_text, strict=True)),
            shares=self._judged,
            otherwise="an end is believed",
        )
        return frozenset(
            ending for ending, texts in texts_by_ending.items() if self._judged.get(texts, 1.0) < LEAST_BELIEVED
        )


def _endings(fact: NewFact, decision: Decision, *, memories: Sequence[KnownMemory]) -> Iterator[tuple[str, Texts]]:
    """Yield the memories that a decision ends, with the texts to judge."""
    later = fact.fact.sentence or fact.fact.source_text
    ended = set(closed_by(decision)).difference(fact.fact.instead_of)
    if not ended or not later or fact.fact.corrects:
        return
    for memory in memories:
        record = memory.record
        earlier = record.provenance.source_text
        if record.id not in ended or record.provenance.method not in READ or record.type is MemoryType.PROCEDURAL:
            continue
        if earlier and (record.type is MemoryType.CONSTRAINT or not holds_the_value(fact.claim, memory.claim)):
            yield record.id, (spoken(record, earlier), spoken(fact.record, later))


async def _ask(
    model: Callable[[Sequence[_Pairing]], Awaitable[Sequence[float]]],
    pairs: Mapping[_Key, _Pairing],
    *,
    shares: dict[_Key, float],
    otherwise: str,
) -> None:
    """Note what the change model says, piece by piece: what arrived before it fails or takes too long stays.

    Args:
        model: gives a probability for each pair.
        pairs: what to ask about, by what names it.
        shares: where the probabilities are noted; what stands there is not asked again.
        otherwise: what follows for the rest, as the log says it.
    """
    try:
        with anyio.fail_after(SECONDS):
            missing = [key for key in pairs if key not in shares]
            for first in range(0, len(missing), _PAIRS_AT_ONCE):
                keys = missing[first : first + _PAIRS_AT_ONCE]
                shares.update(zip(keys, await model(list(map(pairs.__getitem__, keys))), strict=True))
    except TimeoutError:
        _log.warning("%s: the change model took more than %.0f s", otherwise, SECONDS)
    except EbbingError as error:
        _log.warning("%s: %s", otherwise, error)
    except Exception as error:  # a runtime raises errors of its own; the messages are stored all the same
        _log.warning("%s: the change model raised %s", otherwise, type(error).__name__)


def _with_vectors(inserts: Sequence[Insert], model_id: str) -> Iterator[_WithVector]:
    """Yield messages or new memories with their vectors, where they have one of this model."""
    for insert in inserts:
        entry = insert.entry
        if entry is not None and entry.vector is not None and entry.model_id == model_id:
            yield _WithVector(insert.record, entry.vector)


async def _nearest_rows(messages: Sequence[_WithVector], vectors: NDArray[np.float32]) -> list[list[int]]:
    """Return for each message the rows nearest to it, nearest first, of vectors of the shape (rows, dim), rows > 0."""
    count = min(_MAX_LOOKED_AT, len(vectors))
    rows: list[list[int]] = []
    for first in range(0, len(messages), _AT_ONCE):
        some = messages[first : first + _AT_ONCE]
        distances = -np.stack([message.vector for message in some]) @ vectors.T
        best = np.argpartition(distances, count - 1, axis=1)[:, :count]
        order = np.argsort(np.take_along_axis(distances, best, axis=1), axis=1)
        rows += np.take_along_axis(best, order, axis=1).tolist()
        await anyio.lowlevel.checkpoint()
    return rows


def _doubtable(message: _WithVector, nearest: Iterable[_WithVector | None]) -> list[_WithVector]:
    """Return the first memories that a message may put in doubt; None stands for what is not open to doubt."""
    memories: list[_WithVector] = []
    for memory in nearest:
        if memory is None:
            continue
        if _may_doubt(message.record, memory.record):
            memories.append(memory)
    return memories[:MAX_NEAR]


def _may_doubt(message: MemoryRecord, memory: MemoryRecord) -> bool:
    """Return whether the same person said a message later, in other words than those that the memory rests on.

    A document changes nothing of what a person said.
    """
    is_same = message.actor == memory.actor
    if not is_same or message.created_at <= memory.created_at or not may_change(trust_of(message), trust_of(memory)):
        return False
    return set(message.provenance.source_ids).isdisjoint(memory.provenance.source_ids)


def _text_before(record: MemoryRecord) -> str:
    return "" if QUARANTINED in record.tags else passage(record)
