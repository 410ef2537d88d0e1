"""The messages of a call that may be stored: on the record, without recalled memories, without secrets.

Nothing of a message that the person keeps off the record is written anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Final, NamedTuple

from ebbing.domain.errors import BlockedContentError
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.privacy.guarding.off_record import Request, off_record_request
from ebbing.privacy.guarding.strip_recalled import strip_recalled
from ebbing.privacy.guarding.trust import TrustTier, instruction_shaped, tier_of
from ebbing.privacy.redaction.redact import redact
from ebbing.remember.intake.write_policy import WritePolicy


def split_repeated_ids(messages: Sequence[Message]) -> list[list[Message]]:
    """Return the messages in order, cut before each that gives an id of its part another text."""
    parts: list[list[Message]] = [[]]
    text_of: dict[str, str] = {}
    for message in messages:
        if message.id is not None and text_of.setdefault(message.id, message.content) != message.content:
            parts.append([])
            text_of = {message.id: message.content}
        parts[-1].append(message)
    return parts


Requests = Mapping[str, Request | None]
"""What messages ask to be left out, by their text."""
OFF_RECORD: Final = "off the record: nothing of it is stored"
"""Reason of a message that was left out."""
OWN: Final = frozenset({None, TrustTier.USER, TrustTier.IMPORT})
"""Whose messages may ask to be left out: the person's own."""


class StillOffRecord(NamedTuple):
    """What a talk keeps off the record beyond the call that asked for it. Names and ids are there as digests alone."""

    replies: bool = False
    """What answers the last message, until a user speaks again."""
    next_of: frozenset[str] = frozenset()
    """Speakers whose next message is meant."""
    ids: frozenset[str] = frozenset()
    """Messages with an id that were left out: whoever sends them again means the same."""


NOTHING_OFF_RECORD: Final = StillOffRecord()


class MessagesOnRecord(NamedTuple):
    """The messages of a call that may be stored."""

    messages: list[Message]
    left_out: int = 0
    """How many messages are not among them."""
    names_earlier: bool = False
    """The message before the first one is meant as well: it may be stored by an earlier call."""
    still: StillOffRecord | None = None
    """What the next call of the same talk is to leave out; None where it is what it was, and nothing was left out."""


class OffRecordPlaces(NamedTuple):
    """Which messages are off the record, and what is meant beyond them."""

    places: frozenset[int] = frozenset()
    names_earlier: bool = False
    """The message before the first one is meant too."""
    next_of: frozenset[str] = frozenset()
    """Digests of the speakers whose next message is meant and is not here yet."""


def messages_on_record(
    messages: Sequence[Message],
    *,
    trust: TrustTier | None = None,
    is_private: bool = False,
    still: StillOffRecord = NOTHING_OFF_RECORD,
    requests: Requests | None = None,
) -> MessagesOnRecord:
    """Return the messages without those that a person asks not to write down, and without the replies to these.

    Only messages of the role `user` ask. What is said between such a message and the next one of a user answers it, and
    would repeat it.

    Args:
        trust: of the call. What counts for less than the person's own file asks for nothing.
        is_private: the call itself is off the record, with all its messages.
        still: what the calls before it asked for.
        requests: what its messages ask; None: what their words say.
    """
    if is_private:
        speakers = {_digest(message.name) for message in messages if message.role is Role.USER}
        after = still._replace(next_of=still.next_of - speakers)
        return MessagesOnRecord([], len(messages), still=None if after == still else after)
    if trust not in OWN:
        spoke_first = next(
            (place for place, message in enumerate(messages) if message.role is Role.USER), len(messages)
        )
        replies = spoke_first if still.replies else 0
        return MessagesOnRecord([*messages[replies:]], replies)
    meant = off_record_places(messages, still=still, requests=requests)
    private, turns = meant.places, _turns(messages)
    recordable = [message for place, message in enumerate(messages) if place not in private]
    ids = frozenset(_digest(f"{name} {messages[place].content}") for place in private if (name := messages[place].id))
    replies_are_private = turns[-1].start in private if turns else still.replies
    after = StillOffRecord(replies_are_private, meant.next_of, still.ids | ids)
    is_same = after == still and not private
    return MessagesOnRecord(recordable, len(private), meant.names_earlier, None if is_same else after)


def off_record_places(
    messages: Sequence[Message], *, still: StillOffRecord = NOTHING_OFF_RECORD, requests: Requests | None = None
) -> OffRecordPlaces:
    """Return the places of the messages off the record, and what is meant beyond them.

    Args:
        still: what earlier calls of the same talk asked for.
        requests: what the messages ask; None: what their words say.
    """
    turns, next_of = _turns(messages), still.next_of
    named = ((place, f"{message.id} {message.content}") for place, message in enumerate(messages) if message.id)
    private = {place for place, name in named if _digest(name) in still.ids}
    if still.replies:
        private |= {*range(turns[0].start if turns else len(messages))}
    names_earlier = False
    for number, turn in enumerate(turns):
        speaker = _digest(messages[turn.start].name)
        text = messages[turn.start].content
        request = off_record_request(text) if requests is None else requests.get(text)
        if request is not None or speaker in next_of or turn.start in private:
            private |= {*turn}
        next_of -= {speaker}
        if request is None:
            continue
        before = _before(turns, number, messages=messages)
        if request.before and before is not None:
            private |= {*turns[before]}
        names_earlier |= request.before and before is None
        if request.after:
            next_of |= {speaker}
    return OffRecordPlaces(frozenset(private), names_earlier, next_of)


def _digest(name: str | None) -> str:
    """Return what stands for a name or an id where the name itself may not be written."""
    return blake2b((name or "").encode(), digest_size=12).hexdigest()


def _turns(messages: Sequence[Message]) -> list[range]:
    """Return the places of each user message with what answers it; what stands before the first one is nobody's
    answer.
    """
    starts = [place for place, message in enumerate(messages) if message.role is Role.USER]
    ends = [*starts[1:], len(messages)][: len(starts)]
    return [range(start, end) for start, end in zip(starts, ends, strict=True)]


def _before(turns: Sequence[range], number: int, *, messages: Sequence[Message]) -> int | None:
    """Return the number of the speaker's message before this one."""
    name = messages[turns[number].start].name
    return next((earlier for earlier in reversed(range(number)) if messages[turns[earlier].start].name == name), None)


_LOWEST_TRUST = TrustTier.DOCUMENT


class ScreenedMessage(NamedTuple):
    """A message as it may be kept."""

    message: Message
    tier: TrustTier
    """Whose word it is."""
    held_back: str | None = None
    """Why it is kept for review and nothing is learnt from it: it speaks like an order to the model."""


def screen_messages(
    messages: Sequence[Message], policy: WritePolicy, *, trust: TrustTier | None = None, learning: bool = True
) -> list[ScreenedMessage]:
    """Return the messages that may be kept, in order; what holds nothing but recalled memories is left out.

    They are those that `messages_on_record` left.

    With `trust`, nothing counts for more than that tier. Where nobody is `learning` from them, recalled memories stay
    in, and none is held back.

    Raises:
        BlockedContentError: the redaction policy blocks a message, and says that the call is to fail.
    """
    screened: list[ScreenedMessage] = []
    for message in messages:
        text = strip_recalled(message.content) if learning else message.content
        redacted = redact(text, policy.redaction)
        if redacted.blocked and policy.on_blocked == "error":
            raise BlockedContentError("a message holds what may not be stored: take it out, or change the redaction")
        if redacted.blocked or not redacted.text.strip():
            continue
        own = tier_of(message.role) or _LOWEST_TRUST
        tier = own if trust is None else max(own, trust, key=list(TrustTier).index)
        held_back = instruction_shaped(text, spoken_by_user=tier is TrustTier.USER) if learning else None
        redacted_message = message if redacted.text == message.content else replace(message, content=redacted.text)
        screened.append(ScreenedMessage(redacted_message, tier, held_back))
    return screened
