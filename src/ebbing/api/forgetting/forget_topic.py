"""The part of the façade that forgets what somebody asks it to forget: first it shows what that is, then it does it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypedDict, Unpack

from ebbing.api.forgetting.erasure import Erasing
from ebbing.domain.errors import InvalidInputError
from ebbing.domain.memory.change_set import Cause, ChangeSet
from ebbing.domain.memory.record import Kind, MemoryRecord, Role, content_hash
from ebbing.domain.memory.scope import Scope
from ebbing.language.signals.forget_requests import Asked, asked_to_forget
from ebbing.ports.event_bus import Topic
from ebbing.ports.request_log import KeptRequest
from ebbing.ports.working_memory import Turn
from ebbing.recall.find_by_topic import About, find_about, fits_time, related_groups, why_said
from ebbing.remember.forget import forget_these, is_read_from
from ebbing.remember.intake.parse_messages import clean_text
from ebbing.results import Item, memory_item
from ebbing.validation import checked_flag, checked_reason

VALID_FOR: Final = timedelta(hours=1)
"""How long what was shown may be agreed to."""
LAST_SAID: Final = timedelta(minutes=30)
"""How old the message may be that "don't save what I just said" means."""
_NEWEST: Final = 32
"""Records among which the last message and what was read from it are looked for."""
_CALLER: Final = "ebbing.forget"
_UNKNOWN: Final = "this is no answer that could be confirmed, or no longer: ask again what would be forgotten"


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


@dataclass(frozen=True, slots=True)
class _Shown:
    """What was shown, as far as it takes to do just that."""

    until: datetime
    candidates: dict[str, str]
    """Id to the hash of its content."""
    perhaps: dict[str, str] = field(default_factory=dict)
    turns: list[list[str]] = field(default_factory=list)
    """Of running sessions: agent, run, id of the message, and the hash of its text."""

    def text(self) -> str:
        values = {"candidates": self.candidates, "perhaps": self.perhaps, "turns": self.turns}
        return json.dumps({"until": self.until.isoformat(), **values})

    @classmethod
    def of(cls, text: str) -> _Shown:
        values = json.loads(text)
        return cls(**{**values, "until": datetime.fromisoformat(values["until"])})


class Forgetting(Erasing):
    """What forgets by asking."""

    async def forget(
        self,
        about: str | None = None,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        confirm: str | None = None,
        **options: Unpack[ForgetOptions],
    ) -> Item:
        """Forgets what somebody said about something, in two steps: the first shows what that is and changes nothing.

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
        scope = self._scope(user_id=user_id, agent_id=agent_id, run_id=run_id, filters=None)
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

    async def _show(self, text: str, scope: Scope, *, hard: bool) -> Item:
        now = self._components.clock.now()
        asked = asked_to_forget(text, now=now)
        found = await find_about(await self._searching(), scope, asked=asked, deleted=hard)
        turns = await self._turns_about(asked, scope)
        shown = _Shown(
            now + VALID_FOR,
            _hashes(found.most_wanted),
            _hashes(one.record for one in found.perhaps),
            [[session.agent_id or "", session.run_id or "", *_name(turn)] for session, turn, _ in turns],
        )
        token = await self._token(shown, scope) if found.candidates or found.perhaps or turns else None
        return {
            "candidates": [*_turn_items(turns), *_items(found)],
            "perhaps": [{**memory_item(one.record), "why": one.why} for one in found.perhaps],
            "confirm": token,
            "expires_at": shown.until.isoformat(),
            "about": list(found.topics),
        }

    async def _token(self, shown: _Shown, scope: Scope) -> str:
        """What has to be given to have forgotten what was shown."""
        token, now = self._components.ids.new(), self._components.clock.now()
        answered = KeptRequest(scope.tenant, _CALLER, token, "", now, now, whose=scope, status=200, answer=shown.text())
        await self._components.store.requests.begin(answered)
        return token

    async def _offer_last_message(self, scope: Scope) -> Item | None:
        """The person's newest stored message, if it was said in the last half hour, and what was read from it."""
        now = self._components.clock.now()
        page = await self._components.store.page(scope, kinds=(Kind.EPISODE, Kind.MEMORY), limit=_NEWEST)
        recent = [one for one in page.records if one.recorded_at >= now - LAST_SAID]
        last = next((one for one in recent if one.is_verbatim and one.role is Role.USER), None)
        if last is None:
            return None
        shown = _Shown(now + VALID_FOR, _hashes(one for one in recent if one is last or is_read_from(one, last)))
        token = await self._token(shown, scope)
        return {"ids": [*shown.candidates], "confirm": token, "expires_at": shown.until.isoformat()}

    async def _forget_shown(
        self, token: str, scope: Scope, *, options: ForgetOptions, hard: bool, reason: str | None
    ) -> Item:
        request, shown = await self._shown(token, scope)
        keep, also = _ids(options.get("keep"), "keep"), _ids(options.get("also"), "also")
        if not keep <= {*shown.candidates, *(name for *_, name, _ in shown.turns)} or not also <= shown.perhaps.keys():
            raise InvalidInputError("keep names candidates, and also what is among perhaps: one id is neither")
        wanted = {one: told for one, told in shown.candidates.items() if one not in keep}
        wanted |= {one: told for one, told in shown.perhaps.items() if one in also}
        now = self._components.clock.now()
        change = ChangeSet(Cause.FORGET)
        store = self._components.store.within(change)
        gone = await forget_these(store, wanted, scope=scope, hard=hard, reason=reason, now=now)
        turns = await self._drop_turns([turn for turn in shown.turns if turn[2] not in keep], scope)
        await self._components.store.requests.drop(request)
        await self._announce(Topic.MEMORY_DELETED, scope, memory_ids=gone.ids)
        counts = {"memories": gone.memories, "episodes": gone.episodes, "turns": turns, "hard": hard}
        more = {"scrubbed": await self._scrubbed()} if hard else {}
        return {"forgotten": list(gone.ids), **counts, "change_id": change.only_id, **more}

    async def _shown(self, token: object, scope: Scope) -> tuple[KeptRequest, _Shown]:
        request = None
        if isinstance(token, str) and token == clean_text(token):
            request = await self._components.store.requests.get(scope.tenant, _CALLER, key=token)
        if request is None or request.answer is None or request.whose != scope:
            raise InvalidInputError(_UNKNOWN)
        shown = _Shown.of(request.answer)
        if shown.until < self._components.clock.now():
            await self._components.store.requests.drop(request)
            raise InvalidInputError(_UNKNOWN)
        return request, shown

    async def _turns_about(self, asked: Asked, scope: Scope) -> list[tuple[Scope, Turn, str]]:
        """What was said about it in running sessions and is not stored yet."""
        asked = replace(asked, topics=(*asked.topics, *asked.tastes))
        related = related_groups(asked)
        found = []
        for session in filter(scope.covers, await self._components.working.sessions()):
            for turn in await self._components.working.read(session):
                message = turn.message
                why = why_said(message.content, asked, related=related) if asked.topics else "it was said just now"
                if why and message.id and fits_time(message.timestamp, message.role, asked=asked):
                    found.append((session, turn, why))
        return found

    async def _drop_turns(self, shown: Collection[Sequence[str]], scope: Scope) -> int:
        """Lets go of turns that still say what they said, so that they are never remembered."""
        wanted = {tuple(turn) for turn in shown}
        gone = 0
        for session in filter(scope.covers, await self._components.working.sessions()):
            turns = [
                turn
                for turn in await self._components.working.read(session)
                if (session.agent_id or "", session.run_id or "", *_name(turn)) in wanted
            ]
            await self._components.working.drop(session, turns)
            gone += len(turns)
        return gone


def _check(options: Mapping[str, Any]) -> None:
    for name in options:
        if name not in ForgetOptions.__annotations__:
            raise TypeError(f"forget() got an unexpected keyword argument {name!r}")


def _ids(given: object, label: str) -> set[str]:
    if given is None:
        return set()
    if not isinstance(given, list | tuple | set | frozenset) or not all(isinstance(one, str) for one in given):
        raise InvalidInputError(f"{label} must be a list of ids")
    return set(given)


def _hashes(records: Any) -> dict[str, str]:
    return {record.id: record.hash for record in records}


def _name(turn: Turn) -> tuple[str, str]:
    return turn.message.id or "", content_hash(turn.message.content)


def _items(found: About) -> list[Item]:
    return [{**_item(one.record), "why": one.why} for one in found.candidates.values()]


def _item(record: MemoryRecord) -> Item:
    item = memory_item(record)
    return {**item, "deleted_at": record.deleted_at.isoformat()} if record.deleted_at else item


def _turn_items(turns: Sequence[tuple[Scope, Turn, str]]) -> list[Item]:
    return [
        {
            "id": turn.message.id,
            "memory": turn.message.content,
            "kind": "working",
            "role": turn.message.role.value,
            "run_id": session.run_id,
            "created_at": turn.message.timestamp and turn.message.timestamp.astimezone(UTC).isoformat(),
            "why": why,
        }
        for session, turn, why in turns
    ]
