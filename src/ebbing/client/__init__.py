"""What a host application uses: a client for the service, and a kit that keeps memory from ever breaking its host."""

from __future__ import annotations

from ebbing.domain.errors import MemoryServerError, MissingExtraError, ServerUnavailableError

try:
    from ebbing.client.blocking import BlockingMemoryService, Client
    from ebbing.client.http import AsyncClient, Paths
except ImportError as error:
    raise MissingExtraError("the client needs httpx: pip install 'ebbing[client]'") from error

from ebbing.client.chat import AsyncRememberingChat, RememberingChat
from ebbing.client.configured import blocking_service_from_env, service_from_env
from ebbing.client.items import MemoryItem, items_of
from ebbing.client.service import HostPolicy, MemoryService
from ebbing.client.store import LocalStore, MemoryStore, NullStore

__all__ = [
    "AsyncClient",
    "AsyncRememberingChat",
    "BlockingMemoryService",
    "Client",
    "HostPolicy",
    "LocalStore",
    "MemoryItem",
    "MemoryServerError",
    "MemoryService",
    "MemoryStore",
    "NullStore",
    "Paths",
    "RememberingChat",
    "ServerUnavailableError",
    "blocking_service_from_env",
    "items_of",
    "service_from_env",
]
