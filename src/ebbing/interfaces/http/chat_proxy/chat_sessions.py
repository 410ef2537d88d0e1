"""The conversations that go through the proxy: what each was shown, and what of it is remembered."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from ebbing.interfaces.http.chat_proxy.conversation import Turn, fingerprint, turns_of
from ebbing.ports.clock import Clock

MAX_KEYS: Final = 20_000
"""Names and ids of messages by which conversations are found; of more, the tenant with the most loses its oldest."""
NOTED_TURNS: Final = 16
"""Messages at the end of a request by which its conversation is found again."""
_SAME_START: Final = timedelta(minutes=10)
"""So soon, a first message that is sent again is the same conversation: its answer was asked for anew."""

Owner = tuple[str, str, str]
"""Tenant, user and agent."""


_Conversations = OrderedDict[tuple[Owner, str], "ChatSession"]


@dataclass(frozen=True, slots=True)
class Block:
    """Memories for a prompt."""

    text: str = ""
    memory_ids: tuple[str, ...] = ()


NOTHING: Final = Block()


@dataclass(eq=False)
class ChatSession:
    """One conversation of one owner."""

    owner: Owner
    name: str | None
    """Its `run_id`: what the host calls it, or what follows from how it began; None until that is known."""
    used_at: datetime
    profile: Block | None = None
    """The stable block, frozen; None where it is still to be made."""
    question_id: str = ""
    question: Block = NOTHING
    """The block behind the question of this id, the same for all calls that answer it."""
    stored: dict[str, str] = field(default_factory=dict)
    """By the id of a turn that is remembered, the hash of its text."""
    withheld: set[str] = field(default_factory=set)
    """Ids of what the memory is not given again: it is off the record, or something was deleted since."""
    prompt: tuple[tuple[str, int], ...] = ()
    """Hash and length of each message of the last prompt before its last."""
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def turns_of(self, messages: Sequence[Mapping[str, Any]], turns: list[Turn]) -> list[Turn]:
        """Return the turns of a request, under the ids that they have in this conversation.

        Where the host leaves out the oldest messages, the first one left is known again by its words.

        Args:
            turns: of these messages, as they are named without what is known of the conversation.
        """
        if not turns or turns[0].id in self.stored:
            return turns
        words = turns[0].text_hash
        first_id = next((turn_id for turn_id, text in reversed(self.stored.items()) if text == words), None)
        return turns_of(messages, agent=self.owner[2], first_id=first_id) if first_id else turns

    def is_stored(self, turn: Turn) -> bool:
        """Return whether a message is remembered already, in just these words."""
        return self.stored.get(turn.id) == turn.text_hash

    def keep_private(self, turns: Sequence[Turn]) -> None:
        """Let none of these be remembered, also when the host sends them again."""
        self.withheld.update(turn.id for turn in turns)
        self.stored.update((turn.id, turn.text_hash) for turn in turns)

    def name_by(self, turns: Sequence[Turn]) -> str:
        """Return the name, which an unnamed session gets from its first words."""
        if self.name is None:
            self.name = f"chat-{fingerprint(*(turn.text for turn in turns[:2]))}"
        return self.name

    def to_add(self, turn: Turn) -> dict[str, Any]:
        """Return a message for `Memory.add`; the session has a name by then."""
        return turn.to_add(self.stored_id(turn))

    def stored_id(self, turn: Turn) -> str:
        """Return the id under which a message is remembered: the same words in two conversations are two messages."""
        return f"chat-{fingerprint('message', self.name or '', turn.id)}"

    def stable_share(self, texts: Sequence[str]) -> float | None:
        """Return how much of the last prompt, but for its last message, stands in this one as well; None at first.

        What a model's prompt cache keeps is the beginning that stays the same.
        """
        prompt = tuple((fingerprint(text), len(text.encode("utf-8", "replace"))) for text in texts)
        earlier, self.prompt = self.prompt, prompt[:-1]
        whole = sum(length for _, length in earlier)
        if not whole:
            return None
        same = 0
        for (digest, length), (other, _) in zip(earlier, prompt, strict=False):
            if digest != other:
                break
            same += length
        return same / whole


class ChatSessions:
    """The conversations of late. What is let go is found again by what the store knows of it."""

    def __init__(self, clock: Clock, *, idle: timedelta) -> None:
        self._clock, self._idle = clock, idle
        self._by_tenant: dict[str, _Conversations] = {}
        """By tenant, then by owner and name, or by what else a conversation is known by."""
        self._size = 0

    def find(self, owner: Owner, name: str | None, *, turns: Sequence[Turn]) -> ChatSession:
        """Return the session of a request.

        Args:
            name: what the host calls it. Without one it is known by its messages, the latest first.
            turns: of the request.
        """
        now = self._clock.now()
        keys = [name] if name else [*_keys_of(turns)]
        is_start = all(turn.role == "user" for turn in turns)
        conversations = self._by_tenant.get(owner[0], _Conversations())
        session = next((conversations[owner, key] for key in keys if (owner, key) in conversations), None)
        if session is not None and not name and is_start and now - session.used_at > _SAME_START:
            session = None
        if session is None:
            session = ChatSession(owner, name or _name_of(turns), now)
        elif now - session.used_at > self._idle:
            session.profile = None
        session.used_at = now
        self._note(session, [name] if name else [*_keys_of(turns[-NOTED_TURNS:])])
        return session

    def note_answer(self, session: ChatSession, turns: Sequence[Turn]) -> None:
        """Let a conversation be known by its last round too: the host may leave out what was before."""
        self._note(session, [*_keys_of(turns[-2:])])

    def _note(self, session: ChatSession, keys: Sequence[str]) -> None:
        conversations = self._by_tenant.setdefault(session.owner[0], _Conversations())
        before = len(conversations)
        for key in keys:
            conversations[session.owner, key] = session
            conversations.move_to_end((session.owner, key))
        self._size += len(conversations) - before
        while self._size > MAX_KEYS:
            tenant, largest = max(self._by_tenant.items(), key=lambda item: len(item[1]))
            largest.popitem(last=False)
            self._size -= 1
            if not largest:
                del self._by_tenant[tenant]

    def thaw(self, tenant: str, user: str | None) -> None:
        """Let go of the blocks of a user, or of a whole tenant: something that they may show was deleted.

        What is remembered of a conversation stays known, so that a host that sends it again brings nothing back.
        """
        conversations = self._by_tenant.get(tenant, _Conversations())
        for session in {id(session): session for session in conversations.values()}.values():
            if user in {None, session.owner[1]}:
                session.profile, session.question_id, session.question = None, "", NOTHING
                session.withheld.update(session.stored)


def _keys_of(turns: Sequence[Turn]) -> Iterator[str]:
    """Yield what a conversation is known by, the latest first: its questions, and its rounds of question and answer."""
    yield from (turn.id for turn in reversed(turns) if turn.role == "user")
    rounds = [pair for pair in pairwise(turns) if pair[0].role == "user" and pair[1].role == "assistant"]
    yield from (fingerprint("round", question.text, answer.text) for question, answer in reversed(rounds))


def _name_of(turns: Sequence[Turn]) -> str | None:
    """Return the name of a conversation that has an answer already: two that begin alike go on differently."""
    if len(turns) < 2 or turns[1].role == turns[0].role:
        return None
    return f"chat-{fingerprint(turns[0].text, turns[1].text)}"
