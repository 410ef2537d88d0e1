"""Making index entries anew: after another embedder or analyser, and of what could not be embedded when it came."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.errors import EmbeddingError
from ebbing.domain.memory.record import MemoryRecord, Stage
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import entry_for, passage
from ebbing.language.text.analyzer import ANALYZER_VERSION, TextFlag, analyse
from ebbing.language.text.text_compression import full_text
from ebbing.ports.job_queue import Job
from ebbing.ports.models.embed_passages import embed_passages
from ebbing.ports.stores.memory_store import Outdated, Reindex
from ebbing.upkeep.step import PlannedChange, StepContext, StepReport
from ebbing.upkeep.worker.worker import STOPPED, JobContext, JobFailure

BATCH_ROWS: Final = 64
"""Rows of one transaction."""
MAX_FAILURES: Final = 3
"""Texts that fail one after the other, each alone: then it is not the texts, and the embedder is left alone."""
_MARK: Final = "reindexed"

ShouldContinue = Callable[[], Awaitable[bool]]


@dataclass(slots=True)
class Reindexed:
    """What was done for one owner so far."""

    rows: int = 0
    """Index entries made anew."""
    embedded: int = 0
    """Of these, with a new vector."""
    failed: int = 0
    """Texts that the embedder does not take; they stay findable by their words, and are tried again another day."""
    is_complete: bool = True
    """Nothing is left but what failed."""
    failure: EmbeddingError | None = None
    """Why the embedder was left alone before all was done."""


async def reindex(deps: StepContext, scope: Scope, *, now: datetime, dry_run: bool = False) -> StepReport:
    """The step: everything of the owner that is outdated, in small transactions; what is killed goes on where it was.

    An embedder that fails does not fail the step: what is left is found by its words, and done another time.
    """
    del now
    if dry_run:
        return await _plan(deps, scope)
    done = await reindex_owner(deps, scope)
    return StepReport("reindex", {"rows": done.rows, "embedded": done.embedded, "failed": done.failed})


async def reindex_owner(deps: StepContext, scope: Scope, *, goes_on: ShouldContinue | None = None) -> Reindexed:
    """Makes the owner's outdated entries anew, a few rows at a time, until nothing is left or `goes_on` says no.

    Searches go on meanwhile: a row without a vector of the model in use is found by its words.
    """
    done = Reindexed()
    after = 0
    while rows := await deps.store.outdated(scope, limit=BATCH_ROWS, after=after):
        if goes_on is not None and not await goes_on():
            done.is_complete = False
            return done
        try:
            vectors = await _vectors(deps, rows, done=done)
        except EmbeddingError as error:
            done.is_complete, done.failure = False, error
            return done
        changes = [_entry(outdated, vectors.get(outdated.seq), deps=deps) for outdated in rows]
        await deps.store.write(scope, changes)
        done.rows += len(rows)
        after = rows[-1].seq
    await deps.store.set_mark(scope, _MARK, value=_state(deps))
    return done


async def is_due(deps: StepContext, scope: Scope) -> bool:
    """Whether the owner was never wholly indexed with this embedder and this analyser."""
    return await deps.store.mark(scope, _MARK) != _state(deps)


async def reindex_job(job: Job, at_work: JobContext, *, deps: StepContext) -> JobFailure | None:
    """Does a job of the kind `reindex`: of the owner that it names, else of each of its tenant's who was not done."""
    owners = [job.belongs_to] if job.belongs_to else [*map(Scope.of, await deps.store.owners(job.tenant))]
    for number, scope in enumerate(owners, 1):
        if job.belongs_to is None and not await is_due(deps, scope):
            continue
        done = await reindex_owner(deps, scope, goes_on=at_work.goes_on)
        rows = at_work.progress.get("rows", 0) + done.rows
        at_work.progress.update(owners_done=number - (not done.is_complete), owners=len(owners), rows=rows)
        if done.failure is not None:
            return JobFailure(done.failure.code, rests=True)
        if not done.is_complete:
            return STOPPED
    return None


async def _plan(deps: StepContext, scope: Scope) -> StepReport:
    report = StepReport("reindex", {"rows": 0})
    after = 0
    while rows := await deps.store.outdated(scope, limit=1_000, after=after):
        after = rows[-1].seq
        report.counts["rows"] += len(rows)
        report.changes += [PlannedChange(outdated.record.id, "index", _why(outdated)) for outdated in rows]
    return report


def _why(outdated: Outdated) -> str:
    if outdated.flags is None:
        return "it has no index entry"
    return (
        "it was analysed by other rules" if outdated.vector is not None else "it has no vector of the embedder in use"
    )


async def _vectors(
    deps: StepContext, rows: Sequence[Outdated], *, done: Reindexed
) -> dict[int, NDArray[np.float32] | None]:
    """By seq, the new vectors of those rows that need one."""
    needy = [
        outdated
        for outdated in rows
        if outdated.vector is None and not _is_faded(outdated.record) and outdated.record.content.strip()
    ]
    if deps.embedder is None or not needy:
        return {}
    texts = [passage(outdated.record) for outdated in needy]
    got = await embed_passages(deps.embedder, texts, seconds=deps.policy.embedding_seconds)
    vectors = [*got.vectors]
    if got.failure is not None:
        begin = vectors.index(None)
        vectors[begin:] = await _one_by_one(deps, texts[begin:], done=done)
    done.embedded += sum(vector is not None for vector in vectors)
    return {outdated.seq: vector for outdated, vector in zip(needy, vectors, strict=True)}


async def _one_by_one(deps: StepContext, texts: Sequence[str], *, done: Reindexed) -> list[NDArray[np.float32] | None]:
    """What failed together, apart: one text that the embedder does not take must not keep the others from theirs.

    Raises:
        EmbeddingError: several failed in a row.
    """
    if deps.embedder is None:
        return []
    vectors: list[NDArray[np.float32] | None] = []
    in_a_row = 0
    for text in texts:
        got = await embed_passages(deps.embedder, [text], seconds=deps.policy.embedding_seconds)
        vectors += got.vectors
        in_a_row = in_a_row + 1 if got.failure else 0
        if got.failure and (in_a_row == MAX_FAILURES or in_a_row == len(texts)):
            raise got.failure
        done.failed += got.failure is not None
    return vectors


def _entry(outdated: Outdated, vector: NDArray[np.float32] | None, *, deps: StepContext) -> Reindex:
    record = outdated.record
    vector = outdated.vector if vector is None else vector
    entry = entry_for(
        analyse(full_text(record), speaker=record.actor, said_at=record.said_at),
        vector=vector,
        model_id=None if deps.embedder is None else deps.embedder.model_id,
        utterance=record.is_verbatim if outdated.flags is None else bool(outdated.flags & TextFlag.UTTERANCE),
    )
    return Reindex(record.id, record.version, entry)


def _is_faded(record: MemoryRecord) -> bool:
    """Whether it lost its vector on purpose."""
    return record.stage is not Stage.FULL


def _state(deps: StepContext) -> int:
    """Names the embedder and the analyser that entries are made with, as a positive number."""
    model = deps.embedder.model_id if deps.embedder else ""
    return int.from_bytes(hashlib.blake2b(f"{ANALYZER_VERSION} {model}".encode(), digest_size=7).digest(), "big") + 1
