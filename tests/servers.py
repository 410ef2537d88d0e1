"""The database servers that tests of the SQL store use, and an empty store on each."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import pytest
from sqlalchemy import create_engine, delete

from ebbing.adapters.sql import SqlMemoryStore
from ebbing.adapters.sql.connection.addresses import address_of, with_driver
from ebbing.adapters.sql.connection.schema import open_schema
from ebbing.adapters.sql.tables.owner_tables import METADATA
from ebbing.ports.clock import Clock

ADDRESSES: Final = {name: os.environ.get(f"EBBING_TEST_{name.upper()}", "") for name in ("postgres", "mariadb")}
"""Read when this is imported: a fixture takes every `EBBING_*` variable of the developer away."""


def needs(server: str) -> pytest.MarkDecorator:
    """Skip, and say so, where no such server is named."""
    reason = (
        f"no {server} server: name a database of its own in EBBING_TEST_{server.upper()}, or run `make test-stores`"
    )
    return pytest.mark.skipif(not ADDRESSES[server], reason=reason)


def emptied(server: str) -> str:
    """The address of a database whose tables are there and empty."""
    address = address_of(ADDRESSES[server])
    open_schema(address)
    engine = create_engine(with_driver(address, blocking=True))
    with engine.begin() as db:
        for table in METADATA.sorted_tables:
            db.execute(delete(table))
    engine.dispose()
    return ADDRESSES[server]


@asynccontextmanager
async def empty_store(server: str, clock: Clock) -> AsyncIterator[SqlMemoryStore]:
    """A store without any row."""
    store = SqlMemoryStore.open(emptied(server), clock=clock)
    yield store
    await store.aclose()
