"""What mem0's clients send."""

from __future__ import annotations

from typing import Any, Final

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

Id = str | int | None
NO_EFFECT: Final = "No effect here."


class Ids(BaseModel):
    """Owners, in snake or camel case, and keys of older clients that change nothing here."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    user_id: Id = Field(default=None, validation_alias=AliasChoices("user_id", "userId"))
    agent_id: Id = Field(default=None, validation_alias=AliasChoices("agent_id", "agentId"))
    run_id: Id = Field(default=None, validation_alias=AliasChoices("run_id", "runId"))
    app_id: Id = Field(default=None, validation_alias=AliasChoices("app_id", "appId"))
    filters: dict[str, Any] | None = Field(default=None, description="In mem0's grammar.")
    output_format: str | None = Field(default=None, description="`v1.1` wraps a list of the older routes in `results`.")
    version: Any = Field(default=None, description=NO_EFFECT)
    org_id: Any = Field(default=None, description=NO_EFFECT)
    project_id: Any = Field(default=None, description=NO_EFFECT)
    enable_graph: Any = Field(default=None, description=NO_EFFECT)
    async_mode: Any = Field(default=None, description=NO_EFFECT)
    source: Any = Field(default=None, description=NO_EFFECT)


class Narrowed(Ids):
    """What narrows an answer. An argument that is not named here is refused: to ignore it would widen the answer."""

    categories: list[str] | str | None = Field(default=None, description="Memories with any of these tags.")
    metadata: dict[str, Any] | None = Field(default=None, description="Memories with these metadata values.")
    keywords: str | None = Field(default=None, description="Memories whose text holds these words.")
    start_date: str | None = Field(default=None, description="Created on this day or later.")
    end_date: str | None = Field(default=None, description="Created on this day or earlier.")
    show_expired: bool | None = Field(default=None, description="Include memories that have expired.")
    fields: list[str] | str | None = Field(default=None, description="Fields of each result; `id` always comes along.")
    latest_only: bool | None = Field(default=None, description="No effect: outdated versions are never returned.")
    include_merged: bool | None = Field(default=None, description="No effect: merged memories are never returned.")


class AddIn(Ids):
    """Messages to add. Arguments that change nothing are accepted and listed in the answer as `ignored`."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    messages: str | dict[str, Any] | list[Any] | None = None
    metadata: dict[str, Any] | None = None
    infer: bool | None = Field(default=None, description="False stores the messages as they are.")
    timestamp: int | float | str | None = Field(default=None, description="When messages without a time were sent.")
    expiration_date: str | None = Field(default=None, description="Last day, in UTC, on which they are returned.")

    @property
    def ignored(self) -> list[str]:
        """The arguments that were given and have no effect."""
        without_effect = {name for name, field in type(self).model_fields.items() if field.description == NO_EFFECT}
        return sorted((without_effect & self.model_fields_set) | {*(self.model_extra or {})})


class SearchIn(Narrowed):
    """A question."""

    query: str
    top_k: int | None = Field(default=None, description="Answers at most, 1 to 50.")
    limit: int | None = Field(default=None, description="Another name for `top_k`.")
    threshold: float | None = Field(default=None, description="Least score of an answer, 0 to 1.")
    reference_date: int | float | str | None = Field(default=None, description="What words like yesterday count from.")
    rerank: bool | None = Field(default=None, description="False leaves the configured reranker out.")
    explain: bool = Field(default=False, description="Add `score_details` to each answer.")
    keyword_search: bool | None = Field(default=None, description="No effect: keywords are always searched.")
    filter_memories: bool | None = Field(default=None, description="Only what the scores set apart.")
    only_metadata_based_search: bool | None = Field(default=None, description="True is refused.")


class ListIn(Narrowed):
    """Which memories are listed."""

    page: int | None = Field(default=None, description="1 or more.")
    page_size: int | None = Field(default=None, description="1 to 1,000.")
    limit: int | None = Field(default=None, description="Another name for `page_size`.")
    top_k: int | None = Field(default=None, description="Another name for `page_size`.")


class SummaryIn(Ids):
    """Whose memories are summarized."""


class IdsQuery(BaseModel):
    """Whose memories are meant, in a query."""

    model_config = ConfigDict(extra="forbid")

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    app_id: str | None = None
    filters: str | None = Field(default=None, description="A JSON object, or a Python dict as mem0's client writes it.")
    metadata: str | None = Field(default=None, description="Metadata values, as `filters`.")
    org_id: str | None = Field(default=None, description=NO_EFFECT)
    project_id: str | None = Field(default=None, description=NO_EFFECT)


class EntitiesQuery(BaseModel):
    """Which page of the entities is wanted; all of them unless given."""

    model_config = ConfigDict(extra="forbid")

    page: int | None = None
    page_size: int | None = None
    org_id: str | None = Field(default=None, description=NO_EFFECT)
    project_id: str | None = Field(default=None, description=NO_EFFECT)


class ListQueryIn(IdsQuery):
    """Which memories are listed, in a query."""

    categories: str | None = Field(default=None, description="Separated by commas.")
    keywords: str | None = None
    start_date: str | None = None
    end_date: str | None = None
    show_expired: bool | None = None
    fields: str | None = Field(default=None, description="Separated by commas.")
    output_format: str | None = None
    version: str | None = Field(default=None, description=NO_EFFECT)
    page: int | None = None
    page_size: int | None = None
    limit: int | None = Field(default=None, description="Another name for `page_size`.")


class ChangeIn(BaseModel):
    """What a memory becomes; `expiration_date` null takes its end away."""

    model_config = ConfigDict(extra="ignore")

    text: str | None = None
    data: str | None = Field(default=None, description="The older name of text.")
    metadata: dict[str, Any] | None = None
    expiration_date: str | None = None
    timestamp: Any = Field(default=None, description="No effect: when a memory was made is part of its history.")


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


class ExportIn(Narrowed):
    """Memories to export."""

    schema_: Any = Field(default=None, alias="schema", description=NO_EFFECT)
    export_instructions: Any = Field(default=None, description=NO_EFFECT)

    memory_export_id: str | None = None


class HookIn(BaseModel):
    """Somebody who wants to be told."""

    model_config = ConfigDict(extra="ignore")

    url: str | None = None
    name: str | None = None
    event_types: list[str] | None = None
    is_active: bool | None = None
