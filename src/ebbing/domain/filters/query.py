"""The query of a search, and the hits that it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Final, Literal

from ebbing.domain.filters.tree import EVERYTHING, Filter
from ebbing.domain.memory.record import Kind, MemoryRecord

Include = Literal["all", "memories", "episodes"]
KINDS_OF: Final[Mapping[Include, tuple[Kind, ...]]] = {
    "all": (Kind.MEMORY, Kind.EPISODE),
    "memories": (Kind.MEMORY,),
    "episodes": (Kind.EPISODE,),
}
INCLUDES: Final = tuple(KINDS_OF)


@dataclass(slots=True)
class Query:
    """A question with what narrows its answers."""

    text: str
    top_k: int
    now: datetime
    include: Include = "all"
    min_score: float = 0.0
    """Least calibrated score of an answer, in [0, 1]."""
    precise: bool = False
    """Only what the score curve sets apart, instead of the best `top_k`."""
    filter: Filter = EVERYTHING
    context_turns: int = 0
    """Turns before and after each answer that come with it."""
    as_of: datetime | None = None
    """Answer with what was believed at this moment."""
    present: tuple[str, ...] = ()
    """Content hashes of messages that whoever asks has before them: they need no recalling."""
    timezone: tzinfo | None = None
    """In it days begin and end; with None on the clock of the one who said a thing, and of the newest for "now"."""
    default_timezone: tzinfo = UTC
    """What stands for that clock where it is not known."""
    is_complete: bool = True
    """The text, with `conversation`, says all that is asked: False for turns alone, and for a question without the
    conversation that it leans on."""
    conversation: str = ""
    """What was said before the question and the question: searched for beside it, where it leans on that."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory that was recalled, and why."""

    record: MemoryRecord
    score: float
    """Calibrated relevance in [0, 1]: means the same for every query."""
    rank_score: float
    """What the order was made by; comparable within one answer only."""
    duplicate_ids: tuple[str, ...] = ()
    """Memories that say the same, told once by this one, best first."""
    retriever_scores: Mapping[str, float] = field(default_factory=dict)
    """Route name to what it gave, to four places: `semantic` cosine, `keyword` BM25F points with those of neighbouring
    turns, `speaker`, `quote`, `name`, `attribute`, `graph`, `rule` and `time` points in the fused score,
    `reader` the probability that it answers."""
    coverage: float = 0.0
    """Share of the question's wording that it holds, in [0, 1]."""
    meaning: float = 0.0
    """Calibrated similarity to the question, in [0, 1]."""
    session: float = 0.0
    """Points in the fused score that the other rows of its session lend it: by themselves they find nothing."""
