"""What the routes under `/v1` are sent. Keys that are not named here are ignored, as in the clients' own shapes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ebbing.arguments import DEFAULT_TOP_K

Include = Literal["all", "memories", "episodes"]
Name = str | None


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Whose(_Body):
    """Whose memory is meant. A credential for one user needs none of it."""

    user_id: Name = Field(default=None, examples=["emma"])
    agent_id: Name = None
    run_id: Name = None


class Message(_Body):
    """One thing that was said."""

    role: str = Field(default="user", examples=["user"])
    content: Any = Field(examples=["I live in Leeds."])
    id: Name = Field(default=None, description="The message is stored once under it, however often it is sent.")
    name: Name = None
    timestamp: Any = Field(default=None, description="When it was said: ISO 8601 or seconds since 1970.")


class AddBody(Whose):
    """What is to be remembered: a text, or messages."""

    text: Name = Field(default=None, description="One memory, kept as it stands unless `infer`.")
    messages: Any = Field(default=None, description="A string, a message, or a list of messages.")
    metadata: dict[str, Any] | None = None
    infer: bool | None = Field(default=None, description="Read facts; unless said, of messages and not of a text.")
    filters: dict[str, Any] | None = None
    source_id: Name = None
    mode: Name = None
    trust: Name = None


class SearchBody(Whose):
    """A question."""

    query: str = Field(examples=["where does she live?"])
    limit: int | None = None
    top_k: int = DEFAULT_TOP_K
    filters: dict[str, Any] | None = None
    include: Include = "all"
    threshold: float | None = None
    as_of: datetime | str | float | None = None
    reference_date: datetime | str | float | None = None
    precise: bool = False
    explain: bool = False
    expand: int = 0


class UpdateBody(_Body):
    """What a memory becomes."""

    text: Name = None
    metadata: dict[str, Any] | None = None


class KeyBody(_Body):
    """What a new key may do."""

    role: Literal["read", "write", "admin"] = "write"
    user_id: Name = Field(default=None, description="The one user whose memory it opens.")
    note: Name = Field(default=None, description="What it is for.")
    expires_in_days: float | None = None
