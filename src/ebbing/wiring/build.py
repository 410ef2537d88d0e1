"""The composition root: settings in, the components of a memory out."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from ebbing.domain.errors import ConfigurationError, MissingExtraError
from ebbing.people.graph_follower import GraphFollower
from ebbing.ports.clock import Clock
from ebbing.ports.event_bus import EventBus
from ebbing.ports.ids import Ids
from ebbing.ports.meter import SILENCE, Meter
from ebbing.ports.models.chat_model import ChatModel
from ebbing.ports.models.embedder import Embedder
from ebbing.ports.models.reader import Reader
from ebbing.ports.models.reranker import Reranker
from ebbing.ports.random_source import Chance
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.ports.stores.request_log import RequestRates
from ebbing.ports.working_memory import WorkingMemory
from ebbing.recall.recall_settings import RecallSettings
from ebbing.recall.usage import UsageBuffer
from ebbing.remember.vectors.deferred_embedding import DeferredEmbedder
from ebbing.upkeep.worker.foreground_traffic import Traffic
from ebbing.wiring.components.chat import Chat, chat_of
from ebbing.wiring.components.graphs import graph_follower
from ebbing.wiring.components.job_queue import SeparateJobs, separate_queue, use_queue
from ebbing.wiring.components.models import (
    EmbedderSlot,
    ReaderSlot,
    RerankerSlot,
    configured,
    fixed_embedder,
    reader_slot,
    reranker_slot,
)
from ebbing.wiring.components.process_priority import yield_thread
from ebbing.wiring.components.replicas import request_rates, working_memory
from ebbing.wiring.components.telemetry import meter_of
from ebbing.wiring.components.vectors import VectorParts, vector_parts
from ebbing.wiring.components.webhooks import SenderSlot
from ebbing.wiring.config.earlier_names import earlier_settings
from ebbing.wiring.config.mem0_config import from_mem0
from ebbing.wiring.config.settings import Settings
from ebbing.wiring.config.store_place import EXTRAS, store_settings

_log: Final = logging.getLogger("ebbing.settings")


@dataclass(frozen=True, slots=True)
class Components:
    """What a memory is made of."""

    store: MemoryStore
    embedder: EmbedderSlot
    clock: Clock
    ids: Ids
    settings: Settings
    recall_settings: RecallSettings
    usage: UsageBuffer
    """Where searches note what they returned."""
    reranker: RerankerSlot
    reader: ReaderSlot
    """The trained model that judges answers."""
    working: WorkingMemory
    """The running conversations."""
    events: EventBus
    chat: Chat
    """The language model, if there is one, and how what is said is read."""
    chance: Chance
    traffic: Traffic
    """The calls in flight, for the upkeep to keep out of their way."""
    webhooks: SenderSlot
    """What carries messages to those who want to be told."""
    following: DeferredEmbedder
    """What gives messages their vectors that were stored while the embedder was behind."""
    rates: RequestRates
    """What counts the requests of a credential."""
    meter: Meter = SILENCE
    """What is told how long calls take, and what comes of them."""
    vectors: VectorParts | None = None
    """The index of vectors for large owners, if there is one."""
    graph: GraphFollower | None = None
    """What keeps a graph server in step, if there is one."""
    separate_jobs: SeparateJobs | None = None
    """The queue of jobs, where it is not the store's own."""

    def for_tenant(self, tenant: str) -> Components:
        """Return the same components for another tenant: every call made with them names this one."""
        return replace(self, settings=self.settings.model_copy(update={"tenant": tenant}))


def build(
    settings: Settings | None = None,
    *,
    path: str | Path | None = None,
    embedder: Embedder | str | None = None,
    clock: Clock | None = None,
    recall_settings: RecallSettings | None = None,
    reranker: Reranker | str | None = None,
    chat_model: ChatModel | None = None,
    reader: Reader | None = None,
) -> Components:
    """Open the store and get the embedder ready; what is given in code wins over settings.

    Raises:
        ConfigurationError: a setting is wrong.
        StoreError: the store cannot be opened.
    """
    from ebbing.adapters.system.in_process_bus import InProcessEventBus
    from ebbing.adapters.system.machine import SystemChance, SystemClock, TimeOrderedIds

    changes = _changes(path, embedder=embedder, reranker=reranker)
    settings = load_settings(changes) if settings is None else settings.model_copy(update=changes)
    clock = clock or SystemClock()
    slot = configured(settings) if embedder is None or isinstance(embedder, str) else fixed_embedder(embedder)
    reranking = reranker_slot(settings, slot, reranker=None if isinstance(reranker, str) else reranker)
    talking, queue = chat_of(settings, model=chat_model), separate_queue(settings, clock)
    store = _open_store(settings, clock)
    separate = None if queue is None else use_queue(store, queue)
    slot.store, slot.is_strict = store, settings.strict_embeddings
    ids, meter = TimeOrderedIds(), meter_of(settings, clock)
    usage = UsageBuffer(store.usage, max_size=settings.usage_flush_size)
    return Components(
        store,
        slot,
        clock,
        ids,
        settings,
        recall_settings or RecallSettings(),
        usage,
        reranking,
        reader_slot(settings, slot, reader=reader),
        working_memory(settings, clock, ids=ids, store=store),
        InProcessEventBus(),
        talking,
        SystemChance(),
        Traffic(),
        SenderSlot(settings.webhook_private_targets),
        DeferredEmbedder(store, clock, begin=yield_thread),
        request_rates(settings, meter),
        meter,
        vector_parts(settings, store),
        graph_follower(settings, store, clock=clock, ids=ids),
        separate,
    )


def _changes(path: str | Path | None, *, embedder: object, reranker: object) -> dict[str, Any]:
    """Return the settings that arguments of `build` stand for."""
    changes: dict[str, Any] = {} if path is None else dict(store_settings(path))
    if isinstance(embedder, str):
        changes["embedder"] = embedder
    if isinstance(reranker, str):
        changes["reranker"] = reranker
    return changes


def load_settings(values: Mapping[str, Any] | None = None) -> Settings:
    """Return settings from the environment, with `values` on top; names of earlier hosts come last.

    Raises:
        ConfigurationError: a value does not fit; the message names the setting, never the value.
    """
    try:
        return Settings(**{**earlier_settings(), **(values or {})})
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise ConfigurationError(f"settings are wrong: {problems}") from None


def settings_from_config(config: Mapping[str, Any]) -> Settings:
    """Return settings from a dict in our own names or in mem0's shape (`vector_store`, `history_db_path`, …).

    What the config names and is not here is replaced, with a warning in the log and in `diagnose`.

    Raises:
        ConfigurationError: a key is unknown, a value does not fit, or a provider's key is missing.
    """
    read = from_mem0(config)
    settings = load_settings(read.settings)
    replaced = list(read.replaced)
    if config.get("history_db_path") and settings.store != "sqlite":
        settings = settings.model_copy(update={"history_path": None})
        replaced.append("history_db_path is not used: this store keeps the change history itself")
    settings.note_origin(replaced=tuple(replaced), is_mem0s=read.is_mem0s)
    for sentence in replaced:
        _log.warning("%s", sentence)
    return settings


def _open_store(settings: Settings, clock: Clock) -> MemoryStore:
    if settings.history_path is not None and settings.store != "sqlite":
        raise ConfigurationError(
            "EBBING_HISTORY_PATH is for the embedded store: leave it out, this store keeps the change history itself"
        )
    if settings.address is not None:
        return _on_server(settings, settings.address, clock=clock)
    from ebbing.adapters.sqlite import SqliteMemoryStore

    if settings.store == "ephemeral":
        return SqliteMemoryStore.in_memory(clock=clock)
    return SqliteMemoryStore.open(
        settings.path,
        clock=clock,
        history_path=settings.history_path,
        shard_cache_bytes=settings.shard_cache_mib * 2**20,
    )


def _on_server(settings: Settings, address: str, *, clock: Clock) -> MemoryStore:
    try:
        from ebbing.adapters.sql import SqlMemoryStore
    except ModuleNotFoundError as error:
        raise missing_drivers(address) from error
    return SqlMemoryStore.open(
        address,
        clock=clock,
        connections=settings.store_connections,
        seconds=settings.store_timeout_seconds,
        row_security=settings.store_row_security,
        shard_cache_bytes=settings.shard_cache_mib * 2**20,
    )


def missing_drivers(address: str) -> MissingExtraError:
    """Return the error that names what a store at this address needs."""
    extra = EXTRAS[address.partition(":")[0]]
    return MissingExtraError(
        f"a store on this server needs packages that are not installed: pip install 'ebbing[{extra}]'"
    )
