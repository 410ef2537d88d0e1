"""What a model could not read is kept, queued, read again, and never lost from sight."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ebbing.adapters.sqlite import SqliteMemoryStore
from ebbing.domain.conflict.decision import Fact
from ebbing.domain.errors import ModelUnavailableError, StoreError
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.pending_extraction import EXTRACTION_JOB, ExtractionFailure, PendingExtraction
from ebbing.domain.memory.record import Kind, MemoryRecord, Provenance, Role
from ebbing.domain.memory.scope import Scope
from ebbing.index.index_entry import entry_for
from ebbing.language.text.analyzer import analyse
from ebbing.ports.job_queue import JobState
from ebbing.ports.stores.memory_store import Erase, Insert
from ebbing.remember.llm.client import LlmOptions
from ebbing.remember.llm.retry_queue import MAX_ATTEMPTS, enqueue_retry, pending_extraction_of, retry_extraction
from ebbing.testing.chance import FixedChance
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.chat_model import ScriptedChatModel
from ebbing.upkeep.repair.retry_extraction import Retried, extraction, retry_extractions, unread_counts
from ebbing.upkeep.worker.worker import WorkerDeps

pytestmark = pytest.mark.anyio

ADA = Scope(user_id="ada", agent_id="nova", run_id="r1")
WORK = PendingExtraction(ADA, ("e0", "e1"), agent_facts=True)
DOWN = ExtractionFailure("model_unavailable", (0, 1))


def no_rules(messages: Sequence[Message]) -> list[Fact]:
    return []


def episode(number: int, text: str, role: Role = Role.USER) -> Insert:
    said = datetime(2024, 1, 1, 8, number, tzinfo=UTC)
    record = MemoryRecord(
        id=f"e{number}",
        belongs_to=ADA,
        content=text,
        created_at=said,
        recorded_at=said,
        kind=Kind.EPISODE,
        role=role,
        provenance=Provenance(source_ids=(f"m{number}",)),
    )
    return Insert(record, entry_for(analyse(text), vector=None, model_id=None, utterance=True))


def test_the_job_names_the_episodes_and_holds_nothing_of_what_was_said() -> None:
    payload = WORK.payload()
    assert payload["episode_ids"] == ["e0", "e1"]
    assert PendingExtraction.of(payload) == WORK
    assert {type(value) for value in payload.values()} <= {str, list, bool, type(None)}


def test_what_is_left_are_the_episodes_of_the_messages_that_were_not_read() -> None:
    episodes = [(0, "a"), (1, "b"), (1, "b2"), (2, "c")]
    assert pending_extraction_of(episodes, ExtractionFailure("x", (1,)), like=WORK).episode_ids == ("b", "b2")


async def test_messages_are_read_again_from_their_episodes() -> None:
    store = SqliteMemoryStore.in_memory(clock=ManualClock())
    await store.write(ADA, [episode(0, "I like tea"), episode(1, "Good to know", Role.ASSISTANT)])
    model = ScriptedChatModel(
        {"facts": [{"text": "User likes tea", "category": "preference", "message": 0, "quote": "I like tea"}]}
    )
    again = await retry_extraction(
        store, WORK, nominate=no_rules, llm=LlmOptions(model), now=datetime(2024, 2, 1, tzinfo=UTC)
    )
    assert [one.text for one in again.extraction.facts] == ["User likes tea"]
    assert [(one.id, one.role) for one in again.messages] == [("m0", Role.USER), ("m1", Role.ASSISTANT)]
    assert "2024-01-01" in model.prompts[0][1].content


async def test_what_was_erased_meanwhile_is_not_read_again() -> None:
    store = SqliteMemoryStore.in_memory(clock=ManualClock())
    await store.write(ADA, [episode(0, "I like tea"), episode(1, "Really", Role.ASSISTANT)])
    await store.write(ADA, [Erase("e0")])
    model = ScriptedChatModel()
    again = await retry_extraction(
        store, PendingExtraction(ADA, ("e0",)), nominate=no_rules, llm=LlmOptions(model), now=ManualClock().now()
    )
    assert (again.messages, again.extraction.facts, model.prompts) == ((), (), [])


async def test_a_model_that_is_still_down_fails_again() -> None:
    store = SqliteMemoryStore.in_memory(clock=ManualClock())
    await store.write(ADA, [episode(0, "I like tea")])
    asking = LlmOptions(ScriptedChatModel(ModelUnavailableError("down")))
    again = await retry_extraction(store, WORK, nominate=no_rules, llm=asking, now=ManualClock().now())
    assert again.extraction.failed is not None


# ── the queue ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Round:
    """A queue on a clock of its own, and what `again` answers."""

    def __init__(self, *answers: Any) -> None:
        self.clock = ManualClock()
        self.store = SqliteMemoryStore.in_memory(clock=self.clock)
        self.queue = self.store.jobs
        self.answers = list(answers)
        self.asked: list[PendingExtraction] = []

    async def note(self, work: PendingExtraction = WORK, failed: ExtractionFailure = DOWN) -> None:
        await enqueue_retry(self.queue, work, failed=failed, now=self.clock.now())

    async def again(self, work: PendingExtraction) -> ExtractionFailure | None:
        self.asked.append(work)
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        assert answer is None or isinstance(answer, ExtractionFailure)
        return answer

    async def run(self, after: timedelta = timedelta(minutes=2), **options: Any) -> Retried:
        self.clock.advance(after)
        working = WorkerDeps(self.queue, self.clock, FixedChance(), {EXTRACTION_JOB: extraction(self.again)})
        return await retry_extractions(working, **options)


async def test_a_noted_batch_waits_is_counted_and_done() -> None:
    round_ = Round()
    await round_.note()
    await round_.note()  # the same work once
    assert await unread_counts(round_.queue) == {"waiting": 1, "given_up": 0}
    assert await round_.run(timedelta()) == Retried()
    assert await round_.run() == Retried(done=1)
    assert round_.asked == [WORK]
    assert await unread_counts(round_.queue) == {"waiting": 0, "given_up": 0}


async def test_nothing_is_queued_for_no_messages() -> None:
    round_ = Round()
    await round_.note(PendingExtraction(ADA, ()))
    assert await round_.queue.list() == []


async def test_the_wait_that_an_endpoint_asks_for_is_kept() -> None:
    round_ = Round()
    await round_.note(failed=ExtractionFailure("model_unavailable", (0,), retry_after_seconds=3_600))
    assert await round_.run(timedelta(minutes=50)) == Retried()
    assert await round_.run(timedelta(minutes=11)) == Retried(done=1)


async def test_a_model_that_is_down_is_left_alone_for_the_round() -> None:
    round_ = Round(DOWN)
    await round_.note()
    await round_.note(PendingExtraction(ADA, ("e7",)))
    assert await round_.run() == Retried(failed=1)
    assert len(round_.asked) == 1
    assert await round_.run() == Retried(done=2)


async def test_a_batch_that_cannot_be_read_does_not_hold_up_the_next() -> None:
    round_ = Round(ExtractionFailure("bad_model_output"))
    await round_.note()
    await round_.note(PendingExtraction(ADA, ("e7",)))
    assert await round_.run() == Retried(done=1, failed=1)


async def test_after_its_last_attempt_a_batch_stays_visible() -> None:
    round_ = Round(*[ExtractionFailure("bad_model_output")] * MAX_ATTEMPTS)
    await round_.note()
    for _ in range(MAX_ATTEMPTS):
        await round_.run(timedelta(hours=7))
    assert await unread_counts(round_.queue) == {"waiting": 0, "given_up": 1}
    [job] = await round_.queue.list(state=JobState.DEAD)
    assert job.last_error == "bad_model_output"


async def test_a_store_that_fails_is_tried_again() -> None:
    round_ = Round(StoreError("disk full"))
    await round_.note()
    assert await round_.run() == Retried(failed=1)
    assert await round_.run() == Retried(done=1)


@pytest.mark.parametrize(
    "payload", [{}, {"episode_ids": 3}, WORK.payload() | {"mode": "x"}, WORK.payload() | {"user_id": ""}]
)
async def test_a_job_that_makes_no_sense_ends_no_round(payload: dict[str, Any]) -> None:
    round_ = Round()
    await round_.queue.enqueue(EXTRACTION_JOB, "odd", payload=payload)
    await round_.note()
    assert await round_.run() == Retried(done=1, failed=1)


async def test_a_round_takes_no_more_than_it_is_told() -> None:
    round_ = Round()
    for number in range(5):
        await round_.note(PendingExtraction(ADA, (f"e{number}",)))
    assert await round_.run(limit=3) == Retried(done=3)


async def test_a_batch_waits_as_long_as_the_endpoint_asks() -> None:
    round_ = Round(ExtractionFailure("x", retry_after_seconds=7_200))
    await round_.note()
    assert await round_.run() == Retried(failed=1)
    assert await round_.run(timedelta(minutes=118)) == Retried()
    assert await round_.run() == Retried(done=1)
