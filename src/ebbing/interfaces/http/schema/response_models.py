"""The forms of what the routes under `/v1` answer, for the OpenAPI document. On the way nothing is checked by them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class _Open(BaseModel):
    """More keys may follow."""

    model_config = ConfigDict(extra="allow")


class MemoryOut(_Open):
    """A memory, or a message that is kept as evidence."""

    id: str
    text: str
    score: float | None = Field(default=None, description="Relevance in [0, 1]; of searches only.")
    tags: list[str] = Field(default=[], description="Of what is stored; a turn of a session has none.")
    created_at: str
    kind: str = Field(description="`memory`, `episode` (a message as it was said), or `working` (of a session).")
    metadata: dict[str, Any] | None = None
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None


class SearchResponse(_Open):
    """What answers a question, best first."""

    memories: list[MemoryOut]
    recall_id: str = Field(description="Names the answer, for feedback.")
    owner_known: bool = Field(default=True, description="False where nothing at all is stored of this owner.")


class MemoryPage(BaseModel):
    """A page."""

    memories: list[MemoryOut]
    next_cursor: str | None
    owner_known: bool = Field(default=True, description="False where nothing at all is stored of this owner.")
    total: int | None = Field(default=None, description="How many there are in all; of `/v1/memories/list` only.")


class AddResponse(_Open):
    """What became of an add."""

    id: str | None = Field(description="Of the first memory that holds it; null where none does.")
    results: list[dict[str, Any]]
    episode_ids: list[str] = []


class BatchAddResponse(BaseModel):
    """What became of each add of a batch, in order: as of a single one, or `error` with `code` and `detail`."""

    results: list[dict[str, Any]]


class DeleteResponse(_Open):
    """What went."""

    deleted: Any


class AcceptedResponse(BaseModel):
    """It will be done."""

    job_id: int
    status: str
    status_url: str


class JobOut(_Open):
    """Work in the background."""

    id: int
    kind: str
    state: str


class ObjectResponse(_Open):
    """An object; docs/http.md says what it holds."""
