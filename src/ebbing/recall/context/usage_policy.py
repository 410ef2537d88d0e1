"""The memories of an answer that may be used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ebbing.domain.filters.query import Hit
from ebbing.domain.memory.record import DOUBTED, QUARANTINED, MemoryRecord, MemoryType, Role
from ebbing.language.text.analyzer import TextFlag, flags_of, normalise

_STANDING_TAGS: Final = frozenset({"constraint", "preference", "dislike", "health", "diet"})


@dataclass(frozen=True, slots=True)
class Policy:
    """Bounds on what is used of an answer."""

    top_k: int = 16
    min_score: float = 0.05
    """Calibrated relevance in [0, 1]. Right and wrong answers overlap on this scale, so that a higher bound hides
    answers. Room bounds a block."""
    enough: float = 0.6
    """Score of the best memory from which no further step of the ladder is tried."""
    leaning_min_score: float = 0.02
    """`min_score` of a question that leans on its conversation: what that repeats scores far above what came of it."""
    topicless_min_score: float = 0.6
    """`min_score` of a question that names no topic behind a conversation that names none either."""
    max_chars: int = 1_200
    """Characters of an injected block."""
    session_first: int = 3
    """So many memories of the running session come before those that hold everywhere."""
    inject_above: float = 0.8
    """Score above which a memory is put in front of a general assistant unasked. Where the reader serves, little
    that is beside the point scores more; some right answers score less, and are left to the tools."""


DEFAULT: Final = Policy()


def is_usable(record: MemoryRecord, *, session: str | None = None, channel: str | None = None) -> bool:
    """Whether a memory may be used here: it holds everywhere, or for just this session or channel, and is not held back
    for review, nor in doubt."""
    if not {QUARANTINED, DOUBTED}.isdisjoint(record.tags):
        return False
    here = {f"session:{session}" if session else "", f"channel:{channel}" if channel else ""}
    return record.scope == "global" or record.scope in here - {""}


def is_standing(record: MemoryRecord) -> bool:
    """Whether it says what the person wants, likes, avoids or must not have: what advice has to start from."""
    if record.type in {MemoryType.CONSTRAINT, MemoryType.PREFERENCE} or not _STANDING_TAGS.isdisjoint(record.tags):
        return True
    raw = record.provenance.method == "raw" and record.role is not Role.ASSISTANT
    return raw and bool(flags_of(normalise(record.content)) & (TextFlag.PREFERENCE | TextFlag.INSTRUCTION))


def apply_usage_policy(
    hits: Sequence[Hit], policy: Policy = DEFAULT, *, session: str | None = None, advice: bool = False
) -> list[Hit]:
    """At most `top_k` of the hits that reach `min_score`, in their order, the session's own (at most three) first.

    With `advice` (the question asks for a recommendation) half of that is enough for what the person likes, wants or
    must avoid: "what should I have for dinner?" has little in common with "allergic to seafood", and must find it.
    """
    least = policy.min_score
    good = [
        hit for hit in hits if hit.score >= least or (advice and hit.score >= least / 2 and is_standing(hit.record))
    ]
    own = [hit for hit in good if session is not None and hit.record.scope == f"session:{session}"]
    first = own[: policy.session_first]
    return [*first, *(hit for hit in good if hit not in first)][: policy.top_k]
