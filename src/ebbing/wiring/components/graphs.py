"""The graph server, if the settings name one, and what keeps it in step with the memories."""

from __future__ import annotations

from ebbing.domain.errors import ConfigurationError, MissingExtraError
from ebbing.people.graph_follower import GraphFollower
from ebbing.ports.clock import Clock
from ebbing.ports.ids import Ids
from ebbing.ports.stores.memory_store import MemoryStore
from ebbing.wiring.components.process_priority import yield_thread
from ebbing.wiring.config.settings import Settings


def graph_follower(settings: Settings, store: MemoryStore, *, clock: Clock, ids: Ids) -> GraphFollower | None:
    """Return what follows the store with the graph server that the settings name, already at work; None for none.

    Raises:
        ConfigurationError: the address is none, or the store has no outbox.
        MissingExtraError: the driver is not installed.
    """
    if not settings.graph_url:
        return None
    if store.outbox is None:
        raise ConfigurationError("EBBING_GRAPH_URL needs a store on disk or on a server: leave it out")
    try:
        from ebbing.adapters.graph.bolt import BoltGraphMirror
    except ModuleNotFoundError as error:
        raise MissingExtraError("EBBING_GRAPH_URL needs a package: pip install 'ebbing[graph]'") from error
    mirror = BoltGraphMirror(
        settings.graph_url,
        user=settings.graph_user or "",
        password=settings.graph_password.get_secret_value() if settings.graph_password else "",
        database=settings.graph_database,
    )
    follower = GraphFollower(store, store.outbox, mirror=mirror, clock=clock, ids=ids, begin=yield_thread)
    follower.start()
    return follower
