"""The database servers that tests of the SQL store use, and an empty store on each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Final

import pytest
from sqlalchemy import Engine, create_engine, delete, literal, select, union_all, update
from sqlalchemy.pool import NullPool

from ebbing.adapters.sql import SqlMemoryStore
from ebbing.adapters.sql.connection.addresses import address_of, with_driver
from ebbing.adapters.sql.connection.schema import open_schema
from ebbing.adapters.sql.tables.owner_tables import METADATA
from ebbing.adapters.sql.tables.service_tables import OUTBOX_STATE
from ebbing.ports.clock import Clock
from tests.server_addresses import address_for_tests

ADDRESSES: Final = {name: address_for_tests(name) for name in ("postgres", "mariadb")}
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
    with _engine(server).begin() as db:
        filled = set(db.execute(_FILLED).scalars())
        for table in METADATA.sorted_tables:
            if table is OUTBOX_STATE:
                db.execute(update(table).values(value=0))
            elif table.name in filled:
                db.execute(delete(table))
    return ADDRESSES[server]


@cache
def _engine(server: str) -> Engine:
    return create_engine(with_driver(address_of(ADDRESSES[server]), blocking=True), poolclass=NullPool)


_FILLED: Final = union_all(
    *(
        select(literal(table.name)).where(select(literal(1)).select_from(table).exists())
        for table in METADATA.sorted_tables
    )
)
"""The tables that hold a row, in one question: most tests fill few of them."""


@asynccontextmanager
async def empty_store(server: str, clock: Clock) -> AsyncIterator[SqlMemoryStore]:
    """A store without any row."""
    store = SqlMemoryStore.open(emptied(server), clock=clock)
    yield store
    await store.aclose()
