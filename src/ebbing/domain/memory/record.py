"""The record of a memory, and its parts."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from enum import StrEnum
from typing import Any, Final

from ebbing.domain.memory.scope import Scope

NEEDS_REVIEW: Final = "needs_review"
"""Tag of a memory that may end others, which its `related_ids` name; they stay current until somebody decides."""
DOUBTED: Final = "doubted"
"""Tag of a memory that something said later may have changed, which its `related_ids` name: it is not told as what
holds now, until it is said again."""
QUARANTINED: Final = "quarantined"
"""Tag of an episode that speaks like an order to the model: nothing is learnt from it, and no prompt shows it, until
somebody reviews it."""
NOTICED: Final = "salience"
"""Rule of a memory that quotes what a trained model found worth remembering; the model's version stands behind it."""
MINUTES_A_DAY: Final = 1_440
USUAL_IMPORTANCE: Final = 0.5
"""Importance in [0, 1] of a memory that nothing weighed."""
RESERVED_TAGS: Final = frozenset({"pending_deletion", QUARANTINED, NEEDS_REVIEW, DOUBTED})
"""Tags that a memory's own life sets and takes away; nobody sets them by hand."""


class Kind(StrEnum):
    """The kind of a row: a memory, or a raw message that is kept as evidence."""

    MEMORY = "memory"
    EPISODE = "episode"


class MemoryType(StrEnum):
    """The type of knowledge that a memory holds."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PREFERENCE = "preference"
    FACT = "fact"
    CONSTRAINT = "constraint"
    PROCEDURAL = "procedural"


_TYPE_OF_TAG: Final = {
    "preference": MemoryType.PREFERENCE,
    "dislike": MemoryType.PREFERENCE,
    "constraint": MemoryType.CONSTRAINT,
    "fact": MemoryType.FACT,
    "identity": MemoryType.FACT,
    "semantic": MemoryType.SEMANTIC,
    "procedural": MemoryType.PROCEDURAL,
}


def type_of_tags(tags: Sequence[str]) -> MemoryType:
    """Return the type that the first well-known tag names, else the episodic one."""
    return next((_TYPE_OF_TAG[tag] for tag in tags if tag in _TYPE_OF_TAG), MemoryType.EPISODIC)


class Layer(StrEnum):
    """The layer of a memory."""

    WORKING = "working"
    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"


class Stage(StrEnum):
    """The stage of fading. Each can be undone until the record is erased."""

    FULL = "full"
    KEYWORD_ONLY = "keyword_only"
    """Without its vector: found by its words."""
    SHORTENED = "shortened"
    """In a shortened wording; `packed` holds the full one."""
    ARCHIVED = "archived"
    """Deleted, with nothing left but the full text, packed; erased after the grace period."""


class Role(StrEnum):
    """The role of the speaker."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a memory: enough to show the evidence and to judge its trust."""

    source_ids: tuple[str, ...] = ()
    """Ids of the messages behind the memory, as the caller named them."""
    source_text: str | None = None
    """The sentence that it was read from, where that differs from the content."""
    method: str = "raw"
    """What wrote it: `raw` (stored as said), `rule`, `llm`, `import`, `user` (edited by hand), `merge`."""
    rule: str | None = None
    """Id of the rule, or model and prompt version."""
    reason: str | None = None
    """Why it was decided to keep it, in a sentence."""


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One memory or episode. All times are timezone-aware UTC."""

    id: str
    belongs_to: Scope
    content: str
    created_at: datetime
    """When it was said or noted (a message's own timestamp where it has one)."""
    recorded_at: datetime
    """When this store learned of it."""
    utc_offset_minutes: int | None = field(default=None, kw_only=True)
    """How far the clock of the one who said it was ahead of UTC then; None where nothing named an offset."""
    kind: Kind = Kind.MEMORY
    type: MemoryType = MemoryType.EPISODIC
    layer: Layer = Layer.SHORT_TERM
    scope: str = "global"
    """Where it may be used: `global`, `session:{id}` or `channel:{name}`."""
    actor: str | None = None
    """Name of the speaker, where a conversation names one."""
    role: Role | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    language: str = "und"
    attribute: str | None = None
    """What of the subject it gives the value of, in one spelling for all languages (`home`, `sister.home`, `phone`)."""
    value: str | None = None
    """That value, in the speaker's words."""
    object: str | None = None
    """What is liked, disliked or avoided, in the short form that finds it again ("cheese pizza")."""
    polarity: int = 0
    """1 for liked, -1 for disliked or avoided, 0 where it does not apply."""
    trust: str | None = None
    """Whose word it rests on: a value of `privacy.guarding.trust.TrustTier`, or None where nobody noted it."""
    updated_at: datetime | None = None
    last_accessed_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    """End of the time in which it is true; a superseded memory has one and is no longer current."""
    expires_at: datetime | None = None
    deleted_at: datetime | None = None
    delete_reason: str | None = None
    retired_at: datetime | None = None
    """When it left every answer without being deleted: since then `superseded_by` tells what it tells."""
    mentions: int = 1
    """How often it was said, as far as is known; at least 1."""
    first_said_at: datetime | None = None
    """When it was said first, where it was said more than once; `created_at` is the latest time then."""
    strength: float = 1.0
    """How well it is remembered, in [0, 1], as of the last recall or reinforcement."""
    access_count: int = 0
    growth: float = 1.0
    """How many times longer than for its importance alone it lasts, as its uses and corrections left it; above 0."""
    stage: Stage = Stage.FULL
    packed: bytes | None = None
    """The full text, where `content` is a shortened one (see `language.text.text_compression`)."""
    importance: float = USUAL_IMPORTANCE
    confidence: float = 1.0
    provenance: Provenance = field(default_factory=Provenance)
    related_ids: tuple[str, ...] = ()
    superseded_by: str | None = None
    is_compressed: bool = False
    compression_sources: tuple[str, ...] = ()
    abstraction_level: int = 0
    version: int = 1
    """Rises with every change; a write that names an older one is refused."""

    @property
    def is_active(self) -> bool:
        """Neither deleted nor retired; it may have expired or be superseded."""
        return self.deleted_at is None and self.retired_at is None

    def holds(self, at: datetime) -> bool:
        """Return whether it is neither over nor expired at a moment."""
        return (self.valid_to is None or self.valid_to > at) and (self.expires_at is None or self.expires_at > at)

    @property
    def is_verbatim(self) -> bool:
        """Whether it is a message as it was said, also where somebody put its wording right by hand."""
        origin = self.provenance
        by_hand = origin.method == "user" and origin.rule is None
        return self.kind is Kind.EPISODE or origin.method == "raw" or by_hand

    @property
    def doubted_by(self) -> str | None:
        """Id of the message that put it in doubt; None where it is in no doubt."""
        return self.related_ids[-1] if DOUBTED in self.tags and self.related_ids else None

    def without_doubt(self) -> MemoryRecord:
        """Return it as it was before it came into doubt."""
        related_ids = self.related_ids if self.doubted_by is None else self.related_ids[:-1]
        return replace(self, tags=tuple(tag for tag in self.tags if tag != DOUBTED), related_ids=related_ids)

    @property
    def said_at(self) -> datetime:
        """`created_at` on the clock of the one who said it; in UTC where that is not known."""
        return self.created_at.astimezone(self.zone or UTC)

    @property
    def zone(self) -> tzinfo | None:
        """The clock of the one who said it; None where that is not known."""
        minutes = self.utc_offset_minutes
        return None if minutes is None else timezone(timedelta(minutes=minutes))

    @property
    def hash(self) -> str:
        """`content_hash` of the content."""
        return content_hash(self.content)


def content_hash(text: str) -> str:
    """Hex digest that is equal for texts which differ only in case, width, white space or closing punctuation."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".!?。！？~… ")
    return hashlib.blake2b(folded.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def is_read_from(record: MemoryRecord, message: MemoryRecord) -> bool:
    """Return whether a memory was read from this stored message alone."""
    if record.is_verbatim or record.role is not message.role or record.created_at != message.created_at:
        return False
    sources, ids = record.provenance.source_ids, message.provenance.source_ids
    if sources or ids:
        return bool(sources) and set(sources) <= set(ids)
    return (record.provenance.source_text or record.content) in message.content
