"""Every setting, and the only reader of the environment (`EBBING_*`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PrivateAttr, SecretStr, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from ebbing.privacy.addresses import without_password
from ebbing.wiring.config.service_settings import ServiceSettings
from ebbing.wiring.config.store_place import address_in, redis_place


class Settings(ServiceSettings):
    """What can be set; each field is read from `EBBING_<NAME>` unless code or a config gives it."""

    model_config = SettingsConfigDict(env_prefix="EBBING_", extra="forbid", frozen=True)

    _replaced: tuple[str, ...] = PrivateAttr(default=())
    _is_mem0s: bool = PrivateAttr(default=False)

    @property
    def replaced(self) -> tuple[str, ...]:
        """A sentence for each part of the config that something else stands in for."""
        return self._replaced

    @property
    def is_mem0s(self) -> bool:
        """Whether they were read from a config in mem0's shape."""
        return self._is_mem0s

    def note_origin(self, *, replaced: tuple[str, ...], is_mem0s: bool) -> None:
        """Keep what a config was; it changes no setting."""
        self._replaced, self._is_mem0s = replaced, is_mem0s

    @model_validator(mode="before")
    @classmethod
    def _take_address(cls, values: Any) -> Any:
        """Let the address of a server stand where a directory is usual."""
        address = address_in(values["path"]) if isinstance(values, dict) and values.get("path") else None
        if address is None:
            return values
        return {name: value for name, value in values.items() if name != "path"} | {"store": address}

    @field_validator("store")
    @classmethod
    def _check_store(cls, store: str) -> str:
        address = address_in(store)
        if address is None and store not in {"sqlite", "ephemeral"}:
            raise ValueError("must be sqlite, ephemeral, or an address: postgresql://… or mysql://…")
        return address or store

    @field_validator("redis_url")
    @classmethod
    def _check_redis(cls, redis_url: SecretStr | None) -> SecretStr | None:
        if redis_url is not None and redis_place(redis_url.get_secret_value()) is None:
            raise ValueError("must be an address: redis://user:password@host:6379/0, or rediss://… with TLS")
        return redis_url

    @property
    def address(self) -> str | None:
        """Of the database server, where the store is on one; with its password."""
        return address_in(self.store)

    @property
    def place(self) -> str:
        """Where the store is, as people may see it."""
        return str(self.path) if self.address is None else without_password(self.address)

    path: Path = Field(default=Path("ebbing-data"), description="Directory of the embedded store.")
    store: str = Field(
        default="sqlite",
        repr=False,
        description="`sqlite` keeps everything in one file under `path`; `ephemeral` only in RAM; an address in a"
        " database on a server: postgresql://user:password@host/database, or mysql://…",
    )
    store_connections: int = Field(
        default=10, ge=1, le=1_000, description="Connections to that server, for reading and for writing each."
    )
    store_timeout_seconds: float = Field(
        default=30, ge=1, le=3_600, description="How long that server may take for one statement."
    )
    store_row_security: bool = Field(
        default=False, description="Let PostgreSQL itself refuse rows of another owner; `ebbing migrate` sets it up."
    )
    redis_url: SecretStr | None = Field(
        default=None,
        description="Redis that replicas share: redis://user:password@host:6379/0, or rediss://… with TLS.",
    )
    job_queue: Literal["store", "bullmq"] = Field(
        default="store", description="Where jobs wait: in the store, or in queues of BullMQ on that Redis."
    )
    history_path: Path | None = Field(
        default=None, description="Keep the change history in this SQLite file instead of the store's own."
    )
    tenant: str = Field(default="default", description="Tenant of all calls made in code.")
    user: str | None = Field(default=None, description="Whose memory the command line means without `--user`.")
    timezone: str = Field(
        default="UTC", description="Time zone in which days begin and end for questions: an IANA name, Asia/Shanghai."
    )
    embedder: Literal["auto", "e5", "sentence-encoder", "openai", "none"] = Field(
        default="auto",
        description="`auto` takes the best one that loads: e5, then sentence-encoder, then none (keyword only).",
    )
    embedder_threads: int = Field(default=1, ge=1, le=64, description="CPU threads for one embedding call.")
    embedding_cache_mib: int = Field(default=32, ge=0, le=4096, description="RAM for vectors of repeated texts.")
    embedding_base_url: str | None = Field(
        default=None,
        repr=False,
        description="OpenAI-compatible endpoint for embeddings.",
    )
    embedding_api_key: SecretStr | None = Field(default=None, description="Key for that endpoint.")
    embedding_model: str | None = Field(default=None, description="Model name at that endpoint.")
    embedding_dim: int | None = Field(
        default=None, ge=8, le=8192, description="Its vector size, if it must be asked for."
    )
    embedding_timeout_seconds: float = Field(
        default=30, gt=0, le=3_600, description="How long the embedder may take for some 16,000 characters."
    )
    strict_embeddings: bool = Field(
        default=False, description="Refuse what cannot be embedded, instead of storing it and embedding it later."
    )
    defer_embeddings: bool = Field(
        default=False,
        description="While many texts wait for a local model, further ones are stored at once and get vectors later.",
    )
    shard_cache_mib: int = Field(
        default=512, ge=16, le=65_536, description="RAM for the searchable rows of recently used owners."
    )
    vector_index: Literal["none", "usearch", "qdrant", "milvus", "pgvector"] = Field(
        default="none",
        description="What finds the nearest vectors of large owners; `none` compares all of them, which is exact.",
    )
    vector_index_from: int = Field(
        default=50_000, ge=1_000, le=10_000_000, description="Rows with vectors from which on an owner is indexed."
    )
    vector_index_path: Path | None = Field(
        default=None,
        description="Directory of the index `usearch`; `vectors` under `path` unless given; needed beside a server.",
    )
    vector_index_url: str | None = Field(
        default=None, repr=False, description="Address of Qdrant, Milvus or PostgreSQL."
    )
    vector_index_api_key: SecretStr | None = Field(default=None, description="Key of Qdrant, token of Milvus.")
    vector_index_collection: str = Field(
        default="ebbing",
        pattern=r"^[A-Za-z][A-Za-z0-9_]{0,29}$",
        description="How the names of its collections begin: one for each store that shares a server.",
    )
    graph_url: str | None = Field(
        default=None, repr=False, description="Address of a graph server that speaks Bolt: bolt://host:7687."
    )
    graph_user: str | None = Field(default=None, description="User of the graph server.")
    graph_password: SecretStr | None = Field(default=None, description="Their password.")
    graph_database: str | None = Field(default=None, description="Database on the graph server; its usual one if none.")
    redaction: dict[str, Literal["allow", "mask", "hash", "drop", "block"]] = Field(
        default={}, description="What becomes of personal data before it is stored, by category, as JSON."
    )
    redaction_key: SecretStr | None = Field(default=None, description="Secret that the action `hash` needs.")
    redaction_blocked: Literal["error", "drop"] = Field(
        default="error", description="A message that is blocked fails the call, or is left out."
    )
    write_confidence_threshold: float = Field(
        default=0.7, ge=0, le=1, description="A fact of less confidence is not stored."
    )
    importance: Literal["measured", "formula-v1"] = Field(
        default="measured", description="How a new memory is weighed: by what its text holds, or by the first formula."
    )
    write_mode: Literal["auto", "rules", "llm", "summarize", "structured", "raw"] = Field(
        default="auto", description="How what is said becomes memories; `auto` is `llm` where a model is set."
    )
    llm_base_url: str | None = Field(
        default=None,
        repr=False,
        description="OpenAI-compatible endpoint of a language model.",
    )
    llm_api_key: SecretStr | None = Field(default=None, description="Key for that endpoint.")
    llm_model: str | None = Field(default=None, description="Model name at that endpoint.")
    llm_profile: Literal["auto", "openai", "glm", "dashscope", "gitee", "ollama", "vllm", "plain"] = Field(
        default="auto", description="What kind of endpoint it is; `auto` tells it by the address."
    )
    strict_extraction: bool = Field(
        default=False, description="An `add` fails where the language model cannot be reached; the messages are kept."
    )
    custom_instructions: str | None = Field(
        default=None, description="What the language model is told beside the extraction prompt."
    )
    llm_timeout_seconds: float = Field(default=30, gt=0, le=600, description="How long one call may take.")
    llm_budget_seconds: float = Field(default=60, gt=0, le=3_600, description="How long an add may wait for it in all.")
    llm_chunk_tokens: int = Field(
        default=3_000, ge=200, le=100_000, description="Estimated tokens of conversation that it is shown at once."
    )
    llm_max_tokens: int = Field(default=2_000, ge=100, le=100_000, description="Longest answer, in tokens.")
    custom_fact_extraction_prompt: str | None = Field(
        default=None, description="Takes the place of the prompt for facts about the user."
    )
    custom_update_memory_prompt: str | None = Field(
        default=None, description="Takes the place of the prompt for decisions."
    )
    reader: Literal["auto", "off"] = Field(
        default="auto", description="The small trained model that judges how likely a memory answers a question."
    )
    reranker: Literal["none", "late", "endpoint"] = Field(
        default="none", description="`late` compares the e5 embedder's token vectors; `endpoint` asks a `/rerank`."
    )
    reranker_base_url: str | None = Field(
        default=None,
        repr=False,
        description="Endpoint that serves `/rerank`.",
    )
    reranker_api_key: SecretStr | None = Field(default=None, description="Key for that endpoint.")
    reranker_model: str | None = Field(default=None, description="Model name at that endpoint.")
    reranker_weight: float = Field(default=0.8, ge=0, le=10, description="How much the reranker's opinion weighs.")
    reranker_depth: int = Field(default=50, ge=2, le=200, description="How many of the best candidates it reads.")
    reranker_timeout_seconds: float = Field(default=1.0, ge=0.001, le=60, description="How long a search waits for it.")
    reranker_cache_mib: int = Field(default=128, ge=1, le=65_536, description="RAM for the tokens that `late` keeps.")
    usage_flush_size: int = Field(
        default=8_192, ge=0, le=100_000, description="Returned memories counted in one write; 0 counts none."
    )
    session_turns: int = Field(default=10, ge=1, le=100, description="Last rounds of a running conversation it keeps.")
    session_tokens: int = Field(
        default=4_000, ge=100, le=1_000_000, description="Estimated tokens that these rounds have at most."
    )
    session_idle_minutes: int = Field(
        default=60, ge=1, le=43_200, description="A session in which nothing is said for so long is ended."
    )
    forgetting_curve: Literal["power", "exponential"] = Field(
        default="power", description="How memories fade: along FSRS-6's power law, or the first design's exponential."
    )
    owner_text_limit_bytes: int = Field(
        default=30_720, ge=0, le=2**30, description="Readable text of one owner, in bytes; 0 sets no limit."
    )
    merge_min_records: int = Field(
        default=2, ge=2, le=1_000, description="How many records must say the same for one to tell it for all."
    )
    summary_min_records: int = Field(
        default=20, ge=2, le=100_000, description="So many memories of what happened may be in no summary."
    )
    habit_min_days: int = Field(
        default=3, ge=2, le=100, description="On how many days something must be done to be told as done often."
    )
    grace_days: float = Field(
        default=30, ge=0, le=3_650, description="How long what was forgotten can be brought back."
    )
    undo_days: float = Field(default=30, ge=0, le=3_650, description="How long a change can be undone.")
    expire_by_type: bool = Field(
        default=False, description="Whether memories run out by their type, in 90 to 365 days."
    )
    maintenance_hour_utc: int = Field(default=3, ge=0, le=23, description="Hour of the day (UTC) of the daily round.")
    maintenance_owner_timeout_seconds: float = Field(
        default=60, gt=0, le=86_400, description="How long a round may take for one owner before it goes on later."
    )
    job_retention_days: int = Field(default=7, ge=2, le=3_650, description="How long finished jobs are shown.")
    metrics: bool = Field(default=False, description="Calls are counted and timed; the service does so unless set.")
    traces: bool = Field(default=False, description="Calls are spans of OpenTelemetry; the host sets its provider.")
    log_format: Literal["text", "json"] = Field(default="text", description="How the service and the worker log.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="From which level on the service and the worker log."
    )
    api_version: Literal["v1.0", "v1.1"] = Field(
        default="v1.1", description="Shape of answers: `v1.1` is {'results': [...]}, `v1.0` a bare list."
    )


def handed_on(settings: Settings) -> str:
    """Return what was set, with its secrets, as a line of JSON for a process of our own, which makes the same of it."""
    return json.dumps(settings.model_dump(exclude_unset=True), default=_plain)


def _plain(value: object) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)
