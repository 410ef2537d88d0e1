"""Profiles: what is known of an owner in short, from memories and by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from ebbing.api.answers.items import profile_item
from ebbing.api.calls.call_context import CallContext
from ebbing.api.people.portraits import Portraits
from ebbing.domain.errors import BlockedContentError, InvalidInputError
from ebbing.domain.filters.tree import EVERYTHING
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.profile import Origin
from ebbing.domain.memory.record import MemoryRecord
from ebbing.domain.memory.scope import Scope
from ebbing.language.wording.profile_phrases import LANGUAGES
from ebbing.people.profile_edits import (
    NamedEntry,
    edits_taking_out,
    find_entries,
    pin_records,
    pins_of,
    says_the_same,
    was_set_by_hand,
)
from ebbing.people.profile_input import ProfileInput, fact_of, parse_profile_input
from ebbing.people.profile_view import default_entries
from ebbing.people.suggested_questions import suggest_questions
from ebbing.ports.event_bus import Topic
from ebbing.privacy.guarding.trust import TrustTier, instruction_shaped
from ebbing.privacy.redaction.redact import redact
from ebbing.recall.context.query_fallback import FallbackOptions
from ebbing.remember.add import store_extraction
from ebbing.remember.edit import delete
from ebbing.remember.extraction.extractor import Extraction
from ebbing.remember.facts.drafts import Draft, DraftContext, fact_draft
from ebbing.remember.intake.screening import ScreenedMessage
from ebbing.remember.reconcile.known_messages import KnownMessages, retract_sources
from ebbing.results import ProfileAnswer, ProfileDefaults, ProfileImport, ProfileUpdate, SuggestedQuestion
from ebbing.validation import checked_flag

MAX_QUESTIONS: Final = 50
_FORGOTTEN: Final = "taken out of the profile"
_TIERS: Final = {Origin.USER: TrustTier.USER, Origin.IMPORT: TrustTier.IMPORT}


class ProfilesApi:
    """`memory.profiles`: what is known of an owner in short, from memories and by hand."""

    def __init__(self, context: CallContext, *, portraits: Portraits) -> None:
        self._context, self._portraits = context, portraits

    async def get(
        self, *, user_id: str | None = None, agent_id: str | None = None, language: str | None = None
    ) -> ProfileAnswer:
        """Return who somebody is, from their memories: what is true of them, what binds them, their likes and dislikes.

        It is up to date with every memory that was stored before the call, and is kept for the next one.

        Args:
            agent_id: with a user, only what this agent heard; alone, what is known of the agent itself.
            language: of the summary, `zh` or `en`; by default that of most of the profile.

        Returns:
            `{"user_id", "version", "updated_at", "summary", "language", "facts", "constraints", "preferences",
            "dislikes", "stats"}`. An entry of the four lists is `{"key", "value", "text", "weight", "mentions",
            "first_at", "last_at", "memory_ids", "source",
            "is_safety_critical"}`, what matters most first; `source` is `memory`,
            `user` (set by hand), `import` or `default`. A fact that gives the value of an attribute names it in
            `attribute`; `overridden_value` is what was said instead of what the person set by hand.

        Raises:
            InvalidInputError: no user or agent, or another language.
            StoreError: it could not be kept.
        """
        scope, spoken = self._profile_scope(user_id, agent_id), _checked_language(language)
        if scope != Scope.of(scope.owner):
            portrait = await self._portraits.get(
                scope, EVERYTHING, now=self._context.clock.now(), fallback=FallbackOptions()
            )
            return profile_item(portrait, scope, language=spoken)
        portrait = await self._context.profiles.refreshed(scope, now=self._context.clock.now())
        return profile_item(portrait, scope, language=spoken)

    async def rebuild(self, *, user_id: str | None = None, agent_id: str | None = None) -> ProfileAnswer:
        """Work a profile out anew from all memories, and return it as `get` does; what was set by hand stays.

        Raises:
            InvalidInputError: no user or agent, or both.
            StoreError: it could not be kept.
        """
        scope = self._whole_profile(user_id, agent_id)
        return profile_item(
            await self._context.profiles.refreshed(scope, now=self._context.clock.now(), anew=True), scope
        )

    async def update(
        self,
        set: Mapping[str, Any] | None = None,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        unset: Sequence[str] = (),
        revert: Sequence[str] = (),
        delete_memories: bool = False,
    ) -> ProfileUpdate:
        """Let a person set their profile right: it wins over all that is heard, now and later, until it is undone.

        What is set becomes a memory too, in the place of what it contradicts, so that every answer knows of it.

        Args:
            set: `{"home": "Berlin"}` sets a fact; `{"preferences": ["jazz"]}`, `dislikes` and `constraints` add to
                these lists. At most 500 entries, keys of 80 and values of 400 characters.
            unset: keys of entries to take out, such as `home` or `preferences.jazz`; they stay out whatever is said.
            revert: keys of entries that are to be what was said again.
            delete_memories: delete the memories that the unset entries rest on as well; they can be restored. What was
                set by hand, and is unset or reverted, goes in any case, and what it had replaced holds again.

        Returns:
            The profile, as `get` returns it, with `change_id`: what `undo` needs to take back what became of
            memories. That an entry was set or taken out by hand is undone with `undo` of this call.

        Raises:
            InvalidInputError: nothing to do, a key that the profile does not have, or unusable values.
            BlockedContentError: the redaction policy blocks a value.
            TooLargeError: more or longer values than that.
            StoreError: it could not be stored; what was done by then stays.
        """
        scope = self._whole_profile(user_id, agent_id)
        deletes = checked_flag(delete_memories, "delete_memories")
        if set is None and not unset and not revert:
            raise InvalidInputError("nothing to do: give values to set, or keys to unset or to revert")
        inputs = [] if set is None else _without_orders(self._usable_values(set))
        stored = await self._context.store.profiles.read(scope)
        portrait, _ = await self._context.profiles.current(scope, now=self._context.clock.now())
        out = find_entries(_names(unset, "unset"), portrait.entries, edits=stored.edits)
        back = find_entries(_names(revert, "revert"), portrait.entries, edits=stored.edits)
        now, change = self._context.clock.now(), ChangeSet(Cause.PROFILE)
        if out or back:
            edits = self._context.store.profiles
            await edits.edit(scope, edits_taking_out(out, now=now), drop=[item.slot for item in back])
            await self._withdraw(scope, [*out, *back], now=now, change=change)
            if deletes:
                await self._forget_behind(scope, out, change=change)
        if inputs:
            await self._set_by_hand(scope, inputs, now=now, change=change)
        profile = profile_item(await self._context.profiles.refreshed(scope, now=now), scope)
        return {**profile, "change_id": change.only_id}

    async def import_(
        self, values: Mapping[str, Any], *, user_id: str | None = None, agent_id: str | None = None
    ) -> ProfileImport:
        """Tell what is known of somebody from elsewhere: memories to begin with, which give way to what they say.

        Args:
            values: as for `update`, or a profile as `get` returns it.

        Returns:
            `{"stored", "already_stored", "refused", "change_id"}`: how many new memories, how many that
            were stored before, how many that speak like an order to the assistant and are left out.

        Raises:
            InvalidInputError: unusable values.
            BlockedContentError: the redaction policy blocks a value.
            TooLargeError: more than 500 values, or longer ones than 400 characters.
            StoreError: it could not be stored; nothing was.
        """
        scope = self._whole_profile(user_id, agent_id)
        inputs = self._usable_values(values)
        fine = [item for item in inputs if instruction_shaped(item.text or item.value) is None]
        now, change = self._context.clock.now(), ChangeSet(Cause.PROFILE)
        outcomes = await self._store_inputs(scope, fine, origin=Origin.IMPORT, now=now, change=change)
        stored = sum(outcome.is_new for outcome in outcomes)
        return {
            "stored": stored,
            "already_stored": len(outcomes) - stored,
            "refused": len(inputs) - len(fine),
            "change_id": change.only_id,
        }

    async def set_defaults(self, values: Mapping[str, Any] | None) -> ProfileDefaults:
        """Set what holds for everybody of this tenant of whom nothing else is known; None takes it back.

        Returns:
            `{"entries"}`: how many.

        Raises:
            InvalidInputError: unusable values.
            BlockedContentError: the redaction policy blocks a value.
            TooLargeError: more than 500 values, or longer ones than 400 characters.
            StoreError: it could not be stored.
        """
        inputs = [] if values is None else _without_orders(self._usable_values(values))
        entries = default_entries(inputs, now=self._context.clock.now())
        await self._context.store.profiles.set_defaults(self._context.tenant, entries)
        return {"entries": len(entries)}

    async def suggest_questions(
        self, *, user_id: str | None = None, agent_id: str | None = None, language: str | None = None, limit: int = 3
    ) -> list[SuggestedQuestion]:
        """Return what to ask somebody of whom little is known, the most useful first; nothing that is known.

        Returns:
            `[{"about", "question"}]`, at most `limit`.

        Raises:
            InvalidInputError: no user or agent, another language than `zh` and `en`, or a limit outside 1 to 50.
        """
        scope, spoken = self._whole_profile(user_id, agent_id), _checked_language(language)
        if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MAX_QUESTIONS:
            raise InvalidInputError(f"limit must be a whole number from 1 to {MAX_QUESTIONS}")
        portrait, _ = await self._context.profiles.current(scope, now=self._context.clock.now())
        asked_in = spoken or profile_item(portrait, scope)["language"]
        suggestions = suggest_questions(portrait, limit=limit)
        return [{"about": suggestion.about, "question": suggestion.wording[asked_in]} for suggestion in suggestions]

    async def _set_by_hand(
        self, scope: Scope, inputs: Sequence[ProfileInput], *, now: datetime, change: ChangeSet
    ) -> None:
        outcomes = await self._store_inputs(scope, inputs, origin=Origin.USER, now=now, change=change)
        store = self._context.store.within(change)
        records = {record.id: record for record in await store.get(scope, [outcome.memory_id for outcome in outcomes])}
        pending: list[tuple[str | None, MemoryRecord]] = []
        apart: list[Draft] = []
        for outcome, profile_input in zip(outcomes, inputs, strict=True):
            record = records.get(outcome.memory_id)
            if record is None or not says_the_same(record, outcome.draft.record):
                # What is known swallowed it ("plays jazz" says "likes jazz", and more); by hand it counts by itself.
                apart.append(outcome.draft)
                record = outcome.draft.record
            pending.append((profile_input.key, record))
        await store.write(scope, await (await self._context.add_deps()).embed(apart))
        await self._context.publish(Topic.MEMORY_ADDED, scope, memory_ids=[item.record.id for item in apart])
        await store.write(scope, pin_records(record for _, record in pending))
        await store.profiles.edit(scope, pins_of(pending, now=now))

    async def _store_inputs(
        self, scope: Scope, inputs: Sequence[ProfileInput], *, origin: Origin, now: datetime, change: ChangeSet
    ) -> list[_StoredInput]:
        """Remember what is told; what became of each."""
        facts = [fact_of(item, method=origin, place=place) for place, item in enumerate(inputs)]
        if not facts:
            return []
        screened = [ScreenedMessage(Message(fact.text, timestamp=now), _TIERS[origin]) for fact in facts]
        drafting = DraftContext(scope, {}, now=now, ids=self._context.ids)
        using = await self._context.add_deps(change=change)
        stored = await store_extraction(
            using,
            Extraction(tuple(facts)),
            screened=screened,
            episodes=(),
            known_messages=KnownMessages(),
            context=drafting,
        )
        outcomes = stored.outcomes
        closed = {memory_id for outcome in outcomes for memory_id in outcome.closed_ids}
        new = [
            outcome.memory_id for outcome in outcomes if outcome.record is not None and outcome.memory_id is not None
        ]
        await self._context.publish(Topic.MEMORY_ADDED, scope, memory_ids=new)
        await self._context.publish(Topic.MEMORY_UPDATED, scope, memory_ids=closed)
        return [
            _StoredInput(
                outcome.memory_id or "",
                fact_draft(fact, screened_message, context=drafting),
                is_new=outcome.record is not None,
            )
            for outcome, fact, screened_message in zip(outcomes, facts, screened, strict=True)
        ]

    async def _withdraw(self, scope: Scope, entries: Sequence[NamedEntry], *, now: datetime, change: ChangeSet) -> None:
        """Delete what the person set by hand, earlier settings too; what that had replaced holds again."""
        store, gone = self._context.store.within(change), dict[str, None]()
        records = await store.get(scope, [memory_id for entry in entries for memory_id in entry.memory_ids])
        nothing: frozenset[str] = frozenset()
        while by_hand := [record for record in records if was_set_by_hand(record) and record.id not in gone]:
            changes = await retract_sources(store, by_hand, sources=nothing, scope=scope, reason=_FORGOTTEN, now=now)
            await store.write(scope, changes)
            gone |= dict.fromkeys(record.id for record in by_hand)
            replaced_ids = [memory_id for record in by_hand for memory_id in record.related_ids]
            records = [record for record in await store.get(scope, replaced_ids) if record.valid_to is None]
        await self._context.publish(Topic.MEMORY_DELETED, scope, memory_ids=gone)

    async def _forget_behind(self, scope: Scope, entries: Sequence[NamedEntry], *, change: ChangeSet) -> None:
        using = self._context.write_deps(change)
        ids = [memory_id for entry in entries for memory_id in entry.memory_ids]
        gone = [record.id for record in await self._context.store.get(scope, ids)]
        for memory_id in gone:
            await delete(using, memory_id, scope=scope, reason=_FORGOTTEN, hard=False)
        await self._context.publish(Topic.MEMORY_DELETED, scope, memory_ids=gone)

    def _usable_values(self, values: Mapping[str, Any]) -> list[ProfileInput]:
        """Return what is told, without what the redaction policy takes out."""
        inputs: list[ProfileInput] = []
        for item in parse_profile_input(values):
            text = None if item.text is None else self._allowed(item.text)
            inputs.append(replace(item, value=self._allowed(item.value), text=text))
        return inputs

    def _allowed(self, text: str) -> str:
        redacted = redact(text, self._context.policy.redaction)
        if redacted.blocked:
            raise BlockedContentError("a value holds what may not be stored: take it out, or change the redaction")
        return redacted.text

    def _profile_scope(self, user_id: str | None, agent_id: str | None) -> Scope:
        return self._context.scope(user_id=user_id, agent_id=agent_id, filters=None)

    def _whole_profile(self, user_id: str | None, agent_id: str | None) -> Scope:
        scope = self._profile_scope(user_id, agent_id)
        if scope != Scope.of(scope.owner):
            raise InvalidInputError("this is about the whole profile of a user or of an agent: give one of them")
        return scope


@dataclass(frozen=True, slots=True)
class _StoredInput:
    """What became of something that was told."""

    memory_id: str
    """The memory that holds it."""
    draft: Draft
    """The memory that it would be by itself."""
    is_new: bool


def _without_orders(inputs: Sequence[ProfileInput]) -> Sequence[ProfileInput]:
    """Return the values, none of which orders the assistant to do harm."""
    if any(instruction_shaped(item.text or item.value, spoken_by_user=True) is not None for item in inputs):
        raise InvalidInputError(
            "a value of a profile says who somebody is or what they wish: leave out orders that do harm"
        )
    return inputs


def _checked_language(language: object) -> str | None:
    if language is not None and language not in LANGUAGES:
        raise InvalidInputError(f"language must be one of {', '.join(LANGUAGES)}")
    return None if language is None else str(language)


def _names(names: object, label: str) -> Sequence[str]:
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise InvalidInputError(f"{label} must be a list of keys")
    return names
