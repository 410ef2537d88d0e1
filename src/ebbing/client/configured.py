"""The host kit for what the environment says."""

from __future__ import annotations

from ebbing.client.blocking import BlockingMemoryService
from ebbing.client.http import AsyncClient, Paths
from ebbing.client.service import HostPolicy, MemoryService
from ebbing.client.store import MemoryStore, NullStore
from ebbing.wiring.config.client_settings import HostSettings, host_settings


def service_from_env() -> MemoryService:
    """Return the memory that `EBBING_CLIENT_BASE_URL` (or `MEM0_BASE_URL`) names; an empty one if none is named.

    Raises:
        ConfigurationError: a value does not fit.
    """
    settings = host_settings()
    return MemoryService(_store(settings), _policy(settings))


def blocking_service_from_env() -> BlockingMemoryService:
    """Return the same for code that does not await.

    Raises:
        ConfigurationError: a value does not fit.
    """
    settings = host_settings()
    return BlockingMemoryService(_store(settings), _policy(settings))


def _store(settings: HostSettings) -> MemoryStore:
    if not settings.base_url:
        return NullStore()
    key = settings.api_key
    return AsyncClient(
        settings.base_url,
        api_key=key.get_secret_value() if key else None,
        seconds=settings.timeout_seconds,
        paths=Paths(add=settings.add_path, search=settings.search_path),
    )


def _policy(settings: HostSettings) -> HostPolicy:
    return HostPolicy(
        top_k=settings.top_k,
        min_score=settings.min_score,
        max_chars=settings.max_chars,
        recall_seconds=settings.recall_seconds,
        recall=settings.recall_enable,
        write=settings.write_enable,
    )
