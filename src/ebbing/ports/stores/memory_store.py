"""What keeps memories: the truth, its history, and one owner's searchable rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ebbing.domain.memory.change_set import ChangeSet
from ebbing.domain.memory.history import Event, HistoryEntry
from ebbing.domain.memory.record import Kind, MemoryRecord
from ebbing.domain.memory.scope import Owner, Scope
from ebbing.index.index_entry import IndexEntry
from ebbing.index.shard import Shard
from ebbing.ports.job_queue import JobQueue, SeparateJobQueue
from ebbing.ports.models.embedder import Embedder
from ebbing.ports.stores.audit_log import AuditLog
from ebbing.ports.stores.change_log import ChangeLog
from ebbing.ports.stores.identity_book import IdentityBook
from ebbing.ports.stores.key_ring import KeyRing
from ebbing.ports.stores.outbox import Outbox
from ebbing.ports.stores.profile_store import ProfileStore
from ebbing.ports.stores.request_log import RequestLog
from ebbing.ports.stores.usage_log import UsageLog
from ebbing.ports.stores.webhook_book import WebhookBook


@dataclass(frozen=True, slots=True)
class Insert:
    """A new record with its index entry. One that is unread (`index.index_entry.UNREAD`) is read by the store.

    With `once`, nothing is inserted if the owner already has a row of the same kind, run and first source id that is
    not deleted: that row's id is the answer. This makes a repeated add of the same messages a no-op.
    """

    record: MemoryRecord
    entry: IndexEntry | None
    once: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Revise:
    """A changed record in place of the one with the same id.

    `record.version` must be one more than what is stored. With `entry` None the index entry stays as it is (nothing
    searchable changed), but for what `adds_flags` and `drops_vector` say. A use that was noted in between stays: the
    higher `access_count`, with its `growth`, and the later `last_accessed_at` win. `event` and `reason` go to the
    history; `Event.NONE` writes none (book-keeping such as a changed layer).
    """

    record: MemoryRecord
    event: Event
    entry: IndexEntry | None = None
    reason: str | None = None
    adds_flags: int = 0
    """Bits of `TextFlag` that the entry that stays has from now on."""
    drops_vector: bool = False
    """Whether the entry that stays loses its vector."""
    sets_uses: bool = False
    """`access_count`, `growth` and `last_accessed_at` are taken as the record has them, whatever was noted since."""


@dataclass(frozen=True, slots=True)
class Erase:
    """Removes a record with its index entry and history for good, and whatever it tells in the place of others.

    Those are the retired records that it names in `compression_sources` and that name it in `superseded_by`: what they
    said goes with it. To keep them, let them tell for themselves in an earlier change of the same call.
    """

    memory_id: str


@dataclass(frozen=True, slots=True)
class Reindex:
    """A new index entry for a record that stays as it is: no history, no new version.

    It is passed over where the record is gone, or is not of this version any more: whoever changed it has indexed it.
    """

    memory_id: str
    version: int
    entry: IndexEntry


Change = Insert | Revise | Erase | Reindex


@dataclass(frozen=True, slots=True)
class Outdated:
    """A record whose index entry is to be made anew."""

    seq: int
    """Its place in the order of arrival."""
    record: MemoryRecord
    flags: int | None
    """Bits of `TextFlag` that its entry holds; None where it has none."""
    vector: NDArray[np.float32] | None
    """Shape (dim,): the vector that it may keep; None where it has none of the model in use."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some records, and where to go on."""

    records: tuple[MemoryRecord, ...]
    next_cursor: str | None
    """Opaque; None when there is nothing more."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an erasure removed."""

    memories: int = 0
    episodes: int = 0
    history: int = 0
    index_entries: int = 0
    source_ids: int = 0
    """Names of messages that records came from."""
    uses: int = 0
    """Counts of recalls, and signals of feedback."""
    jobs: int = 0
    edits: int = 0
    """What somebody did to their profile by hand."""
    identities: int = 0
    """Names under which they came."""
    revisions: int = 0
    """Earlier states of records, kept for undoing."""

    def plus(self, other: Receipt) -> Receipt:
        """Both together."""
        return Receipt(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Counts over one tenant."""

    owners: int
    memories: int
    episodes: int
    deleted: int
    without_vector: int
    """Active rows that should have a vector of the model in use, and have none."""
    bytes_on_disk: int
    is_scrubbed: bool = True
    """Nothing of what anybody removed may still lie in unused parts of the disk (see `scrub`)."""
    by_layer: dict[str, int] = field(default_factory=dict)
    by_type: dict[str, int] = field(default_factory=dict)
    by_model: dict[str, int] = field(default_factory=dict)
    """Active rows with a vector, by the model that it is of."""


@dataclass(frozen=True, slots=True)
class ShareFilter:
    """Which records of a tenant are counted: those of an agent, a run and an app, where these are given."""

    agent_id: str | None = None
    run_id: str | None = None
    app_id: str | None = None


ANY_SHARE: Final = ShareFilter()


@dataclass(frozen=True, slots=True)
class Share:
    """What an owner has under one agent, run and app."""

    owner: Owner
    agent_id: str | None
    run_id: str | None
    app_id: str | None
    """The text under the metadata key `app_id`."""
    memories: int
    """May be 0: messages count as none."""


class MemoryStore(Protocol):
    """Keeps records, their history and their index entries, in step.

    Every call names a scope, and every statement inside is bound to the scope's owner: a row of another owner can
    neither be seen nor changed, whatever id is passed. `write` is one transaction, durable when it returns. Reads see
    every write that was acknowledged before they began, by any process.

    Raises:
        StoreError: the store could not do it; nothing was written.
        StoreClosedError: after `aclose`.
    """

    @property
    def usage(self) -> UsageLog:
        """Counts what is recalled of the records."""
        ...

    @property
    def jobs(self) -> JobQueue:
        """What is to be done later about the records; as durable as they are, or in a separate queue."""
        ...

    @property
    def keys(self) -> KeyRing:
        """The keys of the service."""
        ...

    @property
    def requests(self) -> RequestLog:
        """Requests of the service, to be answered again or later; forgotten with what they were about."""
        ...

    @property
    def webhooks(self) -> WebhookBook:
        """Who wants to be told of what happens."""
        ...

    @property
    def audit(self) -> AuditLog:
        """Who administered what."""
        ...

    @property
    def identities(self) -> IdentityBook:
        """Under which names a person comes, and who turned out to be one."""
        ...

    @property
    def profiles(self) -> ProfileStore:
        """Profiles made from the records; as durable as they are."""
        ...

    @property
    def change_log(self) -> ChangeLog:
        """What each call wrote, and every record as it was before."""
        ...

    @property
    def outbox(self) -> Outbox | None:
        """What an index beside the store follows; None where the store has none."""
        ...

    def within(self, change: ChangeSet) -> MemoryStore:
        """The same store; whatever is written through it belongs to this change set, however many writes that takes.

        What is written through a store that was told of none is a change set by itself.
        """
        ...

    async def outdated(self, scope: Scope, *, limit: int = 100, after: int = 0) -> list[Outdated]:
        """Active records of the scope's owner whose index entry is missing, was made by another version of the
        analyser, or has no vector of the model in use though it should: in the order of arrival, from after a seq.

        A record that faded from its vector on purpose, and one without any text, need none.
        """
        ...

    def use_model(self, embedder: Embedder | None) -> None:
        """From now on vectors of this embedder count; a row with another model's counts as not embedded."""
        ...

    def use_queue(self, queue: SeparateJobQueue) -> None:
        """From now on jobs are in this queue, which is closed with the store, and erased and merged with memories."""
        ...

    async def vector_length(self, model_id: str) -> int | None:
        """How many numbers each stored vector of this model has; None where there are none."""
        ...

    async def write(self, scope: Scope, changes: Sequence[Change], *, seen: int | None = None) -> list[str]:
        """Applies all changes or none; returns the id that holds each change, in order.

        `seen` is the `generation` of the shard that the changes were decided on, for a writer whose decision would be
        another one if somebody else had written in between.

        Raises:
            MemoryNotFoundError: a revised or erased id is not this owner's.
            ConflictError: a revised record changed in between, or anything of the owner since `seen`.
            EmbeddingError: a vector is not as long as those that are stored of its model.
        """
        ...

    async def from_sources(self, scope: Scope, source_ids: Sequence[str]) -> list[MemoryRecord]:
        """Every record behind which one of these source ids stands and that is not deleted, in order of arrival."""
        ...

    async def get(self, scope: Scope, ids: Sequence[str], *, deleted: bool = False) -> list[MemoryRecord]:
        """The records with these ids, in the order asked; unknown ids are left out, deleted ones unless `deleted`."""
        ...

    async def page(
        self,
        scope: Scope,
        *,
        kinds: Sequence[Kind] = (Kind.MEMORY,),
        limit: int = 100,
        cursor: str | None = None,
        deleted: bool = False,
        at: datetime | None = None,
    ) -> Page:
        """Records covered by the scope, newest first (`created_at`, then insertion), from after `cursor`.

        With `at`, only those that still hold then: neither superseded nor expired.

        Raises:
            InvalidInputError: the cursor is not one of ours.
        """
        ...

    async def shard(self, scope: Scope, *, deleted: bool = False) -> Shard:
        """The searchable rows of the scope's owner (the whole owner, not only the scope), current as of this call.

        With `deleted` it holds the rows that are deleted but not erased as well (`alive` False).
        """
        ...

    async def history(self, scope: Scope, memory_id: str) -> list[HistoryEntry]:
        """What happened to a memory, oldest first; empty for an unknown id."""
        ...

    async def histories(self, scope: Scope, *, changed_after: datetime) -> list[HistoryEntry]:
        """The whole history of every memory that something happened to after a moment, oldest first; see `history`."""
        ...

    async def telling(self, scope: Scope, ids: Sequence[str]) -> list[MemoryRecord]:
        """Every record of the scope's owner that was made of one of these (`compression_sources`), deleted ones too."""
        ...

    async def mark(self, scope: Scope, name: str) -> int:
        """How far a step of the upkeep has come with the scope's owner, as it said itself; 0 if it never did."""
        ...

    async def set_mark(self, scope: Scope, name: str, *, value: int) -> None:
        """Remembers how far a step has come, as long as the owner has a row; no change of the owner's memories."""
        ...

    async def scope_of(self, tenant: str, memory_id: str) -> Scope | None:
        """Whose memory this is, within one tenant; deleted ones too."""
        ...

    async def taken(self, ids: Sequence[str]) -> set[str]:
        """Which of these ids a memory has, of whichever owner and tenant: for choosing others, never to be told."""
        ...

    async def owners(self, tenant: str, *, deleted: bool = False) -> list[Owner]:
        """Every owner with at least one row that is not deleted, or with any row if `deleted`."""
        ...

    async def shares(self, tenant: str, *, share_filter: ShareFilter = ANY_SHARE) -> list[Share]:
        """Every combination of owner, agent, run and app that records of the tenant have which are not deleted."""
        ...

    async def tenants(self) -> list[str]:
        """Every tenant that has an owner."""
        ...

    async def erase(self, scope: Scope) -> Receipt:
        """Removes everything the scope covers for good: records, history, index entries, source ids, uses, jobs."""
        ...

    async def reset(self, tenant: str) -> Receipt:
        """Removes everything of a tenant for good."""
        ...

    async def scrub(self) -> bool:
        """Removes what was removed from the disk as well, as far as that can be done at once.

        Returns:
            False where something is left: another process is reading, or the store is so large that it is done later,
            or on demand (`vacuum`). It is done in the background, also after a restart.
        """
        ...

    async def compact(self) -> bool:
        """Writes everything anew, however long that takes: gives unused space back, and leaves no trace of what was
        removed, which is what it returns; see `scrub`."""
        ...

    async def stats(self, tenant: str) -> StoreStats: ...

    async def verify(self) -> list[str]:
        """Compares every index with the truth; each finding is a sentence without personal text. Empty is well."""
        ...

    async def back_up(self, directory: Path) -> int:
        """Copies everything of all tenants into a new or empty directory, as of one moment, while others go on; bytes.

        Raises:
            InvalidInputError: there is something in the directory, or the store keeps nothing on disk.
        """
        ...

    async def aclose(self) -> None:
        """Finishes what was accepted and lets go of files and threads; idempotent."""
        ...
