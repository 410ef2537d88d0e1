"""Answers about memories: what add, search, get and their like return."""

from typing import NotRequired, TypeAlias, TypedDict

JsonObject: TypeAlias = dict[str, object]
"""A JSON object, as `json.loads` returns it."""


class OwnerIds(TypedDict, total=False):
    """The ids of an owner that are set."""

    user_id: str
    agent_id: str
    run_id: str


class MemoryItem(OwnerIds):
    """A memory or a raw message. All times are ISO 8601 in UTC."""

    id: str
    memory: str
    """The text."""
    hash: str
    """MD5 of the text, as mem0 computes it."""
    metadata: JsonObject | None
    created_at: str
    updated_at: str | None
    kind: str
    """`memory` or `episode`; `working` for a message of a running session."""
    type: str
    """`episodic`, `semantic`, `preference`, `fact`, `constraint` or `procedural`."""
    layer: str
    """`working`, `short_term` or `long_term`."""
    tags: list[str]
    language: str
    importance: float
    """In [0, 1], as are `confidence` and `strength`."""
    confidence: float
    strength: float
    source_ids: list[str]
    """Ids of the messages behind it."""
    version: int
    """Rises with each change; `update` takes it to guard against a lost write."""
    utc_offset_minutes: NotRequired[int]
    """How far the clock of the one who said it was ahead of UTC, where its time named an offset."""
    actor_id: NotRequired[str]
    role: NotRequired[str]
    stage: NotRequired[str]
    """How far it has faded, where that is not `full`: `keyword_only`, `shortened` or `archived`."""
    attribute: NotRequired[str]
    """The property that it gives the value of, such as `home`."""
    value: NotRequired[str]
    trust: NotRequired[str]
    valid_from: NotRequired[str]
    valid_to: NotRequired[str]
    """When it was closed; such a memory is no longer true."""
    expires_at: NotRequired[str]
    mentions: NotRequired[int]
    """How often it was said; there with the next fields where that is more than once, or where it was merged."""
    first_said_at: NotRequired[str | None]
    is_compressed: NotRequired[bool]
    """True for a memory that others were merged into."""
    abstraction_level: NotRequired[int]
    merged_into: NotRequired[str | None]
    """Id of the memory that replaced it in a merge."""


class HitItem(MemoryItem):
    """A memory that a search returns."""

    score: float
    """Calibrated relevance in [0, 1]."""
    retriever_scores: dict[str, float]
    """The raw score of each retriever that found it."""
    duplicate_ids: NotRequired[list[str]]
    """Results that say the same and are left out."""
    context: NotRequired[list[MemoryItem]]
    """The turns around it, with `context_turns`."""
    why: NotRequired[str]
    """A sentence, with `explain`."""
    score_details: NotRequired[dict[str, float]]
    """What the score is made of, with `explain`."""


class SearchAnswer(TypedDict):
    """The answer of `search`. With `version: v1.0` in a config it is the bare list of `results`."""

    results: list[HitItem]
    recall_id: str
    """Names the answer for `feedback` and `attribute_usage`."""
    failed_retrievers: NotRequired[dict[str, str]]
    """Retrievers that failed or were late, with the reason."""
    owner_known: NotRequired[bool]
    """False where nothing at all is stored of this owner: look at the name."""


class WorkingItem(TypedDict):
    """A message of a running session; its `kind` and `layer` are `working`."""

    id: str | None
    memory: str
    kind: str
    layer: str
    role: str
    actor_id: str | None
    created_at: str | None
    source_ids: list[str | None]
    run_id: str
    score: float
    retriever_scores: dict[str, float]


class SessionSearchAnswer(TypedDict):
    """The answer of a session's `search`."""

    results: list[HitItem | WorkingItem]
    recall_id: str
    failed_retrievers: NotRequired[dict[str, str]]
    owner_known: NotRequired[bool]


class ListAnswer(TypedDict):
    """The answer of `get_all`. With `version: v1.0` in a config it is the bare list of `results`."""

    results: list[MemoryItem]
    next_cursor: str | None
    owner_known: NotRequired[bool]
    """False where nothing at all is stored of this owner: look at the name."""


class AddedItem(TypedDict):
    """The decision about one fact or raw message of an add."""

    id: str | None
    """Id of the memory that holds it; None where it is not stored."""
    memory: str
    event: str
    """`ADD`, `UPDATE` or `NONE`."""
    reason: str | None
    superseded: NotRequired[list[str]]
    """Ids of the memories that it closed."""
    actor_id: NotRequired[str | None]
    role: NotRequired[str | None]
    type: NotRequired[str]
    tags: NotRequired[list[str]]
    importance: NotRequired[float]
    confidence: NotRequired[float]
    source_text: NotRequired[str | None]
    """The sentence that it was read from."""
    rule: NotRequired[str | None]
    """Id of the rule, or model and prompt version."""


class OmittedParts(TypedDict):
    """Parts of a message that are no text."""

    message: int
    """Place of the message in the call, from 0."""
    parts: dict[str, int]
    """Count by kind, such as `image`."""


class ForgetOfferItem(TypedDict):
    """What can be forgotten at the request of a message."""

    ids: list[str]
    confirm: str
    """The token for `forget`."""
    expires_at: str


class AddAnswer(TypedDict):
    """The answer of `add`. With `version: v1.0` in a config it is the bare list of `results`."""

    results: list[AddedItem]
    episode_ids: list[str]
    """Ids of the raw messages."""
    change_id: str | None
    """What `undo` takes."""
    extraction_error: NotRequired[str]
    """Code of the error, where a language model failed to read the messages."""
    vectors_pending: NotRequired[int]
    """Texts that wait for their vectors."""
    omitted_parts: NotRequired[list[OmittedParts]]
    to_forget: NotRequired[ForgetOfferItem]
    """There where a message asks that the one before it be forgotten, and that is stored already."""


class EnqueueAnswer(TypedDict):
    """The answer of `enqueue_add`."""

    job_id: int | None
    """None where all of it is off the record."""
    omitted_parts: NotRequired[list[OmittedParts]]
    results: NotRequired[list[AddedItem]]
    """There with the next fields where there is no job, as of `add`."""
    episode_ids: NotRequired[list[str]]
    change_id: NotRequired[str | None]


class UpdateAnswer(MemoryItem):
    """The answer of `update`."""

    change_id: str | None


class RestoreAnswer(MemoryItem):
    """The answer of `restore`."""

    superseded: list[str]
    """Ids of the memories that cannot be true beside it, and were closed."""
    change_id: str | None


class DeleteAnswer(TypedDict):
    """The answer of `delete`."""

    message: str
    change_id: str | None
    deleted: NotRequired[int]
    """Records that went with a source."""
    scrubbed: NotRequired[bool]
    """With `hard`: False where a trace on the disk is still to be overwritten."""


class DeletedMemoriesAnswer(TypedDict):
    """The answer of `maintenance.delete_memories`."""

    deleted: list[str]
    missing: list[str]
    change_id: str | None


class HistoryItem(TypedDict):
    """One change of a memory, in mem0's fields and its reason."""

    id: str
    memory_id: str
    old_memory: str | None
    new_memory: str | None
    event: str
    created_at: str | None
    updated_at: str | None
    is_deleted: bool
    actor_id: str | None
    role: str | None
    reason: str | None


class ProvenanceItem(TypedDict):
    """The evidence of a memory."""

    source_ids: list[str]
    source_text: str | None
    method: str
    """`raw`, `rule`, `llm`, `import`, `user` or `merge`."""
    rule: str | None
    reason: str | None


class UsageProbability(TypedDict):
    """How likely a memory is of use again."""

    probability: float
    """In (0, 1)."""
    horizon_days: int
    features: dict[str, float]
    is_learned: bool
    """True with coefficients learned from this owner."""


class ExplainAnswer(MemoryItem):
    """The answer of `explain`."""

    provenance: ProvenanceItem
    never_fades: bool
    access_count: int
    last_accessed_at: str | None
    usage_probability: UsageProbability | None
    deleted_at: str | None
    delete_reason: str | None
    superseded_by: str | None
    related_ids: list[str]
    """Of messages that put it in doubt, of what it ended or may end, and of what ended it before it was stored."""
    history: list[HistoryItem]


class SourcesAnswer(TypedDict):
    """The answer of `get_sources`."""

    id: str
    memory: str
    mentions: int
    first_said_at: str
    last_said_at: str
    sources: list[MemoryItem]


class SplitAnswer(SourcesAnswer):
    """The answer of `maintenance.split_merged`."""

    restored: int
    change_id: str | None


class ContextItem(MemoryItem):
    """A memory in a context block."""

    group: str
    """`profile`, `relevant` or `recent`."""
    confidence_now: float
    score: NotRequired[float]
    retriever_scores: NotRequired[dict[str, float]]
    duplicate_ids: NotRequired[list[str]]
    risk: NotRequired[float]
    """In [0, 1], of relevant memories."""
    risky: NotRequired[bool]


class ChatMessage(TypedDict):
    """A message as a language model takes it."""

    role: str
    content: str
    name: NotRequired[str]


class ContextAnswer(TypedDict):
    """The answer of `get_context`."""

    context: str
    """The block for a prompt."""
    profile_summary: str
    recent_topics: list[str]
    memories: list[ContextItem]
    query_strategy: str
    """`question`, `conversation`, `rewrite` or `none`."""
    tokens: int
    messages: NotRequired[list[ChatMessage]]
    """The last turns of a session."""


class FeedbackAnswer(TypedDict):
    """The answer of `feedback`."""

    id: str
    signal: str
    reason: str | None
    counted: bool
    """False for a repeat."""
    change_id: str | None


class AttributionAnswer(TypedDict):
    """The answer of `attribute_usage`."""

    used: list[str]


class EntityItem(TypedDict):
    """A person, place, organisation or thing."""

    id: str
    name: str
    kind: str
    aliases: list[str]
    memory_ids: list[str]


class RelationItem(TypedDict):
    """A relation between two entities; `subject` and `object` are their ids."""

    subject: str
    relation: str
    object: str
    memory_id: str
    since: str
    until: str | None


class GraphAnswer(TypedDict):
    """The answer of `graph`."""

    entities: list[EntityItem]
    relations: list[RelationItem]
    truncated: bool
    """True where only the newest 10,000 relations are shown."""
