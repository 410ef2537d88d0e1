"""The contract of `MemoryStore` as tests. An adapter proves itself with a class of a few lines:

    class TestMyStore(MemoryStoreSuite):
        @asynccontextmanager
        async def open_store(self, clock):
            store = MyStore(..., clock=clock)   # empty
            try:
                yield store
            finally:
                await store.aclose()

Needs pytest and hypothesis, and a fixture `anyio_backend` that returns "asyncio".
"""

from __future__ import annotations

from ebbing.testing.stores.changes import ChangesSuite, OutboxSuite
from ebbing.testing.stores.identities import IdentitiesSuite
from ebbing.testing.stores.isolation import ErasureSuite, IsolationSuite, OnceSuite
from ebbing.testing.stores.outdated import OutdatedSuite
from ebbing.testing.stores.past import PastSuite
from ebbing.testing.stores.profiles import ProfilesSuite
from ebbing.testing.stores.records import PagesSuite, RecordsSuite
from ebbing.testing.stores.retired import RetiredSuite
from ebbing.testing.stores.service import ServiceSuite
from ebbing.testing.stores.shards import ShardsSuite
from ebbing.testing.stores.usage import UsageSuite


class MemoryStoreSuite(
    RecordsSuite,
    OutdatedSuite,
    PagesSuite,
    ShardsSuite,
    PastSuite,
    RetiredSuite,
    IsolationSuite,
    OnceSuite,
    ErasureSuite,
    UsageSuite,
    ServiceSuite,
    ProfilesSuite,
    IdentitiesSuite,
    ChangesSuite,
    OutboxSuite,
):
    """Everything that a memory store promises."""
