"""What was said in a conversation, each message under an id that is the same whenever the host sends it again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ebbing.interfaces.http.chat_proxy.answer_text import without_thoughts
from ebbing.remember.intake.parse_messages import MAX_MESSAGE_LENGTH

_SPEAKERS: Final = frozenset({"user", "assistant"})
HOUSEKEEPING: Final = ("### Task:\n", "Based on the chat history, give this conversation a name.")
"""How hosts begin what they ask for themselves, such as a title of the chat: nobody said it."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a person or of the assistant."""

    id: str
    """The same whenever the host sends it, within its conversation."""
    role: Literal["user", "assistant"]
    text: str
    message: Mapping[str, Any]
    """As the host sent it."""

    @property
    def text_hash(self) -> str:
        """The same for the same words."""
        return fingerprint(self.role, self.text)

    def to_add(self, stored_id: str) -> dict[str, Any]:
        """Return the message for `Memory.add`, under an id that no other conversation has."""
        fields = {name: self.message.get(name) for name in ("role", "content", "name")}
        if self.role == "assistant":
            fields["content"] = self.text
        return {**{name: value for name, value in fields.items() if value is not None}, "id": stored_id}


def fingerprint(*parts: str) -> str:
    """Return a short text that stands for these."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=12).hexdigest()


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message, of parts those that are text; of an answer what is no thought of the model."""
    content = message.get("content")
    parts = content if isinstance(content, list) else ()
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    text = content if isinstance(content, str) else "\n".join(text for text in texts if isinstance(text, str))
    return without_thoughts(text) if message.get("role") == "assistant" else text.strip()


def turns_of(messages: Sequence[Mapping[str, Any]], *, agent: str = "", first_id: str | None = None) -> list[Turn]:
    """Return what the person and the assistant said.

    The id of a user's message follows from its words and those before it. The id of an answer follows from what it
    answers, so that another answer takes its place.

    Args:
        agent: whose conversation it is; the same words to two agents are two messages.
        first_id: of the first message, where it is known from a time when the host still sent what was before it.
    """
    turns: list[Turn] = []
    question, before, answers = "", "", 0
    begin = (agent,) if agent else ()
    for message in messages:
        text = text_of(message) if message.get("role") in _SPEAKERS else ""
        if not text:
            continue
        own_id = first_id if not turns else None
        if message["role"] == "user":
            question, answers = own_id or f"chat-{fingerprint('user', *begin, before, text)}", 0
            turns.append(Turn(question, "user", text, message))
        else:
            name = fingerprint("assistant", *begin, question, str(answers) if question else text)
            turns.append(Turn(own_id or f"chat-{name}", "assistant", text, message))
            answers += 1
        before = text
    return turns


def with_answer(turns: Sequence[Turn], answer: str, *, agent: str = "") -> list[Turn]:
    """Return the turns with an answer behind them; "" is none."""
    place = next((at for at in reversed(range(len(turns))) if turns[at].role == "user"), 0)
    # From the last question on, the ids are the same as if all were there.
    last = [{"role": turn.role, "content": turn.text} for turn in turns[place:]]
    first_id = turns[place].id if turns else None
    answered = turns_of([*last, {"role": "assistant", "content": answer}], agent=agent, first_id=first_id)
    return [*turns, *answered[len(last) :]]


def can_be_stored(turn: Turn) -> bool:
    """Return whether a message is short enough for the memory: a longer one would cost the others their place."""
    return len(turn.text) <= MAX_MESSAGE_LENGTH


def is_housekeeping(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the host asks for itself, and nobody in the conversation does."""
    last = next((message for message in reversed(messages) if message.get("role") == "user"), None)
    return last is not None and text_of(last).startswith(HOUSEKEEPING)
