"""The decision about a fact, with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ebbing.domain.memory.record import MemoryType


@dataclass(frozen=True, slots=True)
class Fact:
    """One clear third-person statement, read from a message and not yet stored."""

    text: str
    type: MemoryType = MemoryType.FACT
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 1.0
    source: int = 0
    """Index of the message that it was read from."""
    source_text: str | None = None
    sentence: str | None = None
    """The sentence as it was read, where it says more than `source_text`: an answer with what was asked."""
    rule: str | None = None
    """Id of the rule, or model and version of the prompt."""
    method: str = "rule"
    """What read it: `rule`, `llm`, or `raw`."""
    attribute: str | None = None
    """Name of a single-valued attribute (`home`, `employer`, …) when the fact gives its value."""
    value: str | None = None
    about: str = "user"
    """`user` or `agent`."""
    polarity: int = 0
    """1 for liked, -1 for disliked or avoided, 0 where it does not apply."""
    object: str | None = None
    """What is liked, disliked or avoided, in the speaker's words."""
    hedged: bool = False
    """The speaker was not sure."""
    ended: bool = False
    """It was so and is no longer ("no longer", "used to", 不再)."""
    understood: bool = False
    """Its subject was left out: it is the speaker's unless what was said before is about somebody else."""
    tentative: bool = False
    """No rule reads it: worth keeping only if it ends or replaces something that is known."""
    reading: str | None = None
    """What a rule reads from a text that is a quotation, in the third person: it is compared, and never shown."""
    lasts: bool = True
    """It says who somebody is, and not what happens, is planned or is usual."""
    corrects: bool = False
    """The speaker put something right ("actually …", 不对)."""
    instead_of: tuple[str, ...] = ()
    """The memories that it puts right, where the speaker said no more than that."""
    happens_from: datetime | None = None
    happens_to: datetime | None = None
    """When it takes or took place, where the words name a date: from, and up to but not including. UTC."""


@dataclass(frozen=True, slots=True)
class Add:
    """Nothing known says this: store it."""

    fact: Fact
    reason: str
    is_the_value: bool = True
    """False where a known memory holds the value of its attribute: it is stored as a statement without one."""


@dataclass(frozen=True, slots=True)
class AddForReview:
    """It may end known memories, which is not certain enough: store it beside them, for somebody to decide."""

    fact: Fact
    memory_ids: tuple[str, ...]
    """The memories that it would end; they stay current."""
    reason: str


@dataclass(frozen=True, slots=True)
class AddClosed:
    """It was said before what is known, and no longer holds: store it as something that was."""

    fact: Fact
    memory_id: str
    """The newer memory that stands against it."""
    reason: str


@dataclass(frozen=True, slots=True)
class Update:
    """A known memory says less than this: give it the better wording, keep its id."""

    fact: Fact
    memory_id: str
    text: str
    reason: str
    closes: tuple[str, ...] = ()
    """Other memories that are no longer true."""


@dataclass(frozen=True, slots=True)
class Supersede:
    """A known memory is no longer true: close it and store the new one."""

    fact: Fact
    memory_id: str
    reason: str
    closes: tuple[str, ...] = ()
    """Other memories that are no longer true."""
    is_the_value: bool = True
    """As with `Add`."""


@dataclass(frozen=True, slots=True)
class Keep:
    """A known memory already says this: store nothing, but note the new source."""

    fact: Fact
    memory_id: str
    reason: str
    closes: tuple[str, ...] = ()
    """Other memories that are no longer true."""


@dataclass(frozen=True, slots=True)
class Ignore:
    """It is not to be kept."""

    fact: Fact
    reason: str


Decision = Add | AddForReview | AddClosed | Update | Supersede | Keep | Ignore


def closed_by(decision: Decision) -> tuple[str, ...]:
    """Return the memories that a decision ends."""
    if isinstance(decision, Supersede):
        return (decision.memory_id, *decision.closes)
    return decision.closes if isinstance(decision, Keep | Update) else ()


def changed_by(decision: Decision) -> tuple[str, ...]:
    """Return the known memories that a decision changes."""
    changed = (decision.memory_id,) if isinstance(decision, Keep | Update) else ()
    return changed + closed_by(decision)
