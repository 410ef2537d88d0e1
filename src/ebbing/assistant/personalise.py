"""Let what is known of a person shape three choices: who answers, what is offered, and how it is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from ebbing.domain.memory.record import MemoryRecord, MemoryType
from ebbing.language.signals.limits import Limit, read_limits
from ebbing.language.signals.preferences import Tastes, mentions, read_tastes
from ebbing.recall.context.usage_policy import is_standing

FAVOURITE_FACTOR: Final = 1.2
"""Factor of the score of what the person likes."""

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class WorkerChoice:
    """The worker that should answer, and what it looks for."""

    worker: str
    prefer: tuple[str, ...]
    exclude: tuple[str, ...]
    favourite: str | None
    """What the person likes that decided it; None where the default answers."""


@dataclass(frozen=True, slots=True)
class Offer(Generic[_Item]):
    """Something that may be offered."""

    item: _Item
    score: float
    favourite: str | None
    """What the person likes that it is."""


def tastes_of(records: Sequence[MemoryRecord]) -> Tastes:
    """Return what memories (in any order) say the person likes, dislikes and must avoid.

    Only what was said of themselves as a preference, constraint or rule counts.
    """
    standing = [record for record in records if is_standing(record) or record.type is MemoryType.PROCEDURAL]
    standing.sort(key=lambda record: record.created_at)
    return read_tastes(record.content for record in standing)


def limits_about(statements: Sequence[str], topic: str | None = None) -> list[Limit]:
    """Return the limits that the statements name: those that speak of the topic, else all of them."""
    limits = read_limits(statements)
    about = [limit for limit in limits if topic and mentions(limit.statement, topic)]
    return about or limits


def choose_worker(tastes: Tastes, workers: Mapping[str, str], *, default: str) -> WorkerChoice:
    """Return the worker for the latest favourite that one is for, and filters for it.

    Args:
        workers: topic to worker name.
    """
    exclude = (*tastes.avoids, *tastes.dislikes)
    for favourite in tastes.likes:
        for topic, worker in workers.items():
            if mentions(favourite, topic) or mentions(topic, favourite):
                return WorkerChoice(worker, tastes.likes, exclude, favourite)
    return WorkerChoice(default, tastes.likes, exclude, None)


def rank_offers(
    items: Sequence[_Item], tastes: Tastes, *, text: Callable[[_Item], str], score: Callable[[_Item], float]
) -> list[Offer[_Item]]:
    """Return the items that may be offered, best first, without a second retrieval.

    What names something the person dislikes or must avoid is dropped, unless it says it is free of it; what they like
    counts 1.2 times as much. What is told in other words than names is not recognised: this is no medical safeguard.
    """
    unwanted = (*tastes.avoids, *tastes.dislikes)
    offers: list[Offer[_Item]] = []
    for item in items:
        description = text(item)
        if first_mentioned(description, unwanted) is None:
            favourite = first_mentioned(description, tastes.likes)
            offers.append(Offer(item, _lifted(score(item)) if favourite else score(item), favourite))
    return sorted(offers, key=lambda offer: -offer.score)


def _lifted(score: float) -> float:
    """Return the score of a favourite: higher than it was, also where scores are below zero."""
    return score * FAVOURITE_FACTOR if score >= 0 else score / FAVOURITE_FACTOR


def generation_hints(tastes: Tastes, language: str = "en") -> list[str]:
    """Return how to answer, as sentences for a system prompt in `zh` or `en`; empty where the person did not say."""
    manner = tastes.manner
    templates = _HINTS.get(language, _HINTS["en"])
    values = {
        "language": manner.language.capitalize() if manner.language else None,
        "tone": manner.tone,
        "words": manner.max_words,
        "characters": manner.max_characters,
        "brief": manner.brief or None,
    }
    return [templates[name].format(value) for name, value in values.items() if value is not None]


_HINTS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "language": "Answer in {}.",
        "tone": "The tone should be {}.",
        "words": "Use at most {} words.",
        "characters": "Use at most {} characters.",
        "brief": "Keep it short.",
    },
    "zh": {
        "language": "请用{}回答。",
        "tone": "语气要{}。",
        "words": "不超过{}个单词。",
        "characters": "不超过{}个字。",
        "brief": "请简短回答。",
    },
}


def first_mentioned(text: str, things: Sequence[str]) -> str | None:
    """Return the first of the things that a text names; None for none."""
    return next((thing for thing in things if mentions(text, thing)), None)
