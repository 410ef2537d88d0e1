"""Answers of `memory.assistant`."""

from typing import Any, TypedDict

from ebbing.results.memories import ContextItem


class RecallDecision(TypedDict):
    """The answer of `assistant.recall`."""

    inject: bool
    """Whether to put the block into the prompt unasked."""
    reason: str
    """`sure`, `always`, `nothing` or `tools`."""
    context: str
    """The block; "" where there is nothing to inject."""
    memories: list[ContextItem]


class WorkerRoute(TypedDict):
    """The answer of `assistant.route`."""

    worker: str
    favourite: str | None
    """What the person likes that decided it; None where the default answers."""
    prefer: list[str]
    exclude: list[str]
    filters: dict[str, float]
    """Limits such as `max_duration`, in minutes."""


class OfferItem(TypedDict):
    """Something that may be offered."""

    item: Any
    score: float
    favourite: str | None
    """What the person likes that it is."""


class DroppedItem(TypedDict):
    """Something that may not be offered."""

    item: Any
    reason: str
    """What the person avoids, or the limit that it breaks."""


class OfferAnswer(TypedDict):
    """The answer of `assistant.rank`."""

    offers: list[OfferItem]
    dropped: list[DroppedItem]


class StyleAnswer(TypedDict):
    """The answer of `assistant.style`."""

    hints: list[str]
    """How to answer, as sentences for a system prompt."""
    language: str | None
    tone: str | None
    max_words: int | None
    max_characters: int | None
    brief: bool
