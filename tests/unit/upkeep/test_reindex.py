"""Index entries are made anew for another embedder or analyser, a few rows at a time, whatever happens meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.domain.errors import EmbeddingError
from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.memory.record import Kind, MemoryRecord, Provenance
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import entry_for
from ebbing.index.shard import Shard
from ebbing.language.text.analyzer import TextFlag, analyse
from ebbing.ports.job_queue import Job, JobState
from ebbing.ports.models.embedder import Vectors
from ebbing.ports.stores.memory_store import Insert
from ebbing.testing.clock import ManualClock
from ebbing.testing.ids import SequentialIds
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.upkeep.repair.reindex import BATCH_ROWS, is_due, reindex, reindex_job, reindex_owner
from ebbing.upkeep.step import StepContext
from ebbing.upkeep.worker.worker import STOPPED, JobContext, JobFailure

pytestmark = pytest.mark.anyio
ADA, BOB = Scope(user_id="ada"), Scope(user_id="bob")
NEW = FakeEmbedder(24)


class Picky(FakeEmbedder):
    """Refuses texts with a word in them, and everything while it is down."""

    def __init__(self, word: str = "poison") -> None:
        super().__init__(24)
        self.word, self.down, self.asked = word, False, 0

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked += 1
        if self.down or any(self.word in text for text in texts):
            raise EmbeddingError("refused")
        return self.embed(texts)


@dataclass
class World:
    store: SqliteMemoryStore
    clock: ManualClock
    ids: SequentialIds

    def deps(self, embedder: FakeEmbedder | None = NEW) -> StepContext:
        self.store.use_model(embedder)
        return StepContext(self.store, embedder, self.ids, UpkeepPolicy())

    async def keep(self, text: str, *, scope: Scope = ADA, kind: Kind = Kind.MEMORY) -> MemoryRecord:
        """A record as an older embedder left it."""
        now = self.clock.now()
        record = MemoryRecord(self.ids.new(), scope, text, now, now, kind=kind)
        old = FakeEmbedder(16)
        entry = entry_for(analyse(text, said_at=now), vector=old.embed([text])[0], model_id=old.model_id)
        await self.store.write(scope, [Insert(record, entry)])
        return record


@pytest.fixture
async def world() -> AsyncIterator[World]:
    clock = ManualClock()
    store = SqliteMemoryStore.in_memory(clock=clock)
    yield World(store, clock, SequentialIds())
    await store.aclose()


def embedded(shard: Shard) -> int:
    return int((shard.embedded & shard.alive).sum())


async def test_every_row_gets_a_vector_of_the_new_embedder(world: World) -> None:
    for number in range(BATCH_ROWS + 10):
        await world.keep(f"note {number}")
    deps = world.deps()
    report = await reindex(deps, ADA, now=world.clock.now())
    assert report.counts == {"rows": BATCH_ROWS + 10, "embedded": BATCH_ROWS + 10, "failed": 0}
    assert embedded(await world.store.shard(ADA)) == BATCH_ROWS + 10
    again = await reindex(deps, ADA, now=world.clock.now())
    assert again.counts == {"rows": 0, "embedded": 0, "failed": 0}
    assert await world.store.verify() == []


async def test_a_dry_run_lists_what_would_be_done_and_does_nothing(world: World) -> None:
    record = await world.keep("likes tea")
    report = await reindex(world.deps(), ADA, now=world.clock.now(), dry_run=True)
    assert [(one.memory_id, one.why) for one in report.changes] == [
        (record.id, "it has no vector of the embedder in use")
    ]
    assert embedded(await world.store.shard(ADA)) == 0


async def test_another_analyser_keeps_the_vectors_that_there_are(world: World) -> None:
    record = await world.keep("likes tea")
    entry = replace(entry_for(analyse("likes tea"), vector=NEW.embed(["kept"])[0], model_id=NEW.model_id), analyzer=0)
    await world.store.erase(ADA)
    await world.store.write(ADA, [Insert(record, entry)])
    embedder = Picky("")
    report = await reindex(world.deps(embedder), ADA, now=world.clock.now())
    assert (report.counts["rows"], report.counts["embedded"], embedder.asked) == (1, 0, 0)
    [row] = (await world.store.shard(ADA)).vectors
    assert row == pytest.approx(NEW.embed(["kept"])[0], abs=1e-3)


async def test_without_an_embedder_only_the_words_are_looked_at(world: World) -> None:
    await world.keep("likes tea")
    report = await reindex(world.deps(None), ADA, now=world.clock.now())
    assert report.counts["rows"] == 0


@pytest.mark.parametrize("flags", [0, int(TextFlag.UTTERANCE)])
async def test_what_was_said_stays_what_was_said(world: World, flags: int) -> None:
    record = await world.keep("likes tea")
    await world.store.erase(ADA)
    entry = replace(entry_for(analyse("likes tea")), flags=flags)
    bare = replace(record, id="bare", provenance=Provenance(method="rule"), kind=Kind.EPISODE)
    await world.store.write(ADA, [Insert(record, entry), Insert(bare, None)])
    await reindex(world.deps(), ADA, now=world.clock.now())
    shard = await world.store.shard(ADA)
    found = {
        shard.ids[row]: int(shard.flags[row] & TextFlag.UTTERANCE) for row in range(shard.size) if shard.alive[row]
    }
    assert found == {record.id: flags, "bare": int(TextFlag.UTTERANCE)}


async def test_a_text_that_the_embedder_refuses_keeps_no_other_from_its_vector(world: World) -> None:
    for number in range(10):
        await world.keep("poison" if number == 4 else f"note {number}")
    report = await reindex(world.deps(Picky()), ADA, now=world.clock.now())
    assert report.counts == {"rows": 10, "embedded": 9, "failed": 1}
    assert embedded(await world.store.shard(ADA)) == 9


async def test_an_embedder_that_is_down_is_soon_left_alone_and_costs_nothing_that_was_done(world: World) -> None:
    for number in range(BATCH_ROWS + 20):
        await world.keep(f"note {number}" if number < BATCH_ROWS else f"poison {number}")
    embedder = Picky()
    done = await reindex_owner(world.deps(embedder), ADA)
    assert (done.rows, done.is_complete, str(done.failure)) == (BATCH_ROWS, False, "refused")
    assert embedder.asked < 10
    embedder.word = "nothing"
    assert (await reindex_owner(world.deps(embedder), ADA)).rows == 20


async def test_it_stops_between_two_portions_and_goes_on_where_it_was(world: World) -> None:
    for number in range(3 * BATCH_ROWS):
        await world.keep(f"note {number}")
    answers = iter([True, False])

    async def goes_on() -> bool:
        return next(answers)

    deps = world.deps()
    first = await reindex_owner(deps, ADA, goes_on=goes_on)
    assert (first.rows, first.is_complete) == (BATCH_ROWS, False)
    assert await is_due(deps, ADA)
    assert (await reindex_owner(deps, ADA)).rows == 2 * BATCH_ROWS
    assert not await is_due(deps, ADA)
    assert await is_due(world.deps(FakeEmbedder(32)), ADA)


# ── as a job ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def job(scope: Scope | None = None) -> Job:
    now = ManualClock().now()
    return Job(1, "reindex", "key", {}, JobState.RUNNING, 1, 5, now, None, None, belongs_to=scope)


async def worked(deps: StepContext, at_work: JobContext, scope: Scope | None = None) -> JobFailure | None:
    return await partial(reindex_job, deps=deps)(job(scope), at_work)


async def _always() -> bool:
    return True


async def test_the_job_of_a_tenant_does_every_owner_once(world: World) -> None:
    for scope in (ADA, BOB):
        await world.keep("likes tea", scope=scope)
    at_work, deps = JobContext({}, _always), world.deps()
    assert await worked(deps, at_work) is None
    assert at_work.progress == {"owners_done": 2, "owners": 2, "rows": 2}
    await world.keep("comes later, from the old embedder", scope=ADA)
    assert await worked(deps, JobContext({}, _always)) is None
    assert embedded(await world.store.shard(ADA)) == 1, "who was done is not looked at again"
    assert await worked(deps, JobContext({}, _always), ADA) is None
    assert embedded(await world.store.shard(ADA)) == 2


async def test_the_job_says_why_it_could_not_be_done_or_where_it_stopped(world: World) -> None:
    await world.keep("poison")
    assert await worked(world.deps(Picky()), JobContext({}, _always)) == JobFailure("embedding", rests=True)

    async def never() -> bool:
        return False

    at_work = JobContext({}, never)
    assert await worked(world.deps(), at_work) is STOPPED
    assert at_work.progress == {"owners_done": 0, "owners": 1, "rows": 0}
