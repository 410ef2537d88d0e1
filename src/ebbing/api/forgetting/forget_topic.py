"""Forgetting on request, in two steps: show what is meant, then delete what was shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypedDict, Unpack, cast

from ebbing.api.answers.items import memory_item
from ebbing.api.calls.call_context import CallContext
from ebbing.api.forgetting.forget_tokens import TOKEN_LIFETIME, ForgetOffer, ForgetTokens, content_hashes
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.record import content_hash
from ebbing.domain.memory.scope import Scope
from ebbing.language.signals.forget_requests import ForgetRequest, asked_to_forget
from ebbing.ports.event_bus import Topic
from ebbing.ports.working_memory import Turn
from ebbing.recall.lists.find_by_topic import TopicMatch, find_about, fits_time, related_groups, why_about
from ebbing.remember.forget import forget_records
from ebbing.remember.intake.parse_messages import clean_text
from ebbing.results import CandidateItem, CandidateTurn, ForgetAnswer
from ebbing.validation import checked_flag, checked_reason


class ForgetOptions(TypedDict, total=False):
    """What a request to forget may be given beside what it is about."""

    keep: Sequence[str]
    """With `confirm`: ids of candidates that are to stay after all."""
    also: Sequence[str]
    """With `confirm`: ids out of `perhaps` that are to go as well."""
    hard: bool
    """For good, without a way back. Without `confirm` it shows what is deleted already, too."""
    reason: str | None
    """Kept with what is deleted, at most 1,000 characters."""


class TopicForgetting:
    """The verb that forgets a topic on request."""

    def __init__(self, context: CallContext) -> None:
        self._context = context
        self._tokens = ForgetTokens(context)

    async def forget(
        self,
        about: str | None = None,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        confirm: str | None = None,
        **options: Unpack[ForgetOptions],
    ) -> ForgetAnswer:
        """Forget what somebody said about something, in two steps: the first shows what that is and changes nothing.

        Args:
            about: the request in the person's words ("forget what I said about my ex", 忘记我说过的关于电影的内容), or
                the name of a topic.
            confirm: the token of an answer, for the second step: what it showed is deleted, as long as it still says
                what it said; an answer holds for an hour, for the same ids of user, agent and run.
            options: see `ForgetOptions`.

        Returns:
            Of the first step `{"candidates", "perhaps", "confirm", "expires_at", "about"}`: items with `why`, which
            would be deleted; others that come near in meaning only and are deleted if they are named in `also`; the
            token, None where nothing was found. Of the second
            `{"forgotten": ids, "memories", "episodes", "turns", "hard"}`, and with `hard` also `scrubbed` (see
            `delete_all`).

        Raises:
            InvalidInputError: a request that names nothing, everything, or asks to keep something; an unknown or
                expired token, or one for somebody else; an id that the answer did not show.
            ConflictError: one of the memories was edited since it was shown; nothing was deleted.
            TooLargeError: more than 5,000 memories and messages.
        """
        _check(options)
        scope = self._context.scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=None)
        hard, reason = checked_flag(options.get("hard", False), "hard"), checked_reason(options.get("reason"))
        if confirm is not None:
            if about is not None:
                raise InvalidInputError("give a request, or the token of an answer to one, and not both")
            return await self._forget_shown(confirm, scope, options=options, hard=hard, reason=reason)
        if not isinstance(about, str) or not (text := clean_text(about)):
            raise InvalidInputError("say what is to be forgotten: a request or the name of a topic")
        if options.get("keep") or options.get("also"):
            raise InvalidInputError("keep and also go with confirm: first ask what would be forgotten")
        return await self._show(text, scope, hard=hard)

    async def _show(self, text: str, scope: Scope, *, hard: bool) -> ForgetAnswer:
        now = self._context.clock.now()
        request = asked_to_forget(text, now=now)
        about = await find_about(await self._context.search_deps(), scope, request=request, deleted=hard)
        turns = await self._turns_about(request, scope)
        offer = ForgetOffer(
            now + TOKEN_LIFETIME,
            content_hashes(about.most_wanted),
            content_hashes(match.record for match in about.perhaps),
            [[session.agent_id or "", session.run_id or "", *_name(turn)] for session, turn, _ in turns],
        )
        token = await self._tokens.issue(offer, scope) if about.candidates or about.perhaps or turns else None
        return {
            "candidates": [*_turn_items(turns), *(_candidate(match) for match in about.candidates.values())],
            "perhaps": [_candidate(match) for match in about.perhaps],
            "confirm": token,
            "expires_at": offer.until.isoformat(),
            "about": list(about.topics),
        }

    async def _forget_shown(
        self, token: str, scope: Scope, *, options: ForgetOptions, hard: bool, reason: str | None
    ) -> ForgetAnswer:
        request, offer = await self._tokens.load(token, scope)
        keep, also = _ids(options.get("keep"), "keep"), _ids(options.get("also"), "also")
        if not keep <= {*offer.candidates, *(name for *_, name, _ in offer.turns)} or not also <= offer.perhaps.keys():
            raise InvalidInputError("keep names candidates, and also what is among perhaps: one id is neither")
        chosen = {memory_id: versions for memory_id, versions in offer.candidates.items() if memory_id not in keep}
        chosen |= {memory_id: versions for memory_id, versions in offer.perhaps.items() if memory_id in also}
        now = self._context.clock.now()
        change = ChangeSet(Cause.FORGET)
        store = self._context.store.within(change)
        gone = await forget_records(store, chosen, scope=scope, hard=hard, reason=reason, now=now)
        turns = await self._drop_turns([turn for turn in offer.turns if turn[2] not in keep], scope)
        await self._context.store.requests.drop(request)
        await self._context.publish(Topic.MEMORY_DELETED, scope, memory_ids=gone.ids)
        answer: ForgetAnswer = {
            "forgotten": list(gone.ids),
            "memories": gone.memories,
            "episodes": gone.episodes,
            "turns": turns,
            "hard": hard,
            "change_id": change.only_id,
        }
        if hard:
            answer["scrubbed"] = await self._context.scrub()
        return answer

    async def _turns_about(self, request: ForgetRequest, scope: Scope) -> list[tuple[Scope, Turn, str]]:
        """Return what was said about it in running sessions and is not stored yet."""
        request = replace(request, topics=(*request.topics, *request.tastes))
        related = related_groups(request)
        turns_by_scope = []
        for session in await self._context.components.working.sessions(within=scope):
            for turn in await self._context.components.working.read(session):
                message = turn.message
                why = why_about(message.content, request, related=related) if request.topics else "it was said just now"
                if why and message.id and fits_time(message.timestamp, message.role, request=request):
                    turns_by_scope.append((session, turn, why))
        return turns_by_scope

    async def _drop_turns(self, shown: Collection[Sequence[str]], scope: Scope) -> int:
        """Let go of turns that still say what they said, so that they are never remembered."""
        working, chosen = self._context.components.working, set(map(tuple, shown))
        gone = 0
        for session in await working.sessions(within=scope):
            place = (session.agent_id or "", session.run_id or "")
            turns = [turn for turn in await working.read(session) if (*place, *_name(turn)) in chosen]
            await working.drop(session, turns)
            gone += len(turns)
        return gone


def _check(options: Mapping[str, Any]) -> None:
    for name in options:
        if name not in ForgetOptions.__annotations__:
            raise TypeError(f"forget() got an unexpected keyword argument {name!r}")


def _ids(ids: object, label: str) -> set[str]:
    if ids is None:
        return set()
    if not isinstance(ids, list | tuple | set | frozenset) or not all(isinstance(item, str) for item in ids):
        raise InvalidInputError(f"{label} must be a list of ids")
    return set(ids)


def _name(turn: Turn) -> tuple[str, str]:
    return turn.message.id or "", content_hash(turn.message.content)


def _candidate(match: TopicMatch) -> CandidateItem:
    record = match.record
    item = cast(CandidateItem, memory_item(record))
    item["why"] = match.why
    if record.deleted_at:
        item["deleted_at"] = record.deleted_at.isoformat()
    return item


def _turn_items(turns: Sequence[tuple[Scope, Turn, str]]) -> list[CandidateTurn]:
    return [
        {
            "id": turn.message.id,
            "memory": turn.message.content,
            "kind": "working",
            "role": turn.message.role.value,
            "run_id": session.run_id,
            "created_at": _utc(turn.message.timestamp),
            "why": why,
        }
        for session, turn, why in turns
    ]


def _utc(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat()
