"""Adds that are accepted now and done by a worker."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Unpack

from ebbing.api.answers.items import outcome_item
from ebbing.api.calls.call_context import CallContext
from ebbing.api.forgetting.talks_off_record import TalksOffRecord
from ebbing.api.memories.writes import Writes
from ebbing.api.sessions.session import as_given
from ebbing.api.threads.background_thread import Host
from ebbing.domain.errors import EbbingError, InvalidInputError, StoreError
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.scope import Scope
from ebbing.ports.job_queue import Job, NewJob
from ebbing.ports.stores.request_log import KeptRequest
from ebbing.remember.add_report import AddReport
from ebbing.remember.intake.parse_messages import omitted_parts, parse_messages
from ebbing.remember.intake.screening import screen_messages
from ebbing.results import AddAnswer, AddFailure, EnqueueAnswer
from ebbing.upkeep.worker.worker import JobContext, JobFailure, JobHandler
from ebbing.validation import AddOptions, checked_add_options, checked_flag, checked_metadata, named_by

ADD: Final = "add"
"""Kind of the job, and the caller under whose name its words are kept."""
_ATTEMPTS: Final = 20


class QueuedAdds:
    """The verb that queues an add, and the handler of its jobs."""

    def __init__(self, context: CallContext, *, writes: Writes) -> None:
        self._context, self._writes = context, writes
        self._off_record = TalksOffRecord(context)

    async def enqueue_add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        infer: bool = True,
        **options: Unpack[AddOptions],
    ) -> EnqueueAnswer:
        """Accept what `add` would remember, to be done by a worker (`jobs.run_worker`); durable when it returns.

        What may not be stored is taken out before it is kept. Done twice, because a worker died, it stores nothing
        twice. Erasing its owner takes it along.

        Args:
            options: as for `add`.

        Returns:
            `{"job_id"}`, with `omitted_parts` as of `add`; `jobs.get` tells how far it is, and with `result` what `add`
            answered, for a day. Where all of it is off the record there is nothing to do: `job_id` is None, and the
            rest is the answer of `add`.

        Raises:
            InvalidInputError: unusable messages, metadata or options, or no owner.
            BlockedContentError: the redaction policy blocks a message.
            TooLargeError: a message over 100,000 characters, or metadata over 64 KiB or 32 levels.
            StoreError: it could not be kept.
        """
        checked = checked_add_options(options)
        scope = self._context.scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=checked.filters)
        self._writes.mode(checked.mode, infer=checked_flag(infer, "infer"))
        parsed = named_by(parse_messages(messages), checked.source_id)
        metadata = checked_metadata(metadata)
        call = {"metadata": metadata, "infer": infer, "trust": checked.trust, "mode": checked.mode}
        call["tags"] = list(checked.tags)
        screened = self._off_record.screened(scope, parsed, trust=checked.trust, is_private=checked.is_private)
        async with screened as on_the_record:
            if not on_the_record.messages:
                nothing = AddReport(()).without(on_the_record.left_out)
                results = [outcome_item(outcome) for outcome in nothing.outcomes]
                return {"job_id": None, "results": results, "episode_ids": [], "change_id": None}
            policy = self._context.policy
            accepted = screen_messages(on_the_record.messages, policy, trust=checked.trust, learning=False)
            if not accepted:
                raise InvalidInputError("nothing of these messages may be stored")
            job_id = await self._queue([each.message for each in accepted], call, scope=scope)
        omitted = omitted_parts(messages)
        return {"job_id": job_id, "omitted_parts": omitted} if omitted else {"job_id": job_id}

    async def _queue(self, messages: Sequence[Message], call: Mapping[str, Any], *, scope: Scope) -> int:
        """Store a call durably, and return the id of the job that will do it."""
        now, name = self._context.clock.now(), self._context.ids.new()
        named = [_named(message, f"{name}-{number}", now=now) for number, message in enumerate(messages)]
        body = json.dumps({"messages": [_json_of(item) for item in as_given(named)], **call}, ensure_ascii=False)
        request = KeptRequest(scope.tenant, ADD, name, "", now, now, scope, body)
        await self._context.store.requests.begin(request)
        try:
            return await self._context.store.jobs.enqueue(
                ADD, name, payload={"request": name}, max_attempts=_ATTEMPTS, belongs_to=scope
            )
        except StoreError:
            await self._context.store.requests.drop(request)  # the caller is told that it was not accepted
            raise

    async def result(self, job: Job) -> AddAnswer | AddFailure | None:
        """Return the answer of the add of a job; None before it is done."""
        request = await self._context.store.requests.get(self._context.tenant, ADD, key=job.key)
        return None if request is None or request.answer is None else json.loads(request.answer)

    async def job_handlers(self, host: Host) -> dict[str, JobHandler]:
        """Return the handler of accepted adds."""
        return {ADD: host.duty(self._do_add)}

    async def queue_what_was_accepted(self) -> None:
        """Queue requests that have no job: the process died in between, or the queue lost it."""
        waiting = await self._context.store.requests.to_do()
        jobs = [
            NewJob(ADD, item.key, {"request": item.key}, max_attempts=_ATTEMPTS, belongs_to=item.belongs_to, once=True)
            for item in waiting
            if item.caller == ADD
        ]
        await self._context.store.jobs.enqueue_all(jobs)

    async def _do_add(self, job: Job, at_work: JobContext) -> JobFailure | None:
        del at_work
        log = self._context.store.requests
        request = await log.get(job.tenant, ADD, key=job.key)
        if request is None or request.body is None or request.belongs_to is None:
            return None  # it was erased meanwhile, or is done
        scope, call = request.belongs_to, json.loads(request.body)
        call |= {"user_id": scope.user_id, "agent_id": scope.agent_id, "run_id": scope.run_id}
        answer: AddAnswer | AddFailure
        try:
            answer = await Writes(self._context.for_tenant(job.tenant), is_later=True).add(**call)
        except InvalidInputError as error:
            answer = {"error": {"code": error.code, "detail": str(error)}}  # trying again would not help
        except EbbingError as error:
            return JobFailure(error.code)
        await log.finish(request, status=200, answer=json.dumps(answer, ensure_ascii=False), belongs_to=scope)
        return None


def _named(message: Message, name: str, *, now: datetime) -> Message:
    """The message under an id by which it is known when it comes a second time, and of the time when it came first."""
    return replace(message, id=message.id or name, timestamp=message.timestamp or now)


def _json_of(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "timestamp": item["timestamp"].isoformat()}
