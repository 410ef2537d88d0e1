"""Writing: add, update, delete and restore."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final, TypedDict, Unpack, cast

from ebbing.api.answers.items import add_answer, memory_item
from ebbing.api.calls.call_context import CallContext, measured
from ebbing.api.forgetting.forget_tokens import ForgetTokens
from ebbing.api.forgetting.talks_off_record import TalksOffRecord
from ebbing.domain.errors import InvalidInputError, ModelUnavailableError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.history import Event
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.pending_extraction import WriteMode
from ebbing.domain.memory.record import Role
from ebbing.domain.memory.scope import Scope
from ebbing.ports.event_bus import Topic
from ebbing.privacy.guarding.trust import TrustTier, tier_named
from ebbing.remember.add import add_extracted, add_statements
from ebbing.remember.add_deps import AddDeps
from ebbing.remember.add_raw import add_raw
from ebbing.remember.add_report import AddReport
from ebbing.remember.edit import NEVER, Edit, delete, restore, update
from ebbing.remember.extraction.pattern_warmup import warm_up_patterns
from ebbing.remember.forget import forget_records, records_that_say
from ebbing.remember.intake.parse_messages import omitted_parts, optional_text, parse_messages, parse_time
from ebbing.remember.reconcile.known_messages import forget_source
from ebbing.results import AddAnswer, DeleteAnswer, RestoreAnswer, UpdateAnswer
from ebbing.validation import (
    AddOptions,
    CheckedAddOptions,
    checked_add_options,
    checked_flag,
    checked_metadata,
    checked_reason,
    checked_tags,
    named_by,
    timed,
)

_BY_MODEL: Final = frozenset({WriteMode.LLM, WriteMode.SUMMARIZE, WriteMode.STRUCTURED})


INSTRUCTIONS: Final = "custom_instructions"
"""Name of the tenant's setting that a language model is given with every extraction."""


class UpdateOptions(TypedDict, total=False):
    """What an update may be given beside what it changes."""

    data: str | None
    """Another name for `text`."""
    trust: str | None
    """Whose word the text is: the person's (`user`) unless given; `import`, `assistant`, `tool`, `document`."""


class Writes:
    """The verbs that write memories."""

    def __init__(self, context: CallContext, *, is_later: bool = False) -> None:
        """With `is_later` messages were accepted before, without what their talk keeps off the record."""
        self._context = context
        self._forget_tokens = ForgetTokens(context)
        self._off_record = TalksOffRecord(context, is_later=is_later)

    @measured("add")
    async def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        infer: bool = True,
        **options: Unpack[AddOptions],
    ) -> AddAnswer:
        """Remember what a conversation says.

        Args:
            messages: a string, a message dict (`role`, `content`, optional `id`, `name`, `timestamp`), or a list.
            infer: True keeps the messages as episodes and what is worth keeping as memories; False stores each
                message as a memory, as it is.
            metadata: JSON values kept with every record of the call.
            options: see `AddOptions`.

        Returns:
            `{"results": [{"id", "memory", "event", "reason", …}], "episode_ids": […], "change_id"}`; `event` is
            `ADD`, `UPDATE` where a known memory got a better wording, or `NONE` where it was known already or is not to
            be kept (then `id` is None). `superseded` holds the ids of memories that are no longer true.
            Where a language model failed to read some of it, `extraction_error` says why, as a code; see
            `maintenance.retry_failed_extractions`.
            `vectors_pending` counts texts that wait for their vectors and are found by their words until then.
            Images and other parts that are no text are counted in `omitted_parts`: `[{"message", "parts": {kind: n}}]`.

        Raises:
            InvalidInputError: unusable messages, metadata or options, or no owner.
            BlockedContentError: the redaction policy blocks a message.
            TooLargeError: a message over 100,000 characters, or metadata over 64 KiB or 32 levels.
            StoreError: it could not be stored; nothing was.
        """
        checked = checked_add_options(options)
        scope = self._context.scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=checked.filters)
        parsed = timed(named_by(parse_messages(messages), checked.source_id), checked.timestamp)
        values, infer = checked_metadata(metadata), checked_flag(infer, "infer")
        mode = self.mode(checked.mode, infer=infer, is_procedural=checked.is_procedural)
        report, change = AddReport(()), ChangeSet(Cause.ADD)
        if checked.change_id is not None:
            change.ids[scope.owner] = checked.change_id
        screened = self._off_record.screened(scope, parsed, trust=checked.trust, is_private=checked.is_private)
        async with screened as recorded:
            if recorded.messages:
                deps = await self._instructed(await self._context.add_deps(mode, change=change), prompt=checked.prompt)
                report = await self._store(deps, recorded.messages, scope=scope, metadata=values, checked=checked)
        to_forget = await self._forget_tokens.offer_last_message(scope) if recorded.names_earlier else None
        return add_answer(
            report.without(recorded.left_out),
            self._context.settings.api_version,
            change_id=change.id_of(scope.owner),
            to_forget=to_forget,
            omitted_parts=omitted_parts(messages),
        )

    async def _store(
        self,
        deps: AddDeps,
        messages: Sequence[Message],
        *,
        scope: Scope,
        metadata: Mapping[str, Any],
        checked: CheckedAddOptions,
    ) -> AddReport:
        """Store messages as the mode of the call says, and publish what became of them."""
        is_raw = deps.mode is WriteMode.RAW
        read_roles = {Role.USER} if scope.agent_id is None else {*Role}
        texts = (message.content for message in messages if message.role in read_roles)
        await warm_up_patterns(texts, reading=not is_raw)
        add_messages: Callable[..., Awaitable[AddReport]] = add_extracted
        if is_raw or deps.mode is WriteMode.STATEMENT:
            add_messages = partial(add_raw if is_raw else add_statements, importance=checked.importance)
        report = await add_messages(
            deps,
            messages,
            scope=scope,
            metadata=metadata,
            trust=checked.trust,
            tags=checked.tags,
            expires_at=checked.expires_at,
        )
        await self._announce_report(scope, report)
        if report.extraction_error is not None and self._context.settings.strict_extraction:
            raise ModelUnavailableError(
                f"the language model did not read the messages ({report.extraction_error}): they are kept and read"
                " later; look at its address and key with `ebbing doctor`"
            )
        return report

    async def _instructed(self, deps: AddDeps, *, prompt: str | None) -> AddDeps:
        """Add the tenant's instructions for a language model, where there are both, and a prompt of the call."""
        llm = deps.llm
        if llm is None:
            if prompt is not None:
                raise InvalidInputError("prompt needs a language model: set EBBING_LLM_BASE_URL, or leave it out")
            return deps
        settings = await self._context.store.profiles.settings(self._context.tenant)
        instructions = settings.get(INSTRUCTIONS) or self._context.settings.custom_instructions
        if not instructions and prompt is None:
            return deps
        return replace(deps, llm=replace(llm, instructions=instructions, fact_prompt=prompt or llm.fact_prompt))

    def mode(self, requested: WriteMode | None, *, infer: bool, is_procedural: bool = False) -> WriteMode:
        """Return how a call is read: as it asks, else as the settings say.

        What an agent did is summarized where there is a language model, and kept as it is elsewhere.
        """
        asking = self._context.components.chat.asking
        if not infer:
            return WriteMode.RAW
        if is_procedural and requested is None:
            return WriteMode.RAW if asking is None else WriteMode.SUMMARIZE
        if requested in _BY_MODEL and asking is None:
            raise InvalidInputError(f"mode {requested.value!r} needs a language model: set EBBING_LLM_BASE_URL")
        return requested or self._context.components.chat.mode

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        user_id: str | None = None,
        tags: Sequence[str] | None = None,
        version: int | None = None,
        expires_at: datetime | str | float | None = None,
        **options: Unpack[UpdateOptions],
    ) -> UpdateAnswer:
        """Give a memory another text, other metadata, other tags, an end, or several of these; return it, with
        `change_id`. A text that gives orders to a model is held back: `tags` then holds `quarantined`.

        Args:
            expires_at: from when on it appears in no answer; "never" takes such an end away.
            version: change it only as long as it is this version (`version` of the item).
            options: see `UpdateOptions`.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
            ConflictError: it is not that version any more.
            ClosedMemoryError: a new text for a memory that is no longer true: restore it first.
            InvalidInputError: nothing to change, or a blank text.
            BlockedContentError: the redaction policy blocks the text.
            TooLargeError: a text over 4,000 characters, metadata over 64 KiB or 32 levels, or too many tags.
        """
        text, trust = _text_and_trust(text, options)
        scope = await self._context.require_scope(memory_id, user_id)
        values = None if metadata is None else checked_metadata(metadata)
        ends = expires_at if expires_at is None or expires_at == NEVER else parse_time(expires_at, "expires_at")
        edit = Edit(text, values, checked_tags(tags), version, ends, trust)
        change = ChangeSet(Cause.UPDATE)
        record = await update(await self._context.add_deps(change=change), memory_id, scope=scope, edit=edit)
        item = cast(UpdateAnswer, memory_item(record))
        item["change_id"] = change.only_id
        await self._context.publish(Topic.MEMORY_UPDATED, scope, memory_ids=[memory_id])
        return item

    async def delete(
        self,
        memory_id: str | None = None,
        *,
        reason: str | None = None,
        hard: bool = False,
        user_id: str | None = None,
        source_id: str | None = None,
        with_messages: bool = False,
    ) -> DeleteAnswer:
        """Take a memory out of every answer. It can be restored, unless `hard`.

        The messages that it was read from stay and can be recalled, unless `with_messages` takes them out too.

        With `source_id` and `user_id` instead of `memory_id`: the message of this id, and what rests on it alone; what
        that had replaced holds again.

        Returns:
            `{"message", "change_id"}`; for a source also `deleted`, how many records went; with `hard` also `scrubbed`,
            False where a trace on the disk is still to be overwritten (see `delete_all`).

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
            InvalidInputError: neither or both of memory and source, a source without its user, or an unusable reason.
            TooLargeError: a reason over 1,000 characters.
        """
        change = ChangeSet(Cause.DELETE)
        if source_id is not None:
            if memory_id is not None or user_id is None:
                raise InvalidInputError("give a memory_id alone, or a source_id with its user_id")
            scope = self._context.scope(user_id=user_id, filters=None)
            name = optional_text(source_id, "source_id")
            if name is None:
                raise InvalidInputError("source_id must be a non-empty string")
            store = self._context.store.within(change)
            gone = await forget_source(store, name, scope=scope, now=self._context.clock.now())
            if gone:
                await self._context.publish(Topic.MEMORY_DELETED, scope, source_id=name)
            return {"message": "Memories deleted successfully!", "deleted": gone, "change_id": change.only_id}
        if memory_id is None:
            raise InvalidInputError("give a memory_id, or a source_id with its user_id")
        scope = await self._context.require_scope(memory_id, user_id)
        why, for_good = checked_reason(reason), checked_flag(hard, "hard")
        deleted_ids: Sequence[str] = [memory_id]
        if checked_flag(with_messages, "with_messages"):
            deleted_ids = await self._forget(memory_id, scope, change=change, reason=why, hard=for_good)
        else:
            await delete(self._context.write_deps(change), memory_id, scope=scope, reason=why, hard=for_good)
        await self._context.publish(Topic.MEMORY_DELETED, scope, memory_ids=deleted_ids)
        answer: DeleteAnswer = {"message": "Memory deleted successfully!", "change_id": change.only_id}
        if for_good:
            answer["scrubbed"] = await self._context.scrub()
        return answer

    async def _forget(
        self, memory_id: str, scope: Scope, *, change: ChangeSet, reason: str | None, hard: bool
    ) -> Sequence[str]:
        store, now = self._context.store.within(change), self._context.clock.now()
        memory = await self._context.require_record(memory_id, scope, deleted=hard)
        hashes = {record.id: record.hash for record in await records_that_say(store, memory, scope=scope)}
        report = await forget_records(store, hashes, scope=scope.whole, hard=hard, reason=reason, now=now)
        return report.ids

    async def restore(self, memory_id: str, *, user_id: str | None = None) -> RestoreAnswer:
        """Bring a memory back that was deleted, ran out, faded or is no longer true, with its full text.

        What had superseded it stays. Only what cannot be true beside it, another value of the same attribute or the
        opposite taste, is closed in its turn: `superseded` in the answer names it.

        Returns:
            The memory, with `superseded` (ids) and `change_id`.

        Raises:
            MemoryNotFoundError: no such memory, or not this user's.
            InvalidInputError: it is neither deleted, faded nor closed.
            ConflictError: it is a merged memory that was taken apart: undo that instead.
        """
        scope = await self._context.require_scope(memory_id, user_id)
        change = ChangeSet(Cause.RESTORE)
        done = await restore(await self._context.add_deps(change=change), memory_id, scope=scope)
        await self._context.publish(Topic.MEMORY_UPDATED, scope, memory_ids=[memory_id, *done.superseded_ids])
        item = cast(RestoreAnswer, memory_item(done.record))
        item["superseded"] = [*done.superseded_ids]
        item["change_id"] = change.only_id
        return item

    async def _announce_report(self, scope: Scope, report: AddReport) -> None:
        new: list[str] = []
        changed: list[str] = []
        for outcome in report.outcomes:
            if outcome.memory_id is not None and outcome.event is not Event.NONE:
                (new if outcome.event is Event.ADD else changed).append(outcome.memory_id)
            changed += outcome.closed_ids
        if new:
            await self._context.publish(Topic.MEMORY_ADDED, scope, memory_ids=new)
        if changed:
            await self._context.publish(Topic.MEMORY_UPDATED, scope, memory_ids=changed)


def _text_and_trust(text: str | None, options: Mapping[str, Any]) -> tuple[str | None, TrustTier]:
    for name in options:
        if name not in UpdateOptions.__annotations__:
            raise TypeError(f"update() got an unexpected keyword argument {name!r}")
    data = options.get("data")
    if text is not None and data is not None:
        raise InvalidInputError("text and data are the same thing: give one of them")
    return data if text is None else text, tier_named(options.get("trust")) or TrustTier.USER
