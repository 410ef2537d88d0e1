"""What mem0's clients send. Keys that are not named here are ignored, as their platform does."""

from __future__ import annotations

from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

Id = str | int | None


class Loose(BaseModel):
    """Ignores what it does not know; ids come in snake or camel case."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    user_id: Id = Field(default=None, validation_alias=AliasChoices("user_id", "userId"))
    agent_id: Id = Field(default=None, validation_alias=AliasChoices("agent_id", "agentId"))
    run_id: Id = Field(default=None, validation_alias=AliasChoices("run_id", "runId"))
    app_id: Id = Field(default=None, validation_alias=AliasChoices("app_id", "appId"))
    filters: dict[str, Any] | None = None


class AddIn(Loose):
    """A conversation."""

    messages: str | dict[str, Any] | list[Any] | None = None
    metadata: dict[str, Any] | None = None
    infer: bool | None = None
    timestamp: int | float | str | None = None
    expiration_date: str | None = None
    output_format: str | None = None
    version: str | None = None


class SearchIn(Loose):
    """A question."""

    query: str
    top_k: int | None = None
    limit: int | None = None
    threshold: float | None = None
    reference_date: int | float | str | None = None
    explain: bool = False
    output_format: str | None = None


class ListIn(Loose):
    """What is to be listed."""

    page: int | None = None
    page_size: int | None = None


class ChangeIn(BaseModel):
    """What a memory becomes; `expiration_date` null takes its end away."""

    model_config = ConfigDict(extra="ignore")

    text: str | None = None
    data: str | None = Field(default=None, description="The older name of text.")
    metadata: dict[str, Any] | None = None
    expiration_date: str | None = None


class BatchOne(BaseModel):
    """One memory of a batch."""

    model_config = ConfigDict(extra="ignore")

    memory_id: str
    text: str | None = None
    metadata: dict[str, Any] | None = None


class BatchIn(BaseModel):
    """Memories to change or delete, at most 1,000."""

    model_config = ConfigDict(extra="ignore")

    memories: list[BatchOne] = Field(min_length=1, max_length=1_000)


class FeedbackIn(BaseModel):
    """What somebody thinks of a memory."""

    model_config = ConfigDict(extra="ignore")

    memory_id: str
    feedback: str | None = None
    feedback_reason: str | None = None


class ExportIn(Loose):
    """Memories to take along."""

    memory_export_id: str | None = None


class HookIn(BaseModel):
    """Somebody who wants to be told."""

    model_config = ConfigDict(extra="ignore")

    url: str | None = None
    name: str | None = None
    event_types: list[str] | None = None
    is_active: bool | None = None
