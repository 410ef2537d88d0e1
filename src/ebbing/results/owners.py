"""Answers about owners: profiles, identities, change sets, reviews, forgetting and erasure."""

from typing import NotRequired, TypedDict

from ebbing.results.memories import MemoryItem, OwnerIds


class ProfileItem(TypedDict):
    """An entry of a profile."""

    key: str
    value: str
    text: str
    weight: float
    """In (0, 1)."""
    mentions: int
    first_at: str | None
    last_at: str | None
    memory_ids: list[str]
    source: str
    """`memory`, `user` (set by hand), `import` or `default`."""
    is_safety_critical: bool
    attribute: NotRequired[str]
    overridden_value: NotRequired[str]
    """What was said instead of what the person set by hand."""


class ProfileAnswer(OwnerIds):
    """The answer of `profiles.get` and `profiles.rebuild`."""

    version: int
    updated_at: str | None
    summary: str
    language: str
    facts: list[ProfileItem]
    constraints: list[ProfileItem]
    preferences: list[ProfileItem]
    dislikes: list[ProfileItem]
    stats: dict[str, int]
    """How many memories it is made of, and how many entries each list has."""


class ProfileUpdate(ProfileAnswer):
    """The answer of `profiles.update`."""

    change_id: str | None


class ProfileImport(TypedDict):
    """The answer of `profiles.import_`."""

    stored: int
    already_stored: int
    refused: int
    change_id: str | None


class ProfileDefaults(TypedDict):
    """The answer of `profiles.set_defaults`."""

    entries: int


class SuggestedQuestion(TypedDict):
    """A question about what is not yet known of an owner."""

    about: str
    question: str


class IdentityItem(TypedDict):
    """The name of a person in a channel."""

    user_id: str
    channel: str
    channel_user_id: str
    is_primary: bool
    linked_at: str


class IdentityPage(TypedDict):
    """The answer of `identities.list`."""

    identities: list[IdentityItem]
    next_cursor: str | None


class UnlinkAnswer(TypedDict):
    """The answer of `identities.unlink`."""

    unlinked: bool


class IdentityMerge(TypedDict):
    """A merge of two users."""

    id: int
    target_user_id: str
    source_user_id: str
    at: str
    memories: int
    episodes: int
    undone_at: str | None


class ChangeItem(TypedDict):
    """A change set."""

    id: str
    cause: str
    at: str
    inserted: int
    revised: int
    erased: int
    undoes: str | None
    undone_by: str | None


class ChangePage(TypedDict):
    """The answer of `changes.list`."""

    changes: list[ChangeItem]
    next_cursor: str | None


class UnchangedItem(TypedDict):
    """A memory that an undo left alone."""

    memory_id: str
    reason: str


class UndoAnswer(TypedDict):
    """The answer of `undo`."""

    change_id: str | None
    undone: str
    """Id of the change set that was taken back."""
    cause: str
    restored: list[str]
    deleted: list[str]
    superseded: list[str]
    left: list[UnchangedItem]
    erased: int


class MemoryText(TypedDict):
    """A memory by its id and text."""

    id: str
    memory: str


class ReviewItem(TypedDict):
    """What waits for a decision."""

    id: str
    memory: str
    kind: str
    created_at: str
    why: str
    """`closes_many` or `quarantined`."""
    reason: str | None
    would_close: list[MemoryText]


class ReviewList(TypedDict):
    """The answer of `reviews.list`."""

    reviews: list[ReviewItem]


class ReviewAnswer(TypedDict):
    """The answer of `reviews.resolve`."""

    id: str
    decision: str
    superseded: list[str]
    learned: list[str]
    change_id: str | None


class CandidateItem(MemoryItem):
    """A memory that a request to forget means."""

    why: str
    deleted_at: NotRequired[str]


class CandidateTurn(TypedDict):
    """A message of a running session that a request to forget means; its `kind` is `working`."""

    id: str | None
    memory: str
    kind: str
    role: str
    run_id: str | None
    created_at: str | None
    why: str


class ForgetAnswer(TypedDict, total=False):
    """The answer of `forget`: the first five fields of the first step, the others of the second."""

    candidates: list[CandidateItem | CandidateTurn]
    perhaps: list[CandidateItem]
    confirm: str | None
    """The token for the second step; None where nothing was found."""
    expires_at: str
    about: list[str]
    forgotten: list[str]
    memories: int
    episodes: int
    turns: int
    hard: bool
    scrubbed: bool
    change_id: str | None


class ErasureAnswer(TypedDict):
    """The answer of `delete_all` and `reset`."""

    message: str
    deleted: dict[str, int]
    at: str
    scrubbed: bool
    """False where a trace on the disk is still to be overwritten."""
