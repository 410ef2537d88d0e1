"""The contract of `ports.memory_store.MemoryStore` as tests. An adapter proves itself with a class of a few lines:

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

from ebbing.testing.store_changes import ChangesSuite
from ebbing.testing.store_identities import IdentitiesSuite
from ebbing.testing.store_isolation import ErasureSuite, IsolationSuite, OnceSuite
from ebbing.testing.store_outdated import OutdatedSuite
from ebbing.testing.store_past import PastSuite
from ebbing.testing.store_profiles import ProfilesSuite
from ebbing.testing.store_records import PagesSuite, RecordsSuite
from ebbing.testing.store_retired import RetiredSuite
from ebbing.testing.store_service import ServiceSuite
from ebbing.testing.store_shards import ShardsSuite
from ebbing.testing.store_usage import UsageSuite


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
):
    """Everything that a memory store promises."""
