"""What a host application needs of the composition root: where its memory lives, and names for what it sends."""

from __future__ import annotations

from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from ebbing.adapters.system.machine import TimeOrderedIds
from ebbing.domain.errors import ConfigurationError
from ebbing.ports.ids import Ids


class HostSettings(BaseSettings):
    """How a host application reaches its memory. The names of earlier hosts (`MEM0_*`, `MEMORY_*`) hold as well."""

    model_config = SettingsConfigDict(env_prefix="EBBING_", extra="ignore", populate_by_name=True)

    base_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("EBBING_CLIENT_BASE_URL", "MEM0_BASE_URL"),
        description="Where the memory service answers; without it there is no memory.",
    )
    api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("EBBING_CLIENT_API_KEY", "MEM0_API_KEY"),
        description="The key that it is shown.",
    )
    timeout_seconds: float = Field(
        default=10.0,
        gt=0,
        le=600,
        validation_alias=AliasChoices("EBBING_CLIENT_TIMEOUT_SECONDS", "MEM0_TIMEOUT_S"),
        description="How long a call takes at most.",
    )
    search_path: str = Field(
        default="/v1/memories/search",
        validation_alias=AliasChoices("EBBING_CLIENT_SEARCH_PATH", "MEM0_SEARCH_PATH"),
        description="Where a server that is not ours searches.",
    )
    add_path: str = Field(
        default="/v1/memories",
        validation_alias=AliasChoices("EBBING_CLIENT_ADD_PATH", "MEM0_ADD_PATH"),
        description="Where a server that is not ours adds.",
    )
    recall_seconds: float = Field(
        default=1.5,
        gt=0,
        le=60,
        validation_alias=AliasChoices("EBBING_CLIENT_RECALL_TIMEOUT_SECONDS", "MEMORY_RECALL_TIMEOUT_S"),
        description="How long a conversation waits for its memories.",
    )
    top_k: int = Field(
        default=10,
        ge=1,
        le=50,
        validation_alias=AliasChoices("EBBING_CLIENT_TOP_K", "MEMORY_TOP_K"),
        description="Memories in a prompt, at most.",
    )
    min_score: float = Field(
        default=0.05,
        ge=0,
        le=1,
        validation_alias=AliasChoices("EBBING_CLIENT_MIN_SCORE", "MEMORY_MIN_SCORE"),
        description="Relevance from which a memory stands in a prompt.",
    )
    max_chars: int = Field(
        default=1_200,
        ge=400,
        le=20_000,
        validation_alias=AliasChoices("EBBING_CLIENT_MAX_CHARS", "MEMORY_MAX_CHARS"),
        description="Characters of memories in a prompt, at most.",
    )
    recall_enable: bool = Field(
        default=True,
        validation_alias=AliasChoices("EBBING_CLIENT_RECALL", "MEMORY_ENABLE"),
        description="Whether memories are put into prompts.",
    )
    write_enable: bool = Field(
        default=True,
        validation_alias=AliasChoices("EBBING_CLIENT_WRITE", "MEMORY_WRITE_ENABLE"),
        description="Whether conversations are remembered.",
    )


def host_settings() -> HostSettings:
    """Return what the environment says.

    Raises:
        ConfigurationError: a value does not fit; the message names the setting, never the value.
    """
    try:
        return HostSettings()
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise ConfigurationError(f"settings are wrong: {problems}") from None


def fresh_ids() -> Ids:
    """Return what makes identifiers."""
    return TimeOrderedIds()
