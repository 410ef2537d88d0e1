"""What the readers of a language hand to the rules: one clause, taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Who = Literal["self", "relation", "clause", "order"]


@dataclass(frozen=True, slots=True)
class Speaker:
    """How the third person is worded: a given name, or "User" / "用户" without one."""

    name: str
    assistant: str
    """What the other party of the conversation is called."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One clause that states something."""

    who: Who
    clause: str
    """The clause in its plain form: no contractions, no filler at its head."""
    predicate: str
    """What is said of the subject, as the rules match it: base form, without adverbs and negation."""
    text: str
    """The clause in the third person."""
    spoken: str = ""
    """The predicate in the speaker's own script, as long as `predicate`; empty where both are the same."""
    subject: str = ""
    """The subject in the third person: `User`, `User's sister Anna`."""
    owner: str = ""
    """The subject as an owner: `User's`, `User's sister Anna's`."""
    relation: str | None = None
    """Which of the speaker's people or pets it is about (`sister`, `dog Rex`); None for the speaker."""
    unique: bool = True
    """Whether the speaker has only one such relation, so that a new value replaces the old one."""
    lead: str = ""
    """Time words that stood outside the predicate."""
    negated: bool = False
    ended: bool = False
    """It was so and is no longer ("no longer", "used to", 不再)."""
    hedged: bool = False
    corrects: bool = False
    """The speaker puts something right ("actually", 不对)."""
    carried: bool = False
    """It has no subject of its own, and takes that of the clause before."""
    adds: bool = False
    """It only says how long, how far or which of them: a detail of the clause before, and no fact of its own."""
    is_by_name: bool = False
    """It was said long ago: a name means its subject, and no pronoun does."""
    pronoun: str = ""
    """The pronoun that stands for the subject; empty where it is named."""
    mentioned: Statement | None = None
    """The last of the speaker's people that it names beside its subject: "she" may be this one."""
    implied: Statement | None = None
    """The same clause with the speaker as the subject that it leaves out."""


def people_of(statements: Sequence[Statement]) -> list[Statement]:
    """The speaker's people that the statements are about or name, in order."""
    named = (statement if statement.relation else statement.mentioned for statement in statements)
    return [item for item in named if item is not None]


def spoken_of_now(statements: Sequence[Statement]) -> list[Statement]:
    """Those of the speaker's people whom a pronoun may mean, in order."""
    return [item for item in people_of(statements) if not item.is_by_name]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a message; `asks` when it ends with a question mark."""

    text: str
    asks: bool = False
    literal: str = ""
    """The words of the message, where `text` was completed from a question or has a place put in; else empty."""

    answers: bool = False
    """It was completed from the question that it answers, which says whom it is about."""

    @property
    def evidence(self) -> str:
        """What the speaker said of it."""
        return self.literal or self.text


class Reader(Protocol):
    """Takes the sentences of one language apart."""

    def read(self, sentence: Sentence, speaker: Speaker, *, people: Sequence[Statement]) -> list[Statement]:
        """The statements of a sentence, in order. `people` are the statements about relations heard before."""
        ...
