"""Answers for people who look into a memory: who is there, how fresh it is, how it fades, and what changed."""

from typing import NotRequired, TypedDict

from ebbing.results.memories import ContextAnswer, EntityItem, HitItem, MemoryItem, RelationItem


class Freshness(TypedDict):
    """Where a memory stands on its curve."""

    retention: float
    """In [0, 1]; 1 for what never fades."""
    never_fades: bool
    since: str
    """When its clock began: its last use, else when it was made."""
    stability_days: float
    fades_at: str | None
    """When it counts as forgotten, if nothing uses it; None for what never fades."""
    stage_at: dict[str, str]
    """When time alone brings it to each later stage of fading; empty for what is spared."""


class BrowsedItem(MemoryItem):
    """A memory with how fresh it is and what became of it."""

    freshness: Freshness
    access_count: int
    last_accessed_at: str | None
    deleted_at: NotRequired[str]
    delete_reason: NotRequired[str | None]
    superseded_by: NotRequired[str]


class BrowseAnswer(TypedDict):
    """The answer of `overview.memories`."""

    results: list[BrowsedItem]
    next_cursor: str | None
    total: int


class OwnerOverview(TypedDict):
    """Somebody of whom something is stored."""

    kind: str
    """`user`, `agent` or `run`."""
    name: str
    memories: int
    episodes: int
    first_at: str | None
    last_at: str | None
    """When the newest of it was said."""
    added_by_week: list[int]
    """Memories that were stored in each of the last twelve weeks, the oldest first."""


class OwnerPage(TypedDict):
    """The answer of `overview.owners`."""

    owners: list[OwnerOverview]
    next_cursor: str | None
    total: int


class FacetsAnswer(TypedDict):
    """The answer of `overview.facets`: how many records there are of what."""

    kinds: dict[str, int]
    types: dict[str, int]
    states: dict[str, int]
    """`current`, `ended` and `gone`."""
    tags: dict[str, int]
    """Of the current memories, the hundred most frequent."""
    trust: dict[str, int]
    first_at: str | None
    last_at: str | None


class UseItem(TypedDict):
    """A signal about a memory that an answer held."""

    at: str
    signal: str
    reason: str | None


class RetentionAnswer(TypedDict):
    """The answer of `overview.retention`."""

    id: str
    now: str
    curve: str
    """`power` or `exponential`."""
    forgotten_below: float
    freshness: Freshness
    points: list[list[float]]
    """Seconds since 1970 and the retention then, from the day on which it was made."""
    uses: list[UseItem]
    returned: int
    """How often answers held it."""
    last_returned_at: str | None


class NeighbourItem(TypedDict):
    """A memory that names what another one names."""

    id: str
    memory: str
    shares: list[str]
    """Names of what both are about."""


class NeighboursAnswer(TypedDict):
    """The answer of `overview.neighbours`."""

    entities: list[EntityItem]
    relations: list[RelationItem]
    memories: list[NeighbourItem]


class TimelineBucket(TypedDict):
    """What happened in a day or a month."""

    at: str
    added: int
    ended: int
    gone: int


class TimelineAnswer(TypedDict):
    """The answer of `overview.timeline`."""

    bucket: str
    """`day`, or `month` where the days would be many."""
    buckets: list[TimelineBucket]
    first_at: str | None
    last_at: str | None


class DifferenceItem(TypedDict):
    """One thing that happened to a memory."""

    memory_id: str
    event: str
    at: str
    before: str | None
    after: str | None
    reason: str | None


class DifferencesAnswer(TypedDict):
    """The answer of `overview.differences`."""

    differences: list[DifferenceItem]
    next_cursor: str | None
    total: int


class ForecastItem(TypedDict):
    """What the upkeep will do to a memory."""

    memory_id: str
    memory: str
    step: str
    action: str
    reason: str


class ForecastAnswer(TypedDict):
    """The answer of `overview.forecast`."""

    by: str
    counts: dict[str, int]
    changes: list[ForecastItem]
    next_cursor: str | None
    total: int


class EndedDay(TypedDict):
    """How many memories ended on a day."""

    day: str
    ended: int


class ContentAnswer(TypedDict):
    """The answer of `overview.content`: how well what is kept of an owner is."""

    memories: int
    never_used: int
    """No answer was ever made with them."""
    quarantined: int
    needs_review: int
    questions: int
    """Memories that ask something and tell nothing."""
    repeated: int
    """Memories that say the same as another one."""
    contradictions: int
    """Properties of which more than one value is current."""
    ended_by_day: list[EndedDay]
    """Of the last thirty days, those on which any did."""
    samples: dict[str, list[str]]
    """Ids of some of each."""


class LeftOutItem(HitItem):
    """A memory that came near an answer and is not in it."""

    reason: str
    """`below_threshold`, `not_set_apart` (with `precise`) or `beyond_limit`."""


class AskAnswer(TypedDict):
    """The answer of `overview.ask`."""

    results: list[HitItem]
    left_out: list[LeftOutItem]
    recall_id: str
    search_ms: float
    """How long the search took, in milliseconds."""
    context: NotRequired[ContextAnswer]
    """What a model would be shown; not of a past day."""
